//! Acknowledging: what an ack changed, or why it was refused. No ack is ever taken back.

use vocabulary::{AckSet, Position};

use crate::ahead::Run;
use crate::cursor::{BATCH_MESSAGES_MAX, Cursor};
use crate::extent::Extent;

/// What an ack changed. The default is: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acked {
    /// Entries that this ack completed: acknowledged wholly now and not before.
    pub entries: u64,
    /// Of the entry the ack names: how many of its messages are acknowledged now and were not before.
    /// Counted against the batch size told. Without one, a whole ack counts the messages the stored set
    /// says remained, or 1; a partial ack counts against the stored set, or 0 where there is none.
    /// A cumulative ack does not count the messages of the entries before the named one.
    pub messages: u32,
    /// The mark moved.
    pub mark_moved: bool,
    /// Anything changed at all, even what the numbers above cannot show.
    pub changed: bool,
}

/// Why an ack was refused. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AckRefusal {
    /// The position lies behind the last entry: it names a message that was never there.
    #[error("cannot acknowledge {position}: the last entry of the topic is {last}")]
    BeyondLast {
        /// What was to be acknowledged.
        position: Position,
        /// The last entry ever stored.
        last: Position,
    },
    /// The set speaks of more messages than a batch can hold here.
    #[error(
        "cannot acknowledge {position}: its ack set has more than {} messages",
        BATCH_MESSAGES_MAX
    )]
    SetTooLarge {
        /// What was to be acknowledged.
        position: Position,
    },
}

impl Cursor {
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
        let batch_size = batch_size.map(|size| size.max(1));
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
        let batch_size = batch_size.map(|size| size.max(1));
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
