//! Pulsar's keys that exist without acting here: with their defaults, so that a shipped file is no noise.

use std::collections::BTreeMap;

/// One key a line: its name, then every value that Pulsar has as a default or ships in its files.
const KEYS: &str = include_str!("pulsar-keys.tsv");

/// Farther apart than this, two words are not one word with a slip in it.
const SLIPS_MAX: usize = 3;

/// All known keys with the values that mean "as Pulsar has it".
pub struct Known {
    usual: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Known {
    /// The list that is built in.
    pub fn load() -> Known {
        let usual = KEYS
            .lines()
            .filter_map(|line| {
                let mut fields = line.split('\t');
                fields.next().map(|key| (key, fields.collect()))
            })
            .collect();
        Known { usual }
    }

    /// Whether Pulsar knows this key.
    pub fn contains(&self, key: &str) -> bool {
        self.usual.contains_key(key)
    }

    /// Whether this value is one that Pulsar has by default, or says nothing.
    pub fn is_usual(&self, key: &str, value: &str) -> bool {
        let is_same = |usual: &&&str| usual.eq_ignore_ascii_case(value);
        value.is_empty()
            || self
                .usual
                .get(key)
                .is_some_and(|values| values.iter().find(is_same).is_some())
    }

    /// The key among these and the given others that looks most like `word`.
    pub fn nearest<'a>(
        &self,
        word: &str,
        others: impl Iterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let word_lower = word.to_lowercase();
        self.usual
            .keys()
            .copied()
            .chain(others)
            .map(|key| (distance(&word_lower, &key.to_lowercase()), key))
            .filter(|(slips, key)| *slips <= SLIPS_MAX && *slips * 3 <= key.len())
            .min()
            .map(|(_, key)| key)
    }
}

/// Levenshtein's distance in bytes, or more than [`SLIPS_MAX`] as soon as the lengths say so.
fn distance(left: &str, right: &str) -> usize {
    if left.len().abs_diff(right.len()) > SLIPS_MAX {
        return SLIPS_MAX + 1;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        let mut next = vec![before];
        for (b, above) in right.bytes().zip(row.iter().skip(1)) {
            before = (diagonal + usize::from(a != b))
                .min(above + 1)
                .min(before + 1);
            diagonal = *above;
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
