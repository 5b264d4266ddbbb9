//! FLOW: a consumer takes so many more messages. No answer.

use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use letters::TopicLetter;
use pulsar_wire::proto::CommandFlow;

/// Passed over for unknown consumers, as in Pulsar (a consumer may have been closed meanwhile). So are 0, which Pulsar
/// punishes by closing the connection with all that others have on it, and what a Java broker reads as negative:
/// neither grants anything, so there is nothing to protect.
pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: &CommandFlow) {
    let (consumer_id, permits) = (command.consumer_id(), command.message_permits());
    let Some(consumer) = session.consumers.ready(consumer_id) else {
        return session.counters.requests_ignored += 1;
    };
    let resource = Resource::Subscription(&consumer.topic, &consumer.subscription);
    let possible = permits > 0 && i32::try_from(permits).is_ok();
    if !possible || session.may(Action::Flow, resource).is_err() {
        return session.counters.requests_ignored += 1;
    }
    session.write(
        turn,
        &consumer.topic,
        TopicLetter::Flow {
            consumer_id,
            permits,
        },
    );
}
