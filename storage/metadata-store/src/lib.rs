//! Owns: the seam for small shared truths: versioned values with compare-and-set, sequential and session-bound keys, watches.
//! Never: knows what a topic is.
//! Told: [`MetadataRequest`]s. Says: [`MetadataReply`]s.
//! Read first: [`seam`].

pub mod seam;

pub use seam::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest, MetadataStore, Stat, Ticket};
