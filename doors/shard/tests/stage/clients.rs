//! Clients as far as a conversation needs them: what they have open on which connection, what they sent and got.

use super::entries::{Parcel, Unpacked, pack, unpack};
use bytes::Bytes;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::command_subscribe::{InitialPosition, SubType};
use pulsar_wire::proto::{
    CommandFlow, CommandMessage, CommandProducer, CommandSend, CommandSubscribe, MessageIdData,
    ProducerAccessMode, Schema, ServerError, schema,
};
use std::collections::{BTreeMap, VecDeque};
use vocabulary::{AckSet, SessionId, TopicName};

pub struct Producer {
    /// As asked for, or as the broker made it.
    pub name: Option<String>,
    pub is_named_by_user: bool,
    pub epoch: u64,
    pub access_mode: ProducerAccessMode,
    /// As the broker told it last; said again when it comes back.
    pub topic_epoch: Option<u64>,
    pub initial_subscription: Option<String>,
    pub schema: Option<Schema>,
    pub next_sequence_id: u64,
    /// Sent and not answered; sent again on the next connection.
    pub pending: VecDeque<(u64, Parcel)>,
}

pub struct Consumer {
    pub subscription: String,
    pub kind: SubType,
    pub initial: InitialPosition,
    pub flow: u32,
    pub priority: i32,
    pub schema: Option<Schema>,
    pub name: String,
    /// A reader's: where it starts.
    pub start: Option<MessageIdData>,
    /// It starts with the messages of the last so many seconds.
    pub rollback: Option<u64>,
    /// By name of the message.
    pub received: BTreeMap<String, Received>,
    /// Of batches: what is not acknowledged, by place.
    pub remaining: BTreeMap<(u64, u64), AckSet>,
}

/// Where a message lies.
#[derive(Clone)]
pub struct Received {
    pub id: MessageIdData,
    /// Its index in the batch, and the batch's size.
    pub batch: Option<(u32, u32)>,
}

pub enum Role {
    Producer(Producer),
    Consumer(Consumer),
    /// Only asks.
    Guest,
}

/// A producer or consumer of a client.
pub struct Handle {
    pub name: String,
    /// Its number on its connection and everywhere.
    pub id: u64,
    pub connection: String,
    pub topic: String,
    pub role: Role,
    pub is_open: bool,
    /// Let in once, and not gone by itself: it comes back after its connection broke.
    pub comes_back: bool,
    pub said: Vec<Said>,
}

/// What is written into the conversation; what is alike and follows each other goes into one line.
#[derive(Clone, PartialEq)]
pub enum Said {
    Receipt(String),
    Gets(String),
    Other(String),
}

/// A client's end of a connection.
pub struct Connection {
    pub session: SessionId,
    pub is_silent: bool,
}

impl Handle {
    pub fn topic_name(&self) -> TopicName {
        TopicName::parse(&self.topic).expect("a topic's name")
    }

    /// PRODUCER or SUBSCRIBE.
    pub fn opening(&mut self, request_id: u64) -> Option<Cmd> {
        match &mut self.role {
            Role::Producer(producer) => {
                let command = CommandProducer {
                    topic: Some(self.topic.clone()),
                    producer_id: Some(self.id),
                    request_id: Some(request_id),
                    producer_name: producer.name.clone(),
                    user_provided_producer_name: Some(producer.is_named_by_user),
                    epoch: Some(producer.epoch),
                    producer_access_mode: Some(producer.access_mode as i32),
                    topic_epoch: producer.topic_epoch,
                    initial_subscription_name: producer.initial_subscription.clone(),
                    schema: producer.schema.clone(),
                    ..Default::default()
                };
                producer.epoch += 1;
                Some(Cmd::Producer(command))
            }
            Role::Consumer(consumer) => {
                consumer.received.clear();
                consumer.remaining.clear();
                Some(Cmd::Subscribe(CommandSubscribe {
                    topic: Some(self.topic.clone()),
                    subscription: Some(consumer.subscription.clone()),
                    sub_type: Some(consumer.kind as i32),
                    consumer_id: Some(self.id),
                    request_id: Some(request_id),
                    consumer_name: Some(consumer.name.clone()),
                    priority_level: Some(consumer.priority),
                    schema: consumer.schema.clone(),
                    initial_position: Some(consumer.initial as i32),
                    durable: consumer.start.is_some().then_some(false),
                    start_message_id: consumer.start.clone(),
                    start_message_rollback_duration_sec: consumer.rollback.take(),
                    ..Default::default()
                }))
            }
            Role::Guest => None,
        }
    }

    /// What a client sends as soon as it is let in: what was not answered, or its permits.
    pub fn after_opening(&self) -> Vec<(Cmd, Option<Bytes>)> {
        match &self.role {
            Role::Producer(producer) => producer
                .pending
                .iter()
                .map(|(sequence_id, parcel)| self.sending(*sequence_id, parcel))
                .collect(),
            Role::Consumer(consumer) if consumer.flow > 0 => {
                vec![(self.granting(consumer.flow), None)]
            }
            Role::Consumer(_) | Role::Guest => Vec::new(),
        }
    }

    pub fn granting(&self, permits: u32) -> Cmd {
        Cmd::Flow(CommandFlow {
            consumer_id: Some(self.id),
            message_permits: Some(permits),
        })
    }

