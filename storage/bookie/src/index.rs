//! Where the entries of ledgers lie.
//!
//! Entry numbers of a ledger are consecutive, so a ledger is a short list of runs, one for each segment it
//! touches. The places of a run are kept in memory while its segment is being written (8 bytes each); after
//! that the segment's footer lists them and the index keeps only where. Memory: about 40 bytes for each pair
//! of ledger and segment, bounded by what is on disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use disk_log::{Place, ReadFault, Segment};

/// All ledgers.
pub(crate) type Ledgers = BTreeMap<i64, Ledger>;

/// Where the places of a run are.
#[derive(Debug, Clone)]
pub(crate) enum Places {
    Listed(Vec<Place>),
    /// In the footer, from this offset of the file on.
    Footer(u32),
}

/// Consecutive entries in one segment.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) segment: Arc<Segment>,
    pub(crate) first: i64,
    pub(crate) count: u32,
    pub(crate) places: Places,
}

impl Run {
    /// One past the last entry.
    fn end(&self) -> i64 {
        self.first.saturating_add(i64::from(self.count))
    }
}

/// One ledger: runs sorted by entry, without overlap. A gap between runs is what damage left.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    runs: Vec<Run>,
}

/// Some consecutive entries of one segment, found in the index and still to be read.
#[derive(Debug)]
pub(crate) struct Stretch {
    pub(crate) segment: Arc<Segment>,
    places: Places,
    skip: u32,
    count: u32,
}

impl Stretch {
    /// The places; reads the footer if they are there.
    pub(crate) fn places(self) -> Result<(Arc<Segment>, Vec<Place>), ReadFault> {
        let places = match self.places {
            Places::Listed(places) => places,
            Places::Footer(at) => self.segment.places(at, self.skip, self.count)?,
        };
        Ok((self.segment, places))
    }
}

impl Ledger {
    /// The highest entry.
    pub(crate) fn last(&self) -> Option<i64> {
        self.runs.last().map(|run| run.end() - 1)
    }

    /// Segments that hold entries of this ledger, each once.
    pub(crate) fn segments(&self) -> BTreeMap<u64, Arc<Segment>> {
        let runs = self.runs.iter();
        runs.map(|run| (run.segment.number(), Arc::clone(&run.segment)))
            .collect()
    }

    /// Adds the entry after the last. Says whether it is the ledger's first in this segment.
    pub(crate) fn append(&mut self, segment: &Arc<Segment>, entry: i64, place: Place) -> bool {
        if let Some(run) = self.runs.last_mut()
            && run.segment.number() == segment.number()
            && run.end() == entry
            && let Places::Listed(places) = &mut run.places
        {
            places.push(place);
            run.count += 1;
            return false;
        }
        let is_first = self
            .runs
            .iter()
            .all(|run| run.segment.number() != segment.number());
        self.runs.push(Run {
            segment: Arc::clone(segment),
            first: entry,
            count: 1,
            places: Places::Listed(vec![place]),
        });
        is_first
    }

    /// Adds a run that recovery found. Entries that are known already keep their place.
    pub(crate) fn insert(&mut self, mut run: Run) {
        let at = self.runs.partition_point(|other| other.first <= run.first);
        if let Some(before) = at.checked_sub(1).and_then(|at| self.runs.get(at)) {
            let doubled = (before.end() - run.first).clamp(0, i64::from(run.count)) as u32;
            run.first += i64::from(doubled);
            run.count -= doubled;
            match &mut run.places {
                Places::Listed(places) => drop(places.drain(..doubled as usize)),
                Places::Footer(at) => *at += doubled * disk_log::footer::PLACE_BYTES as u32,
            }
        }
        if let Some(after) = self.runs.get(at) {
            let room = (after.first - run.first).max(0);
            run.count = run.count.min(u32::try_from(room).unwrap_or(u32::MAX));
        }
        if run.count > 0 {
            self.runs.insert(at, run);
        }
    }

    /// The segment was closed: its footer lists the places now.
    pub(crate) fn forget_places(&mut self, segment: u64, first: i64, count: u32, places_at: u32) {
        let at = self.runs.partition_point(|run| run.first < first);
        if let Some(run) = self.runs.get_mut(at)
            && run.segment.number() == segment
            && run.first == first
            && run.count == count
        {
            run.places = Places::Footer(places_at);
        }
    }

    /// Up to `count_max` entries from `first` on that lie in one segment; `None`: it is in no run.
    pub(crate) fn find(&self, first: i64, count_max: u32) -> Option<Stretch> {
        let at = self.runs.partition_point(|run| run.first <= first);
        let run = self.runs.get(at.checked_sub(1)?)?;
        let skip = u32::try_from(first - run.first).ok()?;
        let count = run.count.checked_sub(skip)?.min(count_max);
        if count == 0 {
            return None;
        }
        let places = match &run.places {
            Places::Listed(places) => {
                Places::Listed(places.get(skip as usize..(skip + count) as usize)?.to_vec())
            }
            Places::Footer(at) => Places::Footer(*at),
        };
        Some(Stretch {
            segment: Arc::clone(&run.segment),
            places,
            skip,
            count,
        })
    }
}
