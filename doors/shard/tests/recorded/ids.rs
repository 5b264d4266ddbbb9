//! What the broker of the recording chose, and what ours chooses instead.

use bytes::Bytes;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{BaseCommand, MessageIdData};
use std::collections::BTreeMap;
use transcript::{Line, Said, Speaker};

type Place = (u64, u64);

/// A producer on a connection.
type Producer = (u32, u64);

/// Both ways from the one to the other. What they have in common is the entry itself, for its metadata names who
/// published it, and in which order.
#[derive(Default)]
pub struct Ids {
    /// Where the entry lay then.
    entries: BTreeMap<Place, Bytes>,
    /// Where it lies now.
    places: BTreeMap<Bytes, Place>,
    /// Sent in the play, by producer and sequence id; a resent entry takes the place of the first.
    sent: BTreeMap<(Producer, u64), Bytes>,
    names: BTreeMap<String, String>,
}

impl Ids {
    /// What the recording tells of its own places.
    pub fn of(lines: &[Line]) -> Ids {
        let mut ids = Ids::default();
        let mut sent = BTreeMap::new();
        for line in lines {
            let Said::Frame(speaker, frame) = &line.said else {
                continue;
            };
            let entry = frame.payload.clone().unwrap_or_default();
            match (&frame.command.cmd, speaker) {
                (Some(Cmd::Send(send)), Speaker::Client) => {
                    let producer = (line.connection, send.producer_id.unwrap_or_default());
                    sent.insert((producer, send.sequence_id.unwrap_or_default()), entry);
                }
                (Some(Cmd::SendReceipt(receipt)), Speaker::Broker) => {
                    let producer = (line.connection, receipt.producer_id.unwrap_or_default());
                    let key = (producer, receipt.sequence_id.unwrap_or_default());
                    if let (Some(id), Some(entry)) = (&receipt.message_id, sent.get(&key)) {
                        ids.entries.insert(place_of(id), entry.clone());
                    }
                }
                (Some(Cmd::Message(message)), Speaker::Broker) => {
                    if let Some(id) = &message.message_id {
                        ids.entries.insert(place_of(id), entry);
                    }
                }
                _ => {}
            }
        }
        ids
    }

    pub fn sent(&mut self, producer: Producer, sequence_id: u64, entry: Bytes) {
        self.sent.insert((producer, sequence_id), entry);
    }

    /// Our broker has stored an entry.
    pub fn receipt(&mut self, connection: u32, command: &BaseCommand) {
        let Some(Cmd::SendReceipt(receipt)) = &command.cmd else {
            return;
        };
        let producer = (connection, receipt.producer_id.unwrap_or_default());
        let key = (producer, receipt.sequence_id.unwrap_or_default());
        if let (Some(id), Some(entry)) = (&receipt.message_id, self.sent.get(&key)) {
            self.places.insert(entry.clone(), place_of(id));
        }
    }

    /// What one answer tells of names.
    pub fn learn(&mut self, then: &BaseCommand, now: &BaseCommand) {
        if let (Some(Cmd::ProducerSuccess(then)), Some(Cmd::ProducerSuccess(now))) =
            (&then.cmd, &now.cmd)
            && let (Some(then), Some(now)) = (&then.producer_name, &now.producer_name)
        {
            self.names.insert(then.clone(), now.clone());
        }
    }

    /// From then to now.
    pub fn translate(&self, command: &mut BaseCommand) {
        match &mut command.cmd {
            Some(Cmd::Ack(ack)) => ack.message_id.iter_mut().for_each(|id| self.place(id)),
            Some(Cmd::RedeliverUnacknowledgedMessages(redeliver)) => {
                redeliver
                    .message_ids
                    .iter_mut()
                    .for_each(|id| self.place(id));
            }
            Some(Cmd::Seek(seek)) => seek.message_id.iter_mut().for_each(|id| self.place(id)),
            Some(Cmd::Subscribe(subscribe)) => subscribe
                .start_message_id
                .iter_mut()
                .for_each(|id| self.place(id)),
            Some(Cmd::SendReceipt(receipt)) => {
                receipt.message_id.iter_mut().for_each(|id| self.place(id));
            }
            Some(Cmd::GetLastMessageIdResponse(last)) => {
                last.last_message_id
                    .iter_mut()
                    .for_each(|id| self.place(id));
                let mark = &mut last.consumer_mark_delete_position;
                mark.iter_mut().for_each(|id| self.place(id));
            }
            Some(Cmd::Producer(producer)) => self.name(&mut producer.producer_name),
            Some(Cmd::ProducerSuccess(success)) => self.name(&mut success.producer_name),
            Some(Cmd::Error(error)) => {
                // Some refusals name the producer that stands in the way.
                let message = error.message.take();
                error.message = message.map(|message| {
                    let words = message.split(' ');
                    let words = words.map(|word| self.names.get(word).map_or(word, String::as_str));
                    words.collect::<Vec<_>>().join(" ")
                });
            }
            _ => {}
        }
    }

    /// A place that no entry was seen at is left: the sentinels are.
    fn place(&self, id: &mut MessageIdData) {
        let entry = self.entries.get(&place_of(id));
        if let Some((ledger, number)) = entry.and_then(|entry| self.places.get(entry)) {
            id.ledger_id = Some(*ledger);
            id.entry_id = Some(*number);
        }
    }

    fn name(&self, name: &mut Option<String>) {
        if let Some(now) = name.as_ref().and_then(|name| self.names.get(name)) {
            *name = Some(now.clone());
        }
    }
}

fn place_of(id: &MessageIdData) -> Place {
    (
        id.ledger_id.unwrap_or_default(),
        id.entry_id.unwrap_or_default(),
    )
}

/// Whether both are the same kind of answer, to the same question or about the same thing.
pub fn answers_same(one: &BaseCommand, other: &BaseCommand) -> bool {
    one.r#type == other.r#type && key_of(one) == key_of(other)
}

fn key_of(command: &BaseCommand) -> Option<u64> {
    match command.cmd.as_ref()? {
        Cmd::SendReceipt(receipt) => receipt.producer_id,
        Cmd::SendError(error) => error.producer_id,
        Cmd::ProducerSuccess(success) => success.request_id,
        Cmd::Success(success) => success.request_id,
        Cmd::Error(error) => error.request_id,
        Cmd::AckResponse(response) => response.request_id,
        Cmd::LookupTopicResponse(response) => response.request_id,
        Cmd::PartitionMetadataResponse(response) => response.request_id,
        Cmd::CloseProducer(close) => close.producer_id,
        Cmd::CloseConsumer(close) => close.consumer_id,
        Cmd::ActiveConsumerChange(change) => change.consumer_id,
        Cmd::GetLastMessageIdResponse(last) => last.request_id,
        Cmd::GetTopicsOfNamespaceResponse(topics) => topics.request_id,
        Cmd::GetSchemaResponse(schema) => schema.request_id,
        Cmd::GetOrCreateSchemaResponse(schema) => schema.request_id,
        _ => None,
    }
}

/// Versions, urls, and what the broker can do today and could not then.
pub fn leave_out_what_is_free(command: &mut BaseCommand) {
    match &mut command.cmd {
        Some(Cmd::Connected(connected)) => {
            connected.server_version = None;
            connected.feature_flags = None;
        }
        Some(Cmd::LookupTopicResponse(response)) => {
            response.broker_service_url = None;
            response.broker_service_url_tls = None;
            response.proxy_through_service_url = None;
        }
        _ => {}
    }
}
