//! Owns: one topic - its producers and the order of their entries, its subscriptions, consumers, permits, redelivery.
//! Never: knows where entries are kept, a socket, or a clock.
//! Told: [`TopicInput`]: letters of sessions, answers of the log, that a moment has come.
//! Says: [`TopicEffect`]: letters to sessions, requests to the log, when to wake it, that it sleeps.
//! Read first: [`topic`](Topic), `phase`, then `producers`, `consumers`, `subscription`, `dispatch`, `acks`, `saving`.

mod topic;

mod ending;
mod find;
mod last_id;
mod newcomers;
mod phase;

mod producers;

mod acks;
mod consumer;
mod consumers;
mod dispatch;
mod passing;
mod readers;
mod redeliver;
mod saving;
mod seek;
mod subscription;
mod tasks;
mod time_search;
mod unsubscribe;

mod check;
mod details;
mod reports;
mod stats;

mod settings;
mod turn;

pub use details::{SubscriptionDetails, TopicDetails};
pub use settings::{NameSource, TopicSettings};
pub use stats::{ConsumerStats, ProducerStats, SubscriptionStats, TopicStats};
pub use topic::{Topic, TopicEffect, TopicInput};

#[cfg(test)]
mod tests;
