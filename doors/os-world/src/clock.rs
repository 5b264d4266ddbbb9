//! The system's clocks.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use world::Clock;

/// Both clocks of this machine; monotonic time counts from when this value was made.
#[derive(Clone, Debug)]
pub struct OsClock {
    started: Instant,
}

impl OsClock {
    /// Starts counting.
    pub fn new() -> OsClock {
        OsClock {
            started: Instant::now(),
        }
    }
}

impl Default for OsClock {
    fn default() -> OsClock {
        OsClock::new()
    }
}

impl Clock for OsClock {
    fn monotonic_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn wall_ms(&self) -> u64 {
        // A clock set before 1970 reads as 1970.
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
