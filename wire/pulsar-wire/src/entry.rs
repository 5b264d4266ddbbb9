//! The headers of an entry, as SEND and MESSAGE carry it and storage keeps it:
//!
//! ```text
//! [0x0e02:u16 | length:u32 | BrokerEntryMetadata]   only what a broker put there itself
//! [0x0e01:u16 | crc32c:u32]                         optional; covers all that follows
//! length:u32 | MessageMetadata | payload
//! ```
//!
//! The bytes from the metadata's length on are the producer's, end to end: a broker never re-encodes them, or the
//! checksum and fields unknown to it would be lost.

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use thiserror::Error;

use crate::checksum;
use crate::proto::MessageMetadata;

/// Marks the section with the broker's own metadata.
const BROKER_ENTRY_METADATA_MAGIC: u16 = 0x0e02;

/// Marks the checksum.
const CHECKSUM_MAGIC: u16 = 0x0e01;

/// Bytes of the checksum and its magic.
const CHECKSUM_SECTION_SIZE: usize = 6;

/// An entry's parts, as slices of the entry (`Bytes::slice_ref` turns each into shared bytes without a copy).
/// Nothing in them was decoded: see `peek` for the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryHeaders<'a> {
    /// The encoded BrokerEntryMetadata, where the entry has one.
    pub broker_entry_metadata: Option<&'a [u8]>,
    /// The CRC32C the producer sent, where it sent one.
    pub checksum: Option<u32>,
    /// What the checksum covers: the metadata's length, the metadata, the payload.
    pub covered: &'a [u8],
    /// The encoded MessageMetadata.
    pub metadata: &'a [u8],
    /// What follows the metadata: one message or a batch, compressed or encrypted as the metadata says. May be empty.
    pub payload: &'a [u8],
}

/// Why bytes are not an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EntryError {
    /// The entry ends within a part of its headers.
    #[error("entry of {entry_length} bytes ends within its {part}")]
    Truncated {
        /// The part that is cut off.
        part: &'static str,
        /// The entry's length, bytes.
        entry_length: usize,
    },
    /// The content does not have the checksum the entry states.
    #[error(transparent)]
    Checksum(#[from] ChecksumMismatch),
}

/// The content does not have the checksum the entry states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("checksum mismatch: the entry says {stated:#010x}, its content has {computed:#010x}")]
pub struct ChecksumMismatch {
    /// CRC32C in the entry.
    pub stated: u32,
    /// CRC32C of the content.
    pub computed: u32,
}

impl<'a> EntryHeaders<'a> {
    /// Finds an entry's parts. Lengths are checked, the checksum is not (see [`EntryHeaders::verify_checksum`]).
    pub fn parse(entry: &'a [u8]) -> Result<EntryHeaders<'a>, EntryError> {
        let truncated = |part| EntryError::Truncated {
            part,
            entry_length: entry.len(),
        };
        let (broker_entry_metadata, rest) = match after_magic(entry, BROKER_ENTRY_METADATA_MAGIC) {
            None => (None, entry),
            Some(section) => {
                let (metadata, rest) =
                    length_prefixed(section).ok_or(truncated("broker entry metadata"))?;
                (Some(metadata), rest)
            }
        };
        let (checksum, covered) = match after_magic(rest, CHECKSUM_MAGIC) {
            None => (None, rest),
            Some(section) => {
                let (checksum, rest) = section.split_first_chunk().ok_or(truncated("checksum"))?;
                (Some(u32::from_be_bytes(*checksum)), rest)
            }
        };
        let (metadata, payload) = length_prefixed(covered).ok_or(truncated("message metadata"))?;
        Ok(EntryHeaders {
            broker_entry_metadata,
            checksum,
            covered,
            metadata,
            payload,
        })
    }

    /// Compares the content with the stated checksum. An entry without one passes: Pulsar's broker accepts it, and
    /// `checksum` says which case it was.
    pub fn verify_checksum(&self) -> Result<(), ChecksumMismatch> {
        let Some(stated) = self.checksum else {
            return Ok(());
        };
        let computed = checksum::crc32c(self.covered);
        if stated == computed {
            Ok(())
        } else {
            Err(ChecksumMismatch { stated, computed })
        }
    }
}

/// The entry with a checksum: itself where it has one already (right or wrong), else one copy with the checksum in
/// front of the content.
///
/// `Expectation:` the Go client treats an entry without checksum as corrupt, pulsar-rs drops the connection over it and
/// pulsar-flex skips six bytes unseen, so no entry without checksum may reach a consumer.
pub fn add_checksum(entry: &Bytes) -> Result<Bytes, EntryError> {
    let headers = EntryHeaders::parse(entry)?;
    if headers.checksum.is_some() {
        return Ok(entry.clone());
    }
    let mut out = BytesMut::with_capacity(entry.len() + CHECKSUM_SECTION_SIZE);
    if let Some(metadata) = headers.broker_entry_metadata {
        out.put_u16(BROKER_ENTRY_METADATA_MAGIC);
        put_length_prefixed(metadata, &mut out);
    }
    put_checksum(&[headers.covered], &mut out);
    out.put_slice(headers.covered);
    Ok(out.freeze())
}

/// The entry without the broker's own section in front, sharing its bytes.
/// Consumers get it this way unless they and the configuration ask for more.
pub fn strip_broker_entry_metadata(entry: &Bytes) -> Result<Bytes, EntryError> {
    match after_magic(entry, BROKER_ENTRY_METADATA_MAGIC) {
        None => Ok(entry.clone()),
        Some(section) => {
            let (_, rest) = length_prefixed(section).ok_or(EntryError::Truncated {
                part: "broker entry metadata",
                entry_length: entry.len(),
            })?;
            Ok(entry.slice_ref(rest))
        }
    }
}

/// Writes a new entry, checksum included: what a producer sends. The payload is taken as it is, compressed and
/// encrypted already if the metadata says so.
pub fn encode_entry(metadata: &MessageMetadata, payload: &[u8]) -> Bytes {
    let metadata = metadata.encode_to_vec();
    let length = (metadata.len() as u32).to_be_bytes();
    let mut out = BytesMut::with_capacity(
        CHECKSUM_SECTION_SIZE + length.len() + metadata.len() + payload.len(),
    );
    put_checksum(&[&length, &metadata, payload], &mut out);
    put_length_prefixed(&metadata, &mut out);
    out.put_slice(payload);
    out.freeze()
}

fn put_checksum(covered: &[&[u8]], out: &mut BytesMut) {
    out.put_u16(CHECKSUM_MAGIC);
    out.put_u32(checksum::of_parts(covered));
}

fn put_length_prefixed(bytes: &[u8], out: &mut BytesMut) {
    out.put_u32(bytes.len() as u32);
    out.put_slice(bytes);
}

/// What follows the magic, if the bytes begin with it.
///
/// Without magic an entry begins with the metadata's length; to look like a magic it would have to exceed 234 MB.
fn after_magic(bytes: &[u8], magic: u16) -> Option<&[u8]> {
    bytes.strip_prefix(&magic.to_be_bytes())
}

/// Splits `length:u32 | that many bytes | rest` into the two.
pub(crate) fn length_prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
