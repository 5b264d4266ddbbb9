//! SEEK: a subscription shall go elsewhere. Answer: CLOSE_CONSUMER to whom it disconnects, then SUCCESS; or ERROR.

use super::asked_of;
use super::subscribe::ack_set;
use crate::gate::Action;
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::{Refusal, RefusalCode, SeekTarget, TopicLetter};
use pulsar_wire::proto::CommandSeek;
use vocabulary::Position;

/// A SEEK that says both goes by the message id, as in Pulsar.
pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: &CommandSeek) {
    let (consumer_id, request_id) = (command.consumer_id(), command.request_id());
    let by_id = command.message_id.as_ref().map(|id| {
        let position = Position::from_wire(id.ledger_id(), id.entry_id());
        SeekTarget::Id(position, ack_set(id))
    });
    let Some(target) = by_id.or(command.message_publish_time.map(SeekTarget::Time)) else {
        let text = "Message id and message publish time were not present";
        let refusal = Refusal::new(RefusalCode::MetadataError, text);
        return session.send_error(turn, request_id, refusal);
    };
    let topic = match asked_of(session, Action::Seek, consumer_id) {
        Ok(consumer) => consumer.topic.clone(),
        Err(refusal) => return session.send_error(turn, request_id, refusal),
    };
    let ticket = session.await_answer(Waiter::Seek { request_id });
    let letter = TopicLetter::Seek {
        request_id: ticket,
        consumer_id,
        target,
    };
    session.write(turn, &topic, letter);
}

/// The subscription is where it was to be.
pub(crate) fn done(session: &mut Session, turn: &mut Turn<'_>, ticket: u64) {
    if let Some(Waiter::Seek { request_id }) = session.answered(ticket) {
        session.send_success(turn, request_id);
    }
}
