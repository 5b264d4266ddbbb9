//! The `topic-log` seam: what a topic needs from storage, as values.
//!
//! A topic has at most one log. Requests are answered as their text says; replies to appends come in
//! the order of the appends. Positions are given by the log. A reply that an entry or a cursor record
//! is stored means that it survives a power cut.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use vocabulary::Position;

/// Chosen by the topic, echoed in the reply, never interpreted.
pub type Ticket = u64;

/// One thing asked of a topic's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum LogRequest {
    /// Answer `Found`: whether the topic is there, and its partitions. May be asked of a log that is not open.
    Find { ticket: Ticket },
    /// Opens the log; creates it if `create` and its namespace exists. Answer: `Opened` or `OpenFailed`.
    Open { create: bool },
    /// Adds an entry. Answer: `Stored` or `NotStored`, in the order asked.
    Append {
        ticket: Ticket,
        body: Bytes,
        messages: u32,
    },
    /// Reads existing entries from `from` (the first existing one at or after it) up to and including
    /// `until`, at least one if there is any, then at most so many and so many bytes. Answer: `Read`.
    Read {
        ticket: Ticket,
        from: Position,
        until: Position,
        entries_max: u32,
        bytes_max: usize,
    },
    /// Reads exactly these entries (those trimmed meanwhile are left out). Answer: `Read`.
    ReadAt {
        ticket: Ticket,
        positions: Vec<Position>,
    },
    /// Makes a cursor with this first record (a snapshot, as the cursor room writes it). Answer: `CursorSaved`.
    CreateCursor {
        ticket: Ticket,
        name: String,
        snapshot: Bytes,
    },
    /// Keeps a change of a cursor. Answer: `CursorSaved`, when it is on disk. After a failed one the next
    /// record of that cursor must be a snapshot.
    SaveCursor {
        ticket: Ticket,
        name: String,
        record: CursorRecord,
    },
    /// Forgets a cursor. Answer: `CursorDeleted`.
    DeleteCursor { ticket: Ticket, name: String },
    /// Keeps a property of the topic, in place of an older one of that key. Answer: `PropertySet`, when it is on
    /// disk. After a failed one either value may come back when the log is opened again.
    SetProperty {
        ticket: Ticket,
        key: String,
        value: String,
    },
    /// Nobody needs entries at or before this position any more: whole ledgers below may go, when the
    /// retention rules agree. A lower position than said before takes that back, for what has not gone yet: a
    /// subscription went back. No answer but `Trimmed` if something went.
    Trim { up_to: Position },
    /// Deletes the log with its entries, cursors and properties; it must be open, and is not afterwards. Answer: `Deleted`.
    /// What a crash interrupts is finished when the log is next opened, which then finds nothing.
    Delete,
    /// Seals what is open. Answer: `Closed`; after it the log may be opened again.
    Close,
}

/// A change of a cursor as bytes of the cursor room's own format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CursorRecord {
    /// The whole state; all earlier records are obsolete.
    Snapshot(Bytes),
    /// What changed since the record before.
    Delta(Bytes),
}

/// One answer of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum LogReply {
    /// To `Find`. `partitions`: from the partitioned-topic metadata, `None` if there is none.
    Found {
        ticket: Ticket,
        result: Result<TopicFacts, LogError>,
    },
    /// To `Open`: the ledgers that hold entries, each with its last entry, in order; the cursors; the topic's properties.
    Opened {
        extent: Vec<(i64, i64)>,
        cursors: Vec<SavedCursor>,
        properties: Vec<(String, String)>,
    },
    /// To `Open`.
    OpenFailed { error: LogError },
    /// To `Append`.
    Stored { ticket: Ticket, position: Position },
    /// To `Append`. All appends still waiting behind it fail too (each with its own reply); later ones may succeed.
    NotStored { ticket: Ticket, error: LogError },
    /// To `Read` and `ReadAt`: entries in order. Damaged ones are listed apart, so that one bad entry stops nobody.
    Read {
        ticket: Ticket,
        result: Result<Vec<StoredEntry>, LogError>,
        damaged: Vec<Position>,
    },
    /// To `CreateCursor` and `SaveCursor`.
    CursorSaved {
        ticket: Ticket,
        name: String,
        result: Result<(), LogError>,
    },
    /// To `DeleteCursor`.
    CursorDeleted {
        ticket: Ticket,
        name: String,
        result: Result<(), LogError>,
    },
    /// To `SetProperty`.
    PropertySet {
        ticket: Ticket,
        result: Result<(), LogError>,
    },
    /// To `Delete`. After an error part of it may be gone, and the next opening takes the rest away or finds it whole.
    Deleted { result: Result<(), LogError> },
    /// Ledgers before `first` are gone.
    Trimmed { first: Position },
    /// To `Close`.
    Closed,
    /// Another owner has taken the log, or it is beyond use: nothing more can be done with it here. All that was
    /// asked and not answered has been answered with an error before; to a `Close` or
    /// `Delete` this is the answer.
    Lost { error: LogError },
}

/// What is known of a topic without opening it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicFacts {
    /// Its log exists.
    pub exists: bool,
    /// Its namespace exists.
    pub namespace_exists: bool,
    /// Number of partitions, if it is a partitioned topic; of a partition, how many its topic has, if that is known.
    pub partitions: Option<u32>,
}

/// An entry as read from a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredEntry {
    /// Where it lies.
    pub position: Position,
    /// The bytes that were appended.
    pub body: Bytes,
}

/// A cursor as it was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCursor {
    /// Its name, which is the subscription's.
    pub name: String,
    /// The newest snapshot.
    pub snapshot: Bytes,
    /// The deltas after it, in order.
    pub deltas: Vec<Bytes>,
    /// Newer records are lost, and why: what is here is older (its snapshot may be empty: nothing is known). The next
    /// record must be a snapshot.
    pub lost: Option<String>,
}

/// Why a log said no.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum LogError {
    /// The topic does not exist and was not to be created.
    #[error("Topic {0} does not exist")]
    NoSuchTopic(String),
    /// The namespace does not exist.
    #[error("Namespace {0} does not exist")]
    NoSuchNamespace(String),
    /// Someone else owns the log now.
    #[error("the log of {0} is fenced: another owner took over")]
    Fenced(String),
    /// No space for entries.
    #[error("no space left to store entries: {0}")]
    Full(String),
    /// Unknown whether it happened; asking again may help.
    #[error("storage did not answer in time: {0}")]
    Timeout(String),
    /// What is stored cannot be understood.
    #[error("what is stored is damaged: {0}")]
    Damaged(String),
    /// The storage said no; asking again may help.
    #[error("storage failed: {0}")]
    Io(String),
}
