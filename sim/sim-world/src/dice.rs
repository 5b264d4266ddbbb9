//! Dice that roll the same numbers for the same seed (splitmix64).

use world::Dice;

/// A repeatable source of numbers.
#[derive(Clone, Debug)]
pub struct SimDice {
    state: u64,
}

impl SimDice {
    /// Dice for a seed; different seeds give unrelated rolls.
    pub fn new(seed: u64) -> SimDice {
        SimDice { state: seed }
    }
}

impl Dice for SimDice {
    fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
