//! Non-persistent topics: messages pass through to whoever can take them at that moment, and are kept nowhere.
//!
//! Producers, consumers and subscriptions are admitted as on any topic. There is no log behind it, though: opening asks
//! only whether the namespace exists, subscriptions live in memory as long as their consumers do, an epoch as long as the
//! topic. A message that nobody has permits for is dropped and counted; acks, seeks and redelivery have no effect.

use crate::Topic;
use crate::dispatch::permits::{Verdict, settle};
use crate::subscription::{Subscription, View};
use crate::turn::{Asker, Seat, Turn, refusal};
use bytes::Bytes;
use letters::log::TopicFacts;
use letters::{
    AddConsumer, LogError, LogRequest, Publish, Refusal, RefusalCode, SessionLetter, StoredEntry,
};
use vocabulary::{Domain, Position};

/// Where every message of a non-persistent topic lies, as its clients are told.
const NOWHERE: Position = Position {
    ledger: 0,
    entry: 0,
};

/// What became of a message at a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    /// It was delivered, or is none for consumers.
    On,
    /// Nobody could take it.
    Dropped,
}

impl Topic {
    /// Its messages are kept nowhere.
    pub(crate) fn only_passes(&self) -> bool {
        self.name.domain() == Domain::NonPersistent
    }

    /// What whoever comes is told where the operator wants no topics of this domain. Pulsar says the same of both.
    pub(crate) fn refuses_domain(&self) -> Option<Refusal> {
        let served = match self.name.domain() {
            Domain::Persistent => self.settings.serve_persistent,
            Domain::NonPersistent => self.settings.serve_non_persistent,
        };
        let text = "Broker is unable to load persistent topic";
        (!served).then(|| refusal(RefusalCode::NotAllowedError, text))
    }

    /// Whether a non-persistent topic is there: as long as it has producers or consumers.
    #[must_use]
    pub fn passes_now(&self) -> bool {
        self.only_passes()
            && self.is_open()
            && !(self.producers.is_empty() && self.subscriptions.is_empty())
    }

    /// SENDs of a producer were dropped on its connection.
    pub(crate) fn count_dropped(&mut self, seat: Seat, messages: u64) {
        if let Some(producer) = self.producers.get_mut(seat) {
            producer.messages_dropped += messages;
        }
    }

    /// In place of opening a log, or before: does the namespace exist, and how many partitions has the topic that this
    /// is one of?
    pub(crate) fn look_around(&mut self, turn: &mut Turn<'_>) {
        let ticket = turn.ticket();
        self.looking_around = Some(ticket);
        turn.ask(LogRequest::Find { ticket });
    }

    /// That is known; or the answer is for somebody else.
    pub(crate) fn looked_around(
        &mut self,
        ticket: u64,
        result: &Result<TopicFacts, LogError>,
        may_create: bool,
        turn: &mut Turn<'_>,
    ) {
        let asked = self.looking_around.take_if(|asked| *asked == ticket);
        if asked.is_none() {
            return;
        }
        let facts = match result {
            Ok(facts) if !facts.namespace_exists => {
                let error = LogError::NoSuchNamespace(self.name.namespace().to_string());
                return self.open_failed(&error, turn);
            }
            Ok(facts) => facts,
            Err(error) => return self.open_failed(error, turn),
        };
        let create = self.may_be_made(facts, may_create);
        match (self.only_passes(), create) {
            (false, _) => turn.ask(LogRequest::Open { create }),
            (true, true) => self.opened(Vec::new(), Vec::new(), &[], turn),
            (true, false) => {
                self.open_failed(&LogError::NoSuchTopic(self.name.to_string()), turn);
            }
        }
    }

    /// A partition of a topic that has so many may always be made, one beyond never. One whose topic is not known, as any
    /// other topic; but not a non-persistent one (both as in Pulsar).
    fn may_be_made(&self, facts: &TopicFacts, may_create: bool) -> bool {
        if self.ending.is_some() {
            return self.only_passes();
        }
        match (self.name.partition(), facts.partitions) {
            (Some(index), Some(count)) => index < count,
            (Some(_), None) => may_create && !self.only_passes(),
            (None, _) => may_create,
        }
    }

    /// SEND came: the receipt goes at once, the message to each subscription.
    pub(crate) fn pass_on(&mut self, seat: Seat, publish: Publish, turn: &mut Turn<'_>) {
        let (messages, bytes) = (u64::from(publish.messages), publish.entry.len() as u64);
        self.totals.messages_in += messages;
        self.totals.entries_in += 1;
        self.totals.bytes_in += bytes;
        if let Some(producer) = self.producers.get_mut(seat) {
            producer.messages_in += messages;
            producer.entries_in += 1;
            producer.bytes_in += bytes;
        }
        let letter = SessionLetter::Stored {
            producer_id: publish.producer_id,
            sequence_id: publish.sequence_id,
            highest_sequence_id: publish.highest_sequence_id,
            position: NOWHERE,
        };
        turn.tell(seat.0, letter);
        let names: Vec<_> = self.subscriptions.keys().cloned().collect();
        for name in names {
            let passed = self.with(&name, turn, |subscription, view, turn| {
                subscription.pass_on(&publish.entry, view, turn)
            });
            if passed == Some(Passed::Dropped) {
                self.totals.messages_dropped += messages;
                if let Some(subscription) = self.subscriptions.get_mut(&name) {
                    subscription.totals.messages_dropped += messages;
                }
            }
        }
    }

    /// What a consumer asks of a subscription means less here: there is nothing to begin at, and nothing is kept.
    pub(crate) fn without_place(&self, add: &mut AddConsumer) {
        if self.only_passes() {
            add.durable = false;
            add.start = None;
            add.start_rollback_seconds = None;
            add.epoch = None;
        }
    }

    /// SEEK came, and has no effect here.
    pub(crate) fn passes_over(&self, asker: Asker, turn: &mut Turn<'_>) {
        let (session, consumer_id) = asker.seat;
        match self.consumers.contains_key(&asker.seat) {
            true => turn.tell(
                session,
                SessionLetter::SeekDone {
                    request_id: asker.request_id,
                    consumer_id,
                },
            ),
            false => asker.refuse_unknown(turn),
        }
    }

    /// There is no last message. The text is Pulsar's, which has no other for it.
    pub(crate) fn refuse_last_id(&self, asker: Asker, turn: &mut Turn<'_>) {
        match self.consumers.contains_key(&asker.seat) {
            true => {
                let text = "Failed to recover Transaction Buffer.";
                asker.refuse(RefusalCode::UnknownError, text, turn);
            }
            false => asker.refuse_unknown(turn),
        }
    }
}

impl Subscription {
    /// Gives an entry to whose turn it is, if somebody can take it.
    fn pass_on(&mut self, entry: &Bytes, view: &View<'_>, turn: &mut Turn<'_>) -> Passed {
        let Verdict::Deliver(price) = settle(entry, None) else {
            return Passed::On;
        };
        let chosen = self.choose(entry.len(), view.settings);
        self.round_robin.end_turn();
        let Some(consumer) = chosen.and_then(|at| self.consumers.get_mut(at)) else {
            return Passed::Dropped;
        };
        self.totals.messages_out += u64::from(price.permits);
        self.totals.bytes_out += entry.len() as u64;
        let stored = StoredEntry {
            position: NOWHERE,
            body: entry.clone(),
        };
        let deliveries = vec![consumer.debit(stored, price, 0)];
        let (session, consumer_id) = consumer.seat;
        turn.tell(
            session,
            SessionLetter::Deliver {
                consumer_id,
                deliveries,
            },
        );
        Passed::On
    }
}
