//! The writer's side: appends, commits, removal.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use disk_log::{
    DiskLog, LogError, LogSettings, Record, RecoveredSegment, Recovery, Sealed, Segment, Spares,
};
use ledger_store::LedgerError;
use world::Disk;

use crate::index::{Ledger, Places, Run};
use crate::read::{BookieReader, Shelf};

/// Entries of ledgers on one disk. One owner; reading goes through [`BookieReader`] from any thread.
pub struct Bookie {
    log: DiskLog,
    shelf: Arc<Shelf>,
    segments: BTreeMap<u64, Usage>,
    queued: Vec<Queued>,
    /// The entry after the last queued one, of ledgers that have entries queued.
    next_entries: BTreeMap<i64, i64>,
    report: Report,
}

/// What opening found, for the log file and for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Segments that had to be read through.
    pub scanned: u32,
    /// Places where bytes were lost that had been synced.
    pub damaged: u32,
    /// Segments whose header did not pass.
    pub damaged_headers: u32,
    /// Whether an unconfirmed group was dropped.
    pub tail_cut: bool,
}

/// How an append ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The ledger.
    pub ledger: i64,
    /// The entry.
    pub entry: i64,
    /// Ok: it survives a power cut.
    pub result: Result<(), LedgerError>,
}

/// Who needs a segment.
struct Usage {
    segment: Arc<Segment>,
    ledgers: usize,
    sealed: bool,
}

struct Queued {
    ledger: i64,
    entry: i64,
    refused: Option<LedgerError>,
}

impl Bookie {
    /// Opens the log in a directory and builds the index.
    ///
    /// # Errors
    /// See [`DiskLog::open`].
    pub fn open(disk: Arc<dyn Disk>, settings: LogSettings) -> Result<Bookie, LogError> {
        let (log, recovery) = DiskLog::open(disk, settings)?;
        let mut bookie = Bookie {
            log,
            shelf: Arc::new(Shelf::default()),
            segments: BTreeMap::new(),
            queued: Vec::new(),
            next_entries: BTreeMap::new(),
            report: Report {
                scanned: recovery.scanned,
                damaged: recovery.damaged,
                damaged_headers: recovery.damaged_headers,
                tail_cut: recovery.tail_cut,
            },
        };
        bookie.index(recovery);
        Ok(bookie)
    }

    /// What opening found.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Queues an entry for the next [`Bookie::commit`], which also tells of a refusal. `length` is the sum of
    /// the ledger's body bytes including this entry. What is queued is bounded by the asker.
    pub fn append(
        &mut self,
        ledger: i64,
        entry: i64,
        last_confirmed: i64,
        length: u64,
        body: Bytes,
    ) {
        let refused = self
            .try_append(ledger, entry, last_confirmed, length, body)
            .err();
        self.queued.push(Queued {
            ledger,
            entry,
            refused,
        });
    }

    /// Writes and syncs everything queued, once. One answer for each append, in their order.
    pub fn commit(&mut self) -> Vec<Appended> {
        let done = self.log.commit();
        self.next_entries.clear();
        let failure = done.failed.map(ledger_error);
        let mut placed = done.placed.into_iter();
        let mut ledgers = self.shelf.write();
        let answer = |queued: Queued| {
            let result = match (queued.refused, placed.as_slice().is_empty()) {
                (Some(refused), _) => Err(refused),
                (None, true) => Err(failure
                    .clone()
                    .unwrap_or_else(|| LedgerError::Io("the entry was not written".into()))),
                (None, false) => Ok(()),
            };
            if let Ok(()) = result
                && let Some((segment, place)) = placed.next()
            {
                let is_first =
                    ledgers
                        .entry(queued.ledger)
                        .or_default()
                        .append(&segment, queued.entry, place);
                let usage = self.segments.entry(segment.number()).or_insert(Usage {
                    segment,
                    ledgers: 0,
                    sealed: false,
                });
                usage.ledgers += usize::from(is_first);
            }
            Appended {
                ledger: queued.ledger,
                entry: queued.entry,
                result,
            }
        };
        let answers = self.queued.drain(..).map(answer).collect();
        drop(ledgers);
        let has_sealed = !done.sealed.is_empty();
        for sealed in done.sealed {
            self.sealed(&sealed);
        }
        if has_sealed {
            self.tidy();
        }
        answers
    }

    /// The last entry and the sum of body bytes of a ledger; see [`BookieReader::last_entry`].
    ///
    /// # Errors
    /// The disk said no.
    pub fn last_entry(&self, ledger: i64) -> Result<(i64, u64), LedgerError> {
        self.reader().last_entry(ledger)
    }

    /// All ledgers that have entries here.
    pub fn ledgers(&self) -> Vec<i64> {
        self.shelf.read().keys().copied().collect()
    }

