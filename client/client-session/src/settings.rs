//! Numbers a client lives by.

use std::time::Duration;

/// Numbers a client lives by; the defaults are Java's.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientSettings {
    /// How the client calls itself.
    pub client_version: String,
    /// Time between keepalive ticks, and the deadline of the handshake.
    pub keepalive_interval: Duration,
    /// How long a request may take before it is given up and tried again.
    pub operation_timeout: Duration,
    /// The first wait before another attempt; each wait is twice the one before.
    pub backoff_initial: Duration,
    /// The longest wait before another attempt.
    pub backoff_max: Duration,
    /// Sends of one producer, batches counting once, that may be without confirmation.
    pub pending_sends_max: usize,
    /// Whether part of a batch is acked as such; otherwise a batch is acked when all of it is.
    pub batch_index_acks: bool,
}

impl Default for ClientSettings {
    fn default() -> ClientSettings {
        ClientSettings {
            client_version: concat!("Hulse-client-v", env!("CARGO_PKG_VERSION")).to_owned(),
            keepalive_interval: Duration::from_secs(30),
            operation_timeout: Duration::from_secs(30),
            backoff_initial: Duration::from_millis(100),
            backoff_max: Duration::from_secs(60),
            pending_sends_max: 1000,
            batch_index_acks: true,
        }
    }
}
