//! The lower face: what a machine asks of storage, and how storage answers.
//!
//! Every call gets exactly one answer. Calls with a [`Tag`] are answered with it, in any order;
//! appends are answered in the order of their entries within one ledger.

use bytes::Bytes;
use letters::LogError;

/// Numbers the calls of one log.
pub type Tag = u32;

/// One thing asked of storage.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum Call {
    /// Make a ledger. Answer: `Created`.
    CreateLedger {
        tag: Tag,
        custom: Vec<(String, Vec<u8>)>,
    },
    /// Fence whoever writes to it, find its end, seal it. Answer: `Recovered`.
    RecoverLedger { tag: Tag, ledger: i64 },
    /// Add an entry; see the ledger store's seam. Answer: `Appended`.
    Append {
        ledger: i64,
        entry: i64,
        last_confirmed: i64,
        length: u64,
        body: Bytes,
    },
    /// Read entries. Answer: `Read`.
    ReadLedger {
        tag: Tag,
        ledger: i64,
        first: i64,
        last: i64,
        bytes_max: usize,
    },
    /// Seal a ledger that this log wrote. Answer: `Sealed`.
    SealLedger {
        tag: Tag,
        ledger: i64,
        last_entry: i64,
        length: u64,
    },
    /// Forget a ledger. Answer: `Deleted`.
    DeleteLedger { tag: Tag, ledger: i64 },
    /// Read a metadata node. Answer: `Got`.
    GetNode { tag: Tag, path: String },
    /// Write a node that is at version `expect` (`None`: that is absent). Answer: `Put`.
    PutNode {
        tag: Tag,
        path: String,
        value: Bytes,
        expect: Option<i64>,
    },
    /// Remove a node that is at version `expect`. Answer: `NodeDeleted`.
    DeleteNode { tag: Tag, path: String, expect: i64 },
    /// The names below a node. Answer: `Listed`.
    ListNodes { tag: Tag, path: String },
}

/// How a call went.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is named after its call")]
pub enum Answer {
    Created {
        tag: Tag,
        result: Result<i64, Fault>,
    },
    /// The last entry (-1: none) and the sum of body bytes.
    Recovered {
        tag: Tag,
        result: Result<(i64, u64), Fault>,
    },
    Appended {
        ledger: i64,
        entry: i64,
        result: Result<(), Fault>,
    },
    /// The bodies from the first entry asked for on, at least one.
    Read {
        tag: Tag,
        result: Result<Vec<Bytes>, Fault>,
    },
    Sealed {
        tag: Tag,
        result: Result<(), Fault>,
    },
    Deleted {
        tag: Tag,
        result: Result<(), Fault>,
    },
    /// The value and its version; `None`: certainly no such node.
    Got {
        tag: Tag,
        result: Result<Option<(Bytes, i64)>, Fault>,
    },
    /// The new version.
    Put {
        tag: Tag,
        result: Result<i64, Fault>,
    },
    NodeDeleted {
        tag: Tag,
        result: Result<(), Fault>,
    },
    Listed {
        tag: Tag,
        result: Result<Vec<String>, Fault>,
    },
}

/// Why a call failed, sorted by what follows from it. The texts come from the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Certain: it does not exist.
    #[error("{0}")]
    Missing(String),
    /// Certain: somebody else wrote here (a fenced ledger, a node at another version).
    #[error("{0}")]
    Taken(String),
    /// No space.
    #[error("{0}")]
    Full(String),
    /// It may or may not have happened.
    #[error("{0}")]
    Unsure(String),
    /// What is stored does not match its checksum.
    #[error("{0}")]
    Damaged(String),
    /// Against the store's rules.
    #[error("{0}")]
    Refused(String),
    /// The store said no.
    #[error("{0}")]
    Io(String),
}

impl Fault {
    /// As a topic hears it. `of` names what was in the works.
    #[must_use]
    pub fn to_log_error(&self, of: &str) -> LogError {
        match self {
            Fault::Taken(_) => LogError::Fenced(of.to_owned()),
            Fault::Full(text) => LogError::Full(text.clone()),
            Fault::Unsure(text) => LogError::Timeout(text.clone()),
            Fault::Damaged(text) => LogError::Damaged(text.clone()),
            Fault::Missing(text) | Fault::Refused(text) | Fault::Io(text) => {
                LogError::Io(text.clone())
            }
        }
    }
}

impl Answer {
    /// The number of the call it answers; none for an append.
    #[must_use]
    pub fn tag(&self) -> Option<Tag> {
        match self {
            Answer::Created { tag, .. }
            | Answer::Recovered { tag, .. }
            | Answer::Read { tag, .. }
            | Answer::Sealed { tag, .. }
            | Answer::Deleted { tag, .. }
            | Answer::Got { tag, .. }
            | Answer::Put { tag, .. }
            | Answer::NodeDeleted { tag, .. }
            | Answer::Listed { tag, .. } => Some(*tag),
            Answer::Appended { .. } => None,
        }
    }
}
