//! Owns: the table of HTTP calls and the conversations with what a real Pulsar answered, the list of differences, how two answers are compared.
//! Never: starts a broker, or says which of two answers is right.
//! Told: the texts of both tables, where a broker listens. Says: answers, and in which fields one is not what it should be.
//! Read first: [`table`], then [`conversation`], [`compare`], [`differences`], [`call`].

pub mod call;
pub mod compare;
pub mod conversation;
pub mod differences;
pub mod table;

pub use call::{Answered, Asker};
pub use compare::{Mismatch, mismatches, normal};
pub use differences::Differences;
pub use table::{Row, Table};

#[cfg(test)]
mod answers_tests;
