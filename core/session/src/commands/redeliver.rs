//! REDELIVER_UNACKNOWLEDGED_MESSAGES: send these, or all, once more. No answer.

use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use letters::TopicLetter;
use pulsar_wire::proto::CommandRedeliverUnacknowledgedMessages;
use vocabulary::Position;

pub(crate) fn came(
    session: &mut Session,
    turn: &mut Turn<'_>,
    command: &CommandRedeliverUnacknowledgedMessages,
) {
    let consumer_id = command.consumer_id();
    let Some(consumer) = session.consumers.ready(consumer_id) else {
        return session.counters.requests_ignored += 1;
    };
    let resource = Resource::Subscription(&consumer.topic, &consumer.subscription);
    if session.may(Action::Redeliver, resource).is_err() {
        return session.counters.requests_ignored += 1;
    }
    let positions = command
        .message_ids
        .iter()
        .map(|id| Position::from_wire(id.ledger_id(), id.entry_id()));
    let letter = TopicLetter::Redeliver {
        consumer_id,
        positions: positions.collect(),
        epoch: command.consumer_epoch.filter(|epoch| *epoch != u64::MAX),
    };
    session.write(turn, &consumer.topic, letter);
}
