//! A topic's figures in Pulsar's words: `/admin/v2/persistent/…/stats`. What is not counted here is left out.

use letters::{AccessMode, SubscriptionType};
use serde_json::{Map, Value, json};
use topic::{ConsumerStats, ProducerStats, SubscriptionStats, TopicStats};
use vocabulary::WallTime;

/// The whole of it.
pub(super) fn topic_json(stats: &TopicStats) -> Value {
    let subscriptions: Map<String, Value> = stats
        .subscriptions
        .iter()
        .map(|subscription| (subscription.name.clone(), subscription_json(subscription)))
        .collect();
    json!({
        "msgInCounter": stats.messages_in,
        "bytesInCounter": stats.bytes_in,
        "msgOutCounter": stats.subscriptions.iter().map(|s| s.messages_out).sum::<u64>(),
        "bytesOutCounter": stats.subscriptions.iter().map(|s| s.bytes_out).sum::<u64>(),
        "averageMsgSize": average(stats.bytes_in, stats.messages_in),
        "publishers": stats.producers.iter().map(producer_json).collect::<Vec<_>>(),
        "waitingPublishers": stats.newcomers,
        "subscriptions": subscriptions,
    })
}

fn producer_json(producer: &ProducerStats) -> Value {
    json!({
        "accessMode": access_mode_name(producer.access_mode),
        "producerId": producer.producer_id,
        "producerName": producer.name,
        "address": producer.address,
        "connectedSince": when(producer.connected_since),
        "clientVersion": producer.client_version,
        "averageMsgSize": average(producer.bytes_in, producer.messages_in),
        "metadata": pairs(&producer.metadata),
    })
}

fn access_mode_name(mode: AccessMode) -> &'static str {
    match mode {
        AccessMode::Shared => "Shared",
        AccessMode::Exclusive => "Exclusive",
        AccessMode::WaitForExclusive => "WaitForExclusive",
        AccessMode::ExclusiveWithFencing => "ExclusiveWithFencing",
    }
}

fn subscription_json(subscription: &SubscriptionStats) -> Value {
    let active = subscription.active.and_then(|(session, id)| {
        subscription
            .consumers
            .iter()
            .find(|c| c.session == session && c.consumer_id == id)
    });
    json!({
        "type": subscription.kind.map(kind_name),
        "msgOutCounter": subscription.messages_out,
        "bytesOutCounter": subscription.bytes_out,
        "msgBacklog": subscription.backlog_entries,
        "msgBacklogNoDelayed": subscription.backlog_entries,
        "msgInReplay": subscription.replay_entries,
        "unackedMessages": subscription.unacked_messages,
        "blockedSubscriptionOnUnackedMsgs": subscription.blocked_on_unacked,
        "activeConsumerName": active.map(|consumer| consumer.name.as_str()),
        "markDeletePosition": subscription.mark.to_string(),
        "durableMarkDeletePosition": subscription.durable_mark.to_string(),
        "consumers": subscription.consumers.iter().map(consumer_json).collect::<Vec<_>>(),
        "isDurable": true,
    })
}

fn consumer_json(consumer: &ConsumerStats) -> Value {
    json!({
        "consumerName": consumer.name,
        "availablePermits": consumer.permits,
        "parkedPermits": consumer.parked_permits,
        "unackedMessages": consumer.unacked_messages,
        "unwrittenBytes": consumer.unwritten_bytes,
        "blockedConsumerOnUnackedMsgs": consumer.blocked_on_unacked,
        "msgOutCounter": consumer.messages_out,
        "bytesOutCounter": consumer.bytes_out,
        "address": consumer.address,
        "connectedSince": when(consumer.connected_since),
        "clientVersion": consumer.client_version,
        "metadata": pairs(&consumer.metadata),
    })
}

/// As Pulsar writes it in statistics.
fn kind_name(kind: SubscriptionType) -> &'static str {
    match kind {
        SubscriptionType::Exclusive => "Exclusive",
        SubscriptionType::Shared => "Shared",
        SubscriptionType::Failover => "Failover",
        SubscriptionType::KeyShared => "Key_Shared",
    }
}

fn pairs(metadata: &[(String, String)]) -> Value {
    metadata
        .iter()
        .map(|(key, value)| (key.clone(), Value::from(value.clone())))
        .collect::<Map<_, _>>()
        .into()
}

fn average(bytes: u64, messages: u64) -> f64 {
    if messages == 0 {
        0.0
    } else {
        bytes as f64 / messages as f64
    }
}

/// ISO 8601 in UTC, as Pulsar writes it.
fn when(time: WallTime) -> String {
    let (days, millis) = (time.0 / 86_400_000, time.0 % 86_400_000);
    let (year, month, day) = civil(days as i64);
    let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
    let (seconds, rest) = (millis / 1_000 % 60, millis % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{rest:03}Z")
}

/// Year, month and day of a day counted from 1970-01-01 (Howard Hinnant's `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::when;
    use vocabulary::WallTime;

    #[test]
    fn times_are_written_as_people_read_them() {
        assert_eq!(when(WallTime(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(when(WallTime(951_782_399_999)), "2000-02-28T23:59:59.999Z");
        assert_eq!(when(WallTime(951_868_800_000)), "2000-03-01T00:00:00.000Z");
        assert_eq!(
            when(WallTime(1_709_164_800_000)),
            "2024-02-29T00:00:00.000Z"
        );
    }
}
