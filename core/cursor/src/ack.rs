//! What an ack changed, or why it was refused.

use vocabulary::Position;

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
        crate::cursor::BATCH_MESSAGES_MAX
    )]
    SetTooLarge {
        /// What was to be acknowledged.
        position: Position,
    },
}
