//! Owns: all topic logs of one shard, over a ledger store and a metadata store; the tail cache.
//! Never: decides delivery, nor where a log rolls or trims (`managed-ledger` does).
//! Told: [`letters::LogRequest`]s of topics, replies of both stores, the time. Says: [`Effect`]s.
//! Read first: [`logs`], then [`read`], [`cache`]; [`memory`] is the same seam as an adversary, [`suite`] what both must pass.

pub mod logs;

pub mod cache;
pub mod find;
pub mod read;
mod refusal;
pub mod settings;
pub mod translate;

pub mod memory;

pub mod suite;

pub use logs::{Effect, TopicLogs};
pub use settings::{Settings, Stats};

#[cfg(test)]
mod cache_tests;
#[cfg(test)]
mod logs_tests;
