//! Time, read at the rim and handed inward as a number.

/// Both clocks of a machine.
pub trait Clock: Send + Sync {
    /// Nanoseconds on a clock that never goes back.
    fn monotonic_ns(&self) -> u64;
    /// Milliseconds since 1970; may jump.
    fn wall_ms(&self) -> u64;
}
