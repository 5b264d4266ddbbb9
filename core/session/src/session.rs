//! The session itself: what it holds, and how an input finds its rule.

use crate::commands;
use crate::commands::schema::Held;
use crate::face::{CloseReason, OutFrame, SessionEffect, SessionInput, WriteToken, WrittenFrames};
use crate::gate::{Action, Gate, Resource};
use crate::keepalive::{Keepalive, Tick};
use crate::letterbox;
use crate::parting;
use crate::peer::Peer;
use crate::pressure::{Change, Pressure};
use crate::probes::Probes;
use crate::settings::SessionSettings;
use crate::tables::{Consumers, Producers, Standing};
use crate::waiting::{Ticket, Waiter, Waiting};
use letters::{Refusal, ToTopic, TopicLetter};
use pulsar_wire::Message;
use pulsar_wire::frame::Frame;
use pulsar_wire::proto::base_command::{Cmd, Type};
use pulsar_wire::proto::{BaseCommand, CommandError, CommandPing, CommandSuccess};
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use vocabulary::{Moment, Now, SessionId, TopicName};

/// One connection, broker side.
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) settings: Arc<SessionSettings>,
    gate: Arc<dyn Gate>,
    pub(crate) peer: Peer,
    pub(crate) phase: Phase,
    pub(crate) keepalive: Keepalive,
    pub(crate) probes: Probes,
    pub(crate) waiting: Waiting,
    /// Who waits for the registry of schemas before its topic hears of it.
    pub(crate) held: BTreeMap<Ticket, Held>,
    pub(crate) producers: Producers,
    pub(crate) consumers: Consumers,
    pub(crate) pressure: Pressure,
    pub(crate) counters: SessionCounters,
    /// Lists of topics that the client watches, by its own numbers.
    pub(crate) watches: BTreeSet<u64>,
    woken_at: Option<Moment>,
}

/// What happened that no answer tells of; for metrics and the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounters {
    /// Acks by which a client reported an entry it could not read.
    pub acks_of_unreadable_entries: u64,
    /// ACK, FLOW and REDELIVER that were passed over: consumer unknown, numbers impossible, or not allowed.
    pub requests_ignored: u64,
    /// SENDs of producers that had been closed a moment before.
    pub sends_dropped: u64,
    /// Letters for producers, consumers and requests that are no more.
    pub letters_dropped: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    AwaitingConnect,
    Connected,
    /// The broker shuts down; the session waits until its topics have let go.
    Parting,
    Closed,
}

/// One call of `handle`: the time it happens at and where its effects go.
pub(crate) struct Turn<'a> {
    pub now: Now,
    pub effects: &'a mut Vec<SessionEffect>,
}

impl Session {
    /// A session for a connection that was just opened. Nothing is due before [`Session::wakes_at`]; the first call
    /// of `handle`, with whatever input, says `WakeAt` too.
    pub fn new(
        id: SessionId,
        settings: Arc<SessionSettings>,
        gate: Arc<dyn Gate>,
        peer_address: String,
        now: Now,
    ) -> Session {
        Session {
            id,
            gate,
            peer: Peer::at(peer_address),
            phase: Phase::AwaitingConnect,
            keepalive: Keepalive::new(settings.keepalive_interval, now.moment),
            probes: Probes::new(settings.liveness_probe_timeout),
            waiting: Waiting::default(),
            held: BTreeMap::new(),
            producers: Producers::default(),
            consumers: Consumers::default(),
            pressure: Pressure::new(&settings),
            counters: SessionCounters::default(),
            watches: BTreeSet::new(),
            woken_at: None,
            settings,
        }
    }

