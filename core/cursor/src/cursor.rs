//! What one subscription has acknowledged of a topic.

use std::collections::BTreeMap;

use vocabulary::{AckSet, Position};

use crate::ack::AckRefusal;
use crate::ahead::{Ahead, Run};
use crate::changes::Changes;
use crate::extent::Extent;

/// Messages a batch can have here: larger ack sets are refused.
pub const BATCH_MESSAGES_MAX: u32 = 1 << 20;

/// The mark (everything at or before it is acknowledged), the entries acknowledged ahead of it, and for
/// batches acknowledged in part the messages that remain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) mark: Position,
    /// All behind the mark.
    pub(crate) ahead: Ahead,
    /// Never empty sets; all behind the mark and none in `ahead`.
    pub(crate) partial: BTreeMap<Position, AckSet>,
    pub(crate) properties: BTreeMap<String, i64>,
    pub(crate) string_properties: BTreeMap<String, String>,
    pub(crate) changes: Changes,
    pub(crate) saving: Saving,
}

/// How the changes are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Saving {
    /// Number of the last record taken or restored.
    pub sequence: u64,
    /// The next record has to be a snapshot.
    pub snapshot_due: bool,
    /// Size of the last snapshot.
    pub snapshot_bytes: usize,
    /// Size of the deltas since.
    pub deltas_bytes: usize,
    /// Nothing is recorded at all.
    pub never: bool,
}

impl Cursor {
    /// A cursor that has acknowledged everything up to and including `mark` (see [`Extent::start`] and
    /// [`Extent::end`]). It is not dirty: what makes it durable is [`Cursor::snapshot_bytes`].
    #[must_use]
    pub fn at(mark: Position) -> Cursor {
        Cursor {
            mark,
            ahead: Ahead::default(),
            partial: BTreeMap::new(),
            properties: BTreeMap::new(),
            string_properties: BTreeMap::new(),
            changes: Changes::default(),
            saving: Saving::default(),
        }
    }

    /// The same, for a subscription that lives in memory only: it never has a record to save.
    #[must_use]
    pub fn non_durable(mark: Position) -> Cursor {
        let mut cursor = Cursor::at(mark);
        cursor.saving.never = true;
        cursor
    }

