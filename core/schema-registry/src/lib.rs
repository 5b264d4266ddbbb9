//! Owns: the schemas of topics: which two are equal, which version each has, and how versions are kept.
//! Never: judges whether one schema can read what another wrote: whatever is not equal is incompatible, for now.
//! Told: questions ([`letters::SchemaAsk`]) and answers of storage. Says: answers and calls to storage ([`Effect`]).
//! Read first: [`registry`], then [`equality`]; [`forms`] are the stored bytes, which are Pulsar's.
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

pub mod registry;

mod book;
pub mod equality;
pub mod forms;
mod kinds;
mod sha256;

pub use kinds::{AUTO_CONSUME, NONE, kind_name, kind_of};
pub use registry::{Effect, Registry};

#[cfg(test)]
mod equality_tests;
#[cfg(test)]
mod registry_tests;
