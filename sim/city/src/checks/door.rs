//! At the desk's door: letters in and out, in the order in which the desk saw and wrote them. A connection's delays do
//! not blur anything here: after an `AckDone` was written, nothing acknowledged by it may be written.

use super::SubscriptionName;
use super::acks::ConfirmedAcks;
use super::active::{ActiveConsumers, Seat};
use super::permits::Account;
use crate::violation::Violation;
use letters::{
    AckId, AckKind, Delivery, SessionLetter, SubscriptionType, ToSession, ToTopic, TopicLetter,
};
use std::collections::BTreeMap;
use vocabulary::{ConsumerId, RequestId, SessionId};

/// What the doorkeeper knows.
#[derive(Debug, Default)]
pub struct Door {
    /// Over all lives of the house.
    acks: ConfirmedAcks,
    active: ActiveConsumers,
    consumers: BTreeMap<Seat, Consumer>,
    /// Acks with a receipt that were not answered yet.
    waiting: BTreeMap<(SessionId, RequestId), (SubscriptionName, AckKind, Vec<AckId>)>,
}

#[derive(Debug)]
struct Consumer {
    subscription: SubscriptionName,
    is_single: bool,
    is_in: bool,
    account: Account,
}

impl Door {
    /// The house has died: whoever was in it is gone. What was confirmed stays confirmed.
    pub fn house_died(&mut self) {
        self.active = ActiveConsumers::default();
        self.consumers.clear();
        self.waiting.clear();
    }

    /// A letter goes in. `topic` is its number in the plan.
    pub fn letter_in(&mut self, topic: usize, letter: &ToTopic) {
        let session = letter.session;
        match &letter.letter {
            TopicLetter::AddConsumer(add) => {
                let subscription = SubscriptionName {
                    topic,
                    name: add.subscription.as_str().into(),
                };
                let is_single = matches!(
                    add.subscription_type,
                    SubscriptionType::Exclusive | SubscriptionType::Failover
                );
                let consumer = Consumer {
                    subscription,
                    is_single,
                    is_in: false,
                    account: Account::default(),
                };
                self.consumers.insert((session, add.consumer_id), consumer);
            }
            TopicLetter::Flow {
                consumer_id,
                permits,
            } => {
                if let Some(consumer) = self.consumers.get_mut(&(session, *consumer_id)) {
                    consumer.account.granted(*permits);
                }
            }
            TopicLetter::Ack {
                consumer_id,
                request_id: Some(request),
                kind,
                ids,
            } => {
                if let Some(consumer) = self.consumers.get(&(session, *consumer_id)) {
                    let ack = (consumer.subscription.clone(), *kind, ids.clone());
                    self.waiting.insert((session, *request), ack);
                }
            }
            TopicLetter::SessionGone => {
                let seats: Vec<Seat> = self
                    .consumers
                    .range((session, 0)..=(session, u64::MAX))
                    .map(|(seat, _)| *seat)
                    .collect();
                for seat in seats {
                    // A session may hold consumers of several topics; each topic hears of its end.
                    if self
                        .consumers
                        .get(&seat)
                        .is_some_and(|consumer| consumer.subscription.topic == topic)
                    {
                        self.left(seat);
                    }
                }
            }
            _ => {}
        }
    }

    /// A letter comes out.
    ///
    /// # Errors
    /// It breaks a promise.
    pub fn letter_out(&mut self, letter: &ToSession) -> Result<(), Violation> {
        let session = letter.session;
        match &letter.letter {
            SessionLetter::Subscribed { consumer_id, .. } => {
                if let Some(consumer) = self.consumers.get_mut(&(session, *consumer_id)) {
                    consumer.is_in = true;
                }
            }
            SessionLetter::SubscribeRefused { consumer_id, .. }
            | SessionLetter::ConsumerLeft { consumer_id, .. }
            | SessionLetter::CloseConsumer { consumer_id } => self.left((session, *consumer_id)),
            SessionLetter::ActiveConsumerChanged {
                consumer_id,
                is_active,
            } => {
                let seat = (session, *consumer_id);
                if let Some(consumer) = self.consumers.get(&seat) {
                    self.active.told(&consumer.subscription, seat, *is_active);
                }
            }
            SessionLetter::AckDone {
                request_id,
                refusal,
                ..
            } => {
                let waiting = self.waiting.remove(&(session, *request_id));
                if let (Some((subscription, kind, ids)), None) = (waiting, refusal) {
                    self.acks.confirmed(&subscription, kind, &ids);
                }
            }
            SessionLetter::Deliver {
                consumer_id,
                deliveries,
            } => {
                for delivery in deliveries {
                    self.delivered((session, *consumer_id), delivery)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The desk has said all that it says about one input.
    ///
    /// # Errors
    /// It breaks a promise.
    pub fn turn_over(&self) -> Result<(), Violation> {
        self.active.check()
    }

    /// How many acks were confirmed.
    #[must_use]
    pub fn acks_confirmed(&self) -> u64 {
        self.acks.count()
    }

    fn delivered(&mut self, seat: Seat, delivery: &Delivery) -> Result<(), Violation> {
        let (session, consumer_id): (SessionId, ConsumerId) = seat;
        let Some(consumer) = self
            .consumers
            .get_mut(&seat)
            .filter(|consumer| consumer.is_in)
        else {
            return Err(Violation::new(
                "delivery to nobody",
                format!(
                    "{} goes to consumer {consumer_id} of {session}, which is not there",
                    delivery.position
                ),
            ));
        };
        let subscription = consumer.subscription.clone();
        consumer
            .account
            .sent(delivery.permits)
            .map_err(|violation| {
                let text = format!(
                    "consumer {consumer_id} of {session}, {subscription}: {}",
                    violation.text
                );
                Violation::new(violation.check, text)
            })?;
        if consumer.is_single {
            self.active.delivered(&subscription, seat)?;
        }
        self.acks.delivered(&subscription, delivery)
    }

    fn left(&mut self, seat: Seat) {
        if let Some(consumer) = self.consumers.remove(&seat) {
            self.active.left(&consumer.subscription, seat);
        }
    }
}
