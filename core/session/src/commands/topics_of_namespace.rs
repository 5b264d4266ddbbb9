//! GET_TOPICS_OF_NAMESPACE: which topics are there? Answer: GET_TOPICS_OF_NAMESPACE_RESPONSE, or ERROR. Clients with a
//! pattern subscription ask it again and again; whoever knows the list already is told only that nothing changed.

use super::watch_topic_list;
use crate::answers;
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::{Refusal, RefusalCode, TopicsQuestion};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::command_get_topics_of_namespace::Mode;
use pulsar_wire::proto::{CommandGetTopicsOfNamespace, CommandGetTopicsOfNamespaceResponse};
use pulsar_wire::topics_hash::topics_hash;
use vocabulary::NamespaceName;

pub(crate) fn came(
    session: &mut Session,
    turn: &mut Turn<'_>,
    command: CommandGetTopicsOfNamespace,
) {
    let namespace = session
        .may(Action::ListTopics, Resource::Namespace(command.namespace()))
        .and_then(|()| named(command.namespace()));
    let namespace = match namespace {
        Ok(namespace) => namespace,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::GetTopicsOfNamespace(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    // A longer pattern is left to the client, which is told so by `filtered`.
    let (evaluates, most) = (
        session.settings.topics_patterns_evaluated,
        session.settings.topics_pattern_length_max,
    );
    let mode = command.mode();
    let pattern = command
        .topics_pattern
        .filter(|pattern| evaluates && pattern.len() <= most);
    let request_id = session.await_answer(Waiter::Topics {
        request_id: command.request_id,
        is_filtered: pattern.is_some(),
        known_hash: command.topics_hash,
    });
    let question = TopicsQuestion {
        request_id,
        namespace,
        persistent: mode != Mode::NonPersistent,
        non_persistent: mode != Mode::Persistent,
        pattern,
        watcher_id: None,
    };
    turn.effects
        .push(crate::face::SessionEffect::AskDirectory(question));
}

/// The directory answered.
pub(crate) fn listed(
    session: &mut Session,
    turn: &mut Turn<'_>,
    ticket: u64,
    result: Result<Vec<String>, Refusal>,
) {
    let (request_id, is_filtered, known_hash) = match session.answered(ticket) {
        Some(Waiter::Topics {
            request_id,
            is_filtered,
            known_hash,
        }) => (request_id, is_filtered, known_hash),
        Some(Waiter::Watch {
            request_id,
            watcher_id,
            known_hash,
        }) => {
            let standing = watch_topic_list::Asked {
                request_id,
                watcher_id,
                known_hash,
            };
            return watch_topic_list::listed(session, turn, standing, result);
        }
        _ => return,
    };
    let topics = match result {
        Ok(topics) => topics,
        Err(refusal) => {
            let asked = CommandGetTopicsOfNamespace {
                request_id,
                ..Default::default()
            };
            let answer = answers::refusing(&Cmd::GetTopicsOfNamespace(asked), refusal);
            return session.refuse(turn, answer);
        }
    };
    let hash = topics_hash(topics.iter().map(String::as_str));
    let changed = known_hash.as_ref() != Some(&hash);
    let response = CommandGetTopicsOfNamespaceResponse {
        request_id,
        topics: if changed { topics } else { Vec::new() },
        filtered: Some(is_filtered),
        topics_hash: Some(hash),
        changed: Some(changed),
    };
    session.send(turn, Cmd::GetTopicsOfNamespaceResponse(response));
}

pub(super) fn named(text: &str) -> Result<NamespaceName, Refusal> {
    NamespaceName::parse(text)
        .map_err(|error| Refusal::new(RefusalCode::InvalidTopicName, error.to_string()))
}
