//! The ledger that takes entries, and when it is full.

use crate::settings::Settings;
use crate::storage::Fault;
use bytes::Bytes;
use letters::log::Ticket;
use std::collections::VecDeque;
use std::time::Duration;
use vocabulary::{Moment, Position};

/// The open ledger of a log.
#[derive(Debug)]
pub(crate) struct CurrentLedger {
    pub(crate) ledger: i64,
    made_at: Moment,
    /// From then on it is old enough to be full.
    old_at: Moment,
    next_entry: i64,
    /// Highest entry whose appender was told.
    confirmed: i64,
    /// Sum of body bytes given, and up to `confirmed`.
    bytes: u64,
    bytes_confirmed: u64,
    /// Entries given and not answered: whom to tell, and the sum of bytes up to there.
    waiting: VecDeque<(Ticket, u64)>,
    /// Answers still to come (also after a failure, when nobody waits for them any more).
    unanswered: u64,
    /// It takes no more entries.
    ending: bool,
}

/// What the answer to an append means.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The oldest that waits is stored there.
    Stored(Ticket, Position),
    /// All that wait fail.
    Failed(Vec<Ticket>, Fault),
    /// Of an entry given up before.
    Nothing,
}

impl CurrentLedger {
    pub(crate) fn new(ledger: i64, now: Moment, settings: &Settings) -> CurrentLedger {
        let age = (settings.rollover_age_max + spread(ledger, settings.rollover_age_max))
            .max(settings.rollover_age_min);
        CurrentLedger {
            ledger,
            made_at: now,
            old_at: now.after(age),
            next_entry: 0,
            confirmed: -1,
            bytes: 0,
            bytes_confirmed: 0,
            waiting: VecDeque::new(),
            unanswered: 0,
            ending: false,
        }
    }

    /// The number, the highest confirmed one and the sum of bytes for a new entry.
    pub(crate) fn give(&mut self, ticket: Ticket, body: &Bytes) -> (i64, i64, u64) {
        let entry = self.next_entry;
        self.next_entry += 1;
        self.bytes += body.len() as u64;
        self.waiting.push_back((ticket, self.bytes));
        self.unanswered += 1;
        (entry, self.confirmed, self.bytes)
    }

    /// An append was answered. The first failure fails all that wait: the entries after a lost one
    /// must not be kept without it. It also ends the ledger, since nobody knows how it went on.
    pub(crate) fn answered(&mut self, entry: i64, result: Result<(), Fault>) -> Outcome {
        // Invariant: an append is answered once, after those before it.
        assert!(
            self.unanswered > 0 && entry < self.next_entry,
            "entry {entry} of ledger {} was not asked for",
            self.ledger
        );
        self.unanswered -= 1;
        match result {
            Err(fault) => {
                self.ending = true;
                let failed: Vec<Ticket> =
                    self.waiting.drain(..).map(|(ticket, _)| ticket).collect();
                if failed.is_empty() {
                    Outcome::Nothing
                } else {
                    Outcome::Failed(failed, fault)
                }
            }
            Ok(()) => match self.waiting.pop_front() {
                None => Outcome::Nothing,
                Some((ticket, bytes)) => {
                    // Invariant: answers come in the order of the entries.
                    assert!(
                        entry == self.confirmed + 1,
                        "entry {entry} was answered after {}",
                        self.confirmed
                    );
                    self.confirmed = entry;
                    self.bytes_confirmed = bytes;
                    Outcome::Stored(ticket, Position::new(self.ledger, entry))
                }
            },
        }
    }

    /// Everything that waits, in order; for a log that is lost.
    pub(crate) fn give_up(&mut self) -> Vec<Ticket> {
        self.ending = true;
        self.waiting.drain(..).map(|(ticket, _)| ticket).collect()
    }

    /// Takes no more entries from now on.
    pub(crate) fn end(&mut self) {
        self.ending = true;
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending
    }

    /// Every append was answered.
    pub(crate) fn is_settled(&self) -> bool {
        self.unanswered == 0
    }

    /// The last confirmed entry (-1: none) and the bytes up to it.
    pub(crate) fn confirmed(&self) -> (i64, u64) {
        (self.confirmed, self.bytes_confirmed)
    }

    /// Full: large or old enough, and not too young for a roll at all.
    pub(crate) fn is_full(&self, settings: &Settings, now: Moment) -> bool {
        let age = now.since(self.made_at);
        let large = self.next_entry >= settings.ledger_entries_max
            || self.bytes >= settings.ledger_bytes_max;
        now >= self.old_at || (large && age >= settings.rollover_age_min)
    }

    /// When it is to be left for its age.
    pub(crate) fn roll_at(&self) -> Option<Moment> {
        (!self.ending).then_some(self.old_at)
    }
}

/// Up to 5 % of the age, different from ledger to ledger.
fn spread(ledger: i64, age: Duration) -> Duration {
    let mixed = (ledger as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
    age.mul_f64(0.05 * mixed as f64 / 1024.0)
}
