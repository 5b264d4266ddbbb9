//! Numbers and addresses a session lives by, the same for all sessions of a broker.

use pulsar_wire::frame::DEFAULT_MAX_MESSAGE_SIZE;
use std::time::Duration;

/// Numbers and addresses a session lives by. Where Pulsar has a key, its name is given.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSettings {
    /// What CONNECTED says the server is; clients print it, none interprets it.
    pub server_version: String,
    /// Largest entry (headers and payload), bytes: `maxMessageSize`.
    pub max_message_size: u32,
    /// Time between keepalive ticks, and the deadline of the handshake: `keepAliveIntervalSeconds`.
    pub keepalive_interval: Duration,
    /// How long a peer may take to show that it is alive when another wants its place:
    /// `connectionLivenessCheckTimeoutMillis`. Zero: it is not asked, and whoever holds a place keeps it.
    pub liveness_probe_timeout: Duration,
    /// SENDs without an answer at which reading pauses; it resumes at half:
    /// `maxPendingPublishRequestsPerConnection`.
    pub pending_publishes_max: u64,
    /// Bytes of SENDs without an answer at which reading pauses; it resumes at half.
    pub pending_publish_bytes_max: u64,
    /// SENDs to non-persistent topics without an answer; more are dropped:
    /// `maxConcurrentNonPersistentMessagePerConnection`.
    pub passing_publishes_max: usize,
    /// Other requests without an answer at which reading pauses; it resumes at half.
    pub pending_requests_max: u64,
    /// Bytes of answers that the connection has not taken yet at which reading pauses; it resumes at half.
    pub unwritten_answer_bytes_max: u64,
    /// Producers, and consumers, that one connection may hold.
    pub handles_max: usize,
    /// Lists of topics that one connection may watch.
    pub watches_max: usize,
    /// Bytes of a consumer's own key-value pairs: `maxConsumerMetadataSize`.
    pub consumer_metadata_bytes_max: usize,
    /// Whether the broker applies patterns of topic names for the client: `enableBrokerSideSubscriptionPatternEvaluation`.
    pub topics_patterns_evaluated: bool,
    /// Whether clients are told that they may watch lists of topics: `enableBrokerTopicListWatcher`.
    pub topic_watchers_offered: bool,
    /// Longest pattern of topic names that the broker applies for the client, bytes: `subscriptionPatternMaxLength`.
    pub topics_pattern_length_max: usize,
    /// Where clients reach this broker, `pulsar://host:port`: what LOOKUP answers.
    pub broker_service_url: String,
    /// The same under TLS, `pulsar+ssl://host:port`.
    pub broker_service_url_tls: Option<String>,
    /// Whether LOOKUP tells clients to keep to the address they used for the lookup. True for an advertised
    /// loopback address, which means something else on every machine: so clients in containers and behind
    /// forwarded ports get through.
    pub proxy_through_service_url: bool,
    /// Whether producers may give a topic its schema: `isAllowAutoUpdateSchemaEnabled`.
    pub schema_updates_allowed: bool,
    /// Whether topics with a schema refuse producers without one: `isSchemaValidationEnforced`.
    pub schema_validation_enforced: bool,
    /// Whether MESSAGE says how many permits it costs (PIP-491).
    pub message_permits_enabled: bool,
}

impl SessionSettings {
    /// Pulsar's defaults, with these addresses advertised.
    pub fn advertising(
        broker_service_url: String,
        broker_service_url_tls: Option<String>,
    ) -> SessionSettings {
        SessionSettings {
            server_version: concat!("Hulse/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_message_size: DEFAULT_MAX_MESSAGE_SIZE,
            keepalive_interval: Duration::from_secs(30),
            liveness_probe_timeout: Duration::from_secs(5),
            pending_publishes_max: 1000,
            pending_publish_bytes_max: 64 * 1024 * 1024,
            passing_publishes_max: 1000,
            pending_requests_max: 10_000,
            unwritten_answer_bytes_max: 8 * 1024 * 1024,
            handles_max: 100_000,
            watches_max: 1000,
            consumer_metadata_bytes_max: 1024,
            topics_patterns_evaluated: true,
            topic_watchers_offered: true,
            topics_pattern_length_max: 50,
            proxy_through_service_url: is_loopback(&broker_service_url),
            broker_service_url,
            broker_service_url_tls,
            schema_updates_allowed: true,
            schema_validation_enforced: false,
            message_permits_enabled: true,
        }
    }
}

/// Whether a service URL names the machine it is read on.
fn is_loopback(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed
            .split_once(']')
            .map_or(bracketed, |(host, _)| host),
        None => authority
            .split_once(':')
            .map_or(authority, |(host, _)| host),
    };
    match host.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_proxied() {
        for url in [
            "pulsar://localhost:6650",
            "pulsar://127.0.0.1:6650",
            "pulsar://127.9.9.9:1",
            "pulsar+ssl://[::1]:6651",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "pulsar://broker:6650",
            "pulsar://10.0.0.1:6650",
            "pulsar://[fe80::1]:6650",
            "pulsar://localhost.example:6650",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
