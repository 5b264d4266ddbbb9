//! GET_SCHEMA and GET_OR_CREATE_SCHEMA, and the schemas that PRODUCER and SUBSCRIBE bring. Errors are in the answers.
//!
//! Who brings a schema waits here: first the topic is opened (or made, or refused), then the registry says which version
//! the schema is, and only then does the topic hear of the producer or consumer.

use super::{pairs, topic_named};
use crate::answers;
use crate::commands::{producer, subscribe};
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::waiting::{Ticket, Waiter};
use bytes::Bytes;
use letters::{
    AddConsumer, AddProducer, Refusal, RefusalCode, SchemaAsk, SchemaFound, SchemaText,
    TopicLetter, schema_home,
};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{
    CommandGetOrCreateSchema, CommandGetOrCreateSchemaResponse, CommandGetSchema,
    CommandGetSchemaResponse, KeyValue, Schema, schema,
};
use vocabulary::TopicName;

/// What waits until it is known which version a schema is.
#[derive(Debug)]
pub(crate) enum Held {
    /// With its schema; `None`: it must not have one if the topic has.
    Producer(TopicName, Box<AddProducer>, Option<SchemaText>),
    Consumer(TopicName, Box<AddConsumer>, SchemaText),
    /// GET_OR_CREATE_SCHEMA.
    Create(TopicName, SchemaText),
}

impl Held {
    fn topic(&self) -> &TopicName {
        match self {
            Held::Producer(topic, ..) | Held::Consumer(topic, ..) | Held::Create(topic, _) => topic,
        }
    }

    fn schema(&self) -> Option<&SchemaText> {
        match self {
            Held::Producer(_, _, schema) => schema.as_ref(),
            Held::Consumer(_, _, schema) | Held::Create(_, schema) => Some(schema),
        }
    }

    /// How much of memory it takes, about.
    pub fn bytes(&self) -> u64 {
        self.schema().map_or(0, SchemaText::bytes)
    }
}

/// The schema of a PRODUCER or SUBSCRIBE; the protocol's type None says that there is none.
pub(crate) fn brought(schema: Option<Schema>) -> Option<SchemaText> {
    let schema = schema?;
    let kind = schema.r#type.unwrap_or_default();
    (kind != schema::Type::None as i32).then(|| SchemaText {
        kind,
        data: schema.schema_data.unwrap_or_default(),
        properties: pairs(schema.properties),
    })
}

/// Keeps it, and asks its topic to be there.
pub(crate) fn hold(session: &mut Session, turn: &mut Turn<'_>, ticket: Ticket, held: Held) {
    let may_create = match &held {
        Held::Producer(..) => true,
        Held::Consumer(_, add, _) => add.force_topic_creation,
        Held::Create(..) => false,
    };
    let topic = held.topic().clone();
    session.pressure.publish_bytes.rise(held.bytes());
    session.held.insert(ticket, held);
    session.write(
        turn,
        &topic,
        TopicLetter::Prepare {
            request_id: ticket,
            may_create,
        },
    );
}

/// The topic is there, or not.
pub(crate) fn prepared(
    session: &mut Session,
    turn: &mut Turn<'_>,
    ticket: Ticket,
    is_blank: Result<bool, Refusal>,
) {
    let Some(held) = session.held.get(&ticket) else {
        return session.counters.letters_dropped += 1;
    };
    let home = schema_home(held.topic());
    let updates = session.settings.schema_updates_allowed;
    let ask = is_blank.map(|is_blank| match held.schema() {
        None => SchemaAsk::Get { version: None },
        Some(schema) => SchemaAsk::Put {
            schema: schema.clone(),
            may_register: updates && (is_blank || !matches!(held, Held::Consumer(..))),
        },
    });
    match (ask, home) {
        (Ok(ask), Ok(home)) => session.write(
            turn,
            &home,
            TopicLetter::Schema {
                request_id: ticket,
                ask,
            },
        ),
        (Err(refusal), _) => refused(session, turn, ticket, refusal),
        (_, Err(error)) => {
            let refusal = Refusal::new(RefusalCode::InvalidTopicName, error.to_string());
            refused(session, turn, ticket, refusal);
        }
    }
}

/// The registry answered.
pub(crate) fn told(
    session: &mut Session,
    turn: &mut Turn<'_>,
    ticket: Ticket,
    result: Result<Option<SchemaFound>, Refusal>,
) {
    let Some(held) = session.forget_held(ticket) else {
        return found(session, turn, ticket, result);
    };
    let result = match (&held, result) {
        (Held::Producer(_, _, None), Ok(Some(_))) => Err(incompatible(
            "Producers cannot connect or send message without a schema to topics with a schema \
             when SchemaValidationEnforced is enabled",
        )),
        (Held::Producer(..) | Held::Create(..), Err(refusal))
            if refusal.code == RefusalCode::IncompatibleSchema
                && !session.settings.schema_updates_allowed =>
        {
            Err(incompatible(
                "Schema not found and schema auto updating is disabled.",
            ))
        }
        (_, result) => result,
    };
    let version = match result {
        Ok(found) => found.map(|found| found.version),
        Err(refusal) => return refused(session, turn, ticket, refusal),
    };
    match held {
        Held::Producer(topic, add, _) => {
            if let Some(producer) = session.producers.get_mut(add.producer_id) {
                producer.schema_version = version;
            }
            session.write(turn, &topic, TopicLetter::AddProducer(add));
        }
        Held::Consumer(topic, add, _) => session.write(turn, &topic, TopicLetter::AddConsumer(add)),
        Held::Create(..) => created(session, turn, ticket, Ok(version)),
    }
}

