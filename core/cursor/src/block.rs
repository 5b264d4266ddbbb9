//! 4096 neighbouring entry numbers as bits, for where runs would be many.

/// Entry numbers of a block. Blocks begin at multiples of it.
pub(crate) const BLOCK: i64 = 4096;
const WORDS: usize = 64;

/// Which of a block's numbers are in the set, counted from the block's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    words: [u64; WORDS],
}

impl Block {
    pub fn empty() -> Box<Block> {
        Box::new(Block { words: [0; WORDS] })
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn count(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    pub fn contains(&self, at: usize) -> bool {
        self.words
            .get(at / 64)
            .is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Adds `first..=last`.
    pub fn insert(&mut self, first: usize, last: usize) {
        self.each_word(first, last, |word, mask| *word |= mask);
    }

    /// Removes `first..=last`.
    pub fn remove(&mut self, first: usize, last: usize) {
        self.each_word(first, last, |word, mask| *word &= !mask);
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

    fn each_word(&mut self, first: usize, last: usize, change: impl Fn(&mut u64, u64)) {
        for (index, word) in self
            .words
            .iter_mut()
            .enumerate()
            .take(last / 64 + 1)
            .skip(first / 64)
        {
            let low = if index == first / 64 {
                u64::MAX << (first % 64)
            } else {
                u64::MAX
            };
            let high = if index == last / 64 {
                u64::MAX >> (63 - last % 64)
            } else {
                u64::MAX
            };
            change(word, low & high);
        }
    }
}
