//! What somebody who looks after a topic wants done with it, without being its producer or consumer.

use crate::{SeekTarget, StoredEntry};
use serde::{Deserialize, Serialize};
use vocabulary::Position;

/// A task. The topic is opened for it, if it exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum TopicTask {
    /// Nothing more than to be open. Answer: `Done`.
    Open,
    /// Makes a durable subscription, and the topic where that may be made on use. Answer: `Done` when it is on disk, or
    /// `NotDone` if there is one of that name.
    Subscribe {
        subscription: String,
        start: SeekTarget,
        properties: Vec<(String, String)>,
        is_replicated: bool,
    },
    /// Ends a subscription, one that has consumers only with `force`. Answer: `Done`.
    Unsubscribe { subscription: String, force: bool },
    /// As SEEK. Answer: `Done`.
    Seek {
        subscription: String,
        target: SeekTarget,
    },
    /// Acknowledges the next so many entries, all for `None`. Answer: `Done` when that is on disk.
    Skip {
        subscription: String,
        entries: Option<u64>,
    },
    /// Acknowledges everything that is older than something. Answer: `Done` when that is on disk, or `NotDone` if there
    /// is nothing that could be.
    Expire { subscription: String, until: Expiry },
    /// The properties of a subscription. Answer: `Properties`.
    Properties { subscription: String },
    /// Replaces the properties of a subscription. Answer: `Done` when they are on disk.
    SetProperties {
        subscription: String,
        properties: Vec<(String, String)>,
    },
    /// Remembers whether a subscription is to be replicated. Answer: `Done` when that is on disk.
    SetReplicated {
        subscription: String,
        is_replicated: bool,
    },
    /// One entry. Answer: `Entry`.
    Read(Which),
    /// Where a time begins: the first entry published at or after it, milliseconds since 1970. Answer: `Position`.
    FindTime { time_ms: u64 },
    /// The last message. Answer: `LastMessageId`, a letter of its own.
    LastMessage,
    /// Everybody is told to go, what is unsaved is saved, the log is closed. Answer: `Done`.
    Unload,
}

/// Up to where things are too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expiry {
    /// Published more than so many seconds ago.
    OlderThanSeconds(u64),
    /// Up to and including this entry.
    To(Position),
}

/// Which entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum Which {
    /// This one.
    At(Position),
    /// The nth (from 1) that a subscription has not acknowledged. A subscription that is not there is made, beginning at
    /// the first entry, as in Pulsar.
    Unacked { subscription: String, n: u64 },
    /// The nth (from 1) of the topic; beyond the last one it is the last one.
    FromFirst(u64),
    /// The nth (from 1) from the end.
    FromLast(u64),
}

/// What came of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskResult {
    /// It is done.
    Done,
    /// There was nothing to be done; the task's text says when.
    NotDone,
    /// An entry; `None`: there is none.
    Entry(Option<StoredEntry>),
    /// A place in the log.
    Position(Position),
    /// The properties of a subscription, and whether it is to be replicated.
    Properties {
        /// By name.
        properties: Vec<(String, String)>,
        /// Whether it is to be replicated.
        is_replicated: bool,
    },
}
