//! CONSUMER_STATS: how one consumer fares.

use crate::Topic;
use crate::consumer::Consumer;
use crate::turn::{Asker, Turn};
use letters::{ConsumerReport, RefusalCode, SessionLetter};
use vocabulary::WallTime;

impl Topic {
    /// CONSUMER_STATS came.
    pub(crate) fn report_consumer(&mut self, asker: Asker, turn: &mut Turn<'_>) {
        let (session, consumer_id) = asker.seat;
        let subscription = self
            .consumers
            .get(&asker.seat)
            .and_then(|name| self.subscriptions.get(name));
        let found = subscription.and_then(|subscription| {
            let consumer = subscription
                .consumers
                .iter()
                .find(|consumer| consumer.seat == asker.seat)?;
            Some((subscription, consumer, subscription.kind?))
        });
        let Some((subscription, consumer, subscription_type)) = found else {
            let text = format!("Consumer {consumer_id} not found");
            return asker.refuse(RefusalCode::ConsumerNotFound, text, turn);
        };
        let rate = |count| per_second(count, consumer, turn.now.wall);
        let report = ConsumerReport {
            request_id: asker.request_id,
            consumer_id,
            name: consumer.name.clone(),
            subscription_type,
            messages_out_rate: rate(consumer.totals.messages_out),
            bytes_out_rate: rate(consumer.totals.bytes_out),
            redelivered_rate: rate(consumer.totals.redelivered),
            acks_rate: rate(consumer.totals.acked),
            permits: consumer.permits,
            unacked_messages: consumer.unacked,
            blocked_on_unacked: consumer.blocked,
            backlog_entries: subscription.cursor.backlog(&self.extent),
            address: consumer.facts.address.clone(),
            connected_since: consumer.facts.connected_since,
        };
        turn.tell(session, SessionLetter::ConsumerStats(Box::new(report)));
    }
}

/// Averaged since the consumer came, over at least a second.
fn per_second(count: u64, consumer: &Consumer, now: WallTime) -> f64 {
    let millis = now.0.saturating_sub(consumer.facts.connected_since.0);
    count as f64 * 1000.0 / millis.max(1000) as f64
}
