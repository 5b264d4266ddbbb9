//! No confirmed message is lost: whatever got a receipt reaches every durable subscription that existed before the
//! message was first sent.

use super::{MessageName, SubscriptionName};
use crate::violation::Violation;
use std::collections::{BTreeMap, BTreeSet};

/// The name of this check.
pub const CHECK: &str = "confirmed message lost";

/// What was sent, confirmed and received, over all lives of the house.
#[derive(Debug, Default)]
pub struct Confirmed {
    /// Orders sends and subscriptions.
    tick: u64,
    producers: BTreeMap<usize, Sent>,
    subscriptions: BTreeMap<SubscriptionName, Received>,
    confirmed: u64,
}

#[derive(Debug)]
struct Sent {
    topic: usize,
    /// When each number was first sent.
    first_sent: BTreeMap<u64, u64>,
    confirmed: BTreeSet<u64>,
}

#[derive(Debug, Default)]
struct Received {
    /// When it was first confirmed to exist.
    since: u64,
    messages: BTreeSet<MessageName>,
}

impl Confirmed {
    /// A message was sent, for the first time or again.
    pub fn sent(&mut self, topic: usize, message: MessageName) {
        self.tick += 1;
        let producer = self
            .producers
            .entry(message.producer)
            .or_insert_with(|| Sent {
                topic,
                first_sent: BTreeMap::new(),
                confirmed: BTreeSet::new(),
            });
        producer
            .first_sent
            .entry(message.number)
            .or_insert(self.tick);
    }

    /// Its receipt came. False if it had one before.
    pub fn receipt(&mut self, message: MessageName) -> bool {
        let Some(producer) = self.producers.get_mut(&message.producer) else {
            return false;
        };
        let is_new = producer.confirmed.insert(message.number);
        self.confirmed += u64::from(is_new);
        is_new
    }

    /// A durable subscription is confirmed to exist.
    pub fn subscribed(&mut self, subscription: &SubscriptionName) {
        self.tick += 1;
        if !self.subscriptions.contains_key(subscription) {
            let received = Received {
                since: self.tick,
                messages: BTreeSet::new(),
            };
            self.subscriptions.insert(subscription.clone(), received);
        }
    }

    /// A consumer of the subscription received a message. True if it is the first time for the subscription.
    ///
    /// # Errors
    /// Nobody ever sent it.
    pub fn received(
        &mut self,
        subscription: &SubscriptionName,
        message: MessageName,
    ) -> Result<bool, Violation> {
        let sent = self.producers.get(&message.producer);
        let known = sent.is_some_and(|sent| {
            sent.topic == subscription.topic && sent.first_sent.contains_key(&message.number)
        });
        if !known {
            return Err(Violation::new(
                "message made up",
                format!("{subscription} got {message}, which nobody sent"),
            ));
        }
        let received = self.subscriptions.entry(subscription.clone()).or_default();
        Ok(received.messages.insert(message))
    }

    /// How many messages got a receipt.
    #[must_use]
    pub fn confirmed(&self) -> u64 {
        self.confirmed
    }

    /// What is confirmed and has not arrived where it must.
    #[must_use]
    pub fn missing(&self) -> Vec<(SubscriptionName, MessageName)> {
        let mut missing = Vec::new();
        for (name, received) in &self.subscriptions {
            for (producer, sent) in self
                .producers
                .iter()
                .filter(|(_, sent)| sent.topic == name.topic)
            {
                for number in &sent.confirmed {
                    let message = MessageName {
                        producer: *producer,
                        number: *number,
                    };
                    let expected = sent
                        .first_sent
                        .get(number)
                        .is_some_and(|tick| *tick > received.since);
                    if expected && !received.messages.contains(&message) {
                        missing.push((name.clone(), message));
                    }
                }
            }
        }
        missing
    }

    /// To be asked when everything had time to arrive.
    ///
    /// # Errors
    /// Something confirmed is missing.
    pub fn finish(&self) -> Result<(), Violation> {
        let missing = self.missing();
        let Some((subscription, message)) = missing.first() else {
            return Ok(());
        };
        Err(Violation::new(
            CHECK,
            format!(
                "{message} has a receipt and never reached {subscription} ({} such in all)",
                missing.len()
            ),
        ))
    }
}
