//! What can go wrong with a log.

use std::io;

/// Why the log refused something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The disk has no room for another segment. Nothing was written; it may work later.
    #[error("no space for another log segment: {0}")]
    Full(String),
    /// A write or sync failed earlier: nobody knows what the disk kept, so nothing more is written.
    #[error(
        "the log takes no more entries since a write failed ({0}); what was confirmed is readable; restart once the disk is well"
    )]
    Poisoned(String),
    /// The entry can never fit.
    #[error("an entry of {bytes} bytes is too large: segments of this size take up to {bytes_max}")]
    TooLarge {
        /// Its body, in bytes.
        bytes: usize,
        /// The longest body, in bytes.
        bytes_max: usize,
    },
    /// The directory is not one that this program may open.
    #[error("{0}")]
    Refused(String),
    /// The disk said no.
    #[error("log storage failed: {0}")]
    Io(String),
}

impl LogError {
    /// Sorts an error of the disk: a full one may be tried again.
    pub(crate) fn from_disk(what: &str, error: &io::Error) -> LogError {
        let text = format!("{what}: {error}");
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LogError::Full(text),
            _ => LogError::Io(text),
        }
    }
}

/// Why an entry could not be read. Others are not touched by it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFault {
    /// The bytes are there and are not what was written.
    #[error("{0}")]
    Damaged(String),
    /// The disk said no.
    #[error("{0}")]
    Io(String),
}
