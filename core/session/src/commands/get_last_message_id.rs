//! GET_LAST_MESSAGE_ID: what is the last message that can be delivered? Answer: GET_LAST_MESSAGE_ID_RESPONSE, or ERROR.

use super::asked_of;
use super::send::message_id;
use crate::gate::Action;
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::TopicLetter;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandGetLastMessageId, CommandGetLastMessageIdResponse, MessageIdData};
use vocabulary::Position;

/// What a topic found.
pub(crate) struct Found {
    pub position: Position,
    pub batch_index: Option<u32>,
    pub mark: Position,
}

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: &CommandGetLastMessageId) {
    let (consumer_id, request_id) = (command.consumer_id(), command.request_id());
    let topic = match asked_of(session, Action::ReadLastMessageId, consumer_id) {
        Ok(consumer) => consumer.topic.clone(),
        Err(refusal) => return session.send_error(turn, request_id, refusal),
    };
    let ticket = session.await_answer(Waiter::LastMessageId {
        request_id,
        partition: topic.partition(),
    });
    let letter = TopicLetter::GetLastMessageId {
        request_id: ticket,
        consumer_id,
    };
    session.write(turn, &topic, letter);
}

pub(crate) fn found(session: &mut Session, turn: &mut Turn<'_>, ticket: u64, found: Found) {
    let Some(Waiter::LastMessageId {
        request_id,
        partition,
    }) = session.answered(ticket)
    else {
        return;
    };
    let batch_index = found
        .batch_index
        .and_then(|index| i32::try_from(index).ok())
        .unwrap_or(-1);
    // `Expectation:` a reader at "latest" takes what it may read from comparing the mark with the last message; without
    // the mark it reads nothing.
    let mark = (found.mark.ledger >= 0).then(|| {
        let (ledger, entry) = found.mark.to_wire();
        MessageIdData {
            ledger_id: Some(ledger),
            entry_id: Some(entry),
            ..Default::default()
        }
    });
    let response = CommandGetLastMessageIdResponse {
        last_message_id: Some(MessageIdData {
            batch_index: Some(batch_index),
            ..message_id(found.position, partition)
        }),
        request_id: Some(request_id),
        consumer_mark_delete_position: mark,
    };
    session.send(turn, Cmd::GetLastMessageIdResponse(response));
}
