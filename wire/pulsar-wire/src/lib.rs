//! Owns: Pulsar's bytes: frames, commands, entry headers, batches, CRC32C.
//! Never: remembers a previous frame, opens anything, allocates by a length a peer claims before checking it.
//! Told: buffers filled from a connection, stored entries, commands to write.
//! Says: values that share the buffer they came from, bytes to send, errors that name what was wrong with the input.
//! Read first: [`frame`], then [`entry`]; `proto/PulsarApi.proto` for the names, `build.rs` for how they become Rust.
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

pub mod frame;

pub mod proto;
pub mod validate;

pub mod entry;
pub mod peek;
pub mod scan;

pub mod batch;
pub mod checksum;
pub mod topics_hash;

#[doc(hidden)]
pub mod fuzz;

pub use prost::Message;
