//! A topic's figures in Pulsar's words: `/admin/v2/persistent/…/stats`. What is not counted here is 0, as in a Pulsar
//! that does not use it. Rates are averaged since a producer or consumer connected, where Pulsar's are of the last minute.

use letters::{AccessMode, SubscriptionType};
use managed_ledger::LogDetails;
use serde_json::{Map, Value, json};
use shard::CloseFigures;
use topic::{ConsumerStats, ProducerStats, SubscriptionDetails, SubscriptionStats, TopicStats};
use vocabulary::{Position, WallTime};

/// `backlogQuotaDefaultLimitBytes` in Pulsar's standalone.conf.
const BACKLOG_LIMIT_BYTES: u64 = 10_737_418_240;

/// The whole of it.
pub(super) fn topic_json(figures: &CloseFigures, now: WallTime, broker: &str) -> Value {
    let CloseFigures {
        stats,
        details,
        log,
    } = figures;
    let closely = stats.subscriptions.iter().zip(&details.subscriptions);
    let subscriptions: Map<String, Value> = closely
        .map(|(stats, details)| {
            let json = subscription_json(stats, details, log, now);
            (stats.name.clone(), json)
        })
        .collect();
    let publishers: Vec<Value> = stats
        .producers
        .iter()
        .map(|producer| producer_json(producer, now))
        .collect();
    let of_publishers = |field: &str| sum_of(&publishers, field);
    let consumers: Vec<Value> = subscriptions.values().cloned().collect();
    let of_subscriptions = |field: &str| sum_of(&consumers, field);
    let slowest = stats.subscriptions.iter().filter(|one| one.is_durable);
    let slowest = slowest.map(|one| one.mark).min();
    let rates = (of_publishers("msgRateIn"), of_publishers("msgThroughputIn"));
    json!({
        "msgRateIn": rates.0,
        "msgThroughputIn": rates.1,
        "msgRateOut": of_subscriptions("msgRateOut"),
        "msgThroughputOut": of_subscriptions("msgThroughputOut"),
        "bytesInCounter": stats.bytes_in,
        "msgInCounter": stats.messages_in,
        "systemTopicBytesInCounter": 0,
        "bytesOutCounter": stats.subscriptions.iter().map(|s| s.bytes_out).sum::<u64>(),
        "msgOutCounter": stats.subscriptions.iter().map(|s| s.messages_out).sum::<u64>(),
        "bytesOutInternalCounter": 0,
        "averageMsgSize": if rates.0 == 0.0 { 0.0 } else { rates.1 / rates.0 },
        "msgChunkPublished": false,
        "storageSize": bytes_stored(log),
        "backlogSize": slowest.map_or(0, |mark| bytes_after(log, mark)),
        "backlogQuotaLimitSize": BACKLOG_LIMIT_BYTES,
        "backlogQuotaLimitTime": -1,
        "oldestBacklogMessageAgeSeconds": -1,
        "publishRateLimitedTimes": 0,
        "earliestMsgPublishTimeInBacklogs": 0,
        "offloadedStorageSize": 0,
        "lastOffloadLedgerId": 0,
        "lastOffloadSuccessTimeStamp": 0,
        "lastOffloadFailureTimeStamp": 0,
        "ongoingTxnCount": 0,
        "abortedTxnCount": 0,
        "committedTxnCount": 0,
        "publishers": publishers,
        "waitingPublishers": stats.newcomers,
        "subscriptions": subscriptions,
        "replication": {},
        "deduplicationStatus": "Disabled",
        "nonContiguousDeletedMessagesRanges": of_subscriptions("nonContiguousDeletedMessagesRanges") as u64,
        "nonContiguousDeletedMessagesRangesSerializedSize": 0,
        "delayedMessageIndexSizeInBytes": 0,
        "compaction": {
            "lastCompactionRemovedEventCount": 0,
            "lastCompactionSucceedTimestamp": 0,
            "lastCompactionFailedTimestamp": 0,
            "lastCompactionDurationTimeInMills": 0,
        },
        "ownerBroker": broker,
    })
}

/// The sum of a field.
fn sum_of(all: &[Value], field: &str) -> f64 {
    let values = all.iter().filter_map(|one| one.get(field)?.as_f64());
    // Not `sum`: that of nothing is -0.0.
    values.fold(0.0, |sum, value| sum + value)
}

/// Bytes that a log keeps.
pub(super) fn bytes_stored(log: &LogDetails) -> u64 {
    log.ledgers.iter().map(|ledger| ledger.bytes).sum()
}

