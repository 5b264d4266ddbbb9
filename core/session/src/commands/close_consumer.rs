//! CLOSE_CONSUMER, from either side. Answer to the client's: SUCCESS, also for what is not there.

use crate::answers::{self, NO_REQUEST};
use crate::face::CloseReason;
use crate::gate::{Action, Resource};
use crate::parting;
use crate::session::{Session, Turn};
use crate::tables::Standing;
use crate::waiting::{Tell, Waiter};
use letters::{Refusal, RefusalCode, TopicLetter};
use pulsar_wire::proto::CommandCloseConsumer;
use pulsar_wire::proto::base_command::Cmd;
use vocabulary::ConsumerId;

pub(crate) fn came(session: &mut Session, turn: &mut Turn<'_>, command: CommandCloseConsumer) {
    let (id, request_id) = (command.consumer_id(), command.request_id());
    let found = session.consumers.get(id);
    let resource = found.map_or(Resource::Broker, |found| {
        Resource::Subscription(&found.topic, &found.subscription)
    });
    let allowed = session.may(Action::CloseConsumer, resource);
    let standing = found.map(|consumer| consumer.standing);
    if let Err(refusal) = allowed {
        let answer = answers::refusing(&Cmd::CloseConsumer(command), refusal);
        return session.refuse(turn, answer);
    }
    match standing {
        None => session.send_success(turn, request_id),
        Some(Standing::Ready | Standing::Leaving(_)) => {
            ask_to_leave(session, turn, id, Tell::Success(request_id))
        }
        Some(Standing::Pending(ticket)) => {
            let text = "The consumer was closed before it was subscribed";
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

/// Tells the client that its SUBSCRIBE came to nothing.
fn cancel(session: &mut Session, turn: &mut Turn<'_>, ticket: u64, refusal: Refusal) {
    if let Some(Waiter::Consumer { request_id, .. }) = session.answered(ticket) {
        session.send_error(turn, request_id, refusal);
    }
}

fn ask_to_leave(session: &mut Session, turn: &mut Turn<'_>, consumer_id: ConsumerId, tell: Tell) {
    let ticket = session.await_answer(Waiter::ConsumerLeaves { consumer_id, tell });
    let Some(consumer) = session.consumers.get_mut(consumer_id) else {
        return;
    };
    if !matches!(consumer.standing, Standing::Leaving(_)) {
        consumer.standing = Standing::Leaving(ticket);
    }
    let topic = consumer.topic.clone();
    session.write(
        turn,
        &topic,
        TopicLetter::CloseConsumer {
            request_id: ticket,
            consumer_id,
        },
    );
}

/// The topic let it go.
pub(crate) fn left(session: &mut Session, turn: &mut Turn<'_>, ticket: u64) {
    let Some(Waiter::ConsumerLeaves { consumer_id, tell }) = session.answered(ticket) else {
        return;
    };
    if session
        .consumers
        .get(consumer_id)
        .is_some_and(|consumer| consumer.standing == Standing::Leaving(ticket))
    {
        session.consumers.remove(consumer_id);
    }
    match tell {
        Tell::Success(request_id) => session.send_success(turn, request_id),
        Tell::Nothing => {}
        Tell::Close if session.peer.knows_close_consumer() => {
            push_close(session, turn, consumer_id)
        }
        Tell::Close => {}
    }
}

/// The topic threw it out.
pub(crate) fn by_topic(session: &mut Session, turn: &mut Turn<'_>, id: ConsumerId) {
    match session.consumers.get(id).map(|consumer| consumer.standing) {
        Some(Standing::Ready) => {
            session.consumers.remove(id);
            if session.peer.knows_close_consumer() {
                push_close(session, turn, id);
            } else {
                session.close(turn, CloseReason::CannotBeTold("a consumer"));
            }
        }
        // Crossed the client's own CLOSE, whose answer is on its way; or meant an earlier one of that id.
        Some(Standing::Leaving(_) | Standing::Pending(_)) | None => {
            session.counters.letters_dropped += 1
        }
    }
}

/// The broker goes down: the client is told when the topic has let its consumer go.
pub(crate) fn by_shutdown(session: &mut Session, turn: &mut Turn<'_>, id: ConsumerId) {
    match session.consumers.get(id).map(|consumer| consumer.standing) {
        Some(Standing::Ready) => ask_to_leave(session, turn, id, Tell::Close),
        Some(Standing::Pending(ticket)) => {
            cancel(session, turn, ticket, parting::shutting_down());
            ask_to_leave(session, turn, id, Tell::Nothing);
        }
        Some(Standing::Leaving(_)) | None => {}
    }
}

fn push_close(session: &mut Session, turn: &mut Turn<'_>, id: ConsumerId) {
    let close = CommandCloseConsumer {
        consumer_id: Some(id),
        request_id: Some(NO_REQUEST),
        ..Default::default()
    };
    session.send(turn, Cmd::CloseConsumer(close));
}
