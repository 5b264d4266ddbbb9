//! The threads that desks and disks sit on, and the queues between them. A batch, not a message, crosses.
//!
//! ```text
//!   connections ──letters (credit)──▶ desk ──▶ journal ──┐
//!        ▲                           ▲ │ ├───▶ readers ──┤
//!        └────letters───── registry ◀┼─┘ └───▶ metadata ─┤
//!                                    └──────replies──────┘
//! ```
//!
//! `desk_inbox` says why this cannot stop and cannot grow without bound.

pub mod desk;
pub mod desk_inbox;
pub mod journal;
pub mod metadata;
pub mod queue;

#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod queue_tests;
