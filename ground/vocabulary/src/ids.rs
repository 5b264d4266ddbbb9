//! Small numbers with a meaning.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One connection of a client, numbered by this process; never reused while the process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId(pub u64);

/// One desk: the thread (or the turn) that decides for its share of the topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ShardId(pub u32);

/// Chosen by the client, unique within its connection only.
pub type ProducerId = u64;
/// Chosen by the client, unique within its connection only.
pub type ConsumerId = u64;
/// Chosen by the client, echoed by the broker, never interpreted.
pub type RequestId = u64;

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {}", self.0)
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {}", self.0)
    }
}
