//! Owns: one connection, broker side: handshake, keepalive, the ids of its producers and consumers, what is pending.
//! Never: touches a topic's state, reads a clock, opens a socket; it writes letters to topics and is told theirs.
//! Told: [`SessionInput`], frames and letters and time. Says: [`SessionEffect`], frames and letters and when to wake it.
//! Read first: [`face`], then [`session`]; a command's rules are in `commands/`, in the file named after it.
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

pub mod face;
pub mod gate;
pub mod session;
pub mod settings;

mod answers;
mod commands;
mod keepalive;
mod letterbox;
mod parting;
mod peer;
mod pressure;
mod probes;
mod tables;
mod waiting;

pub use answers::handshake_error;
pub use face::{CloseReason, OutFrame, SessionEffect, SessionInput, WriteToken, WrittenFrames};
pub use gate::{Action, AllowAll, Gate, Principal, Resource};
pub use session::{Session, SessionCounters};
pub use settings::SessionSettings;
