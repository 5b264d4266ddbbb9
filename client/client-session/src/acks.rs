//! Acks, whole entries and parts of batches.

use crate::client::{Client, Turn};
use crate::consumer::{Consumer, id_on_wire};
use crate::face::{Ack, ClientError, ClientEvent, MessageId};
use crate::requests::Request;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::command_ack::AckType;
use pulsar_wire::proto::{CommandAck, CommandAckResponse, MessageIdData};
use vocabulary::{AckSet, ConsumerId};

impl Client {
    pub(crate) fn ack(
        &mut self,
        turn: &mut Turn<'_>,
        consumer_id: ConsumerId,
        ack: Ack,
        receipt: Option<u64>,
    ) {
        let batch_index_acks = self.settings.batch_index_acks;
        let Some(consumer) = self
            .consumers
            .get_mut(&consumer_id)
            .filter(|consumer| consumer.opening.is_open())
        else {
            if let Some(token) = receipt {
                let error = Some(ClientError::here(format!(
                    "Consumer {consumer_id} is not open"
                )));
                turn.tell(ClientEvent::AckConfirmed {
                    consumer_id,
                    token,
                    error,
                });
            }
            return;
        };
        let (kind, ids) = match ack {
            Ack::Individual(ids) => {
                let ids = ids
                    .into_iter()
                    .filter_map(|id| individual(consumer, id, batch_index_acks));
                (AckType::Individual, ids.collect())
            }
            Ack::Cumulative(id) => (
                AckType::Cumulative,
                vec![cumulative(consumer, id, batch_index_acks)],
            ),
        };
        if ids.is_empty() && receipt.is_none() {
            return;
        }
        let request_id =
            receipt.map(|token| self.request(turn, Request::Ack { consumer_id, token }));
        turn.send(Cmd::Ack(CommandAck {
            consumer_id: Some(consumer_id),
            ack_type: Some(kind as i32),
            message_id: ids,
            request_id,
            ..Default::default()
        }));
    }

    pub(crate) fn ack_answered(&mut self, turn: &mut Turn<'_>, response: &CommandAckResponse) {
        let Some(Request::Ack { consumer_id, token }) = self.requests.take(response.request_id())
        else {
            return;
        };
        let error = response
            .error
            .map(|code| ClientError::of_broker(code, response.message()));
        turn.tell(ClientEvent::AckConfirmed {
            consumer_id,
            token,
            error,
        });
    }
}

/// The id to ack, if one is due: a batch whose parts are not acked one by one is acked with its last.
fn individual(
    consumer: &mut Consumer,
    id: MessageId,
    batch_index_acks: bool,
) -> Option<MessageIdData> {
    let Some((index, size)) = id.batch else {
        return Some(id_on_wire(id.position));
    };
    let remaining = consumer
        .partly_acked
        .entry(id.position)
        .or_insert_with(|| AckSet::full(size));
    remaining.clear(index);
    if remaining.is_empty() {
        consumer.partly_acked.remove(&id.position);
        return Some(id_on_wire(id.position));
    }
    let ack_set = remaining.to_wire();
    batch_index_acks.then(|| MessageIdData {
        ack_set,
        ..id_on_wire(id.position)
    })
}

/// A client that does not ack parts of batches acks up to the entry before instead.
fn cumulative(consumer: &mut Consumer, id: MessageId, batch_index_acks: bool) -> MessageIdData {
    consumer
        .partly_acked
        .retain(|position, _| *position >= id.position);
    let Some((index, size)) = id.batch.filter(|(index, size)| index + 1 < *size) else {
        consumer.partly_acked.remove(&id.position);
        return id_on_wire(id.position);
    };
    if !batch_index_acks {
        return id_on_wire(id.position.before());
    }
    let mut remaining = AckSet::full(size);
    (0..=index).for_each(|acked| remaining.clear(acked));
    let known = consumer
        .partly_acked
        .entry(id.position)
        .or_insert_with(|| AckSet::full(size));
    known.intersect(&remaining);
    MessageIdData {
        ack_set: known.to_wire(),
        ..id_on_wire(id.position)
    }
}
