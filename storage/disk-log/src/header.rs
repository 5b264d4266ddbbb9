//! The first block of a segment.
//!
//! ```text
//! 0   8  magic "HulseSeg"
//! 8   4  layout version of the segment (1)
//! 12  4  flags; 1: survivors of older segments, sorted by ledger
//! 16  8  number, which is the generation
//! 24  4  size of the file when pre-written, in bytes
//! 28  8  number of the segment before it (0: none)
//! 36  4  offset at which the records of that one ended
//! 40 16  store id
//! 56  4  CRC32C of the 56 bytes before it
//! 60     zeros up to 4096
//! ```

use crc_fast::crc32_iscsi;

use crate::manifest::take;

/// Bytes before the first record.
pub const HEADER_BYTES: u32 = 4096;

const MAGIC: &[u8; 8] = b"HulseSeg";
const VERSION: u32 = 1;
const CHECKED: usize = 56;

/// What a segment says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bit 0: survivors sorted by ledger. Written as 0 so far.
    pub flags: u32,
    /// Its number.
    pub number: u64,
    /// Its size in bytes when it was made.
    pub size: u32,
    /// The segment that ended when this one began (0: none), and the end of its records.
    pub predecessor: (u64, u32),
    /// The store it belongs to.
    pub store_id: [u8; 16],
}

impl Header {
    /// The whole block.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES as usize);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        bytes.extend_from_slice(&self.flags.to_be_bytes());
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(&self.size.to_be_bytes());
        bytes.extend_from_slice(&self.predecessor.0.to_be_bytes());
        bytes.extend_from_slice(&self.predecessor.1.to_be_bytes());
        bytes.extend_from_slice(&self.store_id);
        let crc = crc32_iscsi(&bytes);
        bytes.extend_from_slice(&crc.to_be_bytes());
        bytes.resize(HEADER_BYTES as usize, 0);
        bytes
    }

    /// `None`: no header of a version that this program knows.
    pub fn decode(bytes: &[u8]) -> Option<Header> {
        let crc = bytes.get(CHECKED..CHECKED + 4)?;
        if crc32_iscsi(&bytes[..CHECKED]).to_be_bytes() != crc {
            return None;
        }
        let mut rest = bytes;
        if &take::<8>(&mut rest)? != MAGIC || u32::from_be_bytes(take(&mut rest)?) != VERSION {
            return None;
        }
        Some(Header {
            flags: u32::from_be_bytes(take(&mut rest)?),
            number: u64::from_be_bytes(take(&mut rest)?),
            size: u32::from_be_bytes(take(&mut rest)?),
            predecessor: (
                u64::from_be_bytes(take(&mut rest)?),
                u32::from_be_bytes(take(&mut rest)?),
            ),
            store_id: take(&mut rest)?,
        })
    }
}
