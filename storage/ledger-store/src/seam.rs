//! What a store of ledgers is asked and what it answers.
//!
//! A ledger is an append-only run of entries 0, 1, 2, ... written by one writer, sealed once, then
//! immutable (BookKeeper's model). Requests are values; each gets exactly one reply, in any order
//! across ledgers; replies to appends of one ledger come in the order of their entries. A reply of
//! `Ok` to an append means that the entry survives a power cut.

use bytes::Bytes;

/// Chosen by the asker, echoed in the reply, never interpreted.
pub type Ticket = u64;

/// One thing asked of the store.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum LedgerRequest {
    /// Makes a new, empty ledger with a fresh id. `custom` goes into its metadata (BookKeeper's custom metadata).
    Create {
        ticket: Ticket,
        custom: Vec<(String, Vec<u8>)>,
    },
    /// Opens a ledger that some earlier writer may have left open: fences that writer (its later
    /// appends fail with [`LedgerError::Fenced`]), finds the last entry, seals it.
    Recover { ticket: Ticket, ledger: i64 },
    /// Adds entry `entry` (the number after the last one) to an open ledger. `last_confirmed` is the
    /// highest entry already confirmed to the application (-1: none), `length` the sum of body bytes
    /// up to and including this entry: both are part of a stored BookKeeper entry.
    Append {
        ledger: i64,
        entry: i64,
        last_confirmed: i64,
        length: u64,
        body: Bytes,
    },
    /// Reads entries `first..=last`, at least one and then no more than `bytes_max` of bodies.
    Read {
        ticket: Ticket,
        ledger: i64,
        first: i64,
        last: i64,
        bytes_max: usize,
    },
    /// Seals a ledger of which this asker is the writer, after its last append was answered.
    Seal {
        ticket: Ticket,
        ledger: i64,
        last_entry: i64,
        length: u64,
    },
    /// Forgets a ledger and everything in it. Fine if it is gone already.
    Delete { ticket: Ticket, ledger: i64 },
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum LedgerReply {
    /// To `Create`.
    Created {
        ticket: Ticket,
        result: Result<i64, LedgerError>,
    },
    /// To `Recover`: the last entry (-1: empty) and the sum of body bytes.
    Recovered {
        ticket: Ticket,
        ledger: i64,
        result: Result<(i64, u64), LedgerError>,
    },
    /// To `Append`.
    Appended {
        ledger: i64,
        entry: i64,
        result: Result<(), LedgerError>,
    },
    /// To `Read`: the entries from `first` on, contiguous. A damaged entry in the middle ends the
    /// run before it; asked for first, it is the error [`LedgerError::Damaged`].
    Read {
        ticket: Ticket,
        ledger: i64,
        first: i64,
        result: Result<Vec<Entry>, LedgerError>,
    },
    /// To `Seal`.
    Sealed {
        ticket: Ticket,
        ledger: i64,
        result: Result<(), LedgerError>,
    },
    /// To `Delete`.
    Deleted {
        ticket: Ticket,
        ledger: i64,
        result: Result<(), LedgerError>,
    },
}

/// An entry as read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub entry: i64,
    /// The bytes that were appended.
    pub body: Bytes,
}

/// Why a request failed. The class decides what the asker does (BookKeeper's three classes: only
/// `NoSuchLedger` and `NoSuchEntry` are certain negatives; all else means "unknown").
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// Certain: no such ledger.
    #[error("ledger {0} does not exist")]
    NoSuchLedger(i64),
    /// Certain: the ledger ends before this entry.
    #[error("entry {0}:{1} does not exist")]
    NoSuchEntry(i64, i64),
    /// Someone recovered the ledger: this writer may not write to it any more.
    #[error("ledger {0} is fenced: another writer took over")]
    Fenced(i64),
    /// The stored bytes do not match their checksum. The rest of the ledger is readable.
    #[error("entry {0}:{1} is damaged on disk: {2}")]
    Damaged(i64, i64, String),
    /// No space for it. Reading and deleting still work.
    #[error("no space left for ledger data: {0}")]
    Full(String),
    /// Asked against the rules of the seam (wrong entry number, sealed ledger).
    #[error("not allowed on ledger {0}: {1}")]
    NotAllowed(i64, String),
    /// It may or may not have happened.
    #[error("no answer in time: {0}")]
    Timeout(String),
    /// The disk or the store said no.
    #[error("ledger storage failed: {0}")]
    Io(String),
}

/// A store of ledgers. Replies come back through whatever the provider was built with: a queue in
/// the real process, a turn's return value in the simulator.
pub trait LedgerStore {
    /// Hands over requests, in order. Never blocks for long and never fails: trouble is a reply.
    fn submit(&mut self, requests: Vec<LedgerRequest>);
}
