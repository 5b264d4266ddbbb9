//! The keys that act: one line from each name to the broker's own setting. What values they take stands in the table.

use super::kind::Typed;
use broker::BrokerSettings;
use std::path::PathBuf;
use std::time::Duration;

/// Puts a value into the settings; `None` if it is not allowed after all.
type Apply = fn(&mut BrokerSettings, Typed<'_>) -> Option<()>;

const MIB: u64 = 1024 * 1024;

/// All keys that act.
pub const ACTING: &[(&str, Apply)] = &[
    ("brokerServicePort", |s, v| {
        set(&mut s.binary_port, number(v))
    }),
    ("webServicePort", |s, v| set(&mut s.web_port, number(v))),
    ("bindAddress", |s, v| set(&mut s.bind_address, host(v))),
    ("advertisedAddress", |s, v| {
        set(&mut s.advertised_address, host(v))
    }),
    ("acknowledgmentAtBatchIndexLevelEnabled", |s, v| {
        set(&mut s.topics.batch_index_acks, switch(v))
    }),
    ("autoSkipNonRecoverableData", |s, v| {
        set(&mut s.topics.skip_unreadable_entries, switch(v))
    }),
    ("clusterName", |s, v| set(&mut s.cluster, name(v))),
    ("brokerShutdownTimeoutMs", |s, v| {
        set(&mut s.shutdown_timeout, millis(v))
    }),
    ("maxPendingPublishRequestsPerConnection", |s, v| {
        set(&mut s.pending_publishes_max, number(v))
    }),
    ("maxConcurrentNonPersistentMessagePerConnection", |s, v| {
        set(&mut s.passing_publishes_max, number(v))
    }),
    ("enablePersistentTopics", |s, v| {
        set(&mut s.topics.serve_persistent, switch(v))
    }),
    ("enableNonPersistentTopics", |s, v| {
        set(&mut s.topics.serve_non_persistent, switch(v))
    }),
    ("activeConsumerFailoverDelayTimeMillis", |s, v| {
        set(&mut s.topics.failover_delay, millis(v))
    }),
    ("brokerMaxConnections", |s, v| {
        set(&mut s.connections_max, number(v))
    }),
    ("brokerMaxConnectionsPerIp", |s, v| {
        set(&mut s.connections_per_address_max, number(v))
    }),
    ("maxUnackedMessagesPerConsumer", |s, v| {
        set(&mut s.topics.unacked_per_consumer_max, limit(v))
    }),
    ("maxUnackedMessagesPerSubscription", |s, v| {
        set(&mut s.topics.unacked_per_subscription_max, limit(v))
    }),
    ("dispatcherMaxReadBatchSize", |s, v| {
        set(&mut s.topics.read_entries_max, number(v))
    }),
    ("dispatcherMaxReadSizeBytes", |s, v| {
        set(&mut s.topics.read_bytes_max, number(v))
    }),
    ("dispatcherMaxRoundRobinBatchSize", |s, v| {
        set(&mut s.topics.round_robin_entries_max, number(v))
    }),
    ("maxNumPartitionsPerPartitionedTopic", |s, v| {
        set(&mut s.partitions_per_topic_max, number(v))
    }),
    ("enableBrokerSideSubscriptionPatternEvaluation", |s, v| {
        set(&mut s.topics_patterns_evaluated, switch(v))
    }),
    ("enableBrokerTopicListWatcher", |s, v| {
        set(&mut s.topic_watchers_offered, switch(v))
    }),
    ("subscriptionPatternMaxLength", |s, v| {
        set(&mut s.topics_pattern_length_max, number(v))
    }),
    ("maxConsumerMetadataSize", |s, v| {
        set(&mut s.consumer_metadata_bytes_max, number(v))
    }),
    ("maxProducersPerTopic", |s, v| {
        set(&mut s.topics.producers_max, limit(v))
    }),
    ("maxConsumersPerTopic", |s, v| {
        set(&mut s.topics.consumers_max, limit(v))
    }),
    ("maxSubscriptionsPerTopic", |s, v| {
        set(&mut s.topics.subscriptions_max, limit(v))
    }),
    ("maxConsumersPerSubscription", |s, v| {
        set(&mut s.topics.consumers_per_subscription_max, limit(v))
    }),
    ("maxMessageSize", |s, v| {
        set(&mut s.message_size_max, number(v))
    }),
    ("managedLedgerCacheSizeMB", |s, v| {
        set(&mut s.tail_cache_bytes, megabytes(v))
    }),
    ("isAllowAutoUpdateSchemaEnabled", |s, v| {
        set(&mut s.schema_updates_allowed, switch(v))
    }),
    ("isSchemaValidationEnforced", |s, v| {
        set(&mut s.schema_validation_enforced, switch(v))
    }),
    ("allowAutoTopicCreation", |s, v| {
        set(&mut s.topics.auto_create_topics, switch(v))
    }),
    ("allowAutoSubscriptionCreation", |s, v| {
        set(&mut s.topics.auto_create_subscriptions, switch(v))
    }),
    ("managedLedgerMaxEntriesPerLedger", |s, v| {
        set(&mut s.ledgers.ledger_entries_max, number(v))
    }),
    ("managedLedgerMinLedgerRolloverTimeMinutes", |s, v| {
        set(&mut s.ledgers.rollover_age_min, minutes(v))
    }),
    ("managedLedgerMaxLedgerRolloverTimeMinutes", |s, v| {
        set(&mut s.ledgers.rollover_age_max, minutes(v))
    }),
    ("managedLedgerMaxSizePerLedgerMbytes", |s, v| {
        set(&mut s.ledgers.ledger_bytes_max, megabytes(v))
    }),
    ("managedLedgerCursorMaxEntriesPerLedger", |s, v| {
        set(&mut s.ledgers.cursor_ledger_entries_max, number(v))
    }),
    ("defaultRetentionTimeInMinutes", |s, v| {
        set(&mut s.ledgers.retention_age, or_for_ever(v, minutes))
    }),
    ("defaultRetentionSizeInMB", |s, v| {
        set(&mut s.ledgers.retention_bytes, or_for_ever(v, megabytes))
    }),
    ("keepAliveIntervalSeconds", |s, v| {
        set(&mut s.keep_alive_interval, seconds(v))
    }),
    ("connectionLivenessCheckTimeoutMillis", |s, v| {
        set(&mut s.liveness_timeout, millis(v))
    }),
    ("hulse.dataDirectory", |s, v| {
        set(&mut s.data_directory, path(v))
    }),
    ("hulse.shards", |s, v| set(&mut s.shards, number(v))),
    ("hulse.readerThreads", |s, v| {
        set(&mut s.reader_threads, number(v))
    }),
    ("hulse.segmentSizeMb", |s, v| {
        set(&mut s.segment_bytes, megabytes(v))
    }),
    ("hulse.messagePermits", |s, v| {
        set(&mut s.message_permits, switch(v))
    }),
];

/// Puts the value of a key that acts into the settings; `None` if it is not allowed.
pub fn apply(key: &str, value: Typed<'_>, settings: &mut BrokerSettings) -> Option<()> {
    let (_, apply) = ACTING.iter().find(|(name, _)| *name == key)?;
    apply(settings, value)
}

fn set<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

fn switch(value: Typed<'_>) -> Option<bool> {
    match value {
        Typed::Switch(on) => Some(on),
        _ => None,
    }
}

fn number<T: TryFrom<i64>>(value: Typed<'_>) -> Option<T> {
    match value {
        Typed::Whole(number) => T::try_from(number).ok(),
        _ => None,
    }
}

fn text(value: Typed<'_>) -> Option<&str> {
    match value {
        Typed::Text(text) => Some(text),
        _ => None,
    }
}

/// A limit whose absence Pulsar writes as 0 or as a negative number.
fn limit<T: TryFrom<i64>>(value: Typed<'_>) -> Option<T> {
    let number: i64 = number(value)?;
    T::try_from(number.max(0)).ok()
}

/// A limit of retention; `None` inside: there is none.
fn or_for_ever<T>(value: Typed<'_>, unit: fn(Typed<'_>) -> Option<T>) -> Option<Option<T>> {
    if value == Typed::Whole(-1) {
        Some(None)
    } else {
        unit(value).map(Some)
    }
}

fn megabytes(value: Typed<'_>) -> Option<u64> {
    number::<u64>(value)?.checked_mul(MIB)
}

fn minutes(value: Typed<'_>) -> Option<Duration> {
    let seconds = number::<u64>(value)?.checked_mul(60)?;
    Some(Duration::from_secs(seconds))
}

fn seconds(value: Typed<'_>) -> Option<Duration> {
    number(value).map(Duration::from_secs)
}

/// Pulsar writes "not at all" also as a negative number.
fn millis(value: Typed<'_>) -> Option<Duration> {
    limit(value).map(Duration::from_millis)
}

fn path(value: Typed<'_>) -> Option<PathBuf> {
    text(value).map(PathBuf::from)
}

fn host(value: Typed<'_>) -> Option<String> {
    let text = text(value)?;
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '_' | '%');
    let bare = text
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'))
        .unwrap_or(text);
    (!bare.is_empty() && bare.chars().all(fine)).then(|| bare.to_owned())
}

fn name(value: Typed<'_>) -> Option<String> {
    let text = text(value)?;
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '=' | ':' | '.' | '_');
    (!text.is_empty() && text.chars().all(fine)).then(|| text.to_owned())
}
