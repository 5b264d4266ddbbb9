//! A consumer: what comes to it, and the permits that go back.

use crate::client::{Client, Turn};
use crate::face::{ClientError, ClientEvent, Subscribe};
use crate::opening::{Opening, Stage};
use crate::received::{ImpossiblePermits, take_apart};
use bytes::Bytes;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::command_ack::{AckType, ValidationError};
use pulsar_wire::proto::command_subscribe::SubType;
use pulsar_wire::proto::{
    CommandAck, CommandFlow, CommandMessage, CommandRedeliverUnacknowledgedMessages,
    CommandSubscribe, MessageIdData,
};
use std::collections::BTreeMap;
use vocabulary::{AckSet, ConsumerId, Position, RequestId};

#[derive(Debug)]
pub(crate) struct Consumer {
    pub opening: Opening,
    ask: Subscribe,
    /// Counts the openings. Permits belong to one: the broker forgets them with it.
    incarnation: u64,
    /// Permits to give back with the next FLOW.
    returned: u32,
    /// Counts the redeliveries of everything (Exclusive and Failover): what is older was sent before the last one.
    epoch: u64,
    /// Batches of which part is acked: what remains.
    pub partly_acked: BTreeMap<Position, AckSet>,
}

impl Consumer {
    fn has_epochs(&self) -> bool {
        matches!(
            self.ask.subscription_type,
            SubType::Exclusive | SubType::Failover
        )
    }

    /// FLOW goes out when half of the queue came back.
    fn give_back(&mut self, turn: &mut Turn<'_>, permits: u32) {
        self.returned = self.returned.saturating_add(permits);
        if self.returned >= (self.ask.queue_size / 2).max(1) {
            flow(
                turn,
                self.ask.consumer_id,
                std::mem::take(&mut self.returned),
            );
        }
    }
}

fn flow(turn: &mut Turn<'_>, consumer_id: ConsumerId, permits: u32) {
    turn.send(Cmd::Flow(CommandFlow {
        consumer_id: Some(consumer_id),
        message_permits: Some(permits),
    }));
}

impl Client {
    pub(crate) fn subscribe(&mut self, turn: &mut Turn<'_>, ask: Subscribe) {
        let consumer_id = ask.consumer_id;
        if self.consumers.contains_key(&consumer_id) {
            let error = ClientError::here(format!(
                "Consumer {consumer_id} exists already in this client"
            ));
            return turn.tell(ClientEvent::SubscribeFailed { consumer_id, error });
        }
        let consumer = Consumer {
            opening: Opening::of(ask.topic.clone()),
            ask: Subscribe {
                queue_size: ask.queue_size.max(1),
                ..ask
            },
            incarnation: 0,
            returned: 0,
            epoch: 0,
            partly_acked: BTreeMap::new(),
        };
        self.consumers.insert(consumer_id, consumer);
        self.open_what_is_due(turn);
    }

    pub(crate) fn send_subscribe(
        &mut self,
        turn: &mut Turn<'_>,
        consumer_id: ConsumerId,
        request_id: RequestId,
    ) {
        let Some(consumer) = self.consumers.get(&consumer_id) else {
            return;
        };
        let ask = &consumer.ask;
        turn.send(Cmd::Subscribe(CommandSubscribe {
            topic: Some(ask.topic.clone()),
            subscription: Some(ask.subscription.clone()),
            sub_type: Some(ask.subscription_type as i32),
            consumer_id: Some(consumer_id),
            request_id: Some(request_id),
            consumer_name: Some(ask.name.clone()),
            initial_position: Some(ask.initial_position as i32),
            consumer_epoch: consumer.has_epochs().then_some(consumer.epoch),
            ..Default::default()
        }));
    }

