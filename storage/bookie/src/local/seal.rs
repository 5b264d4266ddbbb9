//! Sealing a ledger by its writer.

use ledger_store::{LedgerError, LedgerReply, Ticket};
use metadata_store::{Expect, KeyKind, MetadataError, MetadataRequest};

use super::{LocalEffect, LocalLedgerStore, Step, ledger_error};
use crate::metadata;
use crate::paths::ledger_path;

impl LocalLedgerStore {
    pub(super) fn seal(
        &mut self,
        asker: Ticket,
        ledger: i64,
        last_entry: i64,
        length: u64,
        effects: &mut Vec<LocalEffect>,
    ) {
        if let Err(error) = self.may_seal(ledger, last_entry) {
            return reply(asker, ledger, Err(error), effects);
        }
        let Some(writer) = self.writers.get_mut(&ledger) else {
            return;
        };
        writer.sealing = true;
        let expect = Expect::Version(writer.version);
        let value = metadata::encode(&metadata::closed(
            writer.metadata.clone(),
            last_entry,
            length,
        ));
        let ticket = self.ticket_for(Step::Seal { asker, ledger });
        effects.push(LocalEffect::Metadata(MetadataRequest::Put {
            ticket,
            path: ledger_path(ledger),
            value,
            expect,
            kind: KeyKind::Persistent,
        }));
    }

    fn may_seal(&self, ledger: i64, last_entry: i64) -> Result<(), LedgerError> {
        self.may_append(ledger)?;
        match self.writers.get(&ledger) {
            Some(writer) if writer.confirmed != last_entry => {
                let text = format!(
                    "it cannot be sealed after entry {last_entry}: the last confirmed one is {}",
                    writer.confirmed
                );
                Err(LedgerError::NotAllowed(ledger, text))
            }
            _ => Ok(()),
        }
    }

    /// Whatever the answer, this writer is done: if it is not known whether the key was written, a recovery
    /// finds out.
    pub(super) fn sealed(
        &mut self,
        asker: Ticket,
        ledger: i64,
        result: Result<(), MetadataError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        self.writers.remove(&ledger);
        let result = result.map_err(|error| match error {
            MetadataError::BadVersion(..) => LedgerError::Fenced(ledger),
            other => ledger_error(other),
        });
        reply(asker, ledger, result, effects);
    }
}

fn reply(
    ticket: Ticket,
    ledger: i64,
    result: Result<(), LedgerError>,
    effects: &mut Vec<LocalEffect>,
) {
    effects.push(LocalEffect::Reply(LedgerReply::Sealed {
        ticket,
        ledger,
        result,
    }));
}