    /// Tells the session what happened; what is to be done about it is pushed to `effects`.
    pub fn handle(&mut self, now: Now, input: SessionInput, effects: &mut Vec<SessionEffect>) {
        let turn = &mut Turn { now, effects };
        if self.phase == Phase::Closed {
            return;
        }
        match input {
            SessionInput::FrameArrived(frame) => self.frame_arrived(turn, frame),
            SessionInput::FrameRefused(error) => self.close(turn, CloseReason::FrameRefused(error)),
            SessionInput::LetterCame(letter) => letterbox::take(self, turn, letter),
            SessionInput::FramesWritten(written) => self.frames_written(turn, &written),
            SessionInput::TimeCame => self.time_came(turn),
            SessionInput::PeerGone => parting::leave_topics(self, turn),
            SessionInput::ShutdownBegan => parting::shutdown_began(self, turn),
        }
        self.settle(turn);
    }

    /// The moment at which `TimeCame` is due, if nothing else happens before.
    pub fn wakes_at(&self) -> Moment {
        let tick = self.keepalive.next_tick();
        self.probes
            .next_deadline()
            .map_or(tick, |deadline| deadline.min(tick))
    }

    /// What happened that no answer tells of.
    pub fn counters(&self) -> SessionCounters {
        self.counters
    }

    /// How the client calls itself, empty before CONNECT.
    pub fn client_version(&self) -> &str {
        &self.peer.client_version
    }

    /// Whether the client has said CONNECT and was let in. Before that it gets no room for large frames.
    pub fn is_connected(&self) -> bool {
        self.phase != Phase::AwaitingConnect
    }

    /// How many producers and consumers the connection has, those on their way in or out included.
    pub fn handle_counts(&self) -> (usize, usize) {
        (self.producers.len(), self.consumers.len())
    }

    fn frame_arrived(&mut self, turn: &mut Turn<'_>, frame: Frame) {
        self.keepalive.heard();
        self.answer_probes(turn);
        let Some(command) = frame.command.cmd else {
            // A whole frame has a body; one that was put together by hand may not.
            return self.close(turn, CloseReason::NotConnected("a command without body"));
        };
        let first = matches!(command, Cmd::Connect(_));
        match (self.phase, first) {
            (Phase::AwaitingConnect, false) => {
                let name = command.command_type().as_str_name();
                self.close(turn, CloseReason::NotConnected(name));
            }
            (Phase::Connected | Phase::Parting, true) => {
                self.close(turn, CloseReason::SecondConnect)
            }
            _ => commands::take(self, turn, command, frame.payload),
        }
    }

    fn time_came(&mut self, turn: &mut Turn<'_>) {
        let now = turn.now.moment;
        if self.probes.missed(now) {
            if !self.pressure.paused() {
                return self.close(turn, CloseReason::ProbeMissed(self.probes.timeout()));
            }
            // We do not listen, so silence proves nothing: better to keep the old than to admit a second.
            self.answer_probes(turn);
        }
        let connecting = self.phase == Phase::AwaitingConnect;
        let interval = self.settings.keepalive_interval;
        match self.keepalive.time_came(now, self.pressure.paused()) {
            Tick::NotYet => {}
            Tick::Ping | Tick::Missed if connecting => {
                self.close(turn, CloseReason::ConnectDeadline(interval))
            }
            Tick::Missed => self.close(turn, CloseReason::KeepaliveMissed(interval)),
            Tick::Ping if self.peer.knows_ping() => self.send(turn, Cmd::Ping(CommandPing {})),
            Tick::Ping => self.keepalive.heard(),
        }
        self.producers.forget_closed(now);
    }

    fn answer_probes(&mut self, turn: &mut Turn<'_>) {
        for probe in self.probes.answered() {
            self.write(
                turn,
                &probe.topic,
                TopicLetter::StillHere { token: probe.token },
            );
        }
    }

    fn frames_written(&mut self, turn: &mut Turn<'_>, written: &WrittenFrames) {
        self.pressure.answer_bytes.fall(written.answer_bytes);
        for (consumer_id, incarnation, bytes) in written.delivered.iter().copied() {
            let Some(consumer) = self.consumers.get(consumer_id) else {
                continue;
            };
            if consumer.incarnation == incarnation && consumer.standing == Standing::Ready {
                let topic = consumer.topic.clone();
                self.write(turn, &topic, TopicLetter::Written { consumer_id, bytes });
            }
        }
    }

