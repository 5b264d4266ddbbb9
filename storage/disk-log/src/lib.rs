//! Owns: checksummed append segments with group commit over `world::Disk`; the only code that reasons about syncs.
//! Never: decides which ledgers live; talks to anyone but the disk.
//! Told: entries to append, commits, segments nobody needs. Says: where each entry lies, and what recovery found.
//! Read first: below; then [`record`], [`log`], [`recover`].
//!
//! # Files
//! ```text
//! MANIFEST                      format version, features, store id, lowest segment number never used
//! segments/%016x.seg            a segment: header block, records, index footer
//! segments/%016x.spare          a pre-written file that may become a segment
//! segments/%016x.prep           a spare in the making; removed at the next start
//! ```
//! A segment's number is its generation: it comes from a counter whose ceiling is made to last before any
//! number below it is used, so no number is ever used twice, whatever was lost.
//!
//! # Why recovery is right
//! **A group** is everything appended between two commits that lies in one segment: one vectored write, one
//! sync. A commit is answered after that sync returned. The next group is written only after the sync of the
//! one before it returned; a segment is started only after the one before it was closed by a synced footer.
//!
//! **Vouching.** Every record names the offset at which its group began. So a valid record vouches that
//! everything before that offset in its segment, and every earlier segment, had been synced. A valid footer
//! vouches for all records of its segment, a valid header for the segment it names as predecessor.
//!
//! **Damage at offset `x`** is therefore one of two things. If anything vouches for `x`, the disk lost bytes
//! that it had promised to keep: that entry is an error, everything else stays readable. If nothing does,
//! `x` lies in the last group of the last segment, whose commit was never answered (its answer would have
//! been followed by a group, a footer, or nothing; in the last case rot cannot be told from a torn write):
//! the log ends at `x`. Records of that group behind `x` were never answered either and are dropped, so that
//! no ledger gets a hole.
//!
//! **The doubtful tail.** What is kept of the last group may be in the page cache only (the process died, or
//! its sync failed, and a later sync would not mend that). Recovery writes these bytes once more in place and
//! syncs before it lets anybody see them.
//!
//! **No second life.** A recovered segment gets its footer and is never written again; new records go to a
//! segment with a fresh number. Checksums are seeded with store, number and offset, so records left behind
//! `x`, records of a recycled file's former life and records copied elsewhere never pass. A client cannot
//! forge one inside a message body without guessing the store's random id.

pub mod error;
pub mod footer;
pub mod header;
pub mod log;
pub mod manifest;
pub mod names;
pub mod record;
pub mod recover;
mod scan;
pub mod segment;
pub mod settings;
pub mod spares;

pub use error::{LogError, ReadFault};
pub use footer::Run;
pub use log::{Committed, DiskLog, Sealed};
pub use record::{Place, Record, Stored};
pub use recover::{RecoveredSegment, Recovery};
pub use segment::Segment;
pub use settings::LogSettings;
pub use spares::Spares;

#[cfg(test)]
mod footer_tests;
#[cfg(test)]
mod log_tests;
#[cfg(test)]
mod manifest_tests;
#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod recover_tests;
