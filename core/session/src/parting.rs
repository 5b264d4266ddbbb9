//! Taking leave: of the topics when the connection ends, of the client when the broker does.

use crate::answers;
use crate::commands::{close_consumer, close_producer};
use crate::face::{CloseReason, SessionEffect};
use crate::session::{Phase, Session, Turn};
use letters::{Refusal, RefusalCode, TopicLetter};
use std::collections::BTreeSet;

/// Tells every topic that this session is in, and every one that asked for it, that it is gone. Ends the session.
pub(crate) fn leave_topics(session: &mut Session, turn: &mut Turn<'_>) {
    session.phase = Phase::Closed;
    let producers = session
        .producers
        .iter()
        .map(|(_, producer)| &producer.topic);
    let consumers = session
        .consumers
        .iter()
        .map(|(_, consumer)| &consumer.topic);
    let topics: BTreeSet<_> = producers
        .chain(consumers)
        .chain(session.probes.topics())
        .cloned()
        .collect();
    for topic in topics {
        session.write(turn, &topic, TopicLetter::SessionGone);
    }
}

/// Asks the topics to let everything go; the client is told to look elsewhere as they do (see the commands).
pub(crate) fn shutdown_began(session: &mut Session, turn: &mut Turn<'_>) {
    if session.phase == Phase::AwaitingConnect {
        let refusal = shutting_down();
        turn.effects
            .push(SessionEffect::SendFrame(answers::handshake_error(
                refusal.code,
                &refusal.message,
            )));
        return session.close(turn, CloseReason::Shutdown);
    }
    session.phase = Phase::Parting;
    let producers: Vec<_> = session.producers.iter().map(|(id, _)| id).collect();
    for id in producers {
        close_producer::by_shutdown(session, turn, id);
    }
    let consumers: Vec<_> = session.consumers.iter().map(|(id, _)| id).collect();
    for id in consumers {
        close_consumer::by_shutdown(session, turn, id);
    }
}

/// Closes the connection when nobody waits for anything any more.
pub(crate) fn finish(session: &mut Session, turn: &mut Turn<'_>) {
    if session.producers.is_empty() && session.consumers.is_empty() && session.waiting.is_empty() {
        session.close(turn, CloseReason::Shutdown);
    }
}

/// What newcomers are told while the broker goes down: try again, elsewhere or later.
pub(crate) fn shutting_down() -> Refusal {
    Refusal::new(
        RefusalCode::ServiceNotReady,
        "The broker is shutting down, try again",
    )
}
