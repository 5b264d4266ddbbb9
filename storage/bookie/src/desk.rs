//! The words in which a bookie is asked and answers, and one turn of its writer.
//!
//! In the real process one thread owns the [`Bookie`]: it takes everything that waits, calls
//! [`Bookie::turn`], hands out the replies, and so syncs once for all. `Read`s go to other threads, each with
//! a [`BookieReader`]. The simulator calls `turn` with everything.

use bytes::Bytes;
use ledger_store::{Entry, LedgerError, Ticket};

use crate::bookie::Bookie;
use crate::read::BookieReader;

/// One thing asked of a bookie.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum BookieRequest {
    /// Adds the entry after the last one; fields as in [`ledger_store::LedgerRequest::Append`].
    Append {
        ledger: i64,
        entry: i64,
        last_confirmed: i64,
        length: u64,
        body: Bytes,
    },
    /// See [`BookieReader::read`]. May be answered by any thread.
    Read {
        ticket: Ticket,
        ledger: i64,
        first: i64,
        last: i64,
        bytes_max: usize,
    },
    /// See [`BookieReader::last_entry`]; sees every append handed over before.
    LastEntry { ticket: Ticket, ledger: i64 },
    /// See [`Bookie::forget`].
    Forget { ticket: Ticket, ledger: i64 },
    /// Which ledgers have entries here.
    Ledgers { ticket: Ticket },
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum BookieReply {
    /// To `Append`; replies of one ledger come in the order of its entries.
    Appended {
        ledger: i64,
        entry: i64,
        result: Result<(), LedgerError>,
    },
    /// To `Read`.
    Read {
        ticket: Ticket,
        ledger: i64,
        first: i64,
        result: Result<Vec<Entry>, LedgerError>,
    },
    /// To `LastEntry`: the last entry (-1: none) and the sum of body bytes.
    LastEntry {
        ticket: Ticket,
        ledger: i64,
        result: Result<(i64, u64), LedgerError>,
    },
    /// To `Forget`.
    Forgotten { ticket: Ticket, ledger: i64 },
    /// To `Ledgers`, sorted.
    Ledgers { ticket: Ticket, ledgers: Vec<i64> },
}

impl BookieRequest {
    /// Whether any thread with a [`BookieReader`] may answer it.
    pub fn is_read(&self) -> bool {
        matches!(self, BookieRequest::Read { .. })
    }
}

impl BookieReader {
    /// Answers a `Read`; `None` for anything else.
    pub fn answer(&self, request: &BookieRequest) -> Option<BookieReply> {
        let BookieRequest::Read {
            ticket,
            ledger,
            first,
            last,
            bytes_max,
        } = *request
        else {
            return None;
        };
        Some(BookieReply::Read {
            ticket,
            ledger,
            first,
            result: self.read(ledger, first, last, bytes_max),
        })
    }
}

impl Bookie {
    /// Carries out requests that came together: first all appends with one sync, then the others in their
    /// order, so that each sees every append that was handed over before it.
    pub fn turn(&mut self, requests: Vec<BookieRequest>) -> Vec<BookieReply> {
        let mut others = Vec::new();
        for request in requests {
            match request {
                BookieRequest::Append {
                    ledger,
                    entry,
                    last_confirmed,
                    length,
                    body,
                } => self.append(ledger, entry, last_confirmed, length, body),
                other => others.push(other),
            }
        }
        let appended = self.commit().into_iter().map(|done| BookieReply::Appended {
            ledger: done.ledger,
            entry: done.entry,
            result: done.result,
        });
        let mut replies: Vec<BookieReply> = appended.collect();
        replies.extend(
            others
                .into_iter()
                .filter_map(|request| self.answer_other(request)),
        );
        replies
    }

    fn answer_other(&mut self, request: BookieRequest) -> Option<BookieReply> {
        match request {
            BookieRequest::Append { .. } => None,
            BookieRequest::Read { .. } => self.reader().answer(&request),
            BookieRequest::LastEntry { ticket, ledger } => Some(BookieReply::LastEntry {
                ticket,
                ledger,
                result: self.last_entry(ledger),
            }),
            BookieRequest::Forget { ticket, ledger } => {
                self.forget(ledger);
                Some(BookieReply::Forgotten { ticket, ledger })
            }
            BookieRequest::Ledgers { ticket } => Some(BookieReply::Ledgers {
                ticket,
                ledgers: self.ledgers(),
            }),
        }
    }
}
