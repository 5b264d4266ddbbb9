//! PRODUCER: somebody wants to publish. Answer: PRODUCER_SUCCESS (twice for one that has to wait), or ERROR.

use super::schema::{self, Held};
use super::{check_length, pairs, present, size_of_pairs, topic_named};
use crate::answers;
use crate::gate::{Action, Resource};
use crate::parting;
use crate::session::{Phase, Session, Turn};
use crate::tables::{Producer, Standing};
use crate::waiting::Waiter;
use letters::{AccessMode, AddProducer, Refusal, RefusalCode, TopicLetter};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandProducer, CommandProducerSuccess, ProducerAccessMode};
use std::collections::VecDeque;
use vocabulary::TopicName;
use vocabulary::name::NAME_BYTES_MAX;

/// Bytes of a producer's own key-value pairs. Pulsar has no such limit; something must bound them.
const METADATA_BYTES_MAX: usize = 64 * 1024;

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, mut command: CommandProducer) {
    let allowed = allow(session, &command);
    let topic = match allowed {
        Ok(topic) => topic,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::Producer(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    let (producer_id, request_id) = (command.producer_id(), command.request_id());
    if let Some(producer) = session.producers.get(producer_id)
        && producer.standing == Standing::Ready
    {
        let again = success(request_id, producer, -1, true);
        return session.send(turn, again);
    }
    let ticket = session.await_answer(Waiter::Producer {
        request_id,
        producer_id,
        told: false,
    });
    let producer = Producer {
        topic: topic.clone(),
        name: String::new(),
        topic_epoch: None,
        schema_version: None,
        standing: Standing::Pending(ticket),
        is_lost: false,
        unsaid_drops: 0,
        sends: VecDeque::new(),
    };
    let forgotten = session.producers.insert(producer_id, producer);
    session.pressure.publishes.fall(forgotten);
    let schema = schema::brought(command.schema.take());
    let letter = Box::new(add_producer(session, command, ticket));
    if schema.is_some() || session.settings.schema_validation_enforced {
        let held = Held::Producer(topic, letter, schema);
        return schema::hold(session, turn, ticket, held);
    }
    session.write(turn, &topic, TopicLetter::AddProducer(letter));
}

/// The rules that do not need the topic. Returns its name.
fn allow(session: &Session, command: &CommandProducer) -> Result<TopicName, Refusal> {
    let topic = topic_named(command.topic())?;
    session.may(Action::OpenProducer, Resource::Topic(&topic))?;
    if !command.initial_subscription_name().is_empty() {
        let resource = Resource::Subscription(&topic, command.initial_subscription_name());
        session.may(Action::Subscribe, resource)?;
    }
    check_length(
        "producer's name",
        command.producer_name().len(),
        NAME_BYTES_MAX,
    )?;
    check_length(
        "initial subscription's name",
        command.initial_subscription_name().len(),
        NAME_BYTES_MAX,
    )?;
    check_length(
        "producer's metadata",
        size_of_pairs(&command.metadata),
        METADATA_BYTES_MAX,
    )?;
    if session.phase == Phase::Parting {
        return Err(parting::shutting_down());
    }
    let id = command.producer_id();
    match session.producers.get(id) {
        Some(producer) => may_be_reused(id, producer, &topic)?,
        None if session.producers.len() >= session.settings.handles_max => {
            let text = format!(
                "This connection has {} producers already",
                session.producers.len()
            );
            return Err(Refusal::new(RefusalCode::ProducerBusy, text));
        }
        None => {}
    }
    Ok(topic)
}

/// Whether an id that is in use may be named in PRODUCER once more.
fn may_be_reused(id: u64, producer: &Producer, topic: &TopicName) -> Result<(), Refusal> {
    let refuse = |code, state: &str| {
        let text = format!(
            "Producer {id} of {} is {state} on this connection",
            producer.topic
        );
        Err(Refusal::new(code, text))
    };
    match producer.standing {
        Standing::Pending(_) => refuse(RefusalCode::ServiceNotReady, "already being created"),
        Standing::Ready if producer.topic != *topic => {
            refuse(RefusalCode::NotAllowedError, "already open")
        }
        // Letters of two topics could not be told apart.
        Standing::Leaving(_) if producer.topic != *topic => {
            refuse(RefusalCode::ServiceNotReady, "still closing")
        }
        Standing::Ready | Standing::Leaving(_) => Ok(()),
    }
}

fn add_producer(session: &Session, command: CommandProducer, ticket: u64) -> AddProducer {
    let access_mode = match command.producer_access_mode() {
        ProducerAccessMode::Shared => AccessMode::Shared,
        ProducerAccessMode::Exclusive => AccessMode::Exclusive,
        ProducerAccessMode::WaitForExclusive => AccessMode::WaitForExclusive,
        ProducerAccessMode::ExclusiveWithFencing => AccessMode::ExclusiveWithFencing,
    };
    AddProducer {
        request_id: ticket,
        producer_id: command.producer_id(),
        user_provided_name: command.user_provided_producer_name(),
        epoch: command.epoch(),
        access_mode,
        // `Expectation:` Go sends 0 back in Shared mode, where no epoch means anything.
        topic_epoch: command
            .topic_epoch
            .filter(|_| access_mode != AccessMode::Shared),
        encrypted: command.encrypted(),
        name: present(command.producer_name),
        metadata: pairs(command.metadata),
        initial_subscription: present(command.initial_subscription_name),
        client_version: session.peer.client_version.clone(),
        address: session.peer.address.clone(),
    }
}

/// How a topic lets a producer in.
pub(crate) struct Let {
    pub name: String,
    pub last_sequence_id: i64,
    pub topic_epoch: Option<u64>,
    pub ready: bool,
}

pub(crate) fn let_in(session: &mut Session, turn: &mut Turn<'_>, ticket: u64, how: Let) {
    let waiter = if how.ready {
        session.answered(ticket)
    } else {
        session.waiting.first_answer(ticket)
    };
    let Some(Waiter::Producer {
        request_id,
        producer_id,
        ..
    }) = waiter
    else {
        return;
    };
    let Some(producer) = session.producers.get_mut(producer_id) else {
        return;
    };
    producer.name = how.name;
    producer.topic_epoch = how.topic_epoch;
    if how.ready {
        producer.standing = Standing::Ready;
    }
    let answer = success(request_id, producer, how.last_sequence_id, how.ready);
    session.send(turn, answer);
}

pub(crate) fn refused(session: &mut Session, turn: &mut Turn<'_>, ticket: u64, refusal: Refusal) {
    let Some(Waiter::Producer {
        request_id,
        producer_id,
        ..
    }) = session.answered(ticket)
    else {
        return;
    };
    session.remove_producer(producer_id);
    session.send_error(turn, request_id, refusal);
}

fn success(request_id: u64, producer: &Producer, last_sequence_id: i64, ready: bool) -> Cmd {
    Cmd::ProducerSuccess(CommandProducerSuccess {
        request_id: Some(request_id),
        producer_name: Some(producer.name.clone()),
        last_sequence_id: Some(last_sequence_id),
        schema_version: Some(schema::version_bytes(producer.schema_version)),
        topic_epoch: producer.topic_epoch,
        producer_ready: Some(ready),
    })
}