fn refused(session: &mut Session, turn: &mut Turn<'_>, ticket: Ticket, refusal: Refusal) {
    match session.waiting.get(ticket) {
        Some(Waiter::Producer { .. }) => producer::refused(session, turn, ticket, refusal),
        Some(Waiter::Consumer { .. }) => subscribe::refused(session, turn, ticket, refusal),
        _ => created(session, turn, ticket, Err(refusal)),
    }
}

fn incompatible(text: &str) -> Refusal {
    Refusal::new(RefusalCode::IncompatibleSchema, text)
}

/// A version as the wire has it; nothing where there is none.
pub(crate) fn version_bytes(version: Option<i64>) -> Bytes {
    version.map_or(Bytes::new(), |version| {
        Bytes::copy_from_slice(&version.to_be_bytes())
    })
}

/// GET_SCHEMA.
pub(crate) fn get_came(session: &mut Session, turn: &mut Turn<'_>, command: CommandGetSchema) {
    let asked = topic_named(command.topic()).and_then(|topic| {
        session.may(Action::ReadSchema, Resource::Topic(&topic))?;
        let version = command
            .schema_version
            .as_ref()
            .map(version_of)
            .transpose()?;
        let home = schema_home(&topic)
            .map_err(|error| Refusal::new(RefusalCode::InvalidTopicName, error.to_string()))?;
        Ok((home, version))
    });
    let (home, version) = match asked {
        Ok(asked) => asked,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::GetSchema(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    let ticket = session.await_answer(Waiter::Schema {
        request_id: command.request_id(),
        topic: command.topic().to_owned(),
        home: home.clone(),
    });
    session.write(
        turn,
        &home,
        TopicLetter::Schema {
            request_id: ticket,
            ask: SchemaAsk::Get { version },
        },
    );
}

fn version_of(bytes: &Bytes) -> Result<i64, Refusal> {
    if bytes.is_empty() {
        return Err(incompatible("Empty schema version"));
    }
    let first = bytes.first_chunk::<8>();
    first
        .map(|first| i64::from_be_bytes(*first))
        .ok_or_else(|| {
            let text = format!("The schema version has {} bytes, not 8", bytes.len());
            incompatible(&text)
        })
}

/// To GET_SCHEMA.
fn found(
    session: &mut Session,
    turn: &mut Turn<'_>,
    ticket: Ticket,
    result: Result<Option<SchemaFound>, Refusal>,
) {
    let Some(Waiter::Schema {
        request_id,
        topic,
        home,
    }) = session.answered(ticket)
    else {
        return;
    };
    let mut response = CommandGetSchemaResponse {
        request_id: Some(request_id),
        ..Default::default()
    };
    // `Expectation:` Java takes TopicNotFound for "no schema" and reads bytes.
    let found = result.and_then(|found| {
        found.ok_or_else(|| {
            let text = format!("Topic not found or no-schema {topic}");
            Refusal::new(RefusalCode::TopicNotFound, text)
        })
    });
    match found {
        Ok(found) => {
            response.schema_version = Some(version_bytes(Some(found.version)));
            response.schema = Some(schema_of(&home, found.schema));
        }
        Err(refusal) => {
            response.error_code = Some(refusal.code as i32);
            response.error_message = Some(refusal.message);
        }
    }
    session.send(turn, Cmd::GetSchemaResponse(response));
}

fn schema_of(home: &TopicName, schema: SchemaText) -> Schema {
    let pairs = schema.properties.into_iter();
    Schema {
        name: Some(schema_registry::registry::schema_id(home)),
        schema_data: Some(schema.data),
        r#type: Some(schema.kind),
        properties: pairs
            .map(|(key, value)| KeyValue {
                key: Some(key),
                value: Some(value),
            })
            .collect(),
    }
}

/// GET_OR_CREATE_SCHEMA.
pub(crate) fn create_came(
    session: &mut Session,
    turn: &mut Turn<'_>,
    mut command: CommandGetOrCreateSchema,
) {
    let allowed = topic_named(command.topic()).and_then(|topic| {
        session.may(Action::WriteSchema, Resource::Topic(&topic))?;
        Ok(topic)
    });
    let topic = match allowed {
        Ok(topic) => topic,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::GetOrCreateSchema(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    let request_id = command.request_id();
    let Some(schema) = brought(command.schema.take()) else {
        let response = CommandGetOrCreateSchemaResponse {
            request_id: Some(request_id),
            schema_version: Some(Bytes::new()),
            ..Default::default()
        };
        return session.send(turn, Cmd::GetOrCreateSchemaResponse(response));
    };
    let ticket = session.await_answer(Waiter::CreateSchema { request_id });
    hold(session, turn, ticket, Held::Create(topic, schema));
}

/// To GET_OR_CREATE_SCHEMA.
fn created(
    session: &mut Session,
    turn: &mut Turn<'_>,
    ticket: Ticket,
    result: Result<Option<i64>, Refusal>,
) {
    let Some(Waiter::CreateSchema { request_id }) = session.answered(ticket) else {
        return;
    };
    let mut response = CommandGetOrCreateSchemaResponse {
        request_id: Some(request_id),
        ..Default::default()
    };
    match result {
        Ok(version) => response.schema_version = Some(version_bytes(version)),
        Err(refusal) => {
            response.error_code = Some(refusal.code as i32);
            response.error_message = Some(refusal.message);
        }
    }
    session.send(turn, Cmd::GetOrCreateSchemaResponse(response));
}
