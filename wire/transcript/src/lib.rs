//! Owns: what a conversation between clients and a broker looks like as text: a command a line, by the protocol's names.
//! Never: opens a file or a socket; decides whether a command is right.
//! Told: commands, entries, who said them on which connection and when; or lines of text.
//! Says: lines of text; or commands, and errors that name the line's part they could not read.
//! Read first: [`mod@line`], then [`command`].
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

pub mod command;
pub mod line;
pub mod node;

pub use command::{parse_command, print_command};
pub use line::{Line, Said, Speaker};
pub use node::{Node, TextError};

#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod line_tests;
