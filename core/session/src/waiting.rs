//! Requests that wait for a topic's answer, under tickets of our own.
//!
//! Letters carry the ticket where they speak of a request id: clients choose theirs as they like, and some
//! use one twice at a time (pulsar-flex starts at 0 with every producer and consumer).

use std::collections::BTreeMap;
use vocabulary::{ConsumerId, ProducerId, RequestId, TopicName};

/// Number of a request in letters.
pub(crate) type Ticket = u64;

/// Who waits for what. `request_id` is the client's.
#[derive(Debug, Clone)]
pub(crate) enum Waiter {
    Partitions {
        request_id: RequestId,
        topic: TopicName,
    },
    Lookup {
        request_id: RequestId,
    },
    /// `known_hash`: of the list that the client has.
    Topics {
        request_id: Option<RequestId>,
        is_filtered: bool,
        known_hash: Option<String>,
    },
    /// `known_hash`: of the list that the client has.
    Watch {
        request_id: RequestId,
        watcher_id: u64,
        known_hash: Option<String>,
    },
    /// `told`: it was let in and waits for exclusive access.
    Producer {
        request_id: RequestId,
        producer_id: ProducerId,
        told: bool,
    },
    ProducerLeaves {
        producer_id: ProducerId,
        tell: Tell,
    },
    Consumer {
        request_id: RequestId,
        consumer_id: ConsumerId,
    },
    ConsumerLeaves {
        consumer_id: ConsumerId,
        tell: Tell,
    },
    /// GET_SCHEMA. `topic`: as the client wrote it.
    Schema {
        request_id: RequestId,
        topic: String,
        home: TopicName,
    },
    CreateSchema {
        request_id: RequestId,
    },
    Ack {
        request_id: RequestId,
        consumer_id: ConsumerId,
    },
    /// `incarnation`: of the consumer that goes with its subscription.
    Unsubscribe {
        request_id: RequestId,
        consumer_id: ConsumerId,
        incarnation: u64,
    },
    Seek {
        request_id: RequestId,
    },
    LastMessageId {
        request_id: RequestId,
        partition: Option<u32>,
    },
    ConsumerStats {
        request_id: RequestId,
    },
}

/// What the client hears when a producer or consumer has left its topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tell {
    /// SUCCESS to its CLOSE.
    Success(RequestId),
    /// Nothing: it has its answer already.
    Nothing,
    /// CLOSE from our side.
    Close,
}

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    last_ticket: Ticket,
    open: BTreeMap<Ticket, Waiter>,
}

impl Waiting {
    pub fn add(&mut self, waiter: Waiter) -> Ticket {
        self.last_ticket += 1;
        self.open.insert(self.last_ticket, waiter);
        self.last_ticket
    }

    /// The waiter, which goes on waiting.
    pub fn get(&self, ticket: Ticket) -> Option<&Waiter> {
        self.open.get(&ticket)
    }

    /// The waiter, which waits no more.
    pub fn take(&mut self, ticket: Ticket) -> Option<Waiter> {
        self.open.remove(&ticket)
    }

    /// The waiter, which goes on waiting for a second answer; `None` if it had its first one.
    pub fn first_answer(&mut self, ticket: Ticket) -> Option<Waiter> {
        match self.open.get_mut(&ticket)? {
            waiter @ Waiter::Producer { told: false, .. } => {
                let first = waiter.clone();
                if let Waiter::Producer { told, .. } = waiter {
                    *told = true;
                }
                Some(first)
            }
            _ => None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}
