//! LOOKUP: which broker has a topic? Answer: LOOKUP_RESPONSE, errors inside. There is one broker, so it is always
//! the owner, and nobody is ever sent elsewhere.

use super::partitioned_metadata::never_not_ready;
use super::topic_named;
use crate::answers;
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::{Refusal, TopicLetter};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::command_lookup_topic_response::LookupType;
use pulsar_wire::proto::{CommandLookupTopic, CommandLookupTopicResponse};

/// `advertised_listener_name` chooses among listeners, of which there is one; Go always sends it, empty.
pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: CommandLookupTopic) {
    let allowed = topic_named(command.topic()).and_then(|topic| {
        session.may(Action::Lookup, Resource::Topic(&topic))?;
        Ok(topic)
    });
    let topic = match allowed {
        Ok(topic) => topic,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::LookupTopic(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    let request_id = session.await_answer(Waiter::Lookup {
        request_id: command.request_id(),
    });
    session.write(
        turn,
        &topic,
        TopicLetter::FindTopic {
            request_id,
            may_create: true,
        },
    );
}

pub(crate) fn found(
    session: &mut Session,
    turn: &mut Turn<'_>,
    request_id: u64,
    result: Result<u32, Refusal>,
) {
    let mut response = CommandLookupTopicResponse {
        request_id: Some(request_id),
        ..Default::default()
    };
    match result {
        Ok(_) => {
            response.response = Some(LookupType::Connect as i32);
            response.authoritative = Some(true);
            response.broker_service_url = Some(session.settings.broker_service_url.clone());
            response.broker_service_url_tls = session.settings.broker_service_url_tls.clone();
            response.proxy_through_service_url = Some(session.settings.proxy_through_service_url);
        }
        Err(refusal) => {
            let refusal = never_not_ready(refusal);
            response.response = Some(LookupType::Failed as i32);
            response.error = Some(refusal.code as i32);
            response.message = Some(refusal.message);
        }
    }
    session.send(turn, Cmd::LookupTopicResponse(response));
}
