//! The entries of a cursor ledger. A record of the cursor room, which is opaque here, becomes one or
//! more entries:
//!
//! ```text
//! u8 format version (1) | u8 kind (1 snapshot, 2 delta) | i64 base | u32 part | u32 parts | bytes
//! ```
//!
//! `base` is the entry at which the newest complete snapshot begins, the record itself if it is one.
//! So the last entry of a ledger tells from where to read. All numbers are big-endian.

use bytes::{Buf, BufMut, Bytes, BytesMut};

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 18;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The whole state.
    Snapshot = 1,
    /// A change.
    Delta = 2,
}

/// One entry, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) kind: Kind,
    pub(crate) base: i64,
    pub(crate) part: u32,
    pub(crate) parts: u32,
    pub(crate) bytes: Bytes,
}

/// Cuts a record into entries of at most `part_bytes_max` (of the room's bytes) each.
pub(crate) fn cut(kind: Kind, base: i64, body: &Bytes, part_bytes_max: usize) -> Vec<Bytes> {
    let part_bytes_max = part_bytes_max.max(1);
    let parts = body.len().div_ceil(part_bytes_max).max(1);
    (0..parts)
        .map(|part| {
            let from = part * part_bytes_max;
            let bytes = body.slice(from..body.len().min(from + part_bytes_max));
            let mut entry = BytesMut::with_capacity(HEADER_BYTES + bytes.len());
            entry.put_u8(VERSION);
            entry.put_u8(kind as u8);
            entry.put_i64(base);
            entry.put_u32(part as u32);
            entry.put_u32(parts as u32);
            entry.put(bytes);
            entry.freeze()
        })
        .collect()
}

impl Part {
    /// Reads an entry that stands at `entry` in its ledger.
    pub(crate) fn decode(entry: i64, mut bytes: Bytes) -> Result<Part, String> {
        if bytes.len() < HEADER_BYTES {
            return Err(format!(
                "entry {entry} has {} bytes, fewer than a cursor record's header",
                bytes.len()
            ));
        }
        let (version, kind) = (bytes.get_u8(), bytes.get_u8());
        let (base, part, parts) = (bytes.get_i64(), bytes.get_u32(), bytes.get_u32());
        let kind = match (version, kind) {
            (VERSION, 1) => Kind::Snapshot,
            (VERSION, 2) => Kind::Delta,
            (VERSION, other) => {
                return Err(format!(
                    "entry {entry} is of kind {other}, which is unknown"
                ));
            }
            (newer, _) => {
                return Err(format!(
                    "entry {entry} is of format {newer}, which this version cannot read"
                ));
            }
        };
        let first = entry - i64::from(part);
        let base_fits = match kind {
            Kind::Snapshot => base == first,
            Kind::Delta => base < first,
        };
        if base < 0 || part >= parts || !base_fits {
            return Err(format!(
                "entry {entry} calls itself part {part} of {parts} with its snapshot at {base}"
            ));
        }
        Ok(Part {
            kind,
            base,
            part,
            parts,
            bytes,
        })
    }

    /// More parts of the same record follow.
    pub(crate) fn is_followed(&self) -> bool {
        self.part + 1 < self.parts
    }
}

/// A saved state: the newest complete snapshot and what changed after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) snapshot: Bytes,
    pub(crate) deltas: Vec<Bytes>,
}

/// Puts the entries from `base` on together. A record cut short at the end was never confirmed and
/// is left out.
pub(crate) fn assemble(base: i64, entries: Vec<Bytes>) -> Result<State, String> {
    let mut records: Vec<Bytes> = Vec::new();
    let mut open = BytesMut::new();
    let mut expected: Option<Part> = None;
    for (entry, bytes) in (base..).zip(entries) {
        let part = Part::decode(entry, bytes)?;
        let kind = if records.is_empty() {
            Kind::Snapshot
        } else {
            Kind::Delta
        };
        let part_fits = match &expected {
            Some(before) => part.part == before.part + 1 && part.parts == before.parts,
            None => part.part == 0,
        };
        if part.kind != kind || part.base != base || !part_fits {
            return Err(format!(
                "entry {entry} does not follow from the one before it"
            ));
        }
        if part.parts == 1 {
            records.push(part.bytes);
            continue;
        }
        open.extend_from_slice(&part.bytes);
        if part.is_followed() {
            expected = Some(Part {
                bytes: Bytes::new(),
                ..part
            });
        } else {
            records.push(open.split().freeze());
            expected = None;
        }
    }
    let mut records = records.into_iter();
    let Some(snapshot) = records.next() else {
        return Err(format!("the snapshot at entry {base} is incomplete"));
    };
    Ok(State {
        snapshot,
        deltas: records.collect(),
    })
}
