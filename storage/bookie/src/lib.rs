//! Owns: entries of ledgers on this machine's disk: the index, reads, removal; and a ledger store made of them.
//! Never: chooses ensembles; knows a topic.
//! Told: [`BookieRequest`]s, or [`ledger_store::LedgerRequest`]s. Says: [`BookieReply`]s, or [`LocalEffect`]s.
//! Read first: [`desk`] for the words, [`bookie`], [`index`]; then [`local`].

pub mod bookie;
pub mod desk;
pub mod index;
pub mod local;
pub mod metadata;
pub mod paths;
pub mod read;

pub use bookie::{Appended, Bookie};
pub use desk::{BookieReply, BookieRequest};
pub use local::{LocalEffect, LocalLedgerStore};
pub use read::BookieReader;

#[cfg(test)]
mod bookie_tests;
#[cfg(test)]
mod metadata_tests;