    /// What is said at the end of every turn.
    fn settle(&mut self, turn: &mut Turn<'_>) {
        if self.phase == Phase::Parting {
            parting::finish(self, turn);
        }
        if self.phase == Phase::Closed {
            return;
        }
        match self.pressure.settle() {
            Some(Change::Pause) => turn.effects.push(SessionEffect::PauseReading),
            Some(Change::Resume) => {
                // The silence so far was ours.
                self.keepalive.heard();
                turn.effects.push(SessionEffect::ResumeReading);
            }
            None => {}
        }
        let next = self.wakes_at();
        if self.woken_at != Some(next) {
            self.woken_at = Some(next);
            turn.effects.push(SessionEffect::WakeAt(next));
        }
    }

    pub(crate) fn may(&self, action: Action, resource: Resource<'_>) -> Result<(), Refusal> {
        self.gate.may(&self.peer.principal, action, resource)
    }

    /// Sends a command that carries no entry.
    pub(crate) fn send(&mut self, turn: &mut Turn<'_>, command: Cmd) {
        let command = BaseCommand::new(command);
        let bytes = command.encoded_len() as u64;
        self.pressure.answer_bytes.rise(bytes);
        let token = WriteToken {
            bytes,
            delivered_to: None,
        };
        turn.effects.push(SessionEffect::SendFrame(OutFrame {
            command,
            payload: None,
            token,
        }));
    }

    pub(crate) fn send_success(&mut self, turn: &mut Turn<'_>, request_id: u64) {
        self.send(
            turn,
            Cmd::Success(CommandSuccess {
                request_id: Some(request_id),
                schema: None,
            }),
        );
    }

    pub(crate) fn send_error(&mut self, turn: &mut Turn<'_>, request_id: u64, refusal: Refusal) {
        let error = CommandError {
            request_id: Some(request_id),
            error: Some(refusal.code as i32),
            message: Some(refusal.message),
        };
        self.send(turn, Cmd::Error(error));
    }

    /// Sends what a command is to be answered with when it is refused, if anything.
    pub(crate) fn refuse(&mut self, turn: &mut Turn<'_>, answer: Option<Cmd>) {
        match answer {
            Some(answer) => self.send(turn, answer),
            None => self.counters.requests_ignored += 1,
        }
    }

    pub(crate) fn write(&self, turn: &mut Turn<'_>, topic: &TopicName, letter: TopicLetter) {
        let letter = ToTopic {
            topic: topic.clone(),
            session: self.id,
            letter,
        };
        turn.effects.push(SessionEffect::WriteLetter(letter));
    }

    /// Notes that a request waits for a topic.
    pub(crate) fn await_answer(&mut self, waiter: Waiter) -> Ticket {
        self.pressure.requests.rise(1);
        self.waiting.add(waiter)
    }

    /// The request that waited under this ticket.
    pub(crate) fn answered(&mut self, ticket: Ticket) -> Option<Waiter> {
        let waiter = self.waiting.take(ticket);
        self.forget_held(ticket);
        match waiter {
            Some(_) => self.pressure.requests.fall(1),
            None => self.counters.letters_dropped += 1,
        }
        waiter
    }

    /// It waits for no schema any more.
    pub(crate) fn forget_held(&mut self, ticket: Ticket) -> Option<Held> {
        let held = self.held.remove(&ticket)?;
        self.pressure.publish_bytes.fall(held.bytes());
        Some(held)
    }

    pub(crate) fn remove_producer(&mut self, id: u64) {
        let forgotten = self.producers.remove(id);
        self.pressure.publishes.fall(forgotten);
    }

    pub(crate) fn close(&mut self, turn: &mut Turn<'_>, reason: CloseReason) {
        if self.phase == Phase::Closed {
            return;
        }
        parting::leave_topics(self, turn);
        turn.effects.push(SessionEffect::Close { reason });
    }
}

/// The name of a command, as the protocol writes it.
pub(crate) fn name_of(command: Type) -> &'static str {
    command.as_str_name()
}
