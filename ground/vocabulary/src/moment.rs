//! Time as numbers that are handed in. A wall clock may jump; the monotonic one never does, so
//! they are two types, and everything that measures a duration uses [`Moment`].

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Nanoseconds on a clock that only goes forward; its zero has no meaning.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Moment(pub u64);

/// Milliseconds since 1970, as Pulsar writes publish times. May jump in either direction.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct WallTime(pub u64);

/// What a machine is told about time: both clocks, read once per turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// For durations and deadlines.
    pub moment: Moment,
    /// For what people and clients see.
    pub wall: WallTime,
}

impl Moment {
    /// This moment plus a duration; stays at the end of time instead of overflowing.
    #[must_use]
    pub fn after(self, duration: Duration) -> Moment {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Moment(self.0.saturating_add(nanos))
    }

    /// How long after `earlier` this is; zero if it is not after.
    #[must_use]
    pub fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Now {
    /// A moment `millis` after zero with the wall clock at the same number; for tests and simulations.
    #[must_use]
    pub fn at_millis(millis: u64) -> Now {
        Now {
            moment: Moment(millis.saturating_mul(1_000_000)),
            wall: WallTime(millis),
        }
    }
}
