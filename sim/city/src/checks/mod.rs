//! The promises, one file each. They are watched from two places: through the clients' eyes ([`confirmed`], [`order`],
//! [`receipts`]) and at the desk's door ([`door`], [`acks`], [`active`], [`permits`]), where the order of things is exact.

pub mod confirmed;
pub mod order;

pub mod acks;
pub mod receipts;

pub mod active;
pub mod door;
pub mod permits;

use std::fmt;
use std::sync::Arc;
use vocabulary::Position;

#[cfg(test)]
mod checks_tests;

/// A message as its producer names it: the payload says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageName {
    /// Which producer, over all clients.
    pub producer: usize,
    /// Counted from 0.
    pub number: u64,
}

/// A subscription by topic and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubscriptionName {
    /// The topic's number in the plan.
    pub topic: usize,
    /// Its name.
    pub name: Arc<str>,
}

/// A message as the broker names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessagePlace {
    /// The entry.
    pub position: Position,
    /// Which of its batch, 0 if it is alone.
    pub index: u32,
}

impl MessageName {
    /// From a payload.
    #[must_use]
    pub fn of_payload(payload: &[u8]) -> Option<MessageName> {
        let text = std::str::from_utf8(payload).ok()?;
        let (producer, number) = text.split(' ').next()?.split_once('#')?;
        Some(MessageName {
            producer: producer.parse().ok()?,
            number: number.parse().ok()?,
        })
    }
}

impl fmt::Display for MessageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.producer, self.number)
    }
}

impl fmt::Display for SubscriptionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "topic {}/{}", self.topic, self.name)
    }
}

impl fmt::Display for MessagePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.position, self.index)
    }
}
