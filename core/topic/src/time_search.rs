//! Finds where a time begins: the first entry that was published at or after it, in a number of reads that grows
//! with the logarithm of the entries.
//!
//! Publish times are said by producers and mostly rise. Where they do not, some entry is found whose neighbour before
//! it is older: which one depends on the entries alone. Like Pulsar's search it looks at the first and the last entry
//! before it halves.

use cursor::Extent;
use letters::StoredEntry;
use pulsar_wire::entry::EntryHeaders;
use pulsar_wire::peek::peek;
use vocabulary::Position;

/// Entries asked for at a time behind one that cannot be read.
const DETOUR_ENTRIES_MAX: usize = 64;

/// A search under way.
#[derive(Debug)]
pub(crate) struct TimeSearch {
    time_ms: u64,
    /// Entries up to here are older.
    older_to: Position,
    /// Entries from here on are not, or came after the search began.
    until: Position,
    steps: u32,
    /// The entry at hand, then those behind it while none can be read.
    probe: Option<Position>,
    asked: Vec<Position>,
    /// Of the read under way.
    pub ticket: u64,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Read these.
    Read(Vec<Position>),
    /// Everything up to here is older.
    Found(Position),
}

impl TimeSearch {
    pub fn new(time_ms: u64, extent: &Extent) -> TimeSearch {
        TimeSearch {
            time_ms,
            older_to: extent.start(),
            until: extent.end().after(),
            steps: 0,
            probe: None,
            asked: Vec::new(),
            ticket: 0,
        }
    }

    /// What to do now.
    pub fn step(&mut self, extent: &Extent) -> Step {
        if let Some(probe) = self.probe {
            let behind = self.asked.last().copied().unwrap_or(probe);
            self.asked = self.following(extent, behind);
            if !self.asked.is_empty() {
                return Step::Read(self.asked.clone());
            }
            // None of them can be read: better too early than too late.
            self.until = probe;
        }
        let left = extent.count(self.older_to, self.until.before());
        let index = match self.steps {
            0 => 0,
            1 => left.saturating_sub(1),
            _ => left / 2,
        };
        self.steps = self.steps.saturating_add(1);
        self.probe = extent.nth_after(self.older_to, index).filter(|_| left > 0);
        match self.probe {
            Some(probe) => {
                self.asked = vec![probe];
                Step::Read(self.asked.clone())
            }
            None => Step::Found(self.older_to),
        }
    }

    fn following(&self, extent: &Extent, behind: Position) -> Vec<Position> {
        let next = |at: &Position| extent.next_valid(*at).filter(|next| *next < self.until);
        std::iter::successors(next(&behind), next)
            .take(DETOUR_ENTRIES_MAX)
            .collect()
    }

    /// What was asked for, as far as it can be read, in order.
    pub fn take(&mut self, entries: &[StoredEntry]) {
        let Some(probe) = self.probe else { return };
        for entry in entries {
            if is_older(&entry.body, self.time_ms) {
                self.older_to = self.older_to.max(entry.position);
                self.probe = None;
            } else {
                // What could not be read before it is nobody's.
                self.until = self.until.min(match self.probe {
                    Some(_) => probe,
                    None => entry.position,
                });
                self.probe = None;
                return;
            }
        }
    }
}

/// An entry that does not say when it was published is not older than anything, as in Pulsar.
fn is_older(entry: &[u8], time_ms: u64) -> bool {
    let headers = EntryHeaders::parse(entry).ok();
    let metadata = headers.and_then(|headers| peek(headers.metadata).ok());
    metadata.is_some_and(|metadata| metadata.publish_time_ms < time_ms)
}
