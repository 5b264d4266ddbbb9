//! The index at the end of a closed segment: which entries lie where.
//!
//! ```text
//! runs, sorted by ledger and first entry, each:
//!   8  ledger
//!   8  first entry
//!   4  count
//!      count times: 4 offset, 4 bytes of the record
//! trailer, the last 36 bytes of the file:
//!   8  magic "HulseEnd"
//!   8  number of the segment
//!   4  offset of the first run
//!   4  end of the records
//!   4  count of runs
//!   4  CRC32C of store id, number, offset of the first run, and all runs
//!   4  CRC32C of store id, number, 0, and the 32 bytes before it
//! ```
//! It is a copy of what a scan would find. A reader that finds it damaged scans.

use std::collections::BTreeMap;
use std::io;

use world::DiskFile;

use crate::header::HEADER_BYTES;
use crate::manifest::take;
use crate::record::{Place, Seed};

/// Bytes of the trailer.
pub const TRAILER_BYTES: usize = 36;
/// Bytes of a run without its places.
pub const RUN_BYTES: usize = 20;
/// Bytes of one place.
pub const PLACE_BYTES: usize = 8;

const MAGIC: &[u8; 8] = b"HulseEnd";

/// Consecutive entries of one ledger in one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The ledger.
    pub ledger: i64,
    /// Its first entry here.
    pub first: i64,
    /// How many.
    pub count: u32,
    /// Offset in the file at which their places are listed.
    pub places_at: u32,
}

/// Collects what a footer will say while its segment fills.
#[derive(Debug, Default)]
pub struct FooterBuilder {
    ledgers: BTreeMap<i64, Vec<(i64, Vec<Place>)>>,
    runs: usize,
    places: usize,
}

impl FooterBuilder {
    /// Adds an entry.
    pub fn add(&mut self, ledger: i64, entry: i64, place: Place) {
        self.places += 1;
        let runs = self.ledgers.entry(ledger).or_default();
        if let Some((first, places)) = runs.last_mut()
            && first.checked_add(places.len() as i64) == Some(entry)
        {
            places.push(place);
            return;
        }
        self.runs += 1;
        runs.push((entry, vec![place]));
    }

    /// Bytes of the footer, were it written after `more` further entries, each in a run of its own.
    pub fn bytes_with(&self, more: usize) -> usize {
        (self.runs + more) * RUN_BYTES + (self.places + more) * PLACE_BYTES + TRAILER_BYTES
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.places == 0
    }

    /// The footer as it stands at `start`, and its runs.
    pub fn encode(mut self, seed: &Seed, start: u32, records_end: u32) -> (Vec<u8>, Vec<Run>) {
        let mut bytes = Vec::with_capacity(self.bytes_with(0));
        let mut listed = Vec::with_capacity(self.runs);
        for (ledger, runs) in &mut self.ledgers {
            runs.sort_by_key(|(first, _)| *first);
            for (first, places) in runs {
                bytes.extend_from_slice(&ledger.to_be_bytes());
                bytes.extend_from_slice(&first.to_be_bytes());
                bytes.extend_from_slice(&(places.len() as u32).to_be_bytes());
                listed.push(Run {
                    ledger: *ledger,
                    first: *first,
                    count: places.len() as u32,
                    places_at: start + bytes.len() as u32,
                });
                for place in places {
                    bytes.extend_from_slice(&place.offset.to_be_bytes());
                    bytes.extend_from_slice(&place.bytes.to_be_bytes());
                }
            }
        }
        let runs_crc = seed.crc(start, &[&bytes]);
        let mut trailer = Vec::with_capacity(TRAILER_BYTES);
        trailer.extend_from_slice(MAGIC);
        trailer.extend_from_slice(&seed.number.to_be_bytes());
        for number in [start, records_end, listed.len() as u32, runs_crc] {
            trailer.extend_from_slice(&number.to_be_bytes());
        }
        let crc = seed.crc(0, &[&trailer]);
        trailer.extend_from_slice(&crc.to_be_bytes());
        bytes.extend_from_slice(&trailer);
        (bytes, listed)
    }
}

