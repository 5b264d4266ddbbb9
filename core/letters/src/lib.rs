//! Owns: the addressed values that rooms of the core exchange: session to topic, topic to session, topic to its log and back.
//! Never: decides anything.
//! Told: nothing. Says: nothing; it is what the others tell and say.
//! Read first: [`to_topic`], [`to_session`], then [`log`], the seam behind which entries are kept.
//!
//! A session belongs to its connection, a topic to its shard. Neither calls the other: they exchange
//! these letters, also where both live in one thread, so that a second shard is a setting. Letters
//! between one session and one topic arrive in the order in which they were written.

pub mod log;
pub mod refusal;
pub mod schema;
pub mod task;
pub mod to_directory;
pub mod to_session;
pub mod to_topic;

pub use log::{LogError, LogReply, LogRequest, SavedCursor, StoredEntry};
pub use refusal::{Refusal, RefusalCode};
pub use schema::{SchemaAsk, SchemaFound, SchemaText, schema_home};
pub use task::{Expiry, TaskResult, TopicTask, Which};
pub use to_directory::TopicsQuestion;
pub use to_session::{ConsumerReport, Delivery, SessionLetter, ToSession};
pub use to_topic::{
    AccessMode, AckId, AckKind, AddConsumer, AddProducer, InitialPosition, Publish, SeekTarget,
    SubscriptionType, ToTopic, TopicLetter,
};
