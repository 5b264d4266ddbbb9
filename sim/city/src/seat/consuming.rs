//! A consumer's application: it subscribes, holds what comes until it acknowledges it, leaves and comes back.

use super::{Seat, Surroundings};
use crate::checks::{MessageName, MessagePlace, SubscriptionName};
use crate::history::Sight;
use crate::plan::ConsumerPlan;
use crate::violation::Violation;
use client_session::{ClientAsk, ClientEvent, MessageId, Received, SubType, Subscribe};
use letters::{InitialPosition, SubscriptionType};
use std::collections::BTreeMap;
use std::fmt;
use vocabulary::ConsumerId;

/// One consumer.
pub(super) struct ConsumerAtWork {
    pub plan: ConsumerPlan,
    topic: String,
    pub id: ConsumerId,
    pub state: State,
    /// Received and not acknowledged, oldest first.
    pub held: Vec<MessageId>,
    /// Acks without the receipt that was asked for.
    pub awaited: BTreeMap<u64, AwaitedReceipt>,
    pub next_token: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The client opens it, or has it open.
    In,
    Leaving,
    Away,
}

/// What a receipt will be for.
#[derive(Clone, Debug)]
pub(super) struct AwaitedReceipt {
    pub places: Vec<MessagePlace>,
    pub is_cumulative: bool,
    /// The life of the house in which the ack was sent.
    pub life: u32,
}

impl ConsumerAtWork {
    pub fn new(plan: ConsumerPlan, topic: String) -> ConsumerAtWork {
        ConsumerAtWork {
            id: plan.number as ConsumerId,
            plan,
            topic,
            state: State::Away,
            held: Vec::new(),
            awaited: BTreeMap::new(),
            next_token: 0,
        }
    }

    pub fn subscribe(&mut self) -> ClientAsk {
        self.state = State::In;
        ClientAsk::Subscribe(Subscribe {
            consumer_id: self.id,
            topic: self.topic.clone(),
            subscription: self.plan.subscription.name.to_string(),
            subscription_type: match self.plan.kind {
                SubscriptionType::Exclusive => SubType::Exclusive,
                SubscriptionType::Shared => SubType::Shared,
                SubscriptionType::Failover => SubType::Failover,
                SubscriptionType::KeyShared => SubType::KeyShared,
            },
            initial_position: match self.plan.initial_position {
                InitialPosition::Latest => client_session::InitialPosition::Latest,
                InitialPosition::Earliest => client_session::InitialPosition::Earliest,
            },
            queue_size: self.plan.permits,
            name: format!("consumer-{}", self.plan.number),
            says_took: false,
        })
    }

    pub fn is_done(&self) -> bool {
        self.state == State::In && self.held.is_empty() && self.awaited.is_empty()
    }

    pub fn is_single(&self) -> bool {
        self.plan.kind != SubscriptionType::Shared
    }

    fn subscription(&self) -> &SubscriptionName {
        &self.plan.subscription
    }
}

impl fmt::Display for ConsumerAtWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "consumer {} of {} {:?}: holds {}, awaits {} receipts",
            self.plan.number,
            self.subscription(),
            self.state,
            self.held.len(),
            self.awaited.len()
        )
    }
}

impl Seat {
    pub(super) fn consumer_event(
        &mut self,
        event: ClientEvent,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Violation> {
        match event {
            ClientEvent::Subscribed {
                consumer_id,
                incarnation,
            } => {
                around.counts.add(if incarnation == 1 {
                    "consumers subscribed"
                } else {
                    "consumers reopened"
                });
                if let Some(consumer) = self.consumer(consumer_id) {
                    // Whatever it held comes again, to it or to others.
                    consumer.held.clear();
                    around.history.confirmed.subscribed(consumer.subscription());
                    around.lines.push(format!(
                        "consumer {consumer_id} of {} is in",
                        consumer.subscription()
                    ));
                }
                Ok(())
            }
            ClientEvent::SubscribeFailed { consumer_id, error } => {
                around.counts.add("consumers refused");
                around
                    .lines
                    .push(format!("consumer {consumer_id} is refused: {error}"));
                self.left(consumer_id);
                Ok(())
            }
            ClientEvent::ConsumerClosed { consumer_id } => {
                around
                    .lines
                    .push(format!("consumer {consumer_id} has left"));
                self.left(consumer_id);
                Ok(())
            }
            ClientEvent::Message(received) => self.message_came(&received, around),
            ClientEvent::Unreadable {
                consumer_id,
                position,
                problem,
            } => Err(Violation::new(
                "entry as sent",
                format!("consumer {consumer_id} cannot read the entry at {position}: {problem}"),
            )),
            ClientEvent::AckConfirmed {
                consumer_id,
                token,
                error,
            } => {
                match &error {
                    None => around.counts.add("acks with receipts confirmed"),
                    Some(error) => {
                        around.counts.add("acks with receipts refused or cut off");
                        around.lines.push(format!(
                            "consumer {consumer_id}: ack {token} is not confirmed: {error}"
                        ));
                    }
                }
                self.receipt_came(consumer_id, token, error.is_none(), around);
                Ok(())
            }
            ClientEvent::ActiveConsumerChanged {
                consumer_id,
                is_active,
            } => {
                around.counts.add("active consumer changes");
                around
                    .lines
                    .push(format!("consumer {consumer_id} hears: active {is_active}"));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn consumer(&mut self, id: ConsumerId) -> Option<&mut ConsumerAtWork> {
        self.consumers.iter_mut().find(|consumer| consumer.id == id)
    }

    fn left(&mut self, id: ConsumerId) {
        if let Some(consumer) = self.consumer(id) {
            consumer.state = State::Away;
            consumer.held.clear();
        }
    }

    fn message_came(
        &mut self,
        received: &Received,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Violation> {
        let life = self.life;
        let Some(consumer) = self.consumer(received.consumer_id) else {
            return Ok(());
        };
        let Some(message) = MessageName::of_payload(&received.payload) else {
            let text = format!("the payload at {} is none of ours", received.id.position);
            return Err(Violation::new("entry as sent", text));
        };
        let index = received.id.batch.map_or(0, |(index, _)| index);
        let sight = Sight {
            subscription: consumer.subscription().clone(),
            is_single: consumer.is_single(),
            message,
            place: MessagePlace {
                position: received.id.position,
                index,
            },
            life,
        };
        around.lines.push(format!(
            "consumer {} gets {message} at {} (redelivery {})",
            received.consumer_id, sight.place, received.redelivery_count
        ));
        around.counts.add("messages received");
        if received.redelivery_count > 0 {
            around.counts.add("messages redelivered");
        }
        if !around.history.seen(&sight)? {
            around.counts.add("messages received again");
        }
        if consumer.state == State::In {
            consumer.held.retain(|held| *held != received.id);
            consumer.held.push(received.id);
        }
        Ok(())
    }

    fn receipt_came(
        &mut self,
        id: ConsumerId,
        token: u64,
        confirmed: bool,
        around: &mut Surroundings<'_>,
    ) {
        let Some(consumer) = self.consumer(id) else {
            return;
        };
        let Some(awaited) = consumer.awaited.remove(&token).filter(|_| confirmed) else {
            return;
        };
        let receipts = &mut around.history.receipts;
        for place in awaited.places {
            if awaited.is_cumulative {
                receipts.confirmed_through(consumer.subscription(), place, awaited.life);
            } else {
                receipts.confirmed(consumer.subscription(), place, awaited.life);
            }
        }
    }
}