    /// Drops a ledger. Segments that nobody else needs are reused or deleted. This is not made to last: after
    /// a restart the ledger, or parts of it, may be back, and whoever knows which ledgers live forgets it again.
    pub fn forget(&mut self, ledger: i64) {
        let Some(dropped) = self.shelf.write().remove(&ledger) else {
            return;
        };
        let numbers: Vec<u64> = dropped.segments().into_keys().collect();
        drop(dropped);
        for number in numbers {
            if let Some(usage) = self.segments.get_mut(&number) {
                usage.ledgers = usage.ledgers.saturating_sub(1);
            }
            self.remove_if_unused(number);
        }
        self.tidy();
    }

    /// For threads that read.
    pub fn reader(&self) -> BookieReader {
        BookieReader::new(Arc::clone(&self.shelf))
    }

    /// For a thread that makes files for segments ahead of time.
    pub fn spares(&self) -> Spares {
        self.log.spares()
    }

    /// Removes files that a reader held on to when they were forgotten. Cheap; worth a call now and then.
    pub fn tidy(&mut self) {
        if let Err(error) = self.log.tidy() {
            tracing::warn!(%error, "space of removed ledgers was not given back; the next start tries again");
        }
    }

    /// Commits what is queued and closes the log, so that the next start has nothing to scan.
    ///
    /// # Errors
    /// The disk said no. What was confirmed is safe all the same.
    pub fn close(&mut self) -> Result<Vec<Appended>, LogError> {
        let answers = self.commit();
        if let Some(sealed) = self.log.seal()? {
            self.sealed(&sealed);
        }
        Ok(answers)
    }

    /// Why nothing can be appended any more, if so.
    pub fn poison(&self) -> Option<&str> {
        self.log.poison()
    }

    fn try_append(
        &mut self,
        ledger: i64,
        entry: i64,
        last_confirmed: i64,
        length: u64,
        body: Bytes,
    ) -> Result<(), LedgerError> {
        let next = match self.next_entries.get(&ledger) {
            Some(next) => *next,
            None => self
                .shelf
                .read()
                .get(&ledger)
                .and_then(Ledger::last)
                .map_or(0, |last| last + 1),
        };
        if entry != next {
            let text = format!("entry {entry} was sent where {next} comes next");
            return Err(LedgerError::NotAllowed(ledger, text));
        }
        let record = Record {
            ledger,
            entry,
            last_confirmed,
            length,
            body,
        };
        self.log.append(record).map_err(|error| match error {
            LogError::TooLarge { .. } => LedgerError::NotAllowed(ledger, error.to_string()),
            _ => ledger_error(error),
        })?;
        self.next_entries.insert(ledger, next + 1);
        Ok(())
    }

    fn sealed(&mut self, sealed: &Sealed) {
        let number = sealed.segment.number();
        let mut ledgers = self.shelf.write();
        for run in &sealed.runs {
            if let Some(ledger) = ledgers.get_mut(&run.ledger) {
                ledger.forget_places(number, run.first, run.count, run.places_at);
            }
        }
        drop(ledgers);
        if let Some(usage) = self.segments.get_mut(&number) {
            usage.sealed = true;
        }
        self.remove_if_unused(number);
    }

    fn remove_if_unused(&mut self, number: u64) {
        if self
            .segments
            .get(&number)
            .is_some_and(|usage| usage.sealed && usage.ledgers == 0)
            && let Some(usage) = self.segments.remove(&number)
        {
            self.log.remove(usage.segment);
        }
    }

    fn index(&mut self, recovery: Recovery) {
        let mut ledgers = self.shelf.write();
        let mut in_segment = BTreeMap::new();
        for recovered in recovery.segments {
            let number = recovered.segment.number();
            in_segment.insert(number, Arc::clone(&recovered.segment));
            for (ledger, run) in runs(recovered) {
                ledgers.entry(ledger).or_default().insert(run);
            }
        }
        for (number, segment) in in_segment {
            let usage = Usage {
                segment,
                ledgers: 0,
                sealed: true,
            };
            self.segments.insert(number, usage);
        }
        for number in ledgers
            .values()
            .flat_map(|ledger| ledger.segments().into_keys())
        {
            if let Some(usage) = self.segments.get_mut(&number) {
                usage.ledgers += 1;
            }
        }
        drop(ledgers);
        let numbers: Vec<u64> = self.segments.keys().copied().collect();
        numbers
            .into_iter()
            .for_each(|number| self.remove_if_unused(number));
        self.tidy();
    }
}

fn runs(recovered: RecoveredSegment) -> Vec<(i64, Run)> {
    let segment = recovered.segment;
    let in_footer = recovered.runs.into_iter().map(|run| {
        (
            run.ledger,
            run.first,
            run.count,
            Places::Footer(run.places_at),
        )
    });
    let listed = recovered.listed.into_iter().map(|(ledger, first, places)| {
        (ledger, first, places.len() as u32, Places::Listed(places))
    });
    in_footer
        .chain(listed)
        .map(|(ledger, first, count, places)| {
            let run = Run {
                segment: Arc::clone(&segment),
                first,
                count,
                places,
            };
            (ledger, run)
        })
        .collect()
}

fn ledger_error(error: LogError) -> LedgerError {
    match error {
        LogError::Full(text) => LedgerError::Full(text),
        other => LedgerError::Io(other.to_string()),
    }
}
