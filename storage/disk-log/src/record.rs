//! One record of a segment.
//!
//! ```text
//! 0   4  magic "HuRe"
//! 4   1  kind; 1: an entry
//! 5   3  zeros
//! 8   4  bytes of the stored entry (36 and the body)
//! 12  4  offset at which this record's group began
//! 16  4  CRC32C of store id, segment number, this record's offset, bytes 0..16 and 20..56
//! 20  8  ledger            ─┐
//! 28  8  entry              │ the entry as a bookie stores it (BookKeeper, digest type CRC32C)
//! 36  8  last confirmed     │
//! 44  8  sum of body bytes  │
//! 52  4  digest: CRC32C of the 32 bytes before it and the body
//! 56     body              ─┘
//!        zeros up to a multiple of 8
//! ```
//! All numbers are big-endian. The body is checksummed once, by the digest; the record's own checksum holds
//! the digest to this place in this segment.

use bytes::Bytes;
use crc_fast::{CrcAlgorithm, Digest, crc32_iscsi};

use crate::header::HEADER_BYTES;
use crate::manifest::take;

/// Records begin at multiples of this, in bytes.
pub const ALIGNMENT: u32 = 8;
/// Bytes of a record before the body.
pub const HEAD_BYTES: usize = 56;
/// Bytes of a stored entry before the body.
pub const ENTRY_HEAD_BYTES: usize = 36;
/// First bytes of every record.
pub const MAGIC: &[u8; 4] = b"HuRe";

const KIND_ENTRY: u8 = 1;
const FRAME_BYTES: usize = HEAD_BYTES - ENTRY_HEAD_BYTES;

/// An entry to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The ledger.
    pub ledger: i64,
    /// Its number in the ledger.
    pub entry: i64,
    /// The highest entry confirmed to the application when this one was sent (-1: none).
    pub last_confirmed: i64,
    /// The sum of body bytes of the ledger up to and including this entry.
    pub length: u64,
    /// The bytes; written from where they lie.
    pub body: Bytes,
}

/// Where a record lies in its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Of its first byte.
    pub offset: u32,
    /// Bytes up to the end of the body.
    pub bytes: u32,
}

impl Place {
    /// Where the next record may begin.
    pub fn end(self) -> u64 {
        align(u64::from(self.offset) + u64::from(self.bytes))
    }

    /// Bytes of the body.
    pub fn body_bytes(self) -> u64 {
        u64::from(self.bytes).saturating_sub(HEAD_BYTES as u64)
    }
}

/// An entry read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its number in the ledger.
    pub entry: i64,
    /// See [`Record::last_confirmed`].
    pub last_confirmed: i64,
    /// See [`Record::length`].
    pub length: u64,
    /// The bytes.
    pub body: Bytes,
}

/// What the checksums of one segment are seeded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// The store's id.
    pub store_id: [u8; 16],
    /// The segment's number.
    pub number: u64,
}

impl Seed {
    /// CRC32C of the seed, a place and some bytes.
    pub(crate) fn crc(&self, offset: u32, parts: &[&[u8]]) -> u32 {
        let mut crc = Digest::new(CrcAlgorithm::Crc32Iscsi);
        crc.update(&self.store_id);
        crc.update(&self.number.to_be_bytes());
        crc.update(&offset.to_be_bytes());
        for part in parts {
            crc.update(part);
        }
        low_half(crc.finalize())
    }

    fn record_crc(&self, offset: u32, head: &[u8; HEAD_BYTES]) -> u32 {
        // One short run over the bytes is quicker than several.
        let mut checked = [0; 28 + 16 + ENTRY_HEAD_BYTES];
        checked[..16].copy_from_slice(&self.store_id);
        checked[16..24].copy_from_slice(&self.number.to_be_bytes());
        checked[24..28].copy_from_slice(&offset.to_be_bytes());
        checked[28..44].copy_from_slice(&head[..16]);
        checked[44..].copy_from_slice(&head[FRAME_BYTES..]);
        crc32_iscsi(&checked)
    }
}

