//! A segment as readers see it: a file and what its checksums are seeded with. Any number of threads may read.

use std::sync::Arc;

use bytes::Bytes;
use world::DiskFile;

use crate::error::ReadFault;
use crate::footer::{PLACE_BYTES, decode_places};
use crate::record::{HEAD_BYTES, Head, Place, Seed, Stored};

/// Records this near to each other are read at once, in bytes.
const GAP_BYTES_MAX: u64 = 16 * 1024;
/// No more than this is read at once, unless one record is larger, in bytes.
const SPAN_BYTES_MAX: u64 = 1024 * 1024;

/// One segment. Holding it keeps its file from being reused.
pub struct Segment {
    seed: Seed,
    path: String,
    file: Arc<dyn DiskFile>,
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Segment({})", self.path)
    }
}

impl Segment {
    pub(crate) fn new(seed: Seed, path: String, file: Arc<dyn DiskFile>) -> Arc<Segment> {
        Arc::new(Segment { seed, path, file })
    }

    /// Its number: unique in the store, growing.
    pub fn number(&self) -> u64 {
        self.seed.number
    }

    /// Its file's path, for messages.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn seed(&self) -> &Seed {
        &self.seed
    }

    pub(crate) fn file(&self) -> &dyn DiskFile {
        &*self.file
    }

    /// Places from the list of a run in this segment's footer: `count` of them after `skip`.
    ///
    /// # Errors
    /// The disk said no, or the file ends before the list.
    pub fn places(&self, places_at: u32, skip: u32, count: u32) -> Result<Vec<Place>, ReadFault> {
        let mut bytes = vec![0; count as usize * PLACE_BYTES];
        let offset = u64::from(places_at) + u64::from(skip) * PLACE_BYTES as u64;
        self.fill(&mut bytes, offset)?;
        Ok(decode_places(&bytes))
    }

    /// Reads consecutive entries of a ledger from where they lie. Stops before an entry at which the bodies
    /// would exceed `bytes_max` (not before the first), and at the first that cannot be read.
    pub fn read(
        &self,
        ledger: i64,
        first: i64,
        places: &[Place],
        bytes_max: usize,
    ) -> (Vec<Stored>, Option<ReadFault>) {
        let places = within(places, bytes_max);
        let mut found = Vec::with_capacity(places.len());
        let mut rest = places;
        while !rest.is_empty() {
            let count = span(rest);
            let entry = first + found.len() as i64;
            if let Err(fault) = self.read_span(ledger, entry, &rest[..count], &mut found) {
                return (found, Some(fault));
            }
            rest = &rest[count..];
        }
        (found, None)
    }

    fn read_span(
        &self,
        ledger: i64,
        first: i64,
        places: &[Place],
        found: &mut Vec<Stored>,
    ) -> Result<(), ReadFault> {
        let Some((start, end)) = places.first().zip(places.last()) else {
            return Ok(());
        };
        let base = u64::from(start.offset);
        let end = u64::from(end.offset) + u64::from(end.bytes);
        let mut bytes = vec![0; end.saturating_sub(base) as usize];
        if let Err(fault) = self.fill(&mut bytes, base) {
            if places.len() == 1 {
                return Err(fault);
            }
            // One bad spot must not take its neighbours along.
            for (entry, place) in (first..).zip(places) {
                self.read_span(ledger, entry, std::slice::from_ref(place), found)?;
            }
            return Ok(());
        }
        let bytes = Bytes::from(bytes);
        for (entry, place) in (first..).zip(places) {
            let from = (u64::from(place.offset) - base) as usize;
            let record = bytes.slice(from..from + place.bytes as usize);
            found.push(self.check(ledger, entry, *place, &record)?);
        }
        Ok(())
    }

    fn check(
        &self,
        ledger: i64,
        entry: i64,
        place: Place,
        record: &Bytes,
    ) -> Result<Stored, ReadFault> {
        let damaged = |what: &str| {
            let text = format!("{what} at offset {} of {}", place.offset, self.path);
            Err(ReadFault::Damaged(text))
        };
        let Some(head) = Head::decode(record, &self.seed, place.offset) else {
            return damaged("the head of the record does not match its checksum");
        };
        if head.ledger != ledger || head.entry != entry || head.bytes != place.bytes {
            return damaged("another record lies where the index says");
        }
        let body = record.slice(HEAD_BYTES..);
        if !head.fits(&body) {
            return damaged("the body does not match its checksum");
        }
        Ok(Stored {
            entry,
            last_confirmed: head.last_confirmed,
            length: head.length,
            body,
        })
    }

    fn fill(&self, into: &mut [u8], offset: u64) -> Result<(), ReadFault> {
        match self.file.read_at(into, offset) {
            Ok(count) if count == into.len() => Ok(()),
            Ok(_) => Err(ReadFault::Damaged(format!(
                "{} is cut short at offset {offset}",
                self.path
            ))),
            Err(error) => Err(ReadFault::Io(error.to_string())),
        }
    }
}

/// The places whose bodies fit, at least one.
fn within(places: &[Place], bytes_max: usize) -> &[Place] {
    let mut sum = 0;
    let fitting = places.iter().take_while(|place| {
        sum += place.body_bytes();
        sum <= bytes_max as u64
    });
    let count = fitting.count().max(1).min(places.len());
    &places[..count]
}

/// How many of the places, at least one, are worth one read.
fn span(places: &[Place]) -> usize {
    let Some(first) = places.first() else {
        return 0;
    };
    let near = |pair: &&[Place]| match pair {
        [before, after] => {
            let starts = u64::from(after.offset);
            let ends = starts + u64::from(after.bytes);
            starts >= before.end()
                && starts - before.end() <= GAP_BYTES_MAX
                && ends - u64::from(first.offset) <= SPAN_BYTES_MAX
        }
        _ => false,
    };
    1 + places.windows(2).take_while(near).count()
}
