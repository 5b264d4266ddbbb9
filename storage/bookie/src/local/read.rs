//! Reading: the bookie's answer, unless it knows nothing of the ledger; then the key says whether there is one.

use bytes::Bytes;
use ledger_store::{Entry, LedgerError, LedgerReply, Ticket};
use metadata_store::{MetadataError, MetadataRequest, Stat};

use super::{LocalEffect, LocalLedgerStore, Step, ledger_error};
use crate::metadata;
use crate::paths::ledger_path;

impl LocalLedgerStore {
    pub(super) fn read(
        &mut self,
        asker: Ticket,
        ledger: i64,
        first: i64,
        result: Result<Vec<Entry>, LedgerError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        if result != Err(LedgerError::NoSuchLedger(ledger)) {
            return reply(asker, ledger, first, result, effects);
        }
        let ticket = self.ticket_for(Step::ReadCheck {
            asker,
            ledger,
            first,
        });
        effects.push(LocalEffect::Metadata(MetadataRequest::Get {
            ticket,
            path: ledger_path(ledger),
        }));
    }

    pub(super) fn read_checked(
        &mut self,
        asker: Ticket,
        ledger: i64,
        first: i64,
        result: Result<Option<(Bytes, Stat)>, MetadataError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        let error = match result {
            Ok(None) => LedgerError::NoSuchLedger(ledger),
            Ok(Some((value, _))) => match metadata::decode(&value) {
                Ok(metadata)
                    if metadata::end_of(&metadata).is_some_and(|(last, _)| first <= last) =>
                {
                    LedgerError::Damaged(
                        ledger,
                        first,
                        "none of the ledger's entries are to be found".into(),
                    )
                }
                Ok(_) => LedgerError::NoSuchEntry(ledger, first),
                Err(text) => LedgerError::Io(text),
            },
            Err(error) => ledger_error(error),
        };
        reply(asker, ledger, first, Err(error), effects);
    }
}

fn reply(
    ticket: Ticket,
    ledger: i64,
    first: i64,
    result: Result<Vec<Entry>, LedgerError>,
    effects: &mut Vec<LocalEffect>,
) {
    effects.push(LocalEffect::Reply(LedgerReply::Read {
        ticket,
        ledger,
        first,
        result,
    }));
}
