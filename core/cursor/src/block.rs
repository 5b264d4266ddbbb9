//! 4096 neighbouring entry numbers as bits, for where runs would be many.

/// Entry numbers of a block. Blocks begin at multiples of it.
pub(crate) const BLOCK: i64 = 4096;
const WORDS: usize = 64;

/// Which of a block's numbers are in the set, counted from the block's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    count: u64,
    words: [u64; WORDS],
}

impl Block {
    pub fn empty() -> Box<Block> {
        Box::new(Block {
            count: 0,
            words: [0; WORDS],
        })
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn contains(&self, at: usize) -> bool {
        self.words
            .get(at / 64)
            .is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Adds `first..=last`; says how many were new.
    pub fn insert(&mut self, first: usize, last: usize) -> u64 {
        let mut added = 0;
        for (word, mask) in self.masked(first, last) {
            added += u64::from((mask & !*word).count_ones());
            *word |= mask;
        }
        self.count += added;
        added
    }

    /// Removes `first..=last`; says how many there were.
    pub fn remove(&mut self, first: usize, last: usize) -> u64 {
        let mut removed = 0;
        for (word, mask) in self.masked(first, last) {
            removed += u64::from((mask & *word).count_ones());
            *word &= !mask;
        }
        self.count -= removed;
        removed
    }

    /// The lowest number from `from` on that is in the block's set.
    pub fn next_present(&self, from: usize) -> Option<usize> {
        self.next(from, |word| word)
    }

    /// The lowest number from `from` on that is not.
    pub fn next_absent(&self, from: usize) -> Option<usize> {
        self.next(from, |word| !word)
    }

    /// The runs of numbers in the block's set, in order.
    pub fn runs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let first = self.next_present(from)?;
            from = self.next_absent(first).unwrap_or(WORDS * 64);
            Some((first, from - 1))
        })
    }

    fn next(&self, from: usize, look: impl Fn(u64) -> u64) -> Option<usize> {
        let mut mask = u64::MAX << (from % 64);
        for (index, word) in self.words.iter().enumerate().skip(from / 64) {
            let found = look(*word) & mask;
            if found != 0 {
                return Some(index * 64 + found.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The words that hold `first..=last`, and which of their bits do.
    fn masked(&mut self, first: usize, last: usize) -> impl Iterator<Item = (&mut u64, u64)> {
        let (from, to) = (first / 64, last / 64);
        let words = self.words.get_mut(from..=to).unwrap_or_default();
        words.iter_mut().enumerate().map(move |(index, word)| {
            let low = if index == 0 {
                u64::MAX << (first % 64)
            } else {
                u64::MAX
            };
            let high = if from + index == to {
                u64::MAX >> (63 - last % 64)
            } else {
                u64::MAX
            };
            (word, low & high)
        })
    }
}