    pub(crate) fn subscribed(&mut self, turn: &mut Turn<'_>, consumer_id: ConsumerId) {
        let Some(consumer) = self.consumers.get_mut(&consumer_id) else {
            return;
        };
        consumer.opening.stage = Stage::Open;
        consumer.opening.backoff.reset();
        consumer.opening.was_open = true;
        consumer.incarnation += 1;
        consumer.returned = 0;
        consumer.partly_acked.clear();
        let incarnation = consumer.incarnation;
        turn.tell(ClientEvent::Subscribed {
            consumer_id,
            incarnation,
        });
        flow(turn, consumer_id, consumer.ask.queue_size);
    }

    pub(crate) fn message_came(
        &mut self,
        turn: &mut Turn<'_>,
        command: &CommandMessage,
        entry: &Bytes,
    ) {
        let consumer_id = command.consumer_id();
        let Some(consumer) = self
            .consumers
            .get_mut(&consumer_id)
            .filter(|consumer| consumer.opening.is_open())
        else {
            return;
        };
        let arrival = match take_apart(command, entry, consumer.incarnation) {
            Ok(arrival) => arrival,
            Err(ImpossiblePermits(permits)) => {
                return self.hang_up(
                    turn,
                    format!("the broker sent a MESSAGE that costs {permits} permits"),
                );
            }
        };
        let mut left = arrival.permits;
        let outdated = consumer.has_epochs()
            && command
                .consumer_epoch
                .is_some_and(|epoch| epoch < consumer.epoch);
        if outdated {
            return consumer.give_back(turn, left);
        }
        for message in arrival.messages {
            if consumer.ask.says_took {
                left = left.saturating_sub(message.permits);
            }
            turn.tell(ClientEvent::Message(Box::new(message)));
        }
        if let Some(problem) = arrival.problem {
            let id = command.message_id.clone().unwrap_or_default();
            if let Some(error) = problem.validation_error {
                ack_unreadable(turn, consumer_id, id.clone(), error);
            }
            let position = Position::from_wire(id.ledger_id(), id.entry_id());
            turn.tell(ClientEvent::Unreadable {
                consumer_id,
                position,
                problem: problem.text,
            });
        }
        if left > 0 {
            consumer.give_back(turn, left);
        }
    }

    pub(crate) fn took(
        &mut self,
        turn: &mut Turn<'_>,
        consumer_id: ConsumerId,
        incarnation: u64,
        permits: u32,
    ) {
        let Some(consumer) = self.consumers.get_mut(&consumer_id) else {
            return;
        };
        if consumer.opening.is_open() && consumer.incarnation == incarnation {
            consumer.give_back(turn, permits);
        }
    }

    pub(crate) fn redeliver(
        &mut self,
        turn: &mut Turn<'_>,
        consumer_id: ConsumerId,
        positions: &[Position],
    ) {
        let Some(consumer) = self
            .consumers
            .get_mut(&consumer_id)
            .filter(|consumer| consumer.opening.is_open())
        else {
            // A consumer that comes back gets everything unacked anyway.
            return;
        };
        let everything = positions.is_empty() && consumer.has_epochs();
        if everything {
            consumer.epoch += 1;
        }
        turn.send(Cmd::RedeliverUnacknowledgedMessages(
            CommandRedeliverUnacknowledgedMessages {
                consumer_id: Some(consumer_id),
                message_ids: positions
                    .iter()
                    .map(|position| id_on_wire(*position))
                    .collect(),
                consumer_epoch: everything.then_some(consumer.epoch),
            },
        ));
    }
}

pub(crate) fn id_on_wire(position: Position) -> MessageIdData {
    let (ledger, entry) = position.to_wire();
    MessageIdData {
        ledger_id: Some(ledger),
        entry_id: Some(entry),
        ..Default::default()
    }
}

fn ack_unreadable(
    turn: &mut Turn<'_>,
    consumer_id: ConsumerId,
    id: MessageIdData,
    error: ValidationError,
) {
    turn.send(Cmd::Ack(CommandAck {
        consumer_id: Some(consumer_id),
        ack_type: Some(AckType::Individual as i32),
        message_id: vec![id],
        validation_error: Some(error as i32),
        ..Default::default()
    }));
}
