//! A ledger store on this one bookie: a machine that turns requests to the ledger store into work for the
//! bookie and for the metadata store.
//!
//! It does nothing by itself: whoever owns it carries out its [`LocalEffect`]s and brings the answers back.
//! Bookie effects must be carried out in their order, appends of one batch before the rest of it (as
//! [`crate::Bookie::turn`] does); metadata effects in their order for each path.
//!
//! **Tickets.** Requests that this machine makes of its own accord carry tickets with the highest bit set
//! ([`OWN_TICKETS`]), so that its metadata replies can be told from those of others that ask the same store;
//! askers use tickets without that bit.
//!
//! **Memory.** One step for each unanswered request, so as much as the asker leaves unanswered; one
//! writer for each open ledger; one number for each ledger taken over while its writer was in this
//! process. Bodies pass through.

use std::collections::{BTreeMap, BTreeSet};

use ledger_store::{LedgerError, LedgerReply, LedgerRequest, Ticket};
use metadata_store::{MetadataError, MetadataReply, MetadataRequest};

use crate::desk::{BookieReply, BookieRequest};
use crate::metadata::LedgerMetadataFormat;

mod append;
mod collect;
mod create;
mod delete;
mod read;
mod recover;
mod seal;
#[cfg(test)]
mod tests;

use collect::Collection;
use create::Ids;

/// The bit that marks this machine's own tickets.
pub const OWN_TICKETS: Ticket = 1 << 63;

/// What the owner has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum LocalEffect {
    /// Ask the metadata store.
    Metadata(MetadataRequest),
    /// Ask the bookie.
    Bookie(BookieRequest),
    /// Answer the asker.
    Reply(LedgerReply),
}

/// The machine.
#[derive(Debug)]
pub struct LocalLedgerStore {
    bookie_id: String,
    next_ticket: Ticket,
    ids: Ids,
    writers: BTreeMap<i64, Writer>,
    /// Ledgers whose writer in this process lost them.
    fenced: BTreeSet<i64>,
    steps: BTreeMap<Ticket, Step>,
    collection: Option<Collection>,
}

/// A ledger that was created here and is still open.
#[derive(Debug)]
struct Writer {
    metadata: LedgerMetadataFormat,
    version: i64,
    /// The last entry that the bookie confirmed.
    confirmed: i64,
    sealing: bool,
}

/// What an answer under one of our tickets means.
#[derive(Debug)]
enum Step {
    /// Reading the counter of ids.
    ReadCounter,
    /// Moving the counter of ids from `from` to `to`.
    MoveCounter { from: i64, to: i64 },
    /// Writing the key of a new ledger.
    WriteKey {
        asker: Ticket,
        ledger: i64,
        metadata: LedgerMetadataFormat,
    },
    /// Reading the key of a ledger to recover.
    RecoverRead(recover::Recover),
    /// Asking the bookie for its last entry.
    RecoverLast(recover::Recover, LedgerMetadataFormat, i64),
    /// Writing its key as sealed.
    RecoverClose(recover::Recover, i64, u64),
    /// Writing the key of a ledger that its writer seals.
    Seal { asker: Ticket, ledger: i64 },
    /// Removing the key of a ledger.
    DeleteKey { asker: Ticket, ledger: i64 },
    /// Removing its entries.
    DeleteEntries { asker: Ticket, ledger: i64 },
    /// The bookie knows nothing of a ledger; does it exist?
    ReadCheck {
        asker: Ticket,
        ledger: i64,
        first: i64,
    },
    /// Part of the collection at the start.
    Collect,
}

impl LocalLedgerStore {
    /// A store whose ledgers live on the bookie of this name (`host:port` or any id of BookKeeper's form).
    pub fn new(bookie_id: &str) -> LocalLedgerStore {
        LocalLedgerStore {
            bookie_id: bookie_id.to_owned(),
            next_ticket: OWN_TICKETS,
            ids: Ids::default(),
            writers: BTreeMap::new(),
            fenced: BTreeSet::new(),
            steps: BTreeMap::new(),
            collection: None,
        }
    }

    /// The process started: looks for entries of ledgers that were deleted and drops them.
    pub fn start(&mut self, effects: &mut Vec<LocalEffect>) {
        self.begin_collection(effects);
    }

    /// The asker wants something.
    pub fn handle_request(&mut self, request: LedgerRequest, effects: &mut Vec<LocalEffect>) {
        match request {
            LedgerRequest::Create { ticket, custom } => self.create(ticket, custom, effects),
            LedgerRequest::Recover { ticket, ledger } => self.recover(ticket, ledger, effects),
            LedgerRequest::Append {
                ledger,
                entry,
                last_confirmed,
                length,
                body,
            } => match self.may_append(ledger) {
                Ok(()) => effects.push(LocalEffect::Bookie(BookieRequest::Append {
                    ledger,
                    entry,
                    last_confirmed,
                    length,
                    body,
                })),
                Err(error) => effects.push(LocalEffect::Reply(LedgerReply::Appended {
                    ledger,
                    entry,
                    result: Err(error),
                })),
            },
            LedgerRequest::Read {
                ticket,
                ledger,
                first,
                last,
                bytes_max,
            } => effects.push(LocalEffect::Bookie(BookieRequest::Read {
                ticket,
                ledger,
                first,
                last,
                bytes_max,
            })),
            LedgerRequest::Seal {
                ticket,
                ledger,
                last_entry,
                length,
            } => self.seal(ticket, ledger, last_entry, length, effects),
            LedgerRequest::Delete { ticket, ledger } => self.delete(ticket, ledger, effects),
        }
    }

