//! What the owner of a log chooses.

use crate::error::LogError;

/// Bytes of a segment if nothing else is said.
pub const SEGMENT_BYTES: u32 = 64 * 1024 * 1024;
const SEGMENT_BYTES_MIN: u32 = 8 * 1024;
const SEGMENT_BYTES_MAX: u32 = 1024 * 1024 * 1024;

/// Settings of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Directory of the log below the disk's root; `""` is the root itself.
    pub directory: String,
    /// Size of a new segment in bytes, 8 KiB to 1 GiB, a multiple of 4096. Segments of other sizes stay readable.
    pub segment_bytes: u32,
    /// Files of removed segments kept for the next ones; the rest is deleted.
    pub spares_max: usize,
    /// Random; becomes the store's id if the directory is new, else it is not looked at.
    pub store_id: [u8; 16],
}

impl LogSettings {
    /// Defaults in a directory.
    pub fn new(directory: &str, store_id: [u8; 16]) -> LogSettings {
        LogSettings {
            directory: directory.to_owned(),
            segment_bytes: SEGMENT_BYTES,
            spares_max: 2,
            store_id,
        }
    }

    /// The longest body of an entry, in bytes: a quarter of a segment, so that closing one wastes no more.
    pub fn body_bytes_max(&self) -> usize {
        self.segment_bytes as usize / 4
    }

    pub(crate) fn check(&self) -> Result<(), LogError> {
        let fits = (SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&self.segment_bytes);
        if fits && self.segment_bytes.is_multiple_of(4096) {
            return Ok(());
        }
        Err(LogError::Refused(format!(
            "segment size {} is not a multiple of 4096 between {SEGMENT_BYTES_MIN} and {SEGMENT_BYTES_MAX}",
            self.segment_bytes
        )))
    }

    pub(crate) fn path(&self, below: &str) -> String {
        if self.directory.is_empty() {
            return below.to_owned();
        }
        format!("{}/{below}", self.directory)
    }
}
