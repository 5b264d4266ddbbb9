//! What an operator may choose, and what a metrics page shows.

/// Settings of a shard's logs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Of each log.
    pub managed_ledger: managed_ledger::Settings,
    /// `managedLedgerCacheSizeMB`, in bytes, for all logs of the shard together.
    pub cache_bytes: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            managed_ledger: managed_ledger::Settings::default(),
            cache_bytes: 64 * 1024 * 1024,
        }
    }
}

/// Numbers for the metrics page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries served from the cache.
    pub cache_hits: u64,
    /// Reads that had to ask the store.
    pub cache_misses: u64,
    /// Bytes in the cache.
    pub cache_bytes: u64,
    /// Logs that are open or being opened.
    pub logs: u64,
    /// Logs with a ledger that takes entries.
    pub ledgers_open: u64,
    /// Ledgers left for a new one, since the start.
    pub rolls: u64,
    /// Ledgers removed after everything in them was consumed, since the start.
    pub trims: u64,
}
