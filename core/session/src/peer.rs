//! Who is at the other end, as it said in CONNECT.

use crate::gate::Principal;

/// The newest protocol version this broker speaks.
pub(crate) const PROTOCOL_VERSION: i32 = 21;

/// Longest client version that is kept, characters; it is repeated in letters and statistics.
const CLIENT_VERSION_MAX: usize = 256;

#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub address: String,
    pub principal: Principal,
    /// As announced, below 1 if nothing was.
    pub protocol_version: i32,
    pub client_version: String,
}

impl Peer {
    pub fn at(address: String) -> Peer {
        Peer {
            address,
            principal: Principal::Anonymous,
            protocol_version: 0,
            client_version: String::new(),
        }
    }

    pub fn introduced(&mut self, client_version: &str, protocol_version: i32) {
        self.client_version = client_version.chars().take(CLIENT_VERSION_MAX).collect();
        self.protocol_version = protocol_version;
    }

    pub fn knows_ping(&self) -> bool {
        self.protocol_version >= 1
    }

    /// `Expectation:` pulsar-rs takes a CLOSE_PRODUCER from the broker for an answer nobody waits for, and its
    /// producer never learns of it; a closed connection it understands.
    pub fn knows_close_producer(&self) -> bool {
        self.protocol_version >= 5 && !self.client_version.starts_with("pulsar-rs")
    }

    pub fn knows_close_consumer(&self) -> bool {
        self.protocol_version >= 5
    }

    pub fn knows_active_consumer_change(&self) -> bool {
        self.protocol_version >= 12
    }
}
