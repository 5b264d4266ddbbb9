//! An open cursor ledger: which records wait for it, in order, and whether it is still good.

use crate::record::{self, Kind};
use crate::settings::Settings;
use crate::storage::Fault;
use crate::turn::{Owner, Turn};
use bytes::Bytes;
use letters::log::Ticket;
use std::collections::VecDeque;

/// One cursor ledger that this owner writes.
#[derive(Debug)]
pub(crate) struct RecordLedger {
    pub(crate) ledger: i64,
    next_entry: i64,
    confirmed: i64,
    bytes: u64,
    base: i64,
    /// Last entry of each record under way, and whom to tell.
    waiting: VecDeque<(i64, Option<Ticket>)>,
    failed: bool,
}

impl RecordLedger {
    /// A new, empty one.
    pub(crate) fn new(ledger: i64) -> RecordLedger {
        RecordLedger {
            ledger,
            next_entry: 0,
            confirmed: -1,
            bytes: 0,
            base: 0,
            waiting: VecDeque::new(),
            failed: false,
        }
    }

    /// Writes a record after those before it.
    pub(crate) fn write(
        &mut self,
        turn: &mut Turn,
        owner: &Owner,
        settings: &Settings,
        kind: Kind,
        body: &Bytes,
        ticket: Option<Ticket>,
    ) {
        if kind == Kind::Snapshot {
            self.base = self.next_entry;
        }
        for entry in record::cut(kind, self.base, body, settings.cursor_part_bytes_max) {
            self.bytes += entry.len() as u64;
            turn.append(
                owner,
                self.ledger,
                self.next_entry,
                self.confirmed,
                self.bytes,
                entry,
            );
            self.next_entry += 1;
        }
        self.waiting.push_back((self.next_entry - 1, ticket));
    }

    /// An entry was answered. Beside success: the records that are now stored. On the first failure:
    /// all that wait, which fail with it.
    pub(crate) fn answered(
        &mut self,
        entry: i64,
        result: Result<(), Fault>,
    ) -> Result<Vec<Ticket>, (Vec<Ticket>, Fault)> {
        // Invariant: answers come for entries that were appended.
        assert!(
            entry < self.next_entry,
            "an answer for entry {entry} of ledger {}, which has fewer",
            self.ledger
        );
        match result {
            Ok(()) if !self.failed => {
                self.confirmed = entry;
                let mut stored = Vec::new();
                while let Some((last, ticket)) = self.waiting.front().copied()
                    && last <= entry
                {
                    self.waiting.pop_front();
                    stored.extend(ticket);
                }
                Ok(stored)
            }
            Ok(()) => Ok(Vec::new()),
            Err(fault) => {
                self.failed = true;
                let failed = self
                    .waiting
                    .drain(..)
                    .filter_map(|(_, ticket)| ticket)
                    .collect();
                Err((failed, fault))
            }
        }
    }

    /// Whom to tell of the records under way.
    pub(crate) fn into_waiting(self) -> impl Iterator<Item = Ticket> {
        self.waiting.into_iter().filter_map(|(_, ticket)| ticket)
    }

    /// Records are under way.
    pub(crate) fn is_busy(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// It takes no more records: one failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Large enough to be left behind at the next snapshot.
    pub(crate) fn is_grown(&self, settings: &Settings) -> bool {
        self.next_entry >= settings.cursor_ledger_entries_max
            || self.bytes >= settings.cursor_ledger_bytes_max
    }

    /// Its last confirmed entry and the bytes written: what it is sealed with when nothing waits.
    pub(crate) fn end(&self) -> (i64, u64) {
        (self.confirmed, self.bytes)
    }
}
