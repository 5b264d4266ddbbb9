//! Owns: the seam for sealed-once logs (BookKeeper's ledgers): append, read, seal, delete; an adversary in memory; the suite.
//! Never: knows what a topic is.
//! Told: [`LedgerRequest`]s. Says: [`LedgerReply`]s.
//! Read first: [`seam`]; then [`suite`], which says what every provider must keep, and [`memory`].

pub mod memory;
pub mod seam;
pub mod suite;

pub use memory::{MemoryLedgerStore, Trouble};
pub use seam::{Entry, LedgerError, LedgerReply, LedgerRequest, LedgerStore, Ticket};
pub use suite::StoreUnderTest;

#[cfg(test)]
mod memory_tests;
