//! What one subscription has acknowledged of a topic.

use std::collections::BTreeMap;

use vocabulary::{AckSet, Position};

use crate::ack::{AckRefusal, Acked};
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

    /// Acknowledges an entry, or what is not in `remaining` of its messages. An entry that does not exist
    /// any more (or never did, between others) changes nothing, as does an ack made before.
    ///
    /// # Errors
    /// If the position lies behind the last entry, or the set is larger than any batch.
    pub fn ack(
        &mut self,
        extent: &Extent,
        position: Position,
        remaining: Option<&AckSet>,
        batch_size: Option<u32>,
    ) -> Result<Acked, AckRefusal> {
        if position > extent.end() {
            return Err(AckRefusal::BeyondLast {
                position,
                last: extent.end(),
            });
        }
        let remaining = fitted(position, remaining, batch_size)?;
        if self.is_acked(position) || !extent.contains(position) {
            return Ok(Acked::default());
        }
        Ok(match remaining {
            Some(remaining) if !remaining.is_empty() => {
                self.ack_part(position, remaining, batch_size, extent)
            }
            _ => self.ack_whole(position, batch_size, extent),
        })
    }

    /// Acknowledges everything before the position, and the position as [`Cursor::ack`] does. A position
    /// that is no entry stands for the last one before it; (ledger, -1) for everything before that ledger.
    ///
    /// # Errors
    /// If the position lies behind the last entry (unless its entry number is -1, as Pulsar allows at the
    /// start of the next ledger), or the set is larger than any batch.
    pub fn ack_cumulative(
        &mut self,
        extent: &Extent,
        position: Position,
        remaining: Option<&AckSet>,
        batch_size: Option<u32>,
    ) -> Result<Acked, AckRefusal> {
        if position > extent.end() && position.entry != -1 {
            return Err(AckRefusal::BeyondLast {
                position,
                last: extent.end(),
            });
        }
        let fitting = fitted(position, remaining, batch_size)?;
        let partly =
            extent.contains(position) && fitting.as_ref().is_some_and(|set| !set.is_empty());
        let messages = self.messages_before(position, batch_size);
        let target = if partly { position.before() } else { position };
        let mut acked = self.raise(extent, target);
        if partly {
            let own = self.ack(extent, position, fitting.as_ref(), batch_size)?;
            acked.entries += own.entries;
            acked.messages = own.messages;
            acked.mark_moved |= own.mark_moved;
            acked.changed |= own.changed;
        } else if extent.contains(position) {
            acked.messages = messages;
        }
        Ok(acked)
    }

    /// Fits the cursor to the entries that exist: to be called after it was restored and after each trim.
    /// A mark behind the last entry goes back to it; one in a trimmed ledger forward to before the first
    /// entry; what is known of entries that do not exist is dropped.
    pub fn clamp(&mut self, extent: &Extent) {
        let lost = match extent.last() {
            Some(last) if self.mark > last => {
                self.mark = last;
                true
            }
            None if self.mark.ledger == i64::MAX => {
                self.mark = extent.end();
                true
            }
            _ => false,
        };
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
        // Expectation: none of a client. What was saved of lost entries would pass for an ack of those that
        // will be stored in their place, so the next record has to replace all of it.
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

    fn ack_whole(&mut self, position: Position, batch_size: Option<u32>, extent: &Extent) -> Acked {
        let messages = self.messages_before(position, batch_size);
        self.partial.remove(&position);
        let run = Run {
            ledger: position.ledger,
            first: position.entry,
            last: position.entry,
        };
        self.ahead.insert(run);
        if self.is_durable() {
            self.changes.partial.remove(&position);
            self.changes.acked.insert(run);
        }
        let mark_moved = self.advance(extent);
        Acked {
            entries: 1,
            messages,
            mark_moved,
            changed: true,
        }
    }

    fn ack_part(
        &mut self,
        position: Position,
        mut set: AckSet,
        batch_size: Option<u32>,
        extent: &Extent,
    ) -> Acked {
        let before = self.partial.get(&position);
        match before {
            Some(known) => set.intersect(known),
            None if batch_size.is_some_and(|size| set.count_within(size) == size) => {
                return Acked::default();
            }
            None => {}
        }
        if before == Some(&set) {
            return Acked::default();
        }
        if set.is_empty() {
            return self.ack_whole(position, batch_size, extent);
        }
        let within = batch_size.unwrap_or(BATCH_MESSAGES_MAX);
        let messages = match (before, batch_size) {
            (None, None) => 0,
            _ => self
                .messages_before(position, batch_size)
                .saturating_sub(set.count_within(within)),
        };
        self.partial.insert(position, set);
        if self.is_durable() {
            self.changes.partial.insert(position);
        }
        Acked {
            entries: 0,
            messages,
            mark_moved: false,
            changed: true,
        }
    }

    /// How many messages of an entry remain.
    fn messages_before(&self, position: Position, batch_size: Option<u32>) -> u32 {
        if self.is_acked(position) {
            return 0;
        }
        match self.partial.get(&position) {
            Some(known) => known.count_within(batch_size.unwrap_or(BATCH_MESSAGES_MAX)),
            None => batch_size.unwrap_or(1),
        }
    }

    /// Acknowledges all entries up to and including the position.
    fn raise(&mut self, extent: &Extent, up_to: Position) -> Acked {
        let Some(target) = extent.at_or_before(up_to) else {
            return Acked::default();
        };
        if target <= self.mark {
            return Acked::default();
        }
        let covered = extent.count(self.mark, target);
        self.mark = target;
        let known = self.forget_to_mark();
        if self.is_durable() {
            self.changes.mark_moved(self.mark);
        }
        self.advance(extent);
        Acked {
            entries: covered.saturating_sub(known),
            messages: 0,
            mark_moved: true,
            changed: true,
        }
    }

    /// Moves the mark over everything acknowledged that follows it.
    fn advance(&mut self, extent: &Extent) -> bool {
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

    pub(crate) fn snapshot_is_due(&mut self) {
        self.changes = Changes::default();
        self.saving.snapshot_due = self.is_durable();
    }
}

/// The set without messages the batch does not have.
fn fitted(
    position: Position,
    remaining: Option<&AckSet>,
    batch_size: Option<u32>,
) -> Result<Option<AckSet>, AckRefusal> {
    let Some(set) = remaining else {
        return Ok(None);
    };
    if set.length() > u64::from(BATCH_MESSAGES_MAX) {
        return Err(AckRefusal::SetTooLarge { position });
    }
    let mut set = set.clone();
    if let Some(size) = batch_size {
        set.truncate(size);
    }
    Ok(Some(set))
}
