//! The producers and consumers of one connection, by the ids the client gave them.

use crate::waiting::Ticket;
use pulsar_wire::proto::base_command::Cmd;
use std::collections::{BTreeMap, VecDeque};
use vocabulary::{ConsumerId, Domain, Moment, ProducerId, TopicName};

/// How far a producer or consumer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its topic was asked to let it in, under this ticket.
    Pending(Ticket),
    /// It is in.
    Ready,
    /// Its topic was asked to let it go, under this ticket.
    Leaving(Ticket),
}

#[derive(Debug)]
pub(crate) struct Producer {
    pub topic: TopicName,
    /// As its topic knows it; empty until it is ready.
    pub name: String,
    /// The exclusive epoch its topic gave it.
    pub topic_epoch: Option<u64>,
    /// Of the schema it brought.
    pub schema_version: Option<i64>,
    pub standing: Standing,
    /// Its topic dropped a SEND: it is gone from there, and CLOSE is on its way.
    pub is_lost: bool,
    /// Messages dropped here that its topic has not heard of yet.
    pub unsaid_drops: u64,
    /// SENDs without an answer, oldest first.
    pub sends: VecDeque<PendingSend>,
}

/// A SEND without an answer.
#[derive(Debug)]
pub(crate) enum PendingSend {
    /// Its topic has it.
    AtTopic { bytes: u64 },
    /// It was decided here; the client hears of it when all before it are answered.
    Decided { answer: Box<Cmd> },
}

#[derive(Debug)]
pub(crate) struct Consumer {
    pub topic: TopicName,
    pub subscription: String,
    pub standing: Standing,
    /// Tells consumers apart that had the same id, one after the other.
    pub incarnation: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Producers {
    open: BTreeMap<ProducerId, Producer>,
    /// SENDs of open producers that non-persistent topics have and did not answer.
    pub passing: usize,
    /// Sizes of SENDs that a topic still has to answer, of producers that are no longer open.
    orphans: BTreeMap<ProducerId, VecDeque<u64>>,
    /// Thrown out by their topics, and until when SENDs on their way are forgiven.
    recently_closed: BTreeMap<ProducerId, Moment>,
}

impl Producers {
    pub fn get(&self, id: ProducerId) -> Option<&Producer> {
        self.open.get(&id)
    }

    pub fn get_mut(&mut self, id: ProducerId) -> Option<&mut Producer> {
        self.open.get_mut(&id)
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (ProducerId, &Producer)> {
        self.open.iter().map(|(id, producer)| (*id, producer))
    }

    /// Puts a producer in, maybe in place of one that is leaving. Returns what `remove` returns for that one.
    pub fn insert(&mut self, id: ProducerId, producer: Producer) -> u64 {
        self.recently_closed.remove(&id);
        let old = self.open.insert(id, producer);
        old.map_or(0, |old| self.orphan(id, old))
    }

    /// Takes a producer out. Returns how many of its SENDs were refused here and are now forgotten.
    pub fn remove(&mut self, id: ProducerId) -> u64 {
        self.open
            .remove(&id)
            .map_or(0, |producer| self.orphan(id, producer))
    }

    fn orphan(&mut self, id: ProducerId, producer: Producer) -> u64 {
        let mut forgotten = 0;
        let passes = producer.topic.domain() == Domain::NonPersistent;
        for send in producer.sends {
            match send {
                PendingSend::AtTopic { bytes } => {
                    self.passing -= usize::from(passes);
                    self.orphans.entry(id).or_default().push_back(bytes)
                }
                PendingSend::Decided { .. } => forgotten += 1,
            }
        }
        forgotten
    }

    /// A topic answered a SEND of a producer that is no longer open: its size, if one is missing.
    pub fn orphan_answered(&mut self, id: ProducerId) -> Option<u64> {
        let sizes = self.orphans.get_mut(&id)?;
        let bytes = sizes.pop_front();
        if sizes.is_empty() {
            self.orphans.remove(&id);
        }
        bytes
    }

    pub fn has_orphans(&self, id: ProducerId) -> bool {
        self.orphans.contains_key(&id)
    }

    pub fn closed_by_topic(&mut self, id: ProducerId, forgiven_until: Moment) {
        self.recently_closed.insert(id, forgiven_until);
    }

    pub fn is_forgiven(&self, id: ProducerId, now: Moment) -> bool {
        self.recently_closed
            .get(&id)
            .is_some_and(|until| now < *until)
    }

    pub fn forget_closed(&mut self, now: Moment) {
        self.recently_closed.retain(|_, until| now < *until);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Consumers {
    open: BTreeMap<ConsumerId, Consumer>,
    incarnations: u64,
}

impl Consumers {
    pub fn get(&self, id: ConsumerId) -> Option<&Consumer> {
        self.open.get(&id)
    }

    /// The consumer, if it is in.
    pub fn ready(&self, id: ConsumerId) -> Option<&Consumer> {
        self.get(id)
            .filter(|consumer| consumer.standing == Standing::Ready)
    }

    pub fn get_mut(&mut self, id: ConsumerId) -> Option<&mut Consumer> {
        self.open.get_mut(&id)
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (ConsumerId, &Consumer)> {
        self.open.iter().map(|(id, consumer)| (*id, consumer))
    }

    pub fn insert(
        &mut self,
        id: ConsumerId,
        topic: TopicName,
        subscription: String,
        ticket: Ticket,
    ) {
        self.incarnations += 1;
        let standing = Standing::Pending(ticket);
        self.open.insert(
            id,
            Consumer {
                topic,
                subscription,
                standing,
                incarnation: self.incarnations,
            },
        );
    }

    pub fn remove(&mut self, id: ConsumerId) {
        self.open.remove(&id);
    }
}
