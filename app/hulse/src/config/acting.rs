//! The keys that act: one line from each name to the broker's own setting.

use broker::BrokerSettings;
use std::path::PathBuf;
use std::time::Duration;

/// One key that acts.
pub struct Acting {
    /// Its name, Pulsar's where Pulsar has it, else beginning with `hulse.`.
    pub key: &'static str,
    /// What may be said, as it completes "expected ...".
    pub allowed: &'static str,
    /// Puts a value into the settings; `None` if it is not allowed.
    pub apply: fn(&mut BrokerSettings, &str) -> Option<()>,
}

const PORT: &str = "a port number from 0 (any free port) to 65535";
const SWITCH: &str = "true or false";
const COUNT_OR_NONE: &str = "a whole number from 0 (no limit) to 4294967295";
const COUNT: &str = "a whole number from 1 to 4294967295";
const MILLIS: &str = "whole milliseconds from 0 to 4294967295";
const MINUTES: &str = "whole minutes from 1 to 1000000";
const MEGABYTES: &str = "whole megabytes from 1 to 1000000";
const MIB: u64 = 1024 * 1024;

/// All of them.
pub const ACTING: &[Acting] = &[
    Acting {
        key: "brokerServicePort",
        allowed: PORT,
        apply: |s, v| set(&mut s.binary_port, v.parse().ok()),
    },
    Acting {
        key: "webServicePort",
        allowed: PORT,
        apply: |s, v| set(&mut s.web_port, v.parse().ok()),
    },
    Acting {
        key: "bindAddress",
        allowed: "a host name or an IP address",
        apply: |s, v| set(&mut s.bind_address, host(v)),
    },
    Acting {
        key: "advertisedAddress",
        allowed: "a host name or an IP address",
        apply: |s, v| set(&mut s.advertised_address, host(v)),
    },
    Acting {
        key: "clusterName",
        allowed: "letters, digits and - = : . _",
        apply: |s, v| set(&mut s.cluster, name(v)),
    },
    Acting {
        key: "brokerMaxConnections",
        allowed: COUNT_OR_NONE,
        apply: |s, v| set(&mut s.connections_max, v.parse().ok()),
    },
    Acting {
        key: "brokerMaxConnectionsPerIp",
        allowed: COUNT_OR_NONE,
        apply: |s, v| set(&mut s.connections_per_address_max, v.parse().ok()),
    },
    Acting {
        key: "maxMessageSize",
        allowed: "whole bytes from 1024 to 134217728 (128 MiB)",
        apply: |s, v| {
            set(
                &mut s.message_size_max,
                within(v, 1024, 128 * MIB).and_then(|n| u32::try_from(n).ok()),
            )
        },
    },
    Acting {
        key: "keepAliveIntervalSeconds",
        allowed: "whole seconds from 1 to 86400",
        apply: |s, v| {
            set(
                &mut s.keep_alive_interval,
                within(v, 1, 86_400).map(Duration::from_secs),
            )
        },
    },
    Acting {
        key: "connectionLivenessCheckTimeoutMillis",
        allowed: "whole milliseconds from 1 to 86400000",
        apply: |s, v| {
            set(
                &mut s.liveness_timeout,
                within(v, 1, 86_400_000).map(Duration::from_millis),
            )
        },
    },
    Acting {
        key: "maxPendingPublishRequestsPerConnection",
        allowed: COUNT,
        apply: |s, v| set(&mut s.pending_publishes_max, positive(v)),
    },
    Acting {
        key: "allowAutoTopicCreation",
        allowed: SWITCH,
        apply: |s, v| set(&mut s.topics.auto_create_topics, switch(v)),
    },
    Acting {
        key: "maxUnackedMessagesPerConsumer",
        allowed: COUNT_OR_NONE,
        apply: |s, v| set(&mut s.topics.unacked_per_consumer_max, count(v)),
    },
    Acting {
        key: "maxUnackedMessagesPerSubscription",
        allowed: COUNT_OR_NONE,
        apply: |s, v| set(&mut s.topics.unacked_per_subscription_max, count(v)),
    },
    Acting {
        key: "activeConsumerFailoverDelayTimeMillis",
        allowed: MILLIS,
        apply: |s, v| {
            set(
                &mut s.topics.failover_delay,
                within(v, 0, u64::from(u32::MAX)).map(Duration::from_millis),
            )
        },
    },
    Acting {
        key: "dispatcherMaxReadBatchSize",
        allowed: COUNT,
        apply: |s, v| set(&mut s.topics.read_entries_max, positive(v)),
    },
    Acting {
        key: "dispatcherMaxReadSizeBytes",
        allowed: COUNT,
        apply: |s, v| {
            set(
                &mut s.topics.read_bytes_max,
                positive(v).map(|n| n as usize),
            )
        },
    },
    Acting {
        key: "allowAutoSubscriptionCreation",
        allowed: SWITCH,
        apply: |s, v| set(&mut s.topics.auto_create_subscriptions, switch(v)),
    },
    Acting {
        key: "maxProducersPerTopic",
        allowed: COUNT_OR_NONE,
        apply: |s, v| set(&mut s.topics.producers_max, count(v).map(|n| n as usize)),
    },
    Acting {
        key: "maxConsumersPerTopic",
        allowed: COUNT_OR_NONE,
        apply: |s, v| set(&mut s.topics.consumers_max, count(v).map(|n| n as usize)),
    },
    Acting {
        key: "maxConsumersPerSubscription",
        allowed: COUNT_OR_NONE,
        apply: |s, v| {
            set(
                &mut s.topics.consumers_per_subscription_max,
                count(v).map(|n| n as usize),
            )
        },
    },
    Acting {
        key: "maxSubscriptionsPerTopic",
        allowed: COUNT_OR_NONE,
        apply: |s, v| {
            set(
                &mut s.topics.subscriptions_max,
                count(v).map(|n| n as usize),
            )
        },
    },
    Acting {
        key: "dispatcherMaxRoundRobinBatchSize",
        allowed: COUNT,
        apply: |s, v| set(&mut s.topics.round_robin_entries_max, positive(v)),
    },
    Acting {
        key: "acknowledgmentAtBatchIndexLevelEnabled",
        allowed: SWITCH,
        apply: |s, v| set(&mut s.topics.batch_index_acks, switch(v)),
    },
    Acting {
        key: "managedLedgerMaxEntriesPerLedger",
        allowed: COUNT,
        apply: |s, v| {
            set(
                &mut s.ledgers.ledger_entries_max,
                positive(v).map(i64::from),
            )
        },
    },
    Acting {
        key: "managedLedgerMaxSizePerLedgerMbytes",
        allowed: MEGABYTES,
        apply: |s, v| set(&mut s.ledgers.ledger_bytes_max, megabytes(v)),
    },
    Acting {
        key: "managedLedgerMinLedgerRolloverTimeMinutes",
        allowed: "whole minutes from 0 to 1000000",
        apply: |s, v| {
            set(
                &mut s.ledgers.rollover_age_min,
                within(v, 0, 1_000_000).map(minutes),
            )
        },
    },
    Acting {
        key: "managedLedgerMaxLedgerRolloverTimeMinutes",
        allowed: MINUTES,
        apply: |s, v| {
            set(
                &mut s.ledgers.rollover_age_max,
                within(v, 1, 1_000_000).map(minutes),
            )
        },
    },
    Acting {
        key: "managedLedgerCursorMaxEntriesPerLedger",
        allowed: COUNT,
        apply: |s, v| {
            set(
                &mut s.ledgers.cursor_ledger_entries_max,
                positive(v).map(i64::from),
            )
        },
    },
    Acting {
        key: "defaultRetentionTimeInMinutes",
        allowed: "whole minutes from 0 to 1000000000, or -1 (for ever)",
        apply: |s, v| set(&mut s.ledgers.retention_age, or_for_ever(v, minutes)),
    },
    Acting {
        key: "defaultRetentionSizeInMB",
        allowed: "whole megabytes from 0 to 1000000000, or -1 (any size)",
        apply: |s, v| set(&mut s.ledgers.retention_bytes, or_for_ever(v, |n| n * MIB)),
    },
    Acting {
        key: "managedLedgerCacheSizeMB",
        allowed: "whole megabytes from 0 to 1000000",
        apply: |s, v| {
            set(
                &mut s.tail_cache_bytes,
                within(v, 0, 1_000_000).map(|n| n * MIB),
            )
        },
    },
    Acting {
        key: "brokerShutdownTimeoutMs",
        allowed: MILLIS,
        apply: |s, v| {
            set(
                &mut s.shutdown_timeout,
                within(v, 0, u64::from(u32::MAX)).map(Duration::from_millis),
            )
        },
    },
    Acting {
        key: "hulse.dataDirectory",
        allowed: "the path of a directory",
        apply: |s, v| set(&mut s.data_directory, Some(PathBuf::from(v))),
    },
    Acting {
        key: "hulse.shards",
        allowed: "a whole number from 1 to 64",
        apply: |s, v| {
            set(
                &mut s.shards,
                within(v, 1, 64).and_then(|n| u32::try_from(n).ok()),
            )
        },
    },
    Acting {
        key: "hulse.readerThreads",
        allowed: "a whole number from 1 to 16",
        apply: |s, v| {
            set(
                &mut s.reader_threads,
                within(v, 1, 16).and_then(|n| u32::try_from(n).ok()),
            )
        },
    },
    Acting {
        key: "hulse.segmentSizeMb",
        allowed: "whole megabytes from 1 to 1024",
        apply: |s, v| set(&mut s.segment_bytes, within(v, 1, 1024).map(|n| n * MIB)),
    },
    Acting {
        key: "hulse.messagePermits",
        allowed: SWITCH,
        apply: |s, v| set(&mut s.message_permits, switch(v)),
    },
];

fn set<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

fn within(text: &str, min: u64, max: u64) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|number| (min..=max).contains(number))
}

fn count(text: &str) -> Option<u64> {
    text.parse::<u32>().ok().map(u64::from)
}

fn positive(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| *number > 0)
}

fn megabytes(text: &str) -> Option<u64> {
    within(text, 1, 1_000_000).map(|number| number * MIB)
}

fn minutes(number: u64) -> Duration {
    Duration::from_secs(number * 60)
}

/// A limit of retention; `None` inside: there is none.
fn or_for_ever<T>(text: &str, unit: fn(u64) -> T) -> Option<Option<T>> {
    if text == "-1" {
        Some(None)
    } else {
        within(text, 0, 1_000_000_000).map(|number| Some(unit(number)))
    }
}

fn switch(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn host(text: &str) -> Option<String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '_' | '%');
    let bare = text
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'))
        .unwrap_or(text);
    (!bare.is_empty() && bare.chars().all(fine)).then(|| bare.to_owned())
}

fn name(text: &str) -> Option<String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '=' | ':' | '.' | '_');
    (!text.is_empty() && text.chars().all(fine)).then(|| text.to_owned())
}
