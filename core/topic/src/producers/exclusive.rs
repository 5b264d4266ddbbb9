//! Exclusive access: who has it, who waits for it, and the epoch that tells holders apart.
//!
//! Each time somebody gets exclusive access without having held it before, the topic's epoch grows, and it is on disk
//! before the producer is told. A holder that comes back says the epoch it held: a lower one than the topic's means
//! that somebody else had the topic in between.

use super::Producer;
use crate::Topic;
use crate::newcomers::{Newcomer, WaitsFor, Wish};
use crate::turn::{Seat, Turn};
use letters::{AccessMode, AddProducer, LogError, LogRequest, RefusalCode};
use vocabulary::SessionId;

/// The property of the topic's log that holds the epoch, by Pulsar's name for it.
const EPOCH_PROPERTY: &str = "pulsar.topic.epoch";

/// What is known of exclusive access.
#[derive(Debug, Default)]
pub(crate) struct Exclusive {
    /// The epoch of the last holder, if there ever was one.
    pub epoch: Option<u64>,
    state: State,
}

#[derive(Debug, Default)]
enum State {
    /// Nobody has it.
    #[default]
    Free,
    /// It was promised; the epoch is on its way to the disk. The candidate is gone if it left meanwhile.
    Granting {
        ticket: u64,
        epoch: u64,
        name: String,
        candidate: Option<(SessionId, Box<AddProducer>)>,
        /// It is there; only the end of failed appends is still waited for.
        stored: bool,
    },
    /// This producer has it.
    Held { seat: Seat, name: String },
}

impl Exclusive {
    /// Nothing is known: the log was closed.
    pub fn forget(&mut self) {
        *self = Exclusive::default();
    }

    /// The name of who has it, or will in a moment.
    pub fn holder(&self) -> Option<&str> {
        match &self.state {
            State::Free => None,
            State::Granting { name, .. } | State::Held { name, .. } => Some(name),
        }
    }

    /// Who has it.
    pub fn seat(&self) -> Option<Seat> {
        match &self.state {
            State::Held { seat, .. } => Some(*seat),
            _ => None,
        }
    }

    pub fn is_granting(&self) -> bool {
        matches!(self.state, State::Granting { .. })
    }

    pub fn is_candidate(&self, seat: Seat) -> bool {
        let State::Granting {
            candidate: Some((session, add)),
            ..
        } = &self.state
        else {
            return false;
        };
        (*session, add.producer_id) == seat
    }

    /// Takes out who was promised it, if they match; the promise stays until the log has answered.
    fn take_candidate(&mut self, matches: impl Fn(Seat) -> bool) -> Option<Newcomer> {
        let State::Granting { candidate, .. } = &mut self.state else {
            return None;
        };
        let (session, wish) = candidate
            .take_if(|(session, add)| matches((*session, add.producer_id)))
            .map(|(session, add)| (session, Wish::Producer(add)))?;
        let waits_for = WaitsFor::Exclusive;
        Some(Newcomer {
            session,
            wish,
            waits_for,
        })
    }

    /// The epoch as it is stored.
    pub fn restore(&mut self, properties: &[(String, String)]) -> Result<(), String> {
        let stored = properties.iter().find(|(key, _)| key == EPOCH_PROPERTY);
        self.epoch = match stored {
            None => None,
            Some((key, value)) => Some(value.parse().map_err(|error| {
                format!("the property {key} is '{value}', which is no epoch: {error}")
            })?),
        };
        Ok(())
    }
}

/// Whether a producer may come in beside those that are there.
pub(crate) enum Access {
    /// Like everybody.
    Shared,
    /// It gets the topic for itself.
    Grant,
    Refuse(RefusalCode, String),
    Wait(WaitsFor),
}

impl Topic {
    /// `alive`: a session known to be alive.
    pub(crate) fn judge_access(
        &self,
        session: SessionId,
        add: &AddProducer,
        alive: Option<SessionId>,
    ) -> Access {
        let exclusive = &self.producers.exclusive;
        let waited_for = exclusive.holder().is_some() || self.newcomers.wait_for_exclusive();
        let existing = || {
            let name = exclusive.holder().unwrap_or("null");
            format!("Topic has an existing exclusive producer: {name}")
        };
        if add.access_mode == AccessMode::Shared {
            return match waited_for {
                true => Access::Refuse(RefusalCode::ProducerBusy, existing()),
                false => Access::Shared,
            };
        }
        if let (Some(had), Some(now)) = (add.topic_epoch, exclusive.epoch)
            && had < now
        {
            // Told before it can throw out who has the topic now.
            let text = format!(
                "Topic epoch has already moved. Current epoch: {now}, Producer epoch: {had}"
            );
            return Access::Refuse(RefusalCode::ProducerFenced, text);
        }
        match add.access_mode {
            AccessMode::Shared | AccessMode::ExclusiveWithFencing => Access::Grant,
            AccessMode::WaitForExclusive if waited_for || !self.producers.is_empty() => {
                Access::Wait(WaitsFor::Exclusive)
            }
            AccessMode::Exclusive if waited_for => {
                // The holder itself, back before its old connection was found to be dead: that one is asked.
                let same = exclusive.seat().filter(|(holder, _)| {
                    add.name.as_deref() == exclusive.holder()
                        && *holder != session
                        && Some(*holder) != alive
                });
                match same {
                    Some((holder, _)) => Access::Wait(WaitsFor::Probe(holder)),
                    None => Access::Refuse(RefusalCode::ProducerFenced, existing()),
                }
            }
            AccessMode::Exclusive if !self.producers.is_empty() => {
                let text = "Topic has existing shared producers".to_owned();
                Access::Refuse(RefusalCode::ProducerFenced, text)
            }
            AccessMode::WaitForExclusive | AccessMode::Exclusive => Access::Grant,
        }
    }

