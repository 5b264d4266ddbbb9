//! A set of entry numbers of one ledger, kept as runs.

use std::collections::BTreeMap;

/// Entry numbers (0 or higher) of one ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntrySet {
    /// First of each run → last of it. Runs neither overlap nor touch.
    runs: BTreeMap<i64, i64>,
    count: u64,
}

impl EntrySet {
    /// How many numbers are in the set.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether this number is in the set.
    #[must_use]
    pub fn contains(&self, entry: i64) -> bool {
        self.runs
            .range(..=entry)
            .next_back()
            .is_some_and(|(_, last)| entry <= *last)
    }

    /// The lowest number from `from` on that is not in the set.
    #[must_use]
    pub fn next_absent(&self, from: i64) -> i64 {
        match self.runs.range(..=from).next_back() {
            Some((_, last)) if from <= *last => last + 1,
            _ => from,
        }
    }

    /// The lowest number from `from` on that is in the set.
    #[must_use]
    pub fn next_present(&self, from: i64) -> Option<i64> {
        if self.contains(from) {
            return Some(from);
        }
        self.runs.range(from..).next().map(|(first, _)| *first)
    }

    /// Adds `first..=last`; says how many of them were new.
    pub fn insert(&mut self, first: i64, last: i64) -> u64 {
        let (mut low, mut high, mut known) = (first, last, 0);
        while let Some((&from, &to)) = self.runs.range(..=last.saturating_add(1)).next_back() {
            if to < first - 1 {
                break;
            }
            known += (to.min(last) - from.max(first) + 1).max(0).unsigned_abs();
            (low, high) = (low.min(from), high.max(to));
            self.runs.remove(&from);
        }
        self.runs.insert(low, high);
        let added = (last - first + 1).unsigned_abs() - known;
        self.count += added;
        added
    }

    /// Removes the numbers up to and including `up_to`; says how many there were.
    pub fn remove_to(&mut self, up_to: i64) -> u64 {
        let mut removed = 0;
        while let Some(run) = self.runs.first_entry() {
            let (first, last) = (*run.key(), *run.get());
            if first > up_to {
                break;
            }
            run.remove();
            removed += (last.min(up_to) - first + 1).unsigned_abs();
            if last > up_to {
                self.runs.insert(up_to + 1, last);
                break;
            }
        }
        self.count -= removed;
        removed
    }

    /// Removes the numbers from `from` on; says how many there were.
    pub fn remove_from(&mut self, from: i64) -> u64 {
        let mut removed = 0;
        while let Some(mut run) = self.runs.last_entry() {
            let (first, last) = (*run.key(), *run.get());
            if last < from {
                break;
            }
            removed += (last - first.max(from) + 1).unsigned_abs();
            if first < from {
                *run.get_mut() = from - 1;
                break;
            }
            run.remove();
        }
        self.count -= removed;
        removed
    }

    /// The runs of the set in order, first and last number of each. They neither overlap nor touch.
    pub fn runs(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.runs.iter().map(|(first, last)| (*first, *last))
    }
}
