//! Owns: the seam for sealed-once logs (BookKeeper's ledgers): append, read, seal, delete; an adversary in memory; the suite.
//! Never: knows what a topic is.
//! Told: [`LedgerRequest`]s. Says: [`LedgerReply`]s.
//! Read first: [`seam`].

pub mod seam;

pub use seam::{Entry, LedgerError, LedgerReply, LedgerRequest, LedgerStore, Ticket};
