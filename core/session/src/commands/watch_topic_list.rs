//! WATCH_TOPIC_LIST and its end (PIP-179): tell me whenever the list changes. Answers: WATCH_TOPIC_LIST_SUCCESS or ERROR,
//! then WATCH_TOPIC_UPDATE for each change. A second one of the same watcher begins the watch anew: so clients catch up.

use super::present;
use super::topics_of_namespace::named;
use crate::answers;
use crate::face::SessionEffect;
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::{Refusal, RefusalCode, TopicsQuestion};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{
    CommandWatchTopicList, CommandWatchTopicListClose, CommandWatchTopicListSuccess,
    CommandWatchTopicUpdate,
};
use pulsar_wire::topics_hash::topics_hash;
use vocabulary::{NamespaceName, RequestId};

/// A watch that waits for its list.
pub(crate) struct Asked {
    pub request_id: RequestId,
    pub watcher_id: u64,
    pub known_hash: Option<String>,
}

/// What became of a list.
pub(crate) struct Update {
    pub created: Vec<String>,
    pub deleted: Vec<String>,
    pub hash: String,
}

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: CommandWatchTopicList) {
    let namespace = match admit(session, &command) {
        Ok(namespace) => namespace,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::WatchTopicList(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    let watcher_id = command.watcher_id();
    session.watches.insert(watcher_id);
    let request_id = session.await_answer(Waiter::Watch {
        request_id: command.request_id(),
        watcher_id,
        known_hash: present(command.topics_hash),
    });
    turn.effects
        .push(SessionEffect::AskDirectory(TopicsQuestion {
            request_id,
            namespace,
            persistent: true,
            non_persistent: false,
            pattern: present(command.topics_pattern),
            watcher_id: Some(watcher_id),
        }));
}

fn admit(session: &Session, command: &CommandWatchTopicList) -> Result<NamespaceName, Refusal> {
    session.may(Action::ListTopics, Resource::Namespace(command.namespace()))?;
    let namespace = named(command.namespace())?;
    let settings = &session.settings;
    let refused = |why: String| {
        let text = format!("Unable to create topic list watcher: {why}");
        Err(Refusal::new(RefusalCode::NotAllowedError, text))
    };
    if !settings.topics_patterns_evaluated {
        return refused("Evaluating subscription patterns is disabled.".to_owned());
    }
    let pattern = command.topics_pattern();
    let pattern = pattern.split_once("://").map_or(pattern, |(_, rest)| rest);
    let most = settings.topics_pattern_length_max;
    if pattern.len() > most {
        return refused(format!("Pattern longer than maximum: {most}"));
    }
    let is_new = !session.watches.contains(&command.watcher_id());
    if is_new && session.watches.len() >= settings.watches_max {
        let text = format!(
            "This connection watches {} lists of topics already, which is the most it may",
            settings.watches_max
        );
        return Err(Refusal::new(RefusalCode::TooManyRequests, text));
    }
    Ok(namespace)
}

/// Closing one that is not there is no mistake.
pub(crate) fn close_came(
    session: &mut Session,
    turn: &mut Turn<'_>,
    command: &CommandWatchTopicListClose,
) {
    let watcher_id = command.watcher_id();
    if session.watches.remove(&watcher_id) {
        turn.effects.push(SessionEffect::EndWatch { watcher_id });
    }
    session.send_success(turn, command.request_id());
}

pub(crate) fn listed(
    session: &mut Session,
    turn: &mut Turn<'_>,
    asked: Asked,
    result: Result<Vec<String>, Refusal>,
) {
    let topics = match result {
        Ok(topics) => topics,
        Err(refusal) => {
            session.watches.remove(&asked.watcher_id);
            return session.send_error(turn, asked.request_id, refusal);
        }
    };
    let hash = topics_hash(topics.iter().map(String::as_str));
    let is_known = asked.known_hash.as_ref() == Some(&hash);
    let success = CommandWatchTopicListSuccess {
        request_id: Some(asked.request_id),
        watcher_id: Some(asked.watcher_id),
        topic: if is_known { Vec::new() } else { topics },
        topics_hash: Some(hash),
    };
    session.send(turn, Cmd::WatchTopicListSuccess(success));
}

/// A client that does not read what it asked for gets no more of it: it compares the whole list now and then (Java's
/// reconciliation, or its polling), and the hash shows it that it missed something.
pub(crate) fn changed(session: &mut Session, turn: &mut Turn<'_>, watcher_id: u64, update: Update) {
    if !session.watches.contains(&watcher_id) || session.pressure.paused() {
        session.counters.letters_dropped += 1;
        return;
    }
    let update = CommandWatchTopicUpdate {
        watcher_id: Some(watcher_id),
        new_topics: update.created,
        deleted_topics: update.deleted,
        topics_hash: Some(update.hash),
    };
    session.send(turn, Cmd::WatchTopicUpdate(update));
}