/// The head of a record that passed its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// 1: an entry. Other kinds are stepped over.
    pub kind: u8,
    /// Bytes of the whole record up to the end of the body.
    pub bytes: u32,
    /// Everything before this offset had been synced when the record was written.
    pub group_start: u32,
    /// See [`Record`].
    pub ledger: i64,
    /// See [`Record`].
    pub entry: i64,
    /// See [`Record`].
    pub last_confirmed: i64,
    /// See [`Record`].
    pub length: u64,
    digest: u32,
    first_bytes: [u8; 32],
}

impl Head {
    /// Reads a head at an offset of a segment; `None`: nothing that was written there in this segment's life.
    pub fn decode(bytes: &[u8], seed: &Seed, offset: u32) -> Option<Head> {
        let head: &[u8; HEAD_BYTES] = bytes.first_chunk()?;
        if !head.starts_with(MAGIC) {
            return None;
        }
        let mut rest = &head[4..];
        let [kind, ..] = take::<4>(&mut rest)?;
        let entry_bytes = u32::from_be_bytes(take(&mut rest)?);
        let group_start = u32::from_be_bytes(take(&mut rest)?);
        let crc = u32::from_be_bytes(take(&mut rest)?);
        let first_bytes = *rest.first_chunk::<32>()?;
        if seed.record_crc(offset, head) != crc
            || group_start > offset
            || group_start < HEADER_BYTES
        {
            return None;
        }
        Some(Head {
            kind,
            bytes: (FRAME_BYTES as u32).checked_add(entry_bytes)?,
            group_start,
            ledger: i64::from_be_bytes(take(&mut rest)?),
            entry: i64::from_be_bytes(take(&mut rest)?),
            last_confirmed: i64::from_be_bytes(take(&mut rest)?),
            length: u64::from_be_bytes(take(&mut rest)?),
            digest: u32::from_be_bytes(take(&mut rest)?),
            first_bytes,
        })
        .filter(|head| head.bytes as usize >= HEAD_BYTES)
    }

    /// Whether this is an entry (and not a kind of record that a later program may write).
    pub fn is_entry(&self) -> bool {
        self.kind == KIND_ENTRY
    }

    /// Whether the body is the one that was written.
    pub fn fits(&self, body: &[u8]) -> bool {
        body.len() + HEAD_BYTES == self.bytes as usize
            && digest(&self.first_bytes, body) == self.digest
    }
}

/// The bytes before the body.
pub fn encode_head(
    record: &Record,
    seed: &Seed,
    offset: u32,
    group_start: u32,
) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..4].copy_from_slice(MAGIC);
    head[4] = KIND_ENTRY;
    let entry_bytes = (ENTRY_HEAD_BYTES + record.body.len()) as u32;
    head[8..12].copy_from_slice(&entry_bytes.to_be_bytes());
    head[12..16].copy_from_slice(&group_start.to_be_bytes());
    head[20..28].copy_from_slice(&record.ledger.to_be_bytes());
    head[28..36].copy_from_slice(&record.entry.to_be_bytes());
    head[36..44].copy_from_slice(&record.last_confirmed.to_be_bytes());
    head[44..52].copy_from_slice(&record.length.to_be_bytes());
    let digest = digest(&head[20..52], &record.body);
    head[52..].copy_from_slice(&digest.to_be_bytes());
    let crc = seed.record_crc(offset, &head);
    head[16..20].copy_from_slice(&crc.to_be_bytes());
    head
}

/// BookKeeper's CRC32C digest of an entry: over its first 32 bytes and its body.
pub fn digest(first_bytes: &[u8], body: &[u8]) -> u32 {
    let mut crc = Digest::new(CrcAlgorithm::Crc32Iscsi);
    crc.update(first_bytes);
    crc.update(body);
    low_half(crc.finalize())
}

/// The next offset at which a record may begin.
pub(crate) fn align(offset: u64) -> u64 {
    offset.next_multiple_of(u64::from(ALIGNMENT))
}

fn low_half(crc: u64) -> u32 {
    crc as u32
}
