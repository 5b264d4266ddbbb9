//! Owns: the nouns of the house - names, positions, ack sets, moments - as values that parse, print and compare.
//! Never: knows a protocol, a file or a clock.
//! Told: text and numbers. Says: a value, or why it is none.
//! Read first: [`name`], then [`position`], [`ack_set`], [`moment`].

pub mod ack_set;
pub mod hash;
pub mod ids;
pub mod moment;
pub mod name;
pub mod position;

pub use ack_set::AckSet;
pub use ids::{ConsumerId, ProducerId, RequestId, SessionId, ShardId};
pub use moment::{Moment, Now, WallTime};
pub use name::{Domain, NameError, NamespaceName, TopicName};
pub use position::Position;

#[cfg(test)]
mod ack_set_tests;
#[cfg(test)]
mod name_tests;