    /// Throws out everybody else, where that is what the newcomer wants, and writes the epoch down.
    pub(crate) fn grant_exclusive(
        &mut self,
        session: SessionId,
        mut add: Box<AddProducer>,
        name: String,
        turn: &mut Turn<'_>,
    ) {
        if add.access_mode == AccessMode::ExclusiveWithFencing {
            self.fence_out(turn);
        }
        let before = match self.producers.exclusive.state {
            // It was never told to anybody, but may be on disk.
            State::Granting { epoch, .. } => Some(epoch),
            _ => self.producers.exclusive.epoch,
        };
        let epoch = add
            .topic_epoch
            .filter(|had| before.is_none_or(|before| *had >= before))
            .unwrap_or_else(|| before.map_or(0, |before| before.saturating_add(1)));
        let ticket = turn.ticket();
        if !self.only_passes() {
            turn.ask(LogRequest::SetProperty {
                ticket,
                key: EPOCH_PROPERTY.to_owned(),
                value: epoch.to_string(),
            });
        }
        add.name = Some(name.clone());
        self.producers.exclusive.state = State::Granting {
            ticket,
            epoch,
            name,
            candidate: Some((session, add)),
            stored: false,
        };
        if self.only_passes() {
            self.property_set(ticket, Ok(()), turn);
        }
    }

    fn fence_out(&mut self, turn: &mut Turn<'_>) {
        let candidate = self.producers.exclusive.take_candidate(|_| true);
        let waiting = self
            .newcomers
            .take(|newcomer| newcomer.waits_for == WaitsFor::Exclusive);
        for newcomer in candidate.into_iter().chain(waiting) {
            newcomer.refuse(RefusalCode::ProducerFenced, "Fenced out", turn);
        }
        self.throw_out_producers(turn);
    }

    /// The epoch is on disk, or not.
    pub(crate) fn property_set(
        &mut self,
        answered: u64,
        result: Result<(), LogError>,
        turn: &mut Turn<'_>,
    ) {
        let exclusive = &mut self.producers.exclusive;
        let State::Granting {
            ticket,
            epoch,
            candidate,
            stored,
            ..
        } = &mut exclusive.state
        else {
            return;
        };
        // An older answer is of a promise that somebody was fenced out of.
        if *ticket != answered {
            return;
        }
        match result {
            Ok(()) => {
                *stored = true;
                exclusive.epoch = Some(*epoch);
                self.admit_candidate(turn);
            }
            Err(error) => {
                let candidate = candidate.take();
                exclusive.state = State::Free;
                let text = format!("{}: the topic's epoch cannot be stored: {error}", self.name);
                if let Some((session, add)) = candidate {
                    let newcomer = Newcomer {
                        session,
                        wish: Wish::Producer(add),
                        waits_for: WaitsFor::Exclusive,
                    };
                    newcomer.refuse(RefusalCode::PersistenceError, &text, turn);
                }
                turn.report(text);
                self.promote_next(turn);
            }
        }
    }

    /// Who was promised exclusive access gets it, when the epoch is stored and nobody's append is in the way.
    pub(crate) fn admit_candidate(&mut self, turn: &mut Turn<'_>) {
        let exclusive = &mut self.producers.exclusive;
        if self.producers.fenced || !matches!(exclusive.state, State::Granting { stored: true, .. })
        {
            return;
        }
        let granting = std::mem::take(&mut exclusive.state);
        let State::Granting {
            name, candidate, ..
        } = granting
        else {
            return;
        };
        let Some((session, add)) = candidate else {
            return self.promote_next(turn);
        };
        let seat = (session, add.producer_id);
        exclusive.state = State::Held {
            seat,
            name: name.clone(),
        };
        self.tell_ready(seat, add.request_id, &name, turn);
        self.producers
            .insert(Producer::new(seat, name, *add, turn.now.wall));
    }

    /// A producer is gone: if it had exclusive access, nobody has it now.
    pub(crate) fn release_exclusive(&mut self, seat: Seat) {
        if self.producers.exclusive.seat() == Some(seat) {
            self.producers.exclusive.state = State::Free;
        }
    }

    /// Who waits longest gets exclusive access, if nobody else publishes.
    pub(crate) fn promote_next(&mut self, turn: &mut Turn<'_>) {
        let producers = &self.producers;
        if producers.exclusive.holder().is_some() || !producers.is_empty() || producers.fenced {
            return;
        }
        let Some(newcomer) = self.newcomers.take_first_for_exclusive() else {
            return;
        };
        if let Wish::Producer(add) = newcomer.wish {
            // Its name was settled when it began to wait.
            let name = add.name.clone().unwrap_or_default();
            self.grant_exclusive(newcomer.session, add, name, turn);
        }
    }

    /// Nobody is promised anything any more.
    pub(crate) fn refuse_candidate(
        &mut self,
        code: RefusalCode,
        message: &str,
        turn: &mut Turn<'_>,
    ) {
        if let Some(newcomer) = self.producers.exclusive.take_candidate(|_| true) {
            newcomer.refuse(code, message, turn);
        }
    }

    /// Whoever was promised exclusive access and matches has left.
    pub(crate) fn drop_candidate(
        &mut self,
        matches: impl Fn(Seat) -> bool,
        turn: &mut Turn<'_>,
    ) -> Option<Newcomer> {
        let dropped = self.producers.exclusive.take_candidate(matches);
        self.admit_candidate(turn);
        dropped
    }

    /// Nobody has exclusive access any more, as every producer was thrown out.
    pub(crate) fn forget_holder(&mut self) {
        if self.producers.exclusive.seat().is_some() {
            self.producers.exclusive.state = State::Free;
        }
    }
}
