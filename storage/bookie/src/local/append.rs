//! Appending: only by the writer that created the ledger in this process, until it is sealed or fenced.

use ledger_store::{LedgerError, LedgerReply};

use super::{LocalEffect, LocalLedgerStore};

impl LocalLedgerStore {
    pub(super) fn may_append(&self, ledger: i64) -> Result<(), LedgerError> {
        if self.fenced.contains(&ledger) {
            return Err(LedgerError::Fenced(ledger));
        }
        match self.writers.get(&ledger) {
            Some(writer) if !writer.sealing => Ok(()),
            _ => Err(LedgerError::NotAllowed(
                ledger,
                "it is not open for writing here".into(),
            )),
        }
    }

    pub(super) fn appended(
        &mut self,
        ledger: i64,
        entry: i64,
        result: Result<(), LedgerError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        if result.is_ok()
            && let Some(writer) = self.writers.get_mut(&ledger)
        {
            writer.confirmed = entry;
        }
        effects.push(LocalEffect::Reply(LedgerReply::Appended {
            ledger,
            entry,
            result,
        }));
    }
}
