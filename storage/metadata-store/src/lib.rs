//! Owns: the seam for small shared truths: versioned values with compare-and-set, sequential and session-bound keys, watches.
//! Never: knows what a topic is.
//! Told: [`MetadataRequest`]s. Says: [`MetadataReply`]s.
//! Read first: [`seam`], then [`tree`] (the rules in their simplest form) and [`suite`] (what every provider must pass).

pub mod seam;

pub mod path;
pub mod rules;
pub mod watch;

pub mod tree;

pub mod embedded;
pub mod memory;

pub mod suite;

pub use embedded::{EmbeddedStore, OpenError, Settings};
pub use memory::{MemoryStore, Trouble};
pub use seam::{
    Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest, MetadataStore, Stat, Ticket,
};
pub use suite::StoreUnderTest;
pub use tree::Tree;
pub use watch::Watches;
