//! A key's value and state.
//!
//! ```text
//!  0        1         5          13          21           29       37
//!  +--------+---------+----------+-----------+------------+--------+- - - - -
//!  | format | CRC-32C | version  | created   | modified   | owner  | value
//!  | 1      |         | i64      | u64 ms    | u64 ms     | u64    | to the end
//!  +--------+---------+----------+-----------+------------+--------+- - - - -
//! ```
//!
//! The checksum covers the path (the row's name) and everything from `version` on. `owner` is the
//! count of openings that made an ephemeral key; 0 on a persistent one.

use super::{FORMAT, PREFIX_BYTES, RecordError, checksum, open_record, take};
use crate::seam::Stat;

const KIND: &str = "key";
const FIELDS_BYTES: usize = 32;

/// Fields of a record whose value stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRecord<'a> {
    /// What is known beside the value.
    pub stat: Stat,
    /// Opening that made the key; 0 when persistent.
    pub owner: u64,
    /// The value.
    pub value: &'a [u8],
}

impl<'a> KeyRecord<'a> {
    /// Reads the row named `path`.
    pub fn decode(path: &str, bytes: &'a [u8]) -> Result<KeyRecord<'a>, RecordError> {
        let mut rest = open_record(KIND, PREFIX_BYTES + FIELDS_BYTES, path, bytes)?;
        let mut number = || take::<8>(&mut rest).ok_or(RecordError::Checksum(KIND));
        let version = i64::from_le_bytes(number()?);
        let created_ms = u64::from_le_bytes(number()?);
        let modified_ms = u64::from_le_bytes(number()?);
        let owner = u64::from_le_bytes(number()?);
        let stat = Stat {
            version,
            created_ms,
            modified_ms,
            ephemeral: owner != 0,
        };
        Ok(KeyRecord {
            stat,
            owner,
            value: rest,
        })
    }

    /// The bytes of the row named `path`.
    #[must_use]
    pub fn encode(&self, path: &str) -> Vec<u8> {
        let mut fields = [0; FIELDS_BYTES];
        let numbers = [
            self.stat.version.to_le_bytes(),
            self.stat.created_ms.to_le_bytes(),
            self.stat.modified_ms.to_le_bytes(),
            self.owner.to_le_bytes(),
        ];
        for (into, number) in fields.chunks_exact_mut(8).zip(numbers) {
            into.copy_from_slice(&number);
        }
        let mut bytes = Vec::with_capacity(PREFIX_BYTES + FIELDS_BYTES + self.value.len());
        bytes.push(FORMAT);
        bytes.extend_from_slice(&checksum(path, &[&fields, self.value]));
        bytes.extend_from_slice(&fields);
        bytes.extend_from_slice(self.value);
        bytes
    }
}
