//! From the broker's settings to those of each room.

use crate::BrokerSettings;
use bookie::{BookieRequest, LocalEffect, LocalLedgerStore};
use session::SessionSettings;
use shard::{Shard, ShardSettings};
use std::sync::Arc;
use topic::NameSource;

/// The bookie's name in the metadata of ledgers. It is the only one there is and has no address.
const BOOKIE_ID: &str = "hulse-standalone";

/// For sessions.
pub fn session_settings(settings: &BrokerSettings, binary_url: &str) -> SessionSettings {
    SessionSettings {
        max_message_size: settings.message_size_max,
        keepalive_interval: settings.keep_alive_interval,
        liveness_probe_timeout: settings.liveness_timeout,
        pending_publishes_max: u64::from(settings.pending_publishes_max),
        passing_publishes_max: settings.passing_publishes_max as usize,
        consumer_metadata_bytes_max: settings.consumer_metadata_bytes_max,
        topics_pattern_length_max: settings.topics_pattern_length_max,
        topics_patterns_evaluated: settings.topics_patterns_evaluated,
        topic_watchers_offered: settings.topic_watchers_offered,
        schema_updates_allowed: settings.schema_updates_allowed,
        schema_validation_enforced: settings.schema_validation_enforced,
        message_permits_enabled: settings.message_permits,
        ..SessionSettings::advertising(binary_url.to_owned(), None)
    }
}

/// Shard `number` of `settings.shards`, and what it asks of the bookie before anything else. `instance` is a number that
/// no earlier start had.
pub fn shard(
    settings: &BrokerSettings,
    number: usize,
    instance: u64,
) -> (Shard, Vec<BookieRequest>) {
    let shards = u64::from(settings.shards.max(1));
    let prefix = format!("{}-{instance}", settings.cluster);
    let shard_settings = ShardSettings {
        topic: Arc::new(settings.topics.clone()),
        names: Arc::new(NameSource::new(prefix, number as u64, shards)),
        log: topic_log::Settings {
            managed_ledger: settings.ledgers.clone(),
            cache_bytes: usize::try_from(settings.tail_cache_bytes / shards).unwrap_or(usize::MAX),
        },
    };
    let mut ledgers = LocalLedgerStore::new(BOOKIE_ID);
    let mut effects = Vec::new();
    if number == 0 {
        // Entries of deleted ledgers are looked for once in the process.
        ledgers.start(&mut effects);
    }
    let requests = effects.into_iter().filter_map(|effect| match effect {
        LocalEffect::Bookie(request) => Some(request),
        // The collection begins at the bookie; it asks for keys when that has answered.
        LocalEffect::Metadata(_) | LocalEffect::Reply(_) => None,
    });
    (Shard::new(shard_settings, ledgers), requests.collect())
}
