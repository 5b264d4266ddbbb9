//! MESSAGE and ACTIVE_CONSUMER_CHANGE: what a topic has for a consumer.

use super::send::message_id;
use crate::face::{OutFrame, SessionEffect, WriteToken};
use crate::session::{Session, Turn};
use crate::tables::Standing;
use letters::Delivery;
use pulsar_wire::entry::add_checksum;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{BaseCommand, CommandActiveConsumerChange, CommandMessage};
use vocabulary::ConsumerId;

/// Deliveries to a consumer that is leaving are dropped: its topic gives them to others when it has left.
pub(crate) fn deliver(
    session: &mut Session,
    turn: &mut Turn<'_>,
    id: ConsumerId,
    deliveries: Vec<Delivery>,
) {
    let Some(consumer) = session.consumers.ready(id) else {
        return session.counters.letters_dropped += 1;
    };
    let partition = consumer.topic.partition();
    let incarnation = consumer.incarnation;
    for delivery in deliveries {
        let bytes = delivery.entry.len() as u64;
        let message = CommandMessage {
            consumer_id: Some(id),
            message_id: Some(message_id(delivery.position, partition)),
            redelivery_count: (delivery.redelivery_count > 0).then_some(delivery.redelivery_count),
            ack_set: delivery
                .ack_set
                .map(|set| set.to_wire())
                .unwrap_or_default(),
            consumer_epoch: delivery.epoch,
            // `Expectation:` PIP-491: on every MESSAGE, 1 included; its absence means an older broker.
            message_permits: session
                .settings
                .message_permits_enabled
                .then_some(delivery.permits),
        };
        // Every entry has a checksum since it arrived here; one that came another way gets it now (see `add_checksum`),
        // and one that cannot be read goes out as it is: its consumer acks it as such.
        let payload = add_checksum(&delivery.entry).unwrap_or(delivery.entry);
        turn.effects.push(SessionEffect::SendFrame(OutFrame {
            command: BaseCommand::new(Cmd::Message(message)),
            payload: Some(payload),
            token: WriteToken {
                bytes,
                delivered_to: Some((id, incarnation)),
            },
        }));
    }
}

/// May come before SUCCESS of the SUBSCRIBE: a topic says it while it lets the consumer in.
pub(crate) fn active_consumer_changed(
    session: &mut Session,
    turn: &mut Turn<'_>,
    id: ConsumerId,
    is_active: bool,
) {
    let standing = session.consumers.get(id).map(|consumer| consumer.standing);
    let here = matches!(standing, Some(Standing::Ready | Standing::Pending(_)));
    if here && session.peer.knows_active_consumer_change() {
        let change = CommandActiveConsumerChange {
            consumer_id: Some(id),
            is_active: Some(is_active),
        };
        session.send(turn, Cmd::ActiveConsumerChange(change));
    }
}
