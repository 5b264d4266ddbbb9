//! Appending: to the open ledger at once; while there is none, in a queue.

use crate::machine::{ManagedLedger, Phase};
use crate::roll::{CurrentLedger, Outcome};
use crate::storage::Fault;
use crate::turn::{Effect, Owner, Turn};
use bytes::Bytes;
use letters::log::Ticket;
use letters::{LogError, LogReply};
use vocabulary::Now;

impl ManagedLedger {
    pub(crate) fn append(
        &mut self,
        now: Now,
        ticket: Ticket,
        body: Bytes,
        effects: &mut Vec<Effect>,
    ) {
        if matches!(self.phase, Phase::Closing) {
            return self.late.push(ticket);
        }
        if let Some(error) = self.why_no_append() {
            return effects.push(Effect::Reply(LogReply::NotStored { ticket, error }));
        }
        match &self.current {
            Some(current) if !current.is_ending() && self.waiting.is_empty() => {
                self.give(now, ticket, body, effects)
            }
            _ => {
                self.waiting.push_back((ticket, body));
                self.advance(now, effects);
            }
        }
    }

    fn why_no_append(&self) -> Option<LogError> {
        match &self.phase {
            Phase::Opening(_) => Some(LogError::Io(format!(
                "the log of {} is not open yet",
                self.topic
            ))),
            Phase::Closing | Phase::Deleting(_) | Phase::Gone => {
                Some(LogError::Io(format!("the log of {} is closed", self.topic)))
            }
            Phase::Open => {
                let last = self.list.terminated?;
                Some(LogError::Io(format!(
                    "{} was terminated at {last}",
                    self.topic
                )))
            }
        }
    }

    /// Hands an entry to the open ledger.
    pub(crate) fn give(
        &mut self,
        now: Now,
        ticket: Ticket,
        body: Bytes,
        effects: &mut Vec<Effect>,
    ) {
        let Some(current) = &mut self.current else {
            return;
        };
        let (entry, last_confirmed, length) = current.give(ticket, &body);
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        turn.append(
            &Owner::Log,
            current.ledger,
            entry,
            last_confirmed,
            length,
            body,
        );
        if current.is_full(&self.settings, now.moment) {
            current.end();
        }
    }

    pub(crate) fn appended(
        &mut self,
        now: Now,
        ledger: i64,
        entry: i64,
        result: Result<(), Fault>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(current) = self
            .current
            .as_mut()
            .filter(|current| current.ledger == ledger)
        else {
            return;
        };
        if let Err(Fault::Taken(text)) = &result {
            let text = text.clone();
            return self.lose_to_another(now, &text, effects);
        }
        match current.answered(entry, result) {
            Outcome::Stored(ticket, position) => {
                effects.push(Effect::Reply(LogReply::Stored { ticket, position }));
            }
            Outcome::Failed(tickets, fault) => {
                let error = fault.to_log_error(self.topic.as_str());
                for ticket in tickets {
                    effects.push(Effect::Reply(LogReply::NotStored {
                        ticket,
                        error: error.clone(),
                    }));
                }
                self.fail_waiting(&error, effects);
            }
            Outcome::Nothing => {}
        }
        let closing = matches!(self.phase, Phase::Closing);
        let is_due =
            |current: &CurrentLedger| (current.is_ending() || closing) && current.is_settled();
        if self.current.as_ref().is_some_and(is_due) {
            self.advance(now, effects);
        }
    }

    /// Answers the appends that came too late; the last thing before a log is gone.
    pub(crate) fn refuse_late(&mut self, effects: &mut Vec<Effect>) {
        let error = LogError::Io(format!("the log of {} is closed", self.topic));
        for ticket in self.late.drain(..) {
            let error = error.clone();
            effects.push(Effect::Reply(LogReply::NotStored { ticket, error }));
        }
    }

    /// Fails the appends that wait for a ledger, in order.
    pub(crate) fn fail_waiting(&mut self, error: &LogError, effects: &mut Vec<Effect>) {
        for (ticket, _) in self.waiting.drain(..) {
            effects.push(Effect::Reply(LogReply::NotStored {
                ticket,
                error: error.clone(),
            }));
        }
    }
}
