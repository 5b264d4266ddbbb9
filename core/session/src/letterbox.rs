//! Letters of topics, each to the file of the command it belongs to.

use crate::commands::{
    ack, close_consumer, close_producer, consumer_stats, get_last_message_id, lookup, message,
    partitioned_metadata, ping, producer, schema, seek, send, subscribe, topics_of_namespace,
    unsubscribe, watch_topic_list,
};
use crate::session::{Session, Turn};
use crate::waiting::Waiter;
use letters::{Refusal, SessionLetter};

pub(crate) fn take(session: &mut Session, turn: &mut Turn<'_>, letter: SessionLetter) {
    match letter {
        SessionLetter::TopicFound {
            request_id,
            partitions,
        } => found(session, turn, request_id, Ok(partitions)),
        SessionLetter::TopicRefused {
            request_id,
            refusal,
        } => found(session, turn, request_id, Err(refusal)),
        SessionLetter::Prepared {
            request_id,
            is_blank,
        } => schema::prepared(session, turn, request_id, is_blank),
        SessionLetter::Schema { request_id, result } => {
            schema::told(session, turn, request_id, result)
        }
        SessionLetter::ProducerReady {
            request_id,
            name,
            last_sequence_id,
            topic_epoch,
            ready,
            ..
        } => {
            let standing = producer::Let {
                name,
                last_sequence_id,
                topic_epoch,
                ready,
            };
            producer::let_in(session, turn, request_id, standing);
        }
        SessionLetter::ProducerRefused {
            request_id,
            refusal,
            ..
        } => {
            producer::refused(session, turn, request_id, refusal);
        }
        SessionLetter::Stored {
            producer_id,
            sequence_id,
            highest_sequence_id,
            position,
        } => {
            let receipt = send::receipt(
                session,
                producer_id,
                sequence_id,
                highest_sequence_id,
                position,
            );
            send::answered(session, turn, producer_id, receipt);
        }
        SessionLetter::NotStored {
            producer_id,
            sequence_id,
            highest_sequence_id,
            refusal,
        } => {
            let last = highest_sequence_id.map_or(sequence_id, |highest| highest.max(sequence_id));
            send::answered(
                session,
                turn,
                producer_id,
                send::error(producer_id, last, refusal),
            );
        }
        SessionLetter::Dropped { producer_id } => send::dropped(session, producer_id),
        SessionLetter::ProducerLeft { request_id, .. } => {
            close_producer::left(session, turn, request_id)
        }
        SessionLetter::CloseProducer { producer_id } => {
            close_producer::by_topic(session, turn, producer_id)
        }
        SessionLetter::Subscribed { request_id, .. } => {
            subscribe::let_in(session, turn, request_id)
        }
        SessionLetter::SubscribeRefused {
            request_id,
            refusal,
            ..
        } => {
            subscribe::refused(session, turn, request_id, refusal);
        }
        SessionLetter::Deliver {
            consumer_id,
            deliveries,
        } => {
            message::deliver(session, turn, consumer_id, deliveries);
        }
        SessionLetter::ActiveConsumerChanged {
            consumer_id,
            is_active,
        } => {
            message::active_consumer_changed(session, turn, consumer_id, is_active);
        }
        SessionLetter::AckDone {
            request_id,
            refusal,
            ..
        } => ack::done(session, turn, request_id, refusal),
        SessionLetter::ConsumerLeft { request_id, .. } => {
            close_consumer::left(session, turn, request_id)
        }
        SessionLetter::CloseConsumer { consumer_id } => {
            close_consumer::by_topic(session, turn, consumer_id)
        }
        SessionLetter::Unsubscribed { request_id, .. } => {
            unsubscribe::done(session, turn, request_id)
        }
        SessionLetter::SeekDone { request_id, .. } => seek::done(session, turn, request_id),
        SessionLetter::LastMessageId {
            request_id,
            position,
            batch_index,
            mark,
            ..
        } => {
            let found = get_last_message_id::Found {
                position,
                batch_index,
                mark,
            };
            get_last_message_id::found(session, turn, request_id, found);
        }
        SessionLetter::ConsumerStats(report) => consumer_stats::told(session, turn, *report),
        SessionLetter::RequestRefused {
            request_id,
            refusal,
        } => request_refused(session, turn, request_id, refusal),
        SessionLetter::TopicsListed { request_id, result } => {
            topics_of_namespace::listed(session, turn, request_id, result);
        }
        SessionLetter::TopicsChanged {
            watcher_id,
            created,
            deleted,
            hash,
        } => {
            let update = watch_topic_list::Update {
                created,
                deleted,
                hash,
            };
            watch_topic_list::changed(session, turn, watcher_id, update);
        }
        // No session deletes topics or looks after them.
        SessionLetter::TopicDeleted { .. }
        | SessionLetter::TaskDone { .. }
        | SessionLetter::Schemas { .. } => session.counters.letters_dropped += 1,
        SessionLetter::AreYouThere { topic, token } => ping::asked_for(session, turn, topic, token),
    }
}

fn request_refused(session: &mut Session, turn: &mut Turn<'_>, ticket: u64, refusal: Refusal) {
    match session.answered(ticket) {
        Some(
            Waiter::Unsubscribe { request_id, .. }
            | Waiter::Seek { request_id }
            | Waiter::LastMessageId { request_id, .. },
        ) => session.send_error(turn, request_id, refusal),
        Some(Waiter::ConsumerStats { request_id }) => {
            consumer_stats::refused(session, turn, request_id, refusal)
        }
        _ => {}
    }
}

fn found(session: &mut Session, turn: &mut Turn<'_>, ticket: u64, result: Result<u32, Refusal>) {
    match session.answered(ticket) {
        Some(Waiter::Partitions { request_id, topic }) => {
            partitioned_metadata::found(session, turn, request_id, &topic, result);
        }
        Some(Waiter::Lookup { request_id }) => lookup::found(session, turn, request_id, result),
        _ => {}
    }
}
