//! ACK: messages are done. Answer: ACK_RESPONSE if the client put a request id, else none.

use super::subscribe::ack_set;
use crate::answers;
use crate::gate::{Action, Resource};
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::{AckId, AckKind, Refusal, RefusalCode, TopicLetter};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandAck, CommandAckResponse, command_ack};
use vocabulary::{Position, TopicName};

/// `Expectation:` pulsar-flex asks for an ACK_RESPONSE to every ACK and waits ten seconds for it. Pulsar leaves it
/// waiting where the consumer is unknown; here it is told.
pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: CommandAck) {
    let (consumer_id, request_id) = (command.consumer_id(), command.request_id);
    let topic = match allow(session, &command) {
        Ok(topic) => topic,
        Err(refusal) => {
            let answer = answers::refusing(&Cmd::Ack(command), refusal);
            return session.refuse(turn, answer);
        }
    };
    if command.validation_error.is_some() {
        session.counters.acks_of_unreadable_entries += 1;
    }
    let kind = match command.ack_type() {
        command_ack::AckType::Individual => AckKind::Individual,
        command_ack::AckType::Cumulative => AckKind::Cumulative,
    };
    let ids = command.message_id.iter().map(|id| AckId {
        position: Position::from_wire(id.ledger_id(), id.entry_id()),
        remaining: ack_set(id),
    });
    let ids = ids.collect();
    let request_id = request_id.map(|request_id| {
        session.await_answer(Waiter::Ack {
            request_id,
            consumer_id,
        })
    });
    session.write(
        turn,
        &topic,
        TopicLetter::Ack {
            consumer_id,
            request_id,
            kind,
            ids,
        },
    );
}

/// The rules that do not need the topic. Returns its name.
fn allow(session: &Session, command: &CommandAck) -> Result<TopicName, Refusal> {
    let Some(consumer) = session.consumers.ready(command.consumer_id()) else {
        let text = format!(
            "Consumer {} is not open on this connection",
            command.consumer_id()
        );
        return Err(Refusal::new(RefusalCode::ConsumerNotFound, text));
    };
    session.may(
        Action::Acknowledge,
        Resource::Subscription(&consumer.topic, &consumer.subscription),
    )?;
    if command.txnid_least_bits.is_some() && command.txnid_most_bits.is_some() {
        let text = "Transactions are not served by this broker yet";
        return Err(Refusal::new(RefusalCode::NotAllowedError, text));
    }
    if command.ack_type() == command_ack::AckType::Cumulative && command.message_id.len() != 1 {
        let text = format!(
            "A cumulative ack names one message, this one names {}",
            command.message_id.len()
        );
        return Err(Refusal::new(RefusalCode::NotAllowedError, text));
    }
    Ok(consumer.topic.clone())
}

pub(crate) fn done(
    session: &mut Session,
    turn: &mut Turn<'_>,
    ticket: u64,
    refusal: Option<Refusal>,
) {
    let Some(Waiter::Ack {
        request_id,
        consumer_id,
    }) = session.answered(ticket)
    else {
        return;
    };
    let (error, message) = refusal
        .map(|refusal| (refusal.code as i32, refusal.message))
        .unzip();
    let response = CommandAckResponse {
        consumer_id: Some(consumer_id),
        error,
        message,
        request_id: Some(request_id),
        ..Default::default()
    };
    session.send(turn, Cmd::AckResponse(response));
}
