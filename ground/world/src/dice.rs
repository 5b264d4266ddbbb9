//! Chance, which comes from outside so that a seed can repeat it.

/// A source of numbers that nobody predicts, or that a seed repeats.
pub trait Dice: Send {
    /// The next 64 bits.
    fn roll(&mut self) -> u64;

    /// A number in `0..limit`; 0 when `limit` is 0.
    fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.roll() % limit }
    }

    /// True `times` out of `of`.
    fn chance(&mut self, times: u64, of: u64) -> bool {
        self.below(of) < times
    }
}