/// A footer that passed its checksums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    /// Where the records end.
    pub records_end: u32,
    /// Sorted by ledger and first entry.
    pub runs: Vec<Run>,
}

impl Footer {
    /// Reads the footer of a file; `None`: there is none that belongs to this segment.
    ///
    /// # Errors
    /// The disk said no.
    pub fn load(file: &dyn DiskFile, seed: &Seed) -> io::Result<Option<Footer>> {
        let file_bytes = file.len()?;
        let Some(trailer_at) = file_bytes.checked_sub(TRAILER_BYTES as u64) else {
            return Ok(None);
        };
        let mut trailer = [0; TRAILER_BYTES];
        file.read_at(&mut trailer, trailer_at)?;
        let Some(trailer) = Trailer::decode(&trailer, seed) else {
            return Ok(None);
        };
        let runs_bytes = trailer_at.checked_sub(u64::from(trailer.start));
        let Some(runs_bytes) = runs_bytes.filter(|_| trailer.start >= HEADER_BYTES) else {
            return Ok(None);
        };
        let mut bytes = vec![0; runs_bytes as usize];
        file.read_at(&mut bytes, u64::from(trailer.start))?;
        if seed.crc(trailer.start, &[&bytes]) != trailer.runs_crc {
            return Ok(None);
        }
        let runs = decode_runs(&bytes, &trailer);
        Ok(runs.map(|runs| Footer {
            records_end: trailer.records_end,
            runs,
        }))
    }
}

struct Trailer {
    start: u32,
    records_end: u32,
    runs: u32,
    runs_crc: u32,
}

impl Trailer {
    fn decode(bytes: &[u8; TRAILER_BYTES], seed: &Seed) -> Option<Trailer> {
        let (checked, crc) = bytes.split_at(TRAILER_BYTES - 4);
        let mut rest = checked;
        if &take::<8>(&mut rest)? != MAGIC || seed.crc(0, &[checked]).to_be_bytes() != crc {
            return None;
        }
        (u64::from_be_bytes(take(&mut rest)?) == seed.number).then_some(())?;
        Some(Trailer {
            start: u32::from_be_bytes(take(&mut rest)?),
            records_end: u32::from_be_bytes(take(&mut rest)?),
            runs: u32::from_be_bytes(take(&mut rest)?),
            runs_crc: u32::from_be_bytes(take(&mut rest)?),
        })
    }
}

fn decode_runs(bytes: &[u8], trailer: &Trailer) -> Option<Vec<Run>> {
    let mut rest = bytes;
    let mut runs = Vec::with_capacity((trailer.runs as usize).min(bytes.len() / RUN_BYTES));
    for _ in 0..trailer.runs {
        let ledger = i64::from_be_bytes(take(&mut rest)?);
        let first = i64::from_be_bytes(take(&mut rest)?);
        let count = u32::from_be_bytes(take(&mut rest)?);
        let places_at = trailer.start + (bytes.len() - rest.len()) as u32;
        rest = rest.get((count as usize).checked_mul(PLACE_BYTES)?..)?;
        first.checked_add(i64::from(count))?;
        runs.push(Run {
            ledger,
            first,
            count,
            places_at,
        });
    }
    rest.is_empty().then_some(runs)
}

/// Reads places as a footer lists them.
pub(crate) fn decode_places(bytes: &[u8]) -> Vec<Place> {
    let (places, _) = bytes.as_chunks::<PLACE_BYTES>();
    places
        .iter()
        .map(|[a, b, c, d, e, f, g, h]| Place {
            offset: u32::from_be_bytes([*a, *b, *c, *d]),
            bytes: u32::from_be_bytes([*e, *f, *g, *h]),
        })
        .collect()
}
