//! Taking over a ledger: fence its writer, find its end, seal it.
//!
//! On one machine the only writer there can be is in this process, so fencing is a note in memory. The
//! question for the last entry is put to the bookie behind every append that was let through before, so the
//! answer covers them.

use bytes::Bytes;
use ledger_store::{LedgerError, LedgerReply, Ticket};
use metadata_store::{Expect, KeyKind, MetadataError, MetadataRequest, Stat};

use super::{LocalEffect, LocalLedgerStore, Step, ledger_error};
use crate::desk::BookieRequest;
use crate::metadata::{self, LedgerMetadataFormat};
use crate::paths::ledger_path;

/// How often a key that others write is tried.
const ATTEMPTS_MAX: u32 = 5;

/// A recovery on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recover {
    asker: Ticket,
    ledger: i64,
    attempts: u32,
}

impl LocalLedgerStore {
    pub(super) fn recover(&mut self, asker: Ticket, ledger: i64, effects: &mut Vec<LocalEffect>) {
        if self.writers.remove(&ledger).is_some() {
            self.fenced.insert(ledger);
        }
        let recover = Recover {
            asker,
            ledger,
            attempts: 0,
        };
        self.read_key(recover, effects);
    }

    fn read_key(&mut self, recover: Recover, effects: &mut Vec<LocalEffect>) {
        let ticket = self.ticket_for(Step::RecoverRead(recover));
        effects.push(LocalEffect::Metadata(MetadataRequest::Get {
            ticket,
            path: ledger_path(recover.ledger),
        }));
    }

    pub(super) fn recover_read(
        &mut self,
        recover: Recover,
        result: Result<Option<(Bytes, Stat)>, MetadataError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        let (value, stat) = match result {
            Ok(Some(found)) => found,
            Ok(None) => {
                return reply(
                    recover,
                    Err(LedgerError::NoSuchLedger(recover.ledger)),
                    effects,
                );
            }
            Err(error) => return reply(recover, Err(ledger_error(error)), effects),
        };
        let metadata = match metadata::decode(&value) {
            Ok(metadata) => metadata,
            Err(text) => return reply(recover, Err(LedgerError::Io(text)), effects),
        };
        if let Some(end) = metadata::end_of(&metadata) {
            return reply(recover, Ok(end), effects);
        }
        let ledger = recover.ledger;
        let ticket = self.ticket_for(Step::RecoverLast(recover, metadata, stat.version));
        effects.push(LocalEffect::Bookie(BookieRequest::LastEntry {
            ticket,
            ledger,
        }));
    }

    pub(super) fn recover_last(
        &mut self,
        recover: Recover,
        metadata: LedgerMetadataFormat,
        version: i64,
        result: Result<(i64, u64), LedgerError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        let (last, length) = match result {
            Ok(end) => end,
            Err(error) => return reply(recover, Err(error), effects),
        };
        let ticket = self.ticket_for(Step::RecoverClose(recover, last, length));
        effects.push(LocalEffect::Metadata(MetadataRequest::Put {
            ticket,
            path: ledger_path(recover.ledger),
            value: metadata::encode(&metadata::closed(metadata, last, length)),
            expect: Expect::Version(version),
            kind: KeyKind::Persistent,
        }));
    }

    pub(super) fn recover_closed(
        &mut self,
        mut recover: Recover,
        end: (i64, u64),
        result: Result<(), MetadataError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        match result {
            Ok(()) => reply(recover, Ok(end), effects),
            // Another recovery or the writer's own seal was quicker: what it wrote is the truth.
            Err(MetadataError::BadVersion(..)) if recover.attempts < ATTEMPTS_MAX => {
                recover.attempts += 1;
                self.read_key(recover, effects);
            }
            Err(error) => reply(recover, Err(ledger_error(error)), effects),
        }
    }
}

fn reply(
    recover: Recover,
    result: Result<(i64, u64), LedgerError>,
    effects: &mut Vec<LocalEffect>,
) {
    effects.push(LocalEffect::Reply(LedgerReply::Recovered {
        ticket: recover.asker,
        ledger: recover.ledger,
        result,
    }));
}
