//! What can be set, in the broker's own words. Where the numbers come from (a file, the command line) is the
//! application's affair; the comment names the Pulsar key that a user would know it by.

use std::path::PathBuf;
use std::time::Duration;
use topic::TopicSettings;

/// Everything a broker needs to know before it opens its doors. Defaults are Pulsar's where Pulsar has them.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerSettings {
    /// Where everything that lasts is kept (`hulse.dataDirectory`). Made if missing.
    pub data_directory: PathBuf,
    /// Name or address of the interface to listen on (`bindAddress`).
    pub bind_address: String,
    /// Port of the binary protocol; 0: any free one (`brokerServicePort`).
    pub binary_port: u16,
    /// Port of the HTTP pages; 0: any free one (`webServicePort`).
    pub web_port: u16,
    /// The host that clients are sent to by a lookup (`advertisedAddress`).
    pub advertised_address: String,
    /// Name of this cluster (`clusterName`).
    pub cluster: String,
    /// Most connections at a time, 0: no limit (`brokerMaxConnections`).
    pub connections_max: u32,
    /// Most connections at a time from one address, 0: no limit (`brokerMaxConnectionsPerIp`).
    pub connections_per_address_max: u32,
    /// Largest entry a client may send, bytes (`maxMessageSize`).
    pub message_size_max: u32,
    /// How often a silent peer is asked whether it is there (`keepAliveIntervalSeconds`).
    pub keep_alive_interval: Duration,
    /// How long a peer may take to prove it is alive when somebody wants its place
    /// (`connectionLivenessCheckTimeoutMillis`).
    pub liveness_timeout: Duration,
    /// Publishes of one connection that may wait for the disk before its socket is no longer read
    /// (`maxPendingPublishRequestsPerConnection`).
    pub pending_publishes_max: u32,
    /// Publishes to non-persistent topics of one connection that may be under way; more are dropped
    /// (`maxConcurrentNonPersistentMessagePerConnection`).
    pub passing_publishes_max: u32,
    /// Bytes of a consumer's own key-value pairs (`maxConsumerMetadataSize`).
    pub consumer_metadata_bytes_max: usize,
    /// Most partitions of a topic, 0: no limit of its own (`maxNumPartitionsPerPartitionedTopic`).
    pub partitions_per_topic_max: u32,
    /// Longest pattern of topic names that is applied for a client, bytes (`subscriptionPatternMaxLength`).
    pub topics_pattern_length_max: usize,
    /// Whether patterns are applied for clients at all (`enableBrokerSideSubscriptionPatternEvaluation`).
    pub topics_patterns_evaluated: bool,
    /// Whether clients are told that they may watch lists of topics (`enableBrokerTopicListWatcher`).
    pub topic_watchers_offered: bool,
    /// Whether clients may give a topic its schema (`isAllowAutoUpdateSchemaEnabled`).
    pub schema_updates_allowed: bool,
    /// Whether topics with a schema refuse producers without one (`isSchemaValidationEnforced`).
    pub schema_validation_enforced: bool,
    /// What topics live by: creation on use, limits, sizes of reads.
    pub topics: TopicSettings,
    /// What logs live by: when a ledger is full, what is kept of consumed ones.
    pub ledgers: managed_ledger::Settings,
    /// Memory for entries just written, all topics of all shards together (`managedLedgerCacheSizeMB`).
    pub tail_cache_bytes: u64,
    /// Desks, each with a thread and its share of the topics (`hulse.shards`).
    pub shards: u32,
    /// Threads that read old entries from disk (`hulse.readerThreads`).
    pub reader_threads: u32,
    /// Size of a segment file of the log (`hulse.segmentSizeMb`).
    pub segment_bytes: u64,
    /// Whether deliveries say what they cost (PIP-491's field; `hulse.messagePermits`).
    pub message_permits: bool,
    /// Every key of the configuration with its value as an operator may see it, for the page that shows them.
    pub configuration: Vec<(String, String)>,
    /// How long a stop may take before the process ends regardless (`brokerShutdownTimeoutMs`).
    pub shutdown_timeout: Duration,
}

impl Default for BrokerSettings {
    fn default() -> BrokerSettings {
        const MIB: u64 = 1024 * 1024;
        BrokerSettings {
            data_directory: PathBuf::from("data"),
            bind_address: "0.0.0.0".to_owned(),
            binary_port: 6650,
            web_port: 8080,
            advertised_address: "localhost".to_owned(),
            cluster: "standalone".to_owned(),
            connections_max: 0,
            connections_per_address_max: 0,
            message_size_max: pulsar_wire::frame::DEFAULT_MAX_MESSAGE_SIZE,
            keep_alive_interval: Duration::from_secs(30),
            liveness_timeout: Duration::from_secs(5),
            pending_publishes_max: 1000,
            passing_publishes_max: 1000,
            consumer_metadata_bytes_max: 1024,
            partitions_per_topic_max: 0,
            topics_pattern_length_max: 50,
            topics_patterns_evaluated: true,
            topic_watchers_offered: true,
            schema_updates_allowed: true,
            schema_validation_enforced: false,
            topics: TopicSettings::default(),
            ledgers: managed_ledger::Settings::default(),
            tail_cache_bytes: 64 * MIB,
            shards: 1,
            reader_threads: 1,
            segment_bytes: 64 * MIB,
            message_permits: true,
            configuration: Vec::new(),
            shutdown_timeout: Duration::from_secs(60),
        }
    }
}
