//! Entries acknowledged ahead of the mark, by ledger.

use std::collections::{BTreeMap, btree_map};

use vocabulary::Position;

use crate::entry_set::EntrySet;

/// Entries `first..=last` of one ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The ledger.
    pub ledger: i64,
    /// Its first entry.
    pub first: i64,
    /// Its last entry.
    pub last: i64,
}

/// A set of entries of several ledgers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// No set in here is empty.
    ledgers: BTreeMap<i64, EntrySet>,
    count: u64,
}

impl Ahead {
    /// How many entries are in it.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ledgers.is_empty()
    }

    /// Whether this entry is in it.
    #[must_use]
    pub fn contains(&self, position: Position) -> bool {
        self.ledgers
            .get(&position.ledger)
            .is_some_and(|set| set.contains(position.entry))
    }

    /// The lowest entry number of the position's ledger, from the position on, that is not in it.
    #[must_use]
    pub fn next_absent(&self, from: Position) -> i64 {
        self.ledgers
            .get(&from.ledger)
            .map_or(from.entry, |set| set.next_absent(from.entry))
    }

    /// The lowest entry number of the position's ledger, from the position on, that is in it.
    #[must_use]
    pub fn next_present(&self, from: Position) -> Option<i64> {
        self.ledgers.get(&from.ledger)?.next_present(from.entry)
    }

    /// Adds entries; says how many of them were new.
    pub fn insert(&mut self, run: Run) -> u64 {
        let added = self
            .ledgers
            .entry(run.ledger)
            .or_default()
            .insert(run.first, run.last);
        self.count = self.count.saturating_add(added);
        added
    }

    /// Adds the entries of a set.
    pub fn union(&mut self, ledger: i64, set: EntrySet) {
        match self.ledgers.entry(ledger) {
            btree_map::Entry::Occupied(known) => {
                let known = known.into_mut();
                for (first, last) in set.runs() {
                    self.count = self.count.saturating_add(known.insert(first, last));
                }
            }
            btree_map::Entry::Vacant(place) if !set.is_empty() => {
                self.count = self.count.saturating_add(set.count());
                place.insert(set);
            }
            btree_map::Entry::Vacant(_) => {}
        }
    }

    /// Removes what lies at or before the position; says how many entries that were.
    pub fn remove_to(&mut self, up_to: Position) -> u64 {
        let mut removed = 0;
        while let Some(mut first) = self.ledgers.first_entry() {
            if *first.key() > up_to.ledger {
                break;
            }
            if *first.key() == up_to.ledger {
                removed += first.get_mut().remove_to(up_to.entry);
                if !first.get().is_empty() {
                    break;
                }
            } else {
                removed += first.get().count();
            }
            first.remove();
        }
        self.count = self.count.saturating_sub(removed);
        removed
    }

    /// The sets, by ledger.
    #[must_use]
    pub fn ledgers(&self) -> &BTreeMap<i64, EntrySet> {
        &self.ledgers
    }

    /// All runs in order. Runs of one ledger neither overlap nor touch.
    pub fn runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.ledgers.iter().flat_map(|(ledger, set)| {
            set.runs().map(|(first, last)| Run {
                ledger: *ledger,
                first,
                last,
            })
        })
    }

    /// Keeps only entries that `last_of` (ledger → its last entry) says exist; says how many went.
    pub fn keep_existing(&mut self, last_of: impl Fn(i64) -> Option<i64>) -> u64 {
        let before = self.count;
        self.ledgers.retain(|ledger, set| {
            if let Some(last) = last_of(*ledger) {
                set.remove_from(last.saturating_add(1));
            } else {
                *set = EntrySet::default();
            }
            !set.is_empty()
        });
        self.count = self
            .ledgers
            .values()
            .fold(0, |sum, set| sum.saturating_add(set.count()));
        before - self.count
    }
}