/// Bytes after a position, as far as they can be told from the sizes of ledgers: within one all entries count the same.
pub(super) fn bytes_after(log: &LogDetails, position: Position) -> u64 {
    let of = |ledger: &managed_ledger::LedgerDetails| match ledger.ledger.cmp(&position.ledger) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Greater => ledger.bytes,
        std::cmp::Ordering::Equal => {
            let before = position.entry.saturating_add(1).max(0).unsigned_abs();
            let left = ledger.entries.saturating_sub(before);
            let each = ledger.bytes.checked_div(ledger.entries).unwrap_or(0);
            left * each
        }
    };
    log.ledgers.iter().map(of).sum()
}

fn producer_json(producer: &ProducerStats, now: WallTime) -> Value {
    let rate = |count| per_second(count, producer.connected_since, now);
    json!({
        "accessMode": access_mode_name(producer.access_mode),
        "msgRateIn": rate(producer.messages_in),
        "msgThroughputIn": rate(producer.bytes_in),
        "averageMsgSize": average(producer.bytes_in, producer.messages_in),
        "chunkedMessageRate": 0.0,
        "producerId": producer.producer_id,
        "supportsPartialProducer": false,
        "producerName": producer.name,
        "address": producer.address,
        "connectedSince": when(producer.connected_since),
        "clientVersion": producer.client_version,
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

fn subscription_json(
    subscription: &SubscriptionStats,
    details: &SubscriptionDetails,
    log: &LogDetails,
    now: WallTime,
) -> Value {
    let active = subscription.active.and_then(|(session, id)| {
        subscription
            .consumers
            .iter()
            .find(|c| c.session == session && c.consumer_id == id)
    });
    let consumers: Vec<Value> = subscription
        .consumers
        .iter()
        .map(|consumer| consumer_json(consumer, now))
        .collect();
    let sum = |field: &str| sum_of(&consumers, field);
    let mut json = json!({
        "msgRateOut": sum("msgRateOut"),
        "msgThroughputOut": sum("msgThroughputOut"),
        "bytesOutCounter": subscription.bytes_out,
        "msgOutCounter": subscription.messages_out,
        "msgRateRedeliver": sum("msgRateRedeliver"),
        "messageAckRate": sum("messageAckRate"),
        "chunkedMessageRate": 0.0,
        "msgBacklog": subscription.backlog_entries,
        "backlogSize": bytes_after(log, subscription.mark),
        "earliestMsgPublishTimeInBacklog": 0,
        "msgBacklogNoDelayed": subscription.backlog_entries,
        "blockedSubscriptionOnUnackedMsgs": subscription.blocked_on_unacked,
        "msgDelayed": 0,
        "msgInReplay": subscription.replay_entries,
        "unackedMessages": subscription.unacked_messages,
        "type": subscription.kind.map_or("None", kind_name),
        "msgRateExpired": 0.0,
        "totalMsgExpired": 0,
        "lastExpireTimestamp": 0,
        "lastConsumedFlowTimestamp": 0,
        "lastConsumedTimestamp": 0,
        "lastAckedTimestamp": 0,
        "lastMarkDeleteAdvancedTimestamp": 0,
        "consumers": consumers,
        "isDurable": subscription.is_durable,
        "isReplicated": details.is_replicated,
        "allowOutOfOrderDelivery": false,
        "consumersAfterMarkDeletePosition": {},
        "nonContiguousDeletedMessagesRanges": details.acked_ahead.len(),
        "nonContiguousDeletedMessagesRangesSerializedSize": 0,
        "delayedMessageIndexSizeInBytes": 0,
        "subscriptionProperties": pairs(&details.properties),
        "durable": subscription.is_durable,
        "replicated": details.is_replicated,
    });
    if let Value::Object(fields) = &mut json {
        fields.extend(NEVER_HERE.map(|field| (field.to_owned(), json!(0))));
        if let Some(active) = active {
            fields.insert("activeConsumerName".to_owned(), json!(active.name));
        }
    }
    json
}

/// Figures of what this version does not have.
const NEVER_HERE: [&str; 13] = [
    "drainingHashesCount",
    "drainingHashesClearedTotal",
    "drainingHashesUnackedMessages",
    "filterProcessedMsgCount",
    "filterAcceptedMsgCount",
    "filterRejectedMsgCount",
    "filterRescheduledMsgCount",
    "dispatchThrottledMsgEventsBySubscriptionLimit",
    "dispatchThrottledBytesEventsBySubscriptionLimit",
    "dispatchThrottledMsgEventsByTopicLimit",
    "dispatchThrottledBytesEventsByTopicLimit",
    "dispatchThrottledMsgEventsByBrokerLimit",
    "dispatchThrottledBytesEventsByBrokerLimit",
];

fn consumer_json(consumer: &ConsumerStats, now: WallTime) -> Value {
    let rate = |count| per_second(count, consumer.connected_since, now);
    let per_entry = consumer.messages_out.checked_div(consumer.entries_out);
    json!({
        "msgRateOut": rate(consumer.messages_out),
        "msgThroughputOut": rate(consumer.bytes_out),
        "bytesOutCounter": consumer.bytes_out,
        "msgOutCounter": consumer.messages_out,
        "msgRateRedeliver": rate(consumer.entries_redelivered),
        "messageAckRate": rate(consumer.acked),
        "chunkedMessageRate": 0.0,
        "consumerName": consumer.name,
        "availablePermits": consumer.permits,
        "unackedMessages": consumer.unacked_messages,
        "avgMessagesPerEntry": per_entry.unwrap_or(0),
        "blockedConsumerOnUnackedMsgs": consumer.blocked_on_unacked,
        "drainingHashesCount": 0,
        "drainingHashesClearedTotal": 0,
        "drainingHashesUnackedMessages": 0,
        "address": consumer.address,
        "connectedSince": when(consumer.connected_since),
        "clientVersion": consumer.client_version,
        "lastAckedTimestamp": 0,
        "lastConsumedTimestamp": 0,
        "lastConsumedFlowTimestamp": 0,
        "metadata": pairs(&consumer.metadata),
    })
}

/// Averaged over the time since, at least a second.
fn per_second(count: u64, since: WallTime, now: WallTime) -> f64 {
    let millis = now.0.saturating_sub(since.0);
    count as f64 * 1000.0 / millis.max(1000) as f64
}

/// What is said of non-persistent topics only: how many messages a second are dropped.
pub(super) fn add_drops(json: &mut Value, stats: &TopicStats, now: WallTime) {
    let of_producers = stats.producers.iter().map(|producer| {
        let since = producer.connected_since;
        per_second(producer.messages_dropped, since, now)
    });
    if let Some(publishers) = json.get_mut("publishers").and_then(Value::as_array_mut) {
        for (publisher, rate) in publishers.iter_mut().zip(of_producers) {
            put(publisher, rate);
        }
    }
    let mut sum = 0.0;
    for found in &stats.subscriptions {
        let since = found.consumers.iter().map(|one| one.connected_since).min();
        let rate = per_second(found.messages_dropped, since.unwrap_or(now), now);
        sum += rate;
        let place = json
            .get_mut("subscriptions")
            .and_then(|all| all.get_mut(&found.name));
        if let Some(subscription) = place {
            put(subscription, rate);
        }
    }
    put(json, sum);
}

fn put(json: &mut Value, drop_rate: f64) {
    if let Some(fields) = json.as_object_mut() {
        fields.insert("msgDropRate".to_owned(), json!(drop_rate));
    }
}

/// The figures of all partitions together, as Pulsar adds them up.
#[derive(Debug, Default)]
pub(super) struct Sum {
    fields: Map<String, Value>,
    parts: u32,
}

impl Sum {
    /// One partition more.
    pub fn add(&mut self, stats: &Value) {
        self.parts += 1;
        if let Value::Object(fields) = stats {
            add_fields(&mut self.fields, fields);
        }
    }

    /// All of it; what only makes sense for one topic is left out.
    pub fn into_json(mut self, partitions: usize, each: Map<String, Value>) -> Value {
        for field in ["ownerBroker", "deduplicationStatus"] {
            self.fields.remove(field);
        }
        let age = "oldestBacklogMessageAgeSeconds".to_owned();
        self.fields.insert(age, json!(0));
        let parts = f64::from(self.parts.max(1));
        if let Some(average) = self.fields.get_mut("averageMsgSize") {
            *average = json!(average.as_f64().unwrap_or(0.0) / parts);
        }
        let metadata = json!({"partitions": partitions, "deleted": false});
        self.fields.insert("metadata".to_owned(), metadata);
        self.fields
            .insert("partitions".to_owned(), Value::Object(each));
        Value::Object(self.fields)
    }
}

/// Counters and sizes add up; limits, ages and flags do not; lists follow each other; objects go field by field.
fn add_fields(sum: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more {
        let Some(before) = sum.get_mut(name) else {
            sum.insert(name.clone(), value.clone());
            continue;
        };
        match (before, value) {
            (Value::Object(before), Value::Object(value)) => add_fields(before, value),
            (Value::Array(before), Value::Array(value)) => before.extend(value.iter().cloned()),
            (Value::Bool(before), Value::Bool(value)) => *before |= value,
            (before @ Value::Number(_), Value::Number(value)) if !MOST.contains(&name.as_str()) => {
                *before = added(before, value);
            }
            _ => {}
        }
    }
}

/// Not sums: the same for all, or an age.
const MOST: [&str; 3] = [
    "backlogQuotaLimitSize",
    "backlogQuotaLimitTime",
    "oldestBacklogMessageAgeSeconds",
];

fn added(one: &Value, other: &serde_json::Number) -> Value {
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => json!(one.saturating_add(other)),
        _ => json!(one.as_f64().unwrap_or(0.0) + other.as_f64().unwrap_or(0.0)),
    }
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
pub(super) fn when(time: WallTime) -> String {
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
