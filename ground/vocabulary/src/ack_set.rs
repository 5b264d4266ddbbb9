//! Which messages of a batch are still to be delivered: the words of a `java.util.BitSet`.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A bit per message of a batch, **set = not yet acknowledged**. Bit i of word i/64 is index i;
/// trailing zero words carry no meaning and are dropped, so that equal sets compare equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AckSet {
    words: SmallVec<[u64; 1]>,
}

impl AckSet {
    /// All of a batch of `size` still to be delivered.
    #[must_use]
    pub fn full(size: u32) -> AckSet {
        let mut words: SmallVec<[u64; 1]> = SmallVec::new();
        for word in 0..size.div_ceil(64) {
            let bits = (size - word * 64).min(64);
            words.push(low_bits(bits));
        }
        AckSet { words }
    }

    /// From the words of the wire (Java longs).
    #[must_use]
    pub fn from_wire(words: &[i64]) -> AckSet {
        AckSet {
            words: words.iter().map(|word| *word as u64).collect(),
        }
        .trimmed()
    }

    /// To the words of the wire.
    #[must_use]
    pub fn to_wire(&self) -> Vec<i64> {
        self.words.iter().map(|word| *word as i64).collect()
    }

    /// Whether message `index` is still to be delivered.
    #[must_use]
    pub fn contains(&self, index: u32) -> bool {
        let word = self.words.get((index / 64) as usize).copied().unwrap_or(0);
        word & (1u64 << (index % 64)) != 0
    }

    /// Marks message `index` as acknowledged.
    pub fn clear(&mut self, index: u32) {
        if let Some(word) = self.words.get_mut((index / 64) as usize) {
            *word &= !(1u64 << (index % 64));
        }
        self.trim();
    }

    /// Keeps only what is still to be delivered in both: an acknowledgement is never taken back.
    pub fn intersect(&mut self, other: &AckSet) {
        for (at, word) in self.words.iter_mut().enumerate() {
            *word &= other.words.get(at).copied().unwrap_or(0);
        }
        self.trim();
    }

    /// True when nothing is left to deliver.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many of the first `size` messages are still to be delivered (PIP-491's P for a partly acknowledged batch).
    #[must_use]
    pub fn count_within(&self, size: u32) -> u32 {
        let mut within: u32 = 0;
        let mut before = 0;
        for word in &self.words {
            if before >= size {
                break;
            }
            within += (word & low_bits(size - before)).count_ones();
            before += 64;
        }
        within
    }

    /// The index of the last message still to be delivered, plus one: no batch of fewer messages fits the set.
    #[must_use]
    pub fn length(&self) -> u64 {
        let Some(last) = self.words.last() else {
            return 0;
        };
        self.words.len() as u64 * 64 - u64::from(last.leading_zeros())
    }

    /// Forgets all but the first `size` messages.
    pub fn truncate(&mut self, size: u32) {
        self.words.truncate(size.div_ceil(64) as usize);
        if !size.is_multiple_of(64)
            && let Some(word) = self.words.get_mut((size / 64) as usize)
        {
            *word &= low_bits(size % 64);
        }
        self.trim();
    }

    /// The words in order, the last one not zero.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    fn trimmed(mut self) -> AckSet {
        self.trim();
        self
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

/// A word with its lowest `count` bits set, all of them from 64 on.
fn low_bits(count: u32) -> u64 {
    if count >= 64 {
        u64::MAX
    } else {
        (1u64 << count) - 1
    }
}
