//! Creating a ledger: an id nobody ever had, then its key.
//!
//! Ids come from a counter in the metadata store, taken in blocks: the counter is moved first, so an id that
//! was handed out is never handed out again, whatever happened to the process. What is left of a block at a
//! restart is never used.

use std::collections::VecDeque;

use bytes::Bytes;
use ledger_store::{LedgerError, LedgerReply, Ticket};
use metadata_store::{Expect, KeyKind, MetadataError, MetadataRequest, Stat};

use super::{LocalEffect, LocalLedgerStore, Step, Writer, ledger_error};
use crate::metadata::{self, LedgerMetadataFormat};
use crate::paths::ledger_path;

/// The key of the counter: the lowest id that nobody has, in decimal.
pub const COUNTER_PATH: &str = "/hulse/next-ledger-id";
/// Ids taken at once.
const BLOCK: i64 = 1000;

/// A ledger's custom metadata.
type Custom = Vec<(String, Vec<u8>)>;

/// Ids taken and not used, and who waits for one.
#[derive(Debug, Default)]
pub(super) struct Ids {
    next: i64,
    end: i64,
    waiting: VecDeque<(Ticket, Custom)>,
}

impl LocalLedgerStore {
    pub(super) fn create(
        &mut self,
        ticket: Ticket,
        custom: Custom,
        effects: &mut Vec<LocalEffect>,
    ) {
        let someone_waits = !self.ids.waiting.is_empty();
        self.ids.waiting.push_back((ticket, custom));
        if self.ids.next < self.ids.end {
            self.use_ids(effects);
        } else if !someone_waits {
            self.read_counter(effects);
        }
    }

    fn read_counter(&mut self, effects: &mut Vec<LocalEffect>) {
        let ticket = self.ticket_for(Step::ReadCounter);
        effects.push(LocalEffect::Metadata(MetadataRequest::Get {
            ticket,
            path: COUNTER_PATH.into(),
        }));
    }

    pub(super) fn counter_read(
        &mut self,
        result: Result<Option<(Bytes, Stat)>, MetadataError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        let (from, expect) = match result {
            Ok(None) => (1, Expect::Absent),
            Ok(Some((value, stat))) => match parse_counter(&value) {
                Some(next) => (next, Expect::Version(stat.version)),
                None => {
                    let text =
                        format!("{COUNTER_PATH} holds no number that ledger ids can go on from");
                    return self.refuse_waiting(&LedgerError::Io(text), effects);
                }
            },
            Err(error) => return self.refuse_waiting(&ledger_error(error), effects),
        };
        let to = from + BLOCK;
        let ticket = self.ticket_for(Step::MoveCounter { from, to });
        effects.push(LocalEffect::Metadata(MetadataRequest::Put {
            ticket,
            path: COUNTER_PATH.into(),
            value: Bytes::from(to.to_string()),
            expect,
            kind: KeyKind::Persistent,
        }));
    }

    pub(super) fn counter_moved(
        &mut self,
        from: i64,
        to: i64,
        result: Result<(), MetadataError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        match result {
            Ok(()) => {
                self.ids.next = from;
                self.ids.end = to;
                self.use_ids(effects);
            }
            Err(MetadataError::BadVersion(..)) => self.read_counter(effects),
            // It may have been moved: then this block is never used.
            Err(error) => self.refuse_waiting(&ledger_error(error), effects),
        }
    }

    fn use_ids(&mut self, effects: &mut Vec<LocalEffect>) {
        while self.ids.next < self.ids.end {
            let Some((asker, custom)) = self.ids.waiting.pop_front() else {
                return;
            };
            let ledger = self.ids.next;
            self.ids.next += 1;
            let metadata = metadata::open_ledger(&self.bookie_id, custom);
            let value = metadata::encode(&metadata);
            let ticket = self.ticket_for(Step::WriteKey {
                asker,
                ledger,
                metadata,
            });
            effects.push(LocalEffect::Metadata(MetadataRequest::Put {
                ticket,
                path: ledger_path(ledger),
                value,
                expect: Expect::Absent,
                kind: KeyKind::Persistent,
            }));
        }
        if !self.ids.waiting.is_empty() {
            self.read_counter(effects);
        }
    }

    pub(super) fn key_written(
        &mut self,
        asker: Ticket,
        ledger: i64,
        metadata: LedgerMetadataFormat,
        result: Result<i64, MetadataError>,
        effects: &mut Vec<LocalEffect>,
    ) {
        let result = match result {
            Ok(version) => {
                let writer = Writer {
                    metadata,
                    version,
                    confirmed: -1,
                    sealing: false,
                };
                self.writers.insert(ledger, writer);
                Ok(ledger)
            }
            // An empty ledger may be left behind that nobody knows of; it costs a key.
            Err(error) => Err(ledger_error(error)),
        };
        effects.push(LocalEffect::Reply(LedgerReply::Created {
            ticket: asker,
            result,
        }));
    }

    fn refuse_waiting(&mut self, error: &LedgerError, effects: &mut Vec<LocalEffect>) {
        for (ticket, _) in self.ids.waiting.drain(..) {
            let result = Err(error.clone());
            effects.push(LocalEffect::Reply(LedgerReply::Created { ticket, result }));
        }
    }
}

fn parse_counter(value: &[u8]) -> Option<i64> {
    let next: i64 = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
    (1..i64::MAX - BLOCK).contains(&next).then_some(next)
}
