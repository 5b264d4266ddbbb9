//! What the fixtures of the disk format hold, for the program that writes one and the test that reads them.

use bytes::Bytes;
use disk_log::LogSettings;

/// Ledgers and how many entries each has.
pub const LEDGERS: &[(i64, i64)] = &[(1, 40), (2, 17), (3_000_000_000, 5), (9, 1)];

/// Small segments, so that a fixture is small and has several.
pub fn settings() -> LogSettings {
    LogSettings {
        segment_bytes: 16 * 1024,
        ..LogSettings::new("", *b"fixture of hulse")
    }
}

/// The body of an entry; one in seven is empty.
pub fn body(ledger: i64, entry: i64) -> Bytes {
    let text = format!("ledger {ledger} entry {entry} ");
    Bytes::from(text.repeat((entry % 7) as usize * 5))
}

/// The sum of body bytes up to an entry.
pub fn length(ledger: i64, entry: i64) -> u64 {
    (0..=entry)
        .map(|entry| body(ledger, entry).len() as u64)
        .sum()
}
