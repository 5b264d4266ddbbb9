//! What sessions ask the registry of schemas, and what it answers.
//!
//! A topic's schemas belong to its name without partition suffix and without domain; questions go to the shard of
//! [`schema_home`], so that all who ask about one topic ask the same registry.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use vocabulary::{Domain, NameError, TopicName};

/// A schema as clients bring it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaText {
    /// Number of its type in the protocol's `Schema.Type`.
    pub kind: i32,
    /// Its definition; for AVRO and JSON an Avro schema in JSON.
    pub data: Bytes,
    /// Key-value pairs of the client's own.
    pub properties: Vec<(String, String)>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SchemaAsk {
    /// The version of an equal schema.
    Put {
        /// Which.
        schema: SchemaText,
        /// Whether it becomes the first version where there is none. Otherwise there must be an equal one.
        may_register: bool,
    },
    /// A version as it is stored.
    Get {
        /// `None`: the newest.
        version: Option<i64>,
    },
    /// All versions that count, oldest first. Answer: `Schemas`.
    All,
    /// Nothing of what there is counts any more. Answer: the version that says so, without a definition.
    Delete {
        /// Instead of saying so, forget all of it; there is no version then.
        forget: bool,
    },
}

/// A version of a topic's schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaFound {
    /// 0, 1, 2, ...
    pub version: i64,
    /// The schema.
    pub schema: SchemaText,
    /// When it was stored, milliseconds since 1970.
    pub stored_ms: i64,
}

/// The topic to whose shard questions about a topic's schemas go.
pub fn schema_home(topic: &TopicName) -> Result<TopicName, NameError> {
    let base = TopicName::parse(topic.base())?;
    if base.domain() == Domain::Persistent {
        return Ok(base);
    }
    let namespace = base.namespace();
    TopicName::from_parts(
        Domain::Persistent,
        namespace.tenant(),
        namespace.local(),
        base.local(),
    )
}

impl SchemaText {
    /// How much of memory it takes, about.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let pairs = self.properties.iter();
        let pairs: usize = pairs.map(|(key, value)| key.len() + value.len()).sum();
        (self.data.len() + pairs) as u64
    }
}
