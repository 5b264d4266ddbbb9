//! Small numbers with a meaning.

use crate::TopicName;
use crate::hash::murmur3_32;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One connection of a client, numbered by this process; never reused while the process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionId(pub u64);

/// One desk: the thread (or the turn) that decides for its share of the topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ShardId(pub u32);

impl ShardId {
    /// The shard that has a topic, where there are so many (none counts as one): each topic has the same one as long as
    /// their number stays.
    #[must_use]
    pub fn of(topic: &TopicName, shards: usize) -> ShardId {
        let hash = murmur3_32(topic.as_str().as_bytes()) as usize;
        ShardId((hash % shards.max(1)) as u32)
    }

    /// Its place in a list of all shards.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

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
