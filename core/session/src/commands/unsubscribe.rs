//! UNSUBSCRIBE: a subscription shall end. Answer: SUCCESS when it is deleted for good, or ERROR; no CLOSE_CONSUMER.

use super::asked_of;
use crate::gate::Action;
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::TopicLetter;
use pulsar_wire::proto::CommandUnsubscribe;

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: &CommandUnsubscribe) {
    let (consumer_id, request_id) = (command.consumer_id(), command.request_id());
    let (topic, incarnation) = match asked_of(session, Action::Unsubscribe, consumer_id) {
        Ok(consumer) => (consumer.topic.clone(), consumer.incarnation),
        Err(refusal) => return session.send_error(turn, request_id, refusal),
    };
    let ticket = session.await_answer(Waiter::Unsubscribe {
        request_id,
        consumer_id,
        incarnation,
    });
    let letter = TopicLetter::Unsubscribe {
        request_id: ticket,
        consumer_id,
        force: command.force(),
    };
    session.write(turn, &topic, letter);
}

/// The subscription is gone, and its consumer with it.
pub(crate) fn done(session: &mut Session, turn: &mut Turn<'_>, ticket: u64) {
    let Some(Waiter::Unsubscribe {
        request_id,
        consumer_id,
        incarnation,
    }) = session.answered(ticket)
    else {
        return;
    };
    // One that is leaving already is waited for by its CLOSE_CONSUMER.
    if session
        .consumers
        .ready(consumer_id)
        .is_some_and(|consumer| consumer.incarnation == incarnation)
    {
        session.consumers.remove(consumer_id);
    }
    session.send_success(turn, request_id);
}
