//! The next number of a sequential key below a parent.
//!
//! ```text
//!  0        1         5             13
//!  +--------+---------+-------------+
//!  | format | CRC-32C | next number |
//!  | 1      |         | u64         |
//!  +--------+---------+-------------+
//! ```
//!
//! The checksum covers the parent path (the row's name) and the number. A row is never removed, so
//! that a number is not given twice.

use super::{FORMAT, PREFIX_BYTES, RecordError, checksum, open_record, take};

const KIND: &str = "counter";

/// Reads the row named `parent`.
pub fn decode(parent: &str, bytes: &[u8]) -> Result<u64, RecordError> {
    let mut rest = open_record(KIND, PREFIX_BYTES + 8, parent, bytes)?;
    take(&mut rest)
        .map(u64::from_le_bytes)
        .ok_or(RecordError::Checksum(KIND))
}

/// The bytes of the row named `parent`.
#[must_use]
pub fn encode(parent: &str, next: u64) -> Vec<u8> {
    let number = next.to_le_bytes();
    let mut bytes = vec![FORMAT];
    bytes.extend_from_slice(&checksum(parent, &[&number]));
    bytes.extend_from_slice(&number);
    bytes
}
