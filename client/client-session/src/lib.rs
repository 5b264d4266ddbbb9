//! Owns: one client on one connection: handshake, lookups, producers with their unconfirmed messages, consumers with their permits.
//! Never: opens the connection, reads a clock, throws dice, compresses or encrypts.
//! Told: [`ClientInput`], frames, time, and what the application asks. Says: [`ClientEffect`], frames and events.
//! Read first: [`face`], then [`client`]; `opening` is the way of a producer or consumer to its topic.
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

pub mod client;
pub mod face;
pub mod received;
pub mod settings;

mod acks;
mod backoff;
mod connection;
mod consumer;
mod opening;
mod producer;
mod requests;

pub use client::Client;
pub use face::{
    Ack, ClientAsk, ClientEffect, ClientError, ClientEvent, ClientFrame, ClientInput,
    CreateProducer, MessageId, OutMessage, Subscribe,
};
pub use pulsar_wire::proto::command_subscribe::{InitialPosition, SubType};
pub use received::Received;
pub use settings::ClientSettings;
