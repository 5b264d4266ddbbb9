//! What an operator can choose for a topic, and where generated producer names come from.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The settings of all topics of a broker. The defaults are Pulsar's, except where the text says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicSettings {
    /// `allowAutoTopicCreation`: a missing topic is made on use.
    pub auto_create_topics: bool,
    /// `enablePersistentTopics`: persistent topics are served.
    pub serve_persistent: bool,
    /// `enableNonPersistentTopics`: non-persistent topics are served.
    pub serve_non_persistent: bool,
    /// `allowAutoSubscriptionCreation`: a missing subscription is made by its first consumer.
    pub auto_create_subscriptions: bool,
    /// `maxProducersPerTopic`; 0: no limit.
    pub producers_max: usize,
    /// `maxConsumersPerTopic`; 0: no limit.
    pub consumers_max: usize,
    /// `maxConsumersPerSubscription`; 0: no limit.
    pub consumers_per_subscription_max: usize,
    /// `maxSubscriptionsPerTopic`; 0: no limit.
    pub subscriptions_max: usize,
    /// `maxUnackedMessagesPerConsumer` (Shared only); 0: no limit.
    pub unacked_per_consumer_max: u64,
    /// `maxUnackedMessagesPerSubscription` (Shared only); 0: no limit.
    pub unacked_per_subscription_max: u64,
    /// `acknowledgmentAtBatchIndexLevelEnabled`: messages of a batch may be acked one by one. On here, as in Pulsar 4.2.
    pub batch_index_acks: bool,
    /// `autoSkipNonRecoverableData`: an entry that is damaged or gone is taken as acknowledged. Off, it stays
    /// unacknowledged.
    pub skip_unreadable_entries: bool,
    /// `dispatcherMaxReadBatchSize`: entries of one read, at least 1.
    pub read_entries_max: u32,
    /// `dispatcherMaxReadSizeBytes`: bytes of one read.
    pub read_bytes_max: usize,
    /// `dispatcherMaxRoundRobinBatchSize`: entries that one Shared consumer gets before the next has its turn.
    pub round_robin_entries_max: u32,
    /// `activeConsumerFailoverDelayTimeMillis`: how long a new active Failover consumer waits for acks of the old one.
    pub failover_delay: Duration,
    /// How long an ack that nobody waits for may stay in memory only. Pulsar allows itself a minute; we do not.
    pub ack_save_delay: Duration,
    /// How long a topic without producers and consumers keeps its log open.
    pub idle_before_sleep: Duration,
    /// Producers and consumers that may wait to be admitted (for the log, a probe, a new subscription); more are
    /// refused with ServiceNotReady.
    pub newcomers_max: usize,
    /// FindTopic questions that may wait for the log; more are refused with TooManyRequests.
    pub finds_max: usize,
    /// Acks with a receipt that may wait for the disk, per subscription; more are refused with TooManyRequests
    /// (the ack itself counts).
    pub ack_waiters_max: usize,
}

impl Default for TopicSettings {
    fn default() -> TopicSettings {
        TopicSettings {
            auto_create_topics: true,
            serve_persistent: true,
            serve_non_persistent: true,
            auto_create_subscriptions: true,
            producers_max: 0,
            consumers_max: 0,
            consumers_per_subscription_max: 0,
            subscriptions_max: 0,
            unacked_per_consumer_max: 50_000,
            unacked_per_subscription_max: 200_000,
            batch_index_acks: true,
            skip_unreadable_entries: false,
            read_entries_max: 100,
            read_bytes_max: 5 * 1024 * 1024,
            round_robin_entries_max: 20,
            failover_delay: Duration::from_millis(1000),
            ack_save_delay: Duration::from_millis(500),
            idle_before_sleep: Duration::from_secs(60),
            newcomers_max: 10_000,
            finds_max: 50_000,
            ack_waiters_max: 100_000,
        }
    }
}

/// Makes producer names `<cluster>-<instance>-<counter>` that no other producer of the cluster has.
///
/// A shard has one, shared by its topics: the counter then depends on that shard's inputs alone, so that a replay
/// gives the same names.
#[derive(Debug)]
pub struct NameSource {
    prefix: String,
    next: AtomicU64,
    step: u64,
    topics: AtomicU64,
}

impl NameSource {
    /// `prefix`: `<cluster>-<instance>`, where the instance is unique to this start of the process. Shard `first` of
    /// `step` shards counts `first`, `first + step`, ...
    #[must_use]
    pub fn new(prefix: impl Into<String>, first: u64, step: u64) -> NameSource {
        // Invariant: a counter that stands still would give every producer the same name.
        assert!(step > 0, "a name source counts in steps of at least 1");
        NameSource {
            prefix: prefix.into(),
            next: AtomicU64::new(first),
            step,
            topics: AtomicU64::new(0),
        }
    }

    /// Where a topic that is loaded begins to count its tickets: far from where any topic before it did, so that a
    /// late answer to a topic that lost its log is never taken for one to the topic of that name loaded next.
    pub(crate) fn next_ticket_base(&self) -> u64 {
        self.topics.fetch_add(1, Ordering::Relaxed) << 40
    }

    /// A name that this source has not given before.
    pub fn next_name(&self) -> String {
        let counter = self.next.fetch_add(self.step, Ordering::Relaxed);
        format!("{}-{counter}", self.prefix)
    }
}
