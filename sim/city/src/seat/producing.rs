//! A producer's application: numbered messages, some of them in batches.

use super::{Seat, Surroundings};
use crate::checks::MessageName;
use crate::plan::ProducerPlan;
use crate::violation::Violation;
use bytes::Bytes;
use client_session::{ClientAsk, ClientEvent, CreateProducer, OutMessage};
use std::collections::BTreeMap;
use std::fmt;
use vocabulary::ProducerId;
use world::Dice;

/// One producer.
pub(super) struct ProducerAtWork {
    plan: ProducerPlan,
    topic: String,
    id: ProducerId,
    state: State,
    next_message: u64,
    next_token: u64,
    /// Sends without an answer.
    pending: BTreeMap<u64, Vec<MessageName>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Closing,
    Closed,
}

impl ProducerAtWork {
    pub fn new(plan: ProducerPlan, topic: String) -> ProducerAtWork {
        let id = plan.number as ProducerId;
        let state = State::Closed;
        ProducerAtWork {
            plan,
            topic,
            id,
            state,
            next_message: 0,
            next_token: 0,
            pending: BTreeMap::new(),
        }
    }

    pub fn create(&mut self) -> ClientAsk {
        self.state = State::Open;
        ClientAsk::CreateProducer(CreateProducer {
            producer_id: self.id,
            topic: self.topic.clone(),
            name: self
                .plan
                .has_name
                .then(|| format!("producer-{}", self.plan.number)),
        })
    }

    pub fn is_done(&self) -> bool {
        self.pending.is_empty()
    }

    /// The next messages, and the token they go by.
    fn next_send(&mut self, dice: &mut dyn Dice) -> (u64, Vec<MessageName>, ClientAsk) {
        let count = 1 + dice.below(self.plan.batch_max);
        let names: Vec<MessageName> = (self.next_message..self.next_message + count)
            .map(|number| MessageName {
                producer: self.plan.number,
                number,
            })
            .collect();
        self.next_message += count;
        self.next_token += 1;
        let messages = names.iter().map(|name| OutMessage {
            payload: self.payload(*name),
            ..OutMessage::default()
        });
        let ask = ClientAsk::Send {
            producer_id: self.id,
            token: self.next_token,
            messages: messages.collect(),
            batch: self.plan.batch_max > 1,
        };
        self.pending.insert(self.next_token, names.clone());
        (self.next_token, names, ask)
    }

    fn payload(&self, name: MessageName) -> Bytes {
        let mut payload = format!("{name} ").into_bytes();
        payload.resize(payload.len().max(self.plan.message_bytes), b'.');
        payload.into()
    }
}

impl fmt::Display for ProducerAtWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "producer {} {:?}: {} sends pending",
            self.plan.number,
            self.state,
            self.pending.len()
        )
    }
}

impl Seat {
    pub(super) fn produce(&mut self, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        for at in 0..self.producers.len() {
            let producer = &mut self.producers[at];
            if producer.state == State::Closed {
                let ask = producer.create();
                self.ask(ask, around)?;
                continue;
            }
            if around.calm
                || producer.state == State::Closing
                || producer.pending.len() >= producer.plan.pending_max
            {
                continue;
            }
            if around.dice.chance(1, 100) {
                producer.state = State::Closing;
                around.counts.add("producers closed");
                let ask = ClientAsk::CloseProducer(producer.id);
                self.ask(ask, around)?;
                continue;
            }
            let (token, names, ask) = producer.next_send(around.dice);
            let topic = producer.plan.topic;
            names
                .iter()
                .for_each(|name| around.history.confirmed.sent(topic, *name));
            around.counts.add_many("messages sent", names.len() as u64);
            let last = names.last().map_or(0, |name| name.number);
            around.lines.push(format!(
                "producer {} sends up to #{last} (send {token})",
                self.producers[at].id
            ));
            self.ask(ask, around)?;
        }
        Ok(())
    }

    pub(super) fn producer_event(
        &mut self,
        event: ClientEvent,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Violation> {
        match event {
            ClientEvent::ProducerCreated { .. } => around.counts.add("producers created"),
            ClientEvent::ProducerReopened { producer_id } => {
                around.counts.add("producers reopened");
                around.lines.push(format!(
                    "producer {producer_id} is back and has sent its pending sends again"
                ));
            }
            ClientEvent::ProducerClosed { producer_id } => {
                if let Some(producer) = self.producer(producer_id) {
                    // What was pending then is neither confirmed nor refused.
                    producer.pending.clear();
                    producer.state = State::Closed;
                }
            }
            ClientEvent::ProducerFailed { producer_id, error } => {
                around.counts.add("producers refused");
                around
                    .lines
                    .push(format!("producer {producer_id} is refused: {error}"));
                if let Some(producer) = self.producer(producer_id) {
                    producer.pending.clear();
                    producer.state = State::Closed;
                }
            }
            ClientEvent::Sent {
                producer_id,
                token,
                position,
                ..
            } => {
                let names = self
                    .producer(producer_id)
                    .and_then(|producer| producer.pending.remove(&token));
                around.lines.push(format!(
                    "producer {producer_id}: send {token} is at {position}"
                ));
                for name in names.unwrap_or_default() {
                    if around.history.confirmed.receipt(name) {
                        around.counts.add("messages confirmed");
                    }
                }
            }
            ClientEvent::SendFailed {
                producer_id,
                token,
                error,
            } => {
                around.counts.add("sends failed");
                around.lines.push(format!(
                    "producer {producer_id}: send {token} failed: {error}"
                ));
                if let Some(producer) = self.producer(producer_id) {
                    producer.pending.remove(&token);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn producer(&mut self, id: ProducerId) -> Option<&mut ProducerAtWork> {
        self.producers.iter_mut().find(|producer| producer.id == id)
    }
}
