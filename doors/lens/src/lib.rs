//! Owns: a proxy between clients and a broker that hears every frame and writes it down as a transcript.
//! Never: changes what is said, except where a client would leave the proxy (`detour`); decides anything for either side.
//! Told: where to listen, whom to reach, where to write.
//! Says: each frame to the other side at once, in order; lines of a transcript (secrets left out).
//! Read first: [`record`], then `relay`, `detour`.
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

pub mod record;

mod detour;
mod frames;
mod relay;
mod secrets;
mod writer;

pub use record::{RecordError, RecordSettings, Recorded, Recorder};

#[cfg(test)]
mod detour_tests;
#[cfg(test)]
mod frames_tests;
#[cfg(test)]
mod relay_tests;
#[cfg(test)]
mod secrets_tests;