    /// Whether a metadata reply belongs to this machine (notifications belong to others).
    pub fn owns(reply: &MetadataReply) -> bool {
        ticket_of(reply).is_some_and(|ticket| ticket & OWN_TICKETS != 0)
    }

    /// The metadata store answered. Replies that are not ours are ignored.
    pub fn handle_metadata(&mut self, reply: MetadataReply, effects: &mut Vec<LocalEffect>) {
        let Some(step) = ticket_of(&reply).and_then(|ticket| self.steps.remove(&ticket)) else {
            return;
        };
        match (step, reply) {
            (Step::ReadCounter, MetadataReply::Got { result, .. }) => {
                self.counter_read(result, effects)
            }
            (Step::MoveCounter { from, to }, MetadataReply::Put { result, .. }) => {
                self.counter_moved(from, to, result.map(drop), effects);
            }
            (
                Step::WriteKey {
                    asker,
                    ledger,
                    metadata,
                },
                MetadataReply::Put { result, .. },
            ) => self.key_written(
                asker,
                ledger,
                metadata,
                result.map(|(_, stat)| stat.version),
                effects,
            ),
            (Step::RecoverRead(recover), MetadataReply::Got { result, .. }) => {
                self.recover_read(recover, result, effects)
            }
            (Step::RecoverClose(recover, last, length), MetadataReply::Put { result, .. }) => {
                self.recover_closed(recover, (last, length), result.map(drop), effects);
            }
            (Step::Seal { asker, ledger }, MetadataReply::Put { result, .. }) => {
                self.sealed(asker, ledger, result.map(drop), effects);
            }
            (Step::DeleteKey { asker, ledger }, MetadataReply::Deleted { result, .. }) => {
                self.key_deleted(asker, ledger, result, effects);
            }
            (
                Step::ReadCheck {
                    asker,
                    ledger,
                    first,
                },
                MetadataReply::Got { result, .. },
            ) => {
                self.read_checked(asker, ledger, first, result, effects);
            }
            (Step::Collect, reply) => self.collected(reply, effects),
            (step, reply) => {
                // A store that answers a question with the answer to another cannot be trusted any further.
                tracing::error!(
                    ?step,
                    ?reply,
                    "the metadata store gave an answer of the wrong kind"
                );
            }
        }
    }

    /// The bookie answered.
    pub fn handle_bookie(&mut self, reply: BookieReply, effects: &mut Vec<LocalEffect>) {
        match reply {
            BookieReply::Appended {
                ledger,
                entry,
                result,
            } => self.appended(ledger, entry, result, effects),
            BookieReply::Read {
                ticket,
                ledger,
                first,
                result,
            } => self.read(ticket, ledger, first, result, effects),
            BookieReply::LastEntry { ticket, result, .. } => {
                if let Some(Step::RecoverLast(recover, metadata, version)) =
                    self.steps.remove(&ticket)
                {
                    self.recover_last(recover, metadata, version, result, effects);
                }
            }
            BookieReply::Forgotten { ticket, .. } => match self.steps.remove(&ticket) {
                Some(Step::DeleteEntries { asker, ledger }) => {
                    effects.push(LocalEffect::Reply(LedgerReply::Deleted {
                        ticket: asker,
                        ledger,
                        result: Ok(()),
                    }))
                }
                Some(Step::Collect) => self.collect_next(effects),
                _ => {}
            },
            BookieReply::Ledgers { ticket, ledgers } => {
                if let Some(Step::Collect) = self.steps.remove(&ticket) {
                    self.collect_from(ledgers, effects);
                }
            }
        }
    }

    fn ticket_for(&mut self, step: Step) -> Ticket {
        let ticket = self.next_ticket;
        self.next_ticket = ticket.wrapping_add(1) | OWN_TICKETS;
        self.steps.insert(ticket, step);
        ticket
    }
}

fn ticket_of(reply: &MetadataReply) -> Option<Ticket> {
    match reply {
        MetadataReply::Got { ticket, .. }
        | MetadataReply::Put { ticket, .. }
        | MetadataReply::Deleted { ticket, .. }
        | MetadataReply::Children { ticket, .. } => Some(*ticket),
        MetadataReply::Changed { .. }
        | MetadataReply::SessionLost
        | MetadataReply::SessionEstablished => None,
    }
}

/// Trouble with the metadata store, as the asker of a ledger store sees it.
fn ledger_error(error: MetadataError) -> LedgerError {
    match error {
        MetadataError::Timeout(_) => LedgerError::Timeout(error.to_string()),
        _ => LedgerError::Io(error.to_string()),
    }
}
