//! One file per command, named after it: the command itself, and the letters that answer it.

pub(crate) mod connect;
pub(crate) mod ping;

pub(crate) mod lookup;
pub(crate) mod partitioned_metadata;

pub(crate) mod close_producer;
pub(crate) mod producer;
pub(crate) mod schema;
pub(crate) mod send;

pub(crate) mod ack;
pub(crate) mod close_consumer;
pub(crate) mod consumer_stats;
pub(crate) mod flow;
pub(crate) mod get_last_message_id;
pub(crate) mod message;
pub(crate) mod redeliver;
pub(crate) mod seek;
pub(crate) mod subscribe;
pub(crate) mod topics_of_namespace;
pub(crate) mod unsubscribe;
pub(crate) mod watch_topic_list;

pub(crate) mod not_served;

use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::tables::Consumer;
use bytes::Bytes;
use letters::{Refusal, RefusalCode};
use pulsar_wire::proto::base_command::Cmd;
use vocabulary::{NameError, TopicName};

/// A command of a connected client (or CONNECT) to its rule.
pub(crate) fn take(session: &mut Session, turn: &mut Turn<'_>, command: Cmd, entry: Option<Bytes>) {
    match command {
        Cmd::Connect(command) => connect::came(session, turn, command),
        Cmd::Ping(_) => ping::came(session, turn),
        Cmd::Pong(_) => {}
        Cmd::PartitionMetadata(command) => partitioned_metadata::came(session, turn, command),
        Cmd::LookupTopic(command) => lookup::came(session, turn, command),
        Cmd::Producer(command) => producer::came(session, turn, command),
        Cmd::Send(command) => send::came(session, turn, command, entry.unwrap_or_default()),
        Cmd::CloseProducer(command) => close_producer::came(session, turn, command),
        Cmd::GetSchema(command) => schema::get_came(session, turn, command),
        Cmd::GetOrCreateSchema(command) => schema::create_came(session, turn, command),
        Cmd::Subscribe(command) => subscribe::came(session, turn, command),
        Cmd::Flow(command) => flow::came(session, turn, &command),
        Cmd::Ack(command) => ack::came(session, turn, command),
        Cmd::RedeliverUnacknowledgedMessages(command) => redeliver::came(session, turn, &command),
        Cmd::CloseConsumer(command) => close_consumer::came(session, turn, command),
        Cmd::Unsubscribe(command) => unsubscribe::came(session, turn, &command),
        Cmd::Seek(command) => seek::came(session, turn, &command),
        Cmd::GetLastMessageId(command) => get_last_message_id::came(session, turn, &command),
        Cmd::ConsumerStats(command) => consumer_stats::came(session, turn, &command),
        Cmd::GetTopicsOfNamespace(command) => topics_of_namespace::came(session, turn, command),
        Cmd::WatchTopicList(command) => watch_topic_list::came(session, turn, command),
        Cmd::WatchTopicListClose(command) => watch_topic_list::close_came(session, turn, &command),
        other => not_served::came(session, turn, &other),
    }
}

/// The topic a command names, if this broker can serve one of that name.
pub(crate) fn topic_named(text: &str) -> Result<TopicName, Refusal> {
    TopicName::parse(text).map_err(|error| {
        let code = match error {
            NameError::Scalable(..) => RefusalCode::NotAllowedError,
            _ => RefusalCode::InvalidTopicName,
        };
        Refusal::new(code, error.to_string())
    })
}

/// The consumer that a request is about, if it is in and may be asked that.
pub(crate) fn asked_of(
    session: &Session,
    action: Action,
    consumer_id: u64,
) -> Result<&Consumer, Refusal> {
    let resource = session
        .consumers
        .get(consumer_id)
        .map_or(Resource::Broker, |consumer| {
            Resource::Subscription(&consumer.topic, &consumer.subscription)
        });
    session.may(action, resource)?;
    session.consumers.ready(consumer_id).ok_or_else(|| {
        // Pulsar's code and words.
        Refusal::new(RefusalCode::MetadataError, "Consumer not found")
    })
}

/// `Expectation:` the Go client sends empty texts where others leave the field out.
pub(crate) fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// Refuses names and key-value pairs that a topic would have to keep and no client means.
pub(crate) fn check_length(what: &str, bytes: usize, max: usize) -> Result<(), Refusal> {
    if bytes <= max {
        return Ok(());
    }
    let text = format!("The {what} has {bytes} bytes, at most {max} are allowed");
    Err(Refusal::new(RefusalCode::MetadataError, text))
}

/// A client's key-value pairs.
pub(crate) fn pairs(from: Vec<pulsar_wire::proto::KeyValue>) -> Vec<(String, String)> {
    from.into_iter()
        .map(|pair| (pair.key.unwrap_or_default(), pair.value.unwrap_or_default()))
        .collect()
}

/// How many bytes a client's key-value pairs have.
pub(crate) fn size_of_pairs(pairs: &[pulsar_wire::proto::KeyValue]) -> usize {
    pairs
        .iter()
        .map(|pair| pair.key().len() + pair.value().len())
        .sum()
}