    /// SEND, kept until it is answered.
    pub fn publish(&mut self, token: &str) -> Option<(Cmd, Option<Bytes>)> {
        let Role::Producer(producer) = &mut self.role else {
            return None;
        };
        let sequence_id = producer.next_sequence_id;
        let parcel = pack(token, &self.name, sequence_id);
        producer.next_sequence_id += u64::from(parcel.messages);
        producer.pending.push_back((sequence_id, parcel));
        let Role::Producer(producer) = &self.role else {
            return None;
        };
        let (_, parcel) = producer.pending.back()?;
        Some(self.sending(sequence_id, parcel))
    }

    fn sending(&self, sequence_id: u64, parcel: &Parcel) -> (Cmd, Option<Bytes>) {
        let highest = sequence_id + u64::from(parcel.messages) - 1;
        let command = CommandSend {
            producer_id: Some(self.id),
            sequence_id: Some(sequence_id),
            num_messages: Some(parcel.messages as i32),
            highest_sequence_id: (parcel.messages > 1).then_some(highest),
            is_chunk: parcel.is_chunk.then_some(true),
            ..Default::default()
        };
        (Cmd::Send(command), Some(parcel.entry.clone()))
    }

    /// An answer to the oldest SEND; what was sent.
    pub fn answered(&mut self, sequence_id: u64) -> String {
        let Role::Producer(producer) = &mut self.role else {
            return "what it never sent".to_owned();
        };
        // A refusal names the highest id of a batch, a receipt the lowest.
        let fits = |(first, parcel): &(u64, Parcel)| {
            (*first..*first + u64::from(parcel.messages)).contains(&sequence_id)
        };
        match producer.pending.pop_front_if(|oldest| fits(oldest)) {
            Some((_, parcel)) => parcel.label,
            None => format!("sequence id {sequence_id}, out of order"),
        }
    }

    /// A MESSAGE; its entry's name.
    pub fn got(&mut self, message: &CommandMessage, entry: &Bytes) -> String {
        let (text, unpacked) = describe(message, entry);
        let Some(unpacked) = unpacked else {
            self.said.push(Said::Gets(text));
            return "?".to_owned();
        };
        let label = unpacked.label();
        if let Role::Consumer(consumer) = &mut self.role {
            let id = message.message_id.clone().unwrap_or_default();
            let size = unpacked.names.len() as u32;
            for (index, name) in (0..).zip(unpacked.names) {
                let batch = unpacked.is_batch.then_some((index, size));
                let received = Received {
                    id: id.clone(),
                    batch,
                };
                consumer.received.insert(name, received);
            }
            if unpacked.is_batch {
                let left = left_of(message, size);
                let place = (id.ledger_id(), id.entry_id());
                consumer.remaining.insert(place, left);
            }
        }
        self.said.push(Said::Gets(text));
        label
    }

    /// Lines for what was said to it.
    pub fn take_said(&mut self) -> Vec<String> {
        let name = &self.name;
        let mut lines: Vec<String> = Vec::new();
        let mut last: Option<Said> = None;
        for said in std::mem::take(&mut self.said) {
            let continues = match (&last, &said) {
                (Some(Said::Receipt(_)), Said::Receipt(label))
                | (Some(Said::Gets(_)), Said::Gets(label)) => Some(label),
                _ => None,
            };
            match (continues, lines.last_mut()) {
                (Some(label), Some(line)) => *line += &format!(", {label}"),
                _ => lines.push(match &said {
                    Said::Receipt(label) => format!("{name} has receipts: {label}"),
                    Said::Gets(label) => format!("{name} gets {label}"),
                    Said::Other(text) => format!("{name} {text}"),
                }),
            }
            last = Some(said);
        }
        lines
    }
}

fn left_of(message: &CommandMessage, size: u32) -> AckSet {
    match message.ack_set.is_empty() {
        true => AckSet::full(size),
        false => AckSet::from_wire(&message.ack_set),
    }
}

/// `m0 (permits 1)`, `[b1 b2 of b0 b1 b2] (permits 2)`, `m0 (permits 1, redelivered 2 times)`.
pub fn describe(message: &CommandMessage, entry: &Bytes) -> (String, Option<Unpacked>) {
    let unpacked = unpack(entry);
    let label = match &unpacked {
        None => "an unreadable entry".to_owned(),
        Some(unpacked) if message.ack_set.is_empty() => unpacked.label(),
        Some(unpacked) => {
            let left = left_of(message, unpacked.names.len() as u32);
            let names: Vec<&str> = (0..)
                .zip(&unpacked.names)
                .filter(|(index, _)| left.contains(*index))
                .map(|(_, name)| name.as_str())
                .collect();
            format!("{} of {}", names.join(" "), unpacked.label())
        }
    };
    let mut notes = match message.message_permits {
        Some(permits) => format!("permits {permits}"),
        None => "permits not said".to_owned(),
    };
    if let Some(count) = message.redelivery_count {
        notes += &format!(", asked for again {count}x");
    }
    (format!("{label} ({notes})"), unpacked)
}

/// An error's name and text.
/// An Avro schema that is just a name, or `anything`.
pub fn schema(name: &str) -> Schema {
    let (kind, data) = match name {
        "anything" => (schema::Type::AutoConsume, String::new()),
        name => (schema::Type::Avro, format!("{name:?}")),
    };
    Schema {
        name: Some("s".to_owned()),
        schema_data: Some(data.into()),
        r#type: Some(kind as i32),
        ..Default::default()
    }
}

pub fn error(code: i32, message: Option<&str>) -> String {
    let name = ServerError::try_from(code).map(|code| code.as_str_name());
    format!("{} {}", name.unwrap_or("?"), message.unwrap_or_default())
        .trim_end()
        .to_owned()
}
