//! What is known of the whole file.
//!
//! ```text
//!  0        1         5                       13         21
//!  +--------+---------+-----------------------+----------+
//!  | format | CRC-32C | incompatible features | openings |
//!  | 1      |         | u64, one bit each     | u64      |
//!  +--------+---------+-----------------------+----------+
//! ```
//!
//! The checksum covers everything after it. A bit in `incompatible features` that this program does
//! not know means that it must not touch the file. `openings` counts how often the file was opened
//! to serve; it names the owner of ephemeral keys, so the first is 1.

use super::{FORMAT, PREFIX_BYTES, RecordError, checksum, open_record, take};

const KIND: &str = "head";

/// The one head record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Bits of features that change the meaning of the file. None exist yet.
    pub incompatible_features: u64,
    /// How often the file was opened to serve.
    pub openings: u64,
}

impl Head {
    /// Reads the row.
    pub fn decode(bytes: &[u8]) -> Result<Head, RecordError> {
        let mut rest = open_record(KIND, PREFIX_BYTES + 16, "", bytes)?;
        let mut number = || {
            take(&mut rest)
                .map(u64::from_le_bytes)
                .ok_or(RecordError::Checksum(KIND))
        };
        Ok(Head {
            incompatible_features: number()?,
            openings: number()?,
        })
    }

    /// The bytes of the row.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let fields = [
            self.incompatible_features.to_le_bytes(),
            self.openings.to_le_bytes(),
        ];
        let [features, openings] = &fields;
        let mut bytes = vec![FORMAT];
        bytes.extend_from_slice(&checksum("", &[features, openings]));
        bytes.extend_from_slice(features);
        bytes.extend_from_slice(openings);
        bytes
    }
}
