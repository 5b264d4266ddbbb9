//! SUBSCRIBE: somebody wants to consume. Answer: SUCCESS, or ERROR.

use super::schema::{self, Held};
use super::{check_length, pairs, size_of_pairs, topic_named};
use crate::answers;
use crate::gate::{Action, Resource};
use crate::parting;
use crate::session::{Phase, Session, Turn};
use crate::tables::{Consumer, Standing};
use crate::waiting::Waiter;
use letters::{AddConsumer, InitialPosition, Refusal, RefusalCode, SubscriptionType, TopicLetter};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandSubscribe, MessageIdData, command_subscribe};
use schema_registry::AUTO_CONSUME;
use vocabulary::name::{ENCODED_NAME_BYTES_MAX, NAME_BYTES_MAX, is_dots, url_encode};
use vocabulary::{AckSet, Position, TopicName};

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, mut command: CommandSubscribe) {
    let topic = match allow(session, &command) {
        Ok(topic) => topic,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::Subscribe(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    let (consumer_id, request_id) = (command.consumer_id(), command.request_id());
    if session.consumers.ready(consumer_id).is_some() {
        return session.send_success(turn, request_id);
    }
    let ticket = session.await_answer(Waiter::Consumer {
        request_id,
        consumer_id,
    });
    session.consumers.insert(
        consumer_id,
        topic.clone(),
        command.subscription().to_owned(),
        ticket,
    );
    let schema = schema::brought(command.schema.take());
    let mut letter = Box::new(add_consumer(session, command, ticket));
    match schema {
        Some(schema) if schema.kind == AUTO_CONSUME => letter.takes_any_schema = true,
        Some(schema) => {
            let held = Held::Consumer(topic, letter, schema);
            return schema::hold(session, turn, ticket, held);
        }
        None => {}
    }
    session.write(turn, &topic, TopicLetter::AddConsumer(letter));
}

/// The rules that do not need the topic. Returns its name.
fn allow(session: &Session, command: &CommandSubscribe) -> Result<TopicName, Refusal> {
    let topic = topic_named(command.topic())?;
    session.may(
        Action::Subscribe,
        Resource::Subscription(&topic, command.subscription()),
    )?;
    check_subscription_name(&topic, command.subscription())?;
    check_length(
        "consumer's name",
        command.consumer_name().len(),
        NAME_BYTES_MAX,
    )?;
    let metadata_max = session.settings.consumer_metadata_bytes_max;
    check_length(
        "consumer's metadata",
        size_of_pairs(&command.metadata),
        metadata_max,
    )?;
    if session.phase == Phase::Parting {
        return Err(parting::shutting_down());
    }
    let id = command.consumer_id();
    match session.consumers.get(id) {
        Some(consumer) => may_be_reused(id, consumer, &topic, command.subscription())?,
        None if session.consumers.len() >= session.settings.handles_max => {
            let text = format!(
                "This connection has {} consumers already",
                session.consumers.len()
            );
            return Err(Refusal::new(RefusalCode::ConsumerBusy, text));
        }
        None => {}
    }
    Ok(topic)
}

/// Topic and subscription are parts of one metadata path; what cannot be there is refused before the store does.
fn check_subscription_name(topic: &TopicName, name: &str) -> Result<(), Refusal> {
    if name.is_empty() {
        // Pulsar's code for a name that is none.
        let text = "The subscription's name is empty";
        return Err(Refusal::new(RefusalCode::ProducerBusy, text));
    }
    if is_dots(name) {
        let text = format!("The subscription's name is '{name}': '.' and '..' are not allowed");
        return Err(Refusal::new(RefusalCode::NotAllowedError, text));
    }
    check_length("subscription's name", name.len(), NAME_BYTES_MAX)?;
    check_length(
        "subscription's name, URL-encoded and with its topic,",
        topic.persistence_name().len() + 1 + url_encode(name).len(),
        ENCODED_NAME_BYTES_MAX,
    )
}

/// Whether an id that is in use may be named in SUBSCRIBE once more.
fn may_be_reused(
    id: u64,
    consumer: &Consumer,
    topic: &TopicName,
    subscription: &str,
) -> Result<(), Refusal> {
    let refuse = |code, state: &str| {
        let text = format!(
            "Consumer {id} of {} is {state} on this connection",
            consumer.topic
        );
        Err(Refusal::new(code, text))
    };
    let same = consumer.topic == *topic;
    match consumer.standing {
        Standing::Pending(_) => refuse(RefusalCode::ServiceNotReady, "already being created"),
        Standing::Ready if !same || consumer.subscription != subscription => {
            refuse(RefusalCode::NotAllowedError, "already open")
        }
        // Deliveries of two topics could not be told apart.
        Standing::Leaving(_) if !same => refuse(RefusalCode::ServiceNotReady, "still closing"),
        Standing::Ready | Standing::Leaving(_) => Ok(()),
    }
}

fn add_consumer(session: &Session, command: CommandSubscribe, ticket: u64) -> AddConsumer {
    let subscription_type = match command.sub_type() {
        command_subscribe::SubType::Exclusive => SubscriptionType::Exclusive,
        command_subscribe::SubType::Shared => SubscriptionType::Shared,
        command_subscribe::SubType::Failover => SubscriptionType::Failover,
        command_subscribe::SubType::KeyShared => SubscriptionType::KeyShared,
    };
    let initial_position = match command.initial_position() {
        command_subscribe::InitialPosition::Latest => InitialPosition::Latest,
        command_subscribe::InitialPosition::Earliest => InitialPosition::Earliest,
    };
    let has_epochs = matches!(
        subscription_type,
        SubscriptionType::Exclusive | SubscriptionType::Failover
    );
    AddConsumer {
        request_id: ticket,
        consumer_id: command.consumer_id(),
        subscription_type,
        priority_level: command.priority_level(),
        durable: command.durable(),
        initial_position,
        start: command.start_message_id.as_ref().map(start),
        // From 2^63 on negative for the Java broker, which takes that for none.
        start_rollback_seconds: command
            .start_message_rollback_duration_sec
            .filter(|seconds| *seconds > 0 && i64::try_from(*seconds).is_ok()),
        force_topic_creation: command.force_topic_creation(),
        // -1 says "none".
        epoch: command
            .consumer_epoch
            .filter(|epoch| has_epochs && *epoch != u64::MAX),
        read_compacted: command.read_compacted(),
        takes_any_schema: false,
        subscription: command.subscription.unwrap_or_default(),
        name: command.consumer_name.unwrap_or_default(),
        metadata: pairs(command.metadata),
        client_version: session.peer.client_version.clone(),
        address: session.peer.address.clone(),
    }
}

fn start(id: &MessageIdData) -> (Position, Option<AckSet>) {
    (
        Position::from_wire(id.ledger_id(), id.entry_id()),
        ack_set(id),
    )
}

/// The messages of a batch that an id leaves out; `None`: it speaks of the whole entry.
pub(crate) fn ack_set(id: &MessageIdData) -> Option<AckSet> {
    (!id.ack_set.is_empty()).then(|| AckSet::from_wire(&id.ack_set))
}

pub(crate) fn let_in(session: &mut Session, turn: &mut Turn<'_>, ticket: u64) {
    let Some(Waiter::Consumer {
        request_id,
        consumer_id,
    }) = session.answered(ticket)
    else {
        return;
    };
    if let Some(consumer) = session.consumers.get_mut(consumer_id) {
        consumer.standing = Standing::Ready;
    }
    session.send_success(turn, request_id);
}

pub(crate) fn refused(session: &mut Session, turn: &mut Turn<'_>, ticket: u64, refusal: Refusal) {
    let Some(Waiter::Consumer {
        request_id,
        consumer_id,
    }) = session.answered(ticket)
    else {
        return;
    };
    session.consumers.remove(consumer_id);
    session.send_error(turn, request_id, refusal);
}
