//! Deleting a ledger: its key first. If the process dies in between, the collection at the next start drops
//! the entries, because no key names them.

use ledger_store::{LedgerReply, Ticket};
use metadata_store::{Expect, MetadataError, MetadataRequest};

use super::{LocalEffect, LocalLedgerStore, Step, ledger_error};
use crate::desk::BookieRequest;
use crate::paths::ledger_path;

impl LocalLedgerStore {
    pub(super) fn delete(&mut self, asker: Ticket, ledger: i64, effects: &mut Vec<LocalEffect>) {
        self.writers.remove(&ledger);
        let ticket = self.ticket_for(Step::DeleteKey { asker, ledger });
        effects.push(LocalEffect::Metadata(MetadataRequest::Delete {
            ticket,
            path: ledger_path(ledger),
            expect: Expect::Anything,
        }));
    }

    pub(super) fn key_deleted(
        &mut self,
        asker: Ticket,
        ledger: i64,
        result: Result<(), MetadataError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        if let Err(error) = result {
            let result = Err(ledger_error(error));
            effects.push(LocalEffect::Reply(LedgerReply::Deleted {
                ticket: asker,
                ledger,
                result,
            }));
            return;
        }
        self.fenced.remove(&ledger);
        let ticket = self.ticket_for(Step::DeleteEntries { asker, ledger });
        effects.push(LocalEffect::Bookie(BookieRequest::Forget {
            ticket,
            ledger,
        }));
    }
}
