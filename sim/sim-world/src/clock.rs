//! A clock that stands still until it is moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use world::Clock;

/// Both clocks of a made-up machine; clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct SimClock {
    monotonic_ns: Arc<AtomicU64>,
    wall_ms: Arc<AtomicU64>,
}

impl SimClock {
    /// A clock at monotonic zero and the given wall time in milliseconds since 1970.
    pub fn new(wall_ms: u64) -> SimClock {
        let clock = SimClock::default();
        clock.wall_ms.store(wall_ms, Ordering::SeqCst);
        clock
    }

    /// Moves both clocks forward.
    pub fn advance_ms(&self, by_ms: u64) {
        self.monotonic_ns
            .fetch_add(by_ms.saturating_mul(1_000_000), Ordering::SeqCst);
        self.wall_ms.fetch_add(by_ms, Ordering::SeqCst);
    }

    /// Makes the wall clock jump, as an operator or a time server may.
    pub fn set_wall_ms(&self, wall_ms: u64) {
        self.wall_ms.store(wall_ms, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn monotonic_ns(&self) -> u64 {
        self.monotonic_ns.load(Ordering::SeqCst)
    }

    fn wall_ms(&self) -> u64 {
        self.wall_ms.load(Ordering::SeqCst)
    }
}
