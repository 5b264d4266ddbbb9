//! What a metadata store is asked and what it answers, in ZooKeeper's model as Pulsar's own
//! metadata-store layer uses it (BROKER.md B2, BOOKKEEPER.md 7.3): slash-separated paths, opaque
//! values, a version per key that starts at 0 and grows by one per write, keys bound to a session,
//! sequential keys.
//!
//! Each request gets exactly one reply. Requests of one asker on one path are carried out in order.
//! A reply of `Ok` to a change means that it survives a power cut.

use bytes::Bytes;

/// Chosen by the asker, echoed in the reply, never interpreted.
pub type Ticket = u64;

/// What must be true of a key for a change to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Whatever is there.
    Anything,
    /// The key must not exist.
    Absent,
    /// The key must exist at this version.
    Version(i64),
}

/// What a new key is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Stays until deleted.
    Persistent,
    /// Goes with the session of the asker (the process, on one machine).
    Ephemeral,
    /// A number is appended to the path: unique and growing, at least ten digits, zero-padded.
    Sequential,
    /// Both.
    EphemeralSequential,
}

/// What is known of a key beside its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// 0 when created, one more with every write.
    pub version: i64,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// Milliseconds since 1970.
    pub modified_ms: u64,
    /// Bound to a session.
    pub ephemeral: bool,
}

/// One thing asked of the store.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum MetadataRequest {
    /// The value of a key.
    Get { ticket: Ticket, path: String },
    /// Writes a key. `kind` counts only when the key is created. Parents need not exist.
    Put {
        ticket: Ticket,
        path: String,
        value: Bytes,
        expect: Expect,
        kind: KeyKind,
    },
    /// Removes a key. It must have no children (ZooKeeper's rule).
    Delete {
        ticket: Ticket,
        path: String,
        expect: Expect,
    },
    /// The names directly below a path, sorted (also those that exist only as a parent of a deeper key).
    Children { ticket: Ticket, path: String },
}

/// One answer, or a notification.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum MetadataReply {
    /// To `Get`; `Ok(None)`: certainly no such key.
    Got {
        ticket: Ticket,
        path: String,
        result: Result<Option<(Bytes, Stat)>, MetadataError>,
    },
    /// To `Put`: the path as written (with the number of a sequential key) and its new state.
    Put {
        ticket: Ticket,
        result: Result<(String, Stat), MetadataError>,
    },
    /// To `Delete`; an absent key is an error only if a version was expected.
    Deleted {
        ticket: Ticket,
        path: String,
        result: Result<(), MetadataError>,
    },
    /// To `Children`; a path that does not exist has none.
    Children {
        ticket: Ticket,
        path: String,
        result: Result<Vec<String>, MetadataError>,
    },
    /// A key under a watched prefix was created, changed or deleted (may come early, late, doubled; read to know).
    Changed { path: String },
    /// The store no longer keeps this asker's session: its ephemeral keys are gone or going.
    SessionLost,
    /// A new session exists.
    SessionEstablished,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The key was not as expected: somebody else wrote it. Read again and decide again.
    #[error("{0} was changed by another writer (expected {1})")]
    BadVersion(String, String),
    /// The key has children and cannot be removed.
    #[error("{0} has keys below it")]
    NotEmpty(String),
    /// The path is no path.
    #[error("{0} is not a valid metadata path: {1}")]
    BadPath(String, String),
    /// It may or may not have happened.
    #[error("no answer in time about {0}")]
    Timeout(String),
    /// The store said no.
    #[error("metadata storage failed at {0}: {1}")]
    Io(String, String),
}

/// A metadata store. Replies come back through whatever the provider was built with.
pub trait MetadataStore {
    /// Hands over requests, in order. Never blocks for long and never fails: trouble is a reply.
    fn submit(&mut self, requests: Vec<MetadataRequest>);
}
