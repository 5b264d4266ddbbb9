//! What the doors count themselves; topics count the rest.

use crate::histogram::Histogram;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the process started.
#[derive(Default)]
pub struct Counters {
    /// Connections that were let in.
    pub connections_opened: AtomicU64,
    /// Connections that ended.
    pub connections_closed: AtomicU64,
    /// Connections that were turned away at the door.
    pub connections_refused: AtomicU64,
    /// Bytes read from clients.
    pub bytes_read: AtomicU64,
    /// Bytes written to clients.
    pub bytes_written: AtomicU64,
    /// ACK, FLOW and REDELIVER that were passed over; counted when their connection ends.
    pub requests_ignored: AtomicU64,
    /// SENDs of producers that had just been closed; counted when their connection ends.
    pub sends_dropped: AtomicU64,
    /// Acks by which clients said that they could not read an entry; counted when their connection ends.
    pub acks_of_unreadable_entries: AtomicU64,
    /// How long the turns of desks took.
    pub desk_turn: Histogram,
    /// Inputs that desks took.
    pub desk_inputs: AtomicU64,
    /// How long the commits of the journal took, sync included.
    pub journal_commit: Histogram,
    /// How long the commits of the metadata store took.
    pub metadata_commit: Histogram,
}

/// Adds to a counter.
pub fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

/// Reads a counter.
pub fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
