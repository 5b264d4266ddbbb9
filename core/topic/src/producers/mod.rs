//! The producers of a topic.

pub(crate) mod admission;
pub(crate) mod exclusive;
pub(crate) mod publish;

use crate::turn::Seat;
use exclusive::Exclusive;
use letters::{AccessMode, AddProducer};
use publish::Appending;
use std::collections::{BTreeMap, VecDeque};
use vocabulary::{RequestId, WallTime};

/// A producer that was admitted.
#[derive(Debug)]
pub(crate) struct Producer {
    pub seat: Seat,
    pub name: String,
    pub user_provided_name: bool,
    /// Counts the client's (re)connects.
    pub epoch: u64,
    pub access_mode: AccessMode,
    /// Publishes not answered yet.
    pub pending: u64,
    /// CLOSE_PRODUCER came, and waits for them.
    pub leaving: Option<RequestId>,
    pub messages_in: u64,
    pub entries_in: u64,
    pub bytes_in: u64,
    /// Dropped on its connection (non-persistent topics).
    pub messages_dropped: u64,
    pub encrypted: bool,
    pub metadata: Vec<(String, String)>,
    pub client_version: String,
    pub address: String,
    pub connected_since: WallTime,
}

impl Producer {
    fn new(seat: Seat, name: String, add: AddProducer, connected_since: WallTime) -> Producer {
        Producer {
            seat,
            name,
            user_provided_name: add.user_provided_name,
            epoch: add.epoch,
            access_mode: add.access_mode,
            pending: 0,
            leaving: None,
            messages_in: 0,
            entries_in: 0,
            bytes_in: 0,
            messages_dropped: 0,
            encrypted: add.encrypted,
            metadata: add.metadata,
            client_version: add.client_version,
            address: add.address,
            connected_since,
        }
    }
}

/// All producers, by seat and by name, and what they have on its way to the log.
#[derive(Debug, Default)]
pub(crate) struct Producers {
    by_seat: BTreeMap<Seat, Producer>,
    by_name: BTreeMap<String, Seat>,
    /// Appends the log has not answered, in order. Bounded by what each session may have pending.
    pub appending: VecDeque<Appending>,
    /// Bytes of `appending`.
    pub appending_bytes: u64,
    /// An append failed: nobody publishes until the log has answered everything.
    pub fenced: bool,
    /// Who has the topic for itself.
    pub exclusive: Exclusive,
}

impl Producers {
    pub fn get(&self, seat: Seat) -> Option<&Producer> {
        self.by_seat.get(&seat)
    }

    pub fn get_mut(&mut self, seat: Seat) -> Option<&mut Producer> {
        self.by_seat.get_mut(&seat)
    }

    /// Who has this name.
    pub fn holder(&self, name: &str) -> Option<Seat> {
        self.by_name.get(name).copied()
    }

    pub fn is_empty(&self) -> bool {
        self.by_seat.is_empty()
    }

    pub fn len(&self) -> usize {
        self.by_seat.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Producer> {
        self.by_seat.values()
    }

    pub fn seats_of(&self, session: vocabulary::SessionId) -> Vec<Seat> {
        self.by_seat
            .range((session, 0)..=(session, u64::MAX))
            .map(|(seat, _)| *seat)
            .collect()
    }

    fn insert(&mut self, producer: Producer) {
        let seat = producer.seat;
        let taken = self.by_name.insert(producer.name.clone(), seat);
        // Invariant: a name has one holder; admission asked before.
        assert!(
            taken.is_none(),
            "producer name '{}' was given twice",
            producer.name
        );
        let before = self.by_seat.insert(seat, producer);
        // Invariant: a seat has one producer; admission asked before.
        assert!(before.is_none(), "producer {seat:?} was admitted twice");
    }

    pub fn remove(&mut self, seat: Seat) -> Option<Producer> {
        let producer = self.by_seat.remove(&seat)?;
        self.by_name.remove(&producer.name);
        for appending in self
            .appending
            .iter_mut()
            .filter(|appending| appending.seat == Some(seat))
        {
            appending.seat = None;
        }
        Some(producer)
    }

    pub fn check(&self) {
        // Invariant: both maps speak of the same producers.
        assert!(
            self.by_name.len() == self.by_seat.len(),
            "producers by name and by seat differ"
        );
        for (name, seat) in &self.by_name {
            assert!(
                self.by_seat
                    .get(seat)
                    .is_some_and(|producer| producer.name == *name),
                "'{name}' has no producer"
            );
        }
        let bytes: u64 = self.appending.iter().map(|appending| appending.bytes).sum();
        // Invariant: pending bytes are those of what is pending.
        assert!(
            bytes == self.appending_bytes,
            "{} pending bytes counted, {bytes} there",
            self.appending_bytes
        );
        for producer in self.by_seat.values() {
            let seat = Some(producer.seat);
            let pending = self
                .appending
                .iter()
                .filter(|appending| appending.seat == seat)
                .count() as u64;
            // Invariant: each publish is answered once.
            assert!(
                pending == producer.pending,
                "producer '{}': pending {}",
                producer.name,
                producer.pending
            );
            // Invariant: whoever leaves waits for something.
            assert!(
                producer.leaving.is_none() || pending > 0,
                "producer '{}' leaves and does not go",
                producer.name
            );
        }
        if let Some(seat) = self.exclusive.seat() {
            // Invariant: who has exclusive access is there, and nobody else.
            assert!(
                self.by_seat.len() == 1 && self.by_seat.contains_key(&seat),
                "{seat:?} has exclusive access, and {} producers are there",
                self.by_seat.len()
            );
        }
        // Invariant: a fenced topic has no producers, and something to wait for.
        assert!(
            !self.fenced || (self.by_seat.is_empty() && !self.appending.is_empty()),
            "fenced for nothing"
        );
    }
}
