//! The numbers that an operator may choose, under Pulsar's names.

use std::time::Duration;

/// Settings of managed ledgers and their cursors. The defaults are Pulsar's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `managedLedgerMaxEntriesPerLedger`: a ledger with as many is full.
    pub ledger_entries_max: i64,
    /// `managedLedgerMaxSizePerLedgerMbytes`, in bytes: a ledger with as many is full.
    pub ledger_bytes_max: u64,
    /// `managedLedgerMaxLedgerRolloverTimeMinutes`: an older ledger is full. Up to 5 % more, by the ledger's id,
    /// so that topics that began together do not roll together.
    pub rollover_age_max: Duration,
    /// `managedLedgerMinLedgerRolloverTimeMinutes`: a younger ledger is never full.
    pub rollover_age_min: Duration,
    /// `defaultRetentionTimeInMinutes`: consumed ledgers are kept so long after they were sealed; `None` (-1): for ever.
    pub retention_age: Option<Duration>,
    /// `defaultRetentionSizeInMB`, in bytes: consumed ledgers are kept while the log is no larger; `None` (-1): any size.
    pub retention_bytes: Option<u64>,
    /// `managedLedgerCursorMaxEntriesPerLedger`: a cursor ledger with as many is left for a new one at the next snapshot.
    pub cursor_ledger_entries_max: i64,
    /// Hulse's own: the same by bytes.
    pub cursor_ledger_bytes_max: u64,
    /// Hulse's own: a snapshot up to so many bytes is kept in the cursor's node until something changes.
    pub node_snapshot_bytes_max: usize,
    /// Hulse's own: a cursor record is cut into entries of at most so many bytes.
    pub cursor_part_bytes_max: usize,
    /// How long to leave storage alone after it failed some times in a row.
    pub retry_pause: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            ledger_entries_max: 50_000,
            ledger_bytes_max: 2048 * 1024 * 1024,
            rollover_age_max: Duration::from_secs(240 * 60),
            rollover_age_min: Duration::from_secs(10 * 60),
            retention_age: Some(Duration::ZERO),
            retention_bytes: Some(0),
            cursor_ledger_entries_max: 50_000,
            cursor_ledger_bytes_max: 1024 * 1024,
            node_snapshot_bytes_max: 16 * 1024,
            cursor_part_bytes_max: 1024 * 1024,
            retry_pause: Duration::from_secs(1),
        }
    }
}
