//! Between the words of `managed-ledger` and those of the two storage seams.

use ledger_store::{LedgerError, LedgerReply, LedgerRequest};
use managed_ledger::{Answer, Call, Fault, Tag};
use metadata_store::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest};

use crate::logs::Effect;

/// The request that a call means. `ticket` numbers it for the whole shard.
pub fn request(call: Call, ticket: impl Fn(Tag) -> u64) -> Effect {
    match call {
        Call::CreateLedger { tag, custom } => Effect::Ledger(LedgerRequest::Create {
            ticket: ticket(tag),
            custom,
        }),
        Call::RecoverLedger { tag, ledger } => Effect::Ledger(LedgerRequest::Recover {
            ticket: ticket(tag),
            ledger,
        }),
        Call::Append {
            ledger,
            entry,
            last_confirmed,
            length,
            body,
        } => Effect::Ledger(LedgerRequest::Append {
            ledger,
            entry,
            last_confirmed,
            length,
            body,
        }),
        Call::ReadLedger {
            tag,
            ledger,
            first,
            last,
            bytes_max,
        } => Effect::Ledger(LedgerRequest::Read {
            ticket: ticket(tag),
            ledger,
            first,
            last,
            bytes_max,
        }),
        Call::SealLedger {
            tag,
            ledger,
            last_entry,
            length,
        } => Effect::Ledger(LedgerRequest::Seal {
            ticket: ticket(tag),
            ledger,
            last_entry,
            length,
        }),
        Call::DeleteLedger { tag, ledger } => Effect::Ledger(LedgerRequest::Delete {
            ticket: ticket(tag),
            ledger,
        }),
        Call::GetNode { tag, path } => Effect::Metadata(MetadataRequest::Get {
            ticket: ticket(tag),
            path,
        }),
        Call::PutNode {
            tag,
            path,
            value,
            expect,
        } => {
            let expect = expect.map_or(Expect::Absent, Expect::Version);
            let (ticket, kind) = (ticket(tag), KeyKind::Persistent);
            Effect::Metadata(MetadataRequest::Put {
                ticket,
                path,
                value,
                expect,
                kind,
            })
        }
        Call::DeleteNode { tag, path, expect } => {
            let expect = Expect::Version(expect);
            Effect::Metadata(MetadataRequest::Delete {
                ticket: ticket(tag),
                path,
                expect,
            })
        }
        Call::ListNodes { tag, path } => Effect::Metadata(MetadataRequest::Children {
            ticket: ticket(tag),
            path,
        }),
    }
}

/// The answer that a reply of the ledger store is, with its tag replaced by the log's own.
pub fn ledger_answer(reply: LedgerReply, tag: Tag) -> Answer {
    match reply {
        LedgerReply::Created { result, .. } => Answer::Created {
            tag,
            result: result.map_err(ledger_fault),
        },
        LedgerReply::Recovered { result, .. } => Answer::Recovered {
            tag,
            result: result.map_err(ledger_fault),
        },
        LedgerReply::Appended {
            ledger,
            entry,
            result,
        } => Answer::Appended {
            ledger,
            entry,
            result: result.map_err(ledger_fault),
        },
        LedgerReply::Read { first, result, .. } => {
            let bodies = result.map(|entries| {
                let contiguous = (first..)
                    .zip(entries)
                    .take_while(|(number, entry)| entry.entry == *number);
                contiguous.map(|(_, entry)| entry.body).collect()
            });
            Answer::Read {
                tag,
                result: bodies.map_err(ledger_fault),
            }
        }
        LedgerReply::Sealed { result, .. } => Answer::Sealed {
            tag,
            result: result.map_err(ledger_fault),
        },
        LedgerReply::Deleted { result, .. } => Answer::Deleted {
            tag,
            result: result.map_err(ledger_fault),
        },
    }
}

/// The answer that a reply of the metadata store is; none for a notification.
pub fn metadata_answer(reply: MetadataReply, tag: Tag) -> Option<Answer> {
    Some(match reply {
        MetadataReply::Got { result, .. } => {
            let result = result.map(|found| found.map(|(value, stat)| (value, stat.version)));
            Answer::Got {
                tag,
                result: result.map_err(metadata_fault),
            }
        }
        MetadataReply::Put { result, .. } => Answer::Put {
            tag,
            result: result.map(|(_, stat)| stat.version).map_err(metadata_fault),
        },
        MetadataReply::Deleted { result, .. } => Answer::NodeDeleted {
            tag,
            result: result.map_err(metadata_fault),
        },
        MetadataReply::Children { result, .. } => Answer::Listed {
            tag,
            result: result.map_err(metadata_fault),
        },
        MetadataReply::Changed { .. }
        | MetadataReply::SessionLost
        | MetadataReply::SessionEstablished => {
            return None;
        }
    })
}

/// The ticket that a reply of the ledger store bears; none for an append.
pub fn ledger_ticket(reply: &LedgerReply) -> Option<u64> {
    match reply {
        LedgerReply::Created { ticket, .. }
        | LedgerReply::Recovered { ticket, .. }
        | LedgerReply::Read { ticket, .. }
        | LedgerReply::Sealed { ticket, .. }
        | LedgerReply::Deleted { ticket, .. } => Some(*ticket),
        LedgerReply::Appended { .. } => None,
    }
}

/// The ticket that a reply of the metadata store bears; none for a notification.
pub fn metadata_ticket(reply: &MetadataReply) -> Option<u64> {
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

/// What follows from an error of the ledger store.
pub(crate) fn ledger_fault(error: LedgerError) -> Fault {
    let text = error.to_string();
    match error {
        LedgerError::NoSuchLedger(_) | LedgerError::NoSuchEntry(..) => Fault::Missing(text),
        LedgerError::Fenced(_) => Fault::Taken(text),
        LedgerError::Damaged(..) => Fault::Damaged(text),
        LedgerError::Full(_) => Fault::Full(text),
        LedgerError::NotAllowed(..) => Fault::Refused(text),
        LedgerError::Timeout(_) => Fault::Unsure(text),
        LedgerError::Io(_) => Fault::Io(text),
    }
}

/// What follows from an error of the metadata store.
pub(crate) fn metadata_fault(error: MetadataError) -> Fault {
    let text = error.to_string();
    match error {
        MetadataError::BadVersion(..) => Fault::Taken(text),
        MetadataError::NotEmpty(_) | MetadataError::BadPath(..) => Fault::Refused(text),
        MetadataError::Timeout(_) => Fault::Unsure(text),
        MetadataError::Io(..) => Fault::Io(text),
    }
}
