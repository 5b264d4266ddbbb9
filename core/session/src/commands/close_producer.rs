//! CLOSE_PRODUCER, from either side. Answer to the client's: SUCCESS, also for what is not there.

use crate::answers::{self, NO_REQUEST};
use crate::face::CloseReason;
use crate::gate::{Action, Resource};
use crate::parting;
use crate::session::{Session, Turn};
use crate::tables::Standing;
use crate::waiting::{Tell, Waiter};
use letters::{Refusal, RefusalCode, TopicLetter};
use pulsar_wire::proto::CommandCloseProducer;
use pulsar_wire::proto::base_command::Cmd;
use vocabulary::ProducerId;

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: CommandCloseProducer) {
    let (id, request_id) = (command.producer_id(), command.request_id());
    let found = session
        .producers
        .get(id)
        .map(|producer| (producer.topic.clone(), producer.standing));
    let resource = found
        .as_ref()
        .map_or(Resource::Broker, |(topic, _)| Resource::Topic(topic));
    if let Err(refusal) = session.may(Action::CloseProducer, resource) {
        let answer = answers::refusing(&Cmd::CloseProducer(command), refusal);
        return session.refuse(turn, answer);
    }
    match found.map(|(_, standing)| standing) {
        None => session.send_success(turn, request_id),
        Some(Standing::Ready | Standing::Leaving(_)) => {
            ask_to_leave(session, turn, id, Tell::Success(request_id))
        }
        Some(Standing::Pending(ticket)) => {
            let text = "The producer was closed before it was ready";
            cancel(
                session,
                turn,
                ticket,
                Refusal::new(RefusalCode::ServiceNotReady, text),
            );
            ask_to_leave(session, turn, id, Tell::Nothing);
            session.send_success(turn, request_id);
        }
    }
}

/// Tells the client that its PRODUCER came to nothing, unless it was told already that it has to wait.
fn cancel(session: &mut Session, turn: &mut Turn<'_>, ticket: u64, refusal: Refusal) {
    if let Some(Waiter::Producer {
        request_id,
        told: false,
        ..
    }) = session.answered(ticket)
    {
        session.send_error(turn, request_id, refusal);
    }
}

fn ask_to_leave(session: &mut Session, turn: &mut Turn<'_>, producer_id: ProducerId, tell: Tell) {
    let ticket = session.await_answer(Waiter::ProducerLeaves { producer_id, tell });
    let Some(producer) = session.producers.get_mut(producer_id) else {
        return;
    };
    if !matches!(producer.standing, Standing::Leaving(_)) {
        producer.standing = Standing::Leaving(ticket);
    }
    let topic = producer.topic.clone();
    session.write(
        turn,
        &topic,
        TopicLetter::CloseProducer {
            request_id: ticket,
            producer_id,
        },
    );
}

/// The topic let it go; all its SENDs are answered.
pub(crate) fn left(session: &mut Session, turn: &mut Turn<'_>, ticket: u64) {
    let Some(Waiter::ProducerLeaves { producer_id, tell }) = session.answered(ticket) else {
        return;
    };
    if session
        .producers
        .get(producer_id)
        .is_some_and(|producer| producer.standing == Standing::Leaving(ticket))
    {
        session.remove_producer(producer_id);
    }
    match tell {
        Tell::Success(request_id) => session.send_success(turn, request_id),
        Tell::Nothing => {}
        Tell::Close => push_close(session, turn, producer_id),
    }
}

/// The topic threw it out.
pub(crate) fn by_topic(session: &mut Session, turn: &mut Turn<'_>, id: ProducerId) {
    match session.producers.get(id).map(|producer| producer.standing) {
        Some(Standing::Ready) => {
            session.remove_producer(id);
            if session.peer.knows_close_producer() {
                push_close(session, turn, id);
            } else {
                session.close(turn, CloseReason::CannotBeTold("a producer"));
            }
        }
        // Crossed the client's own CLOSE, whose answer is on its way; or meant an earlier one of that id.
        Some(Standing::Leaving(_) | Standing::Pending(_)) | None => {
            session.counters.letters_dropped += 1
        }
    }
}

/// The broker goes down: the client is told when its SENDs are answered.
pub(crate) fn by_shutdown(session: &mut Session, turn: &mut Turn<'_>, id: ProducerId) {
    match session.producers.get(id).map(|producer| producer.standing) {
        Some(Standing::Ready) => ask_to_leave(session, turn, id, Tell::Close),
        Some(Standing::Pending(ticket)) => {
            cancel(session, turn, ticket, parting::shutting_down());
            ask_to_leave(session, turn, id, Tell::Nothing);
        }
        Some(Standing::Leaving(_)) | None => {}
    }
}

fn push_close(session: &mut Session, turn: &mut Turn<'_>, id: ProducerId) {
    let forgiven_until = turn.now.moment.after(session.settings.keepalive_interval);
    session.producers.closed_by_topic(id, forgiven_until);
    if session.peer.knows_close_producer() {
        let close = CommandCloseProducer {
            producer_id: Some(id),
            request_id: Some(NO_REQUEST),
            ..Default::default()
        };
        session.send(turn, Cmd::CloseProducer(close));
    }
}