    /// Whether the cursor is of a subscription that is saved.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        !self.saving.never
    }

    /// The mark: every entry at or before it is acknowledged.
    #[must_use]
    pub fn mark(&self) -> Position {
        self.mark
    }

    /// Whether the whole entry is acknowledged.
    #[must_use]
    pub fn is_acked(&self, position: Position) -> bool {
        position <= self.mark || self.ahead.contains(position)
    }

    /// The messages that remain of a batch acknowledged in part. `None`: all of it or nothing is
    /// acknowledged ([`Cursor::is_acked`] tells which).
    #[must_use]
    pub fn remaining(&self, position: Position) -> Option<&AckSet> {
        self.partial.get(&position)
    }

    /// The first entry after `after` that is not wholly acknowledged.
    #[must_use]
    pub fn next_unacked(&self, extent: &Extent, after: Position) -> Option<Position> {
        let mut candidate = extent.next_valid(after.max(self.mark))?;
        loop {
            let entry = self.ahead.next_absent(candidate);
            let last = extent.last_of(candidate.ledger)?;
            if entry <= last {
                return Some(Position::new(candidate.ledger, entry));
            }
            candidate = extent.next_valid(Position::new(candidate.ledger, last))?;
        }
    }

    /// Entries that are not wholly acknowledged. Exact while the cursor was fitted to the extent
    /// ([`Cursor::clamp`]) after it was restored and after each trim.
    #[must_use]
    pub fn backlog(&self, extent: &Extent) -> u64 {
        let behind = extent
            .last()
            .map_or(0, |last| extent.count(self.mark, last));
        behind.saturating_sub(self.ahead.count())
    }

    /// Entries acknowledged ahead of the mark.
    #[must_use]
    pub fn acked_ahead_count(&self) -> u64 {
        self.ahead.count()
    }

    /// The runs of entries acknowledged ahead of the mark, in order.
    pub fn acked_runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.ahead.runs()
    }

    /// The runs of entries not wholly acknowledged, in order; the last one is what follows everything acknowledged.
    pub fn holes<'a>(&'a self, extent: &'a Extent) -> impl Iterator<Item = Run> + 'a {
        let mut from = self.mark;
        std::iter::from_fn(move || {
            let first = self.next_unacked(extent, from)?;
            let end = extent.last_of(first.ledger)?;
            let last = self
                .ahead
                .next_present(first)
                .map_or(end, |present| end.min(present - 1));
            from = Position::new(first.ledger, last);
            Some(Run {
                ledger: first.ledger,
                first: first.entry,
                last,
            })
        })
    }

    /// Fits the cursor to the entries that exist: to be called after it was restored and after each trim.
    /// A mark behind the last entry goes back to it; one in a trimmed ledger forward to before the first
    /// entry; what is known of entries that do not exist is dropped.
    pub fn clamp(&mut self, extent: &Extent) {
        let end = extent.end();
        // Nothing was ever stored, as far as is known: then a mark is as good as another, unless it is behind
        // whatever will be stored.
        let known = end > Position::EARLIEST || self.mark.ledger == i64::MAX;
        let lost = known && self.mark > end;
        if lost {
            self.mark = end;
        }
        if let Some(first) = extent.first()
            && self.mark.ledger < first.ledger
        {
            self.mark = first.before();
        }
        self.forget_to_mark();
        let dropped = self.ahead.keep_existing(|ledger| extent.last_of(ledger));
        let sets = self.partial.len();
        self.partial
            .retain(|position, _| extent.contains(*position));
        self.changes.prune(self.mark);
        // What was saved of lost entries would pass for an ack of those that will be stored in their place,
        // so the next record has to replace all of it.
        if lost || dropped > 0 || self.partial.len() < sets {
            self.snapshot_is_due();
        }
        self.advance(extent);
    }

    /// Seeks: everything up to and including `mark` is acknowledged and nothing else. The properties stay.
    pub fn reset(&mut self, mark: Position) {
        self.mark = mark;
        self.ahead = Ahead::default();
        self.partial.clear();
        self.snapshot_is_due();
    }

    /// Seeks: of the entries at or after `target` everything is wanted again, everything before is acknowledged. If
    /// the target exists, `remaining` says which of its messages are wanted. Beyond the last entry nothing is wanted
    /// but what is still to come.
    ///
    /// # Errors
    /// If the set is larger than any batch. Nothing was changed.
    pub fn seek(
        &mut self,
        extent: &Extent,
        target: Position,
        remaining: Option<&AckSet>,
    ) -> Result<(), AckRefusal> {
        let first = extent.at_or_after(target);
        let part = remaining.filter(|set| first == Some(target) && !set.is_empty());
        if part.is_some_and(|set| set.length() > u64::from(BATCH_MESSAGES_MAX)) {
            return Err(AckRefusal::SetTooLarge { position: target });
        }
        self.reset(first.map_or_else(|| extent.end(), Position::before));
        if let Some(set) = part {
            self.partial.insert(target, set.clone());
        }
        Ok(())
    }

    /// Moves the mark over everything acknowledged that follows it.
    pub(crate) fn advance(&mut self, extent: &Extent) -> bool {
        let mut moved = false;
        while let Some(next) = extent.next_valid(self.mark) {
            let absent = self.ahead.next_absent(next);
            if absent == next.entry {
                break;
            }
            self.mark = Position::new(next.ledger, absent - 1);
            self.ahead.remove_to(self.mark);
            moved = true;
        }
        if moved {
            self.forget_to_mark();
            if self.is_durable() {
                self.changes.mark_moved(self.mark);
            }
        }
        moved
    }

    /// Drops what the mark covers; says how many whole entries that were.
    pub(crate) fn forget_to_mark(&mut self) -> u64 {
        while let Some(first) = self.partial.first_entry()
            && *first.key() <= self.mark
        {
            first.remove();
        }
        self.ahead.remove_to(self.mark)
    }

    /// What is saved of a cursor, for comparing.
    pub(crate) fn state(&self) -> impl PartialEq + std::fmt::Debug + '_ {
        (
            self.mark,
            &self.ahead,
            &self.partial,
            &self.properties,
            &self.string_properties,
        )
    }

    pub(crate) fn snapshot_is_due(&mut self) {
        self.changes = Changes::default();
        self.saving.snapshot_due = self.is_durable();
    }
}
