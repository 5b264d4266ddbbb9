//! Opening a directory: reads footers, scans what has none, mends the tail, and says what was found.

use std::io;
use std::sync::Arc;

use world::{Disk, DiskFile, OpenHow};

use crate::error::LogError;
use crate::footer::{Footer, FooterBuilder, Run};
use crate::header::{HEADER_BYTES, Header};
use crate::log::{DiskLog, write_footer_and_cut};
use crate::manifest::Manifest;
use crate::names::{Named, SEGMENTS, parse, path};
use crate::record::{Place, Seed};
use crate::scan::{Scan, Vouch, scan};
use crate::segment::Segment;
use crate::settings::LogSettings;
use crate::spares::Spares;

/// Bytes of a doubtful tail written again at once.
const PIECE_BYTES: usize = 1024 * 1024;

/// What opening found.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Every segment that holds entries, the oldest first.
    pub segments: Vec<RecoveredSegment>,
    /// Segments that had to be read through because they had no good footer.
    pub scanned: u32,
    /// Places where bytes were lost that had been synced. A power cut alone never leaves one.
    pub damaged: u32,
    /// Segments whose header did not pass. A power cut alone never leaves one.
    pub damaged_headers: u32,
    /// Newest segments whose file is shorter than a crash leaves it: somebody cut it, and what was confirmed behind the
    /// cut is lost. A power cut alone never leaves one.
    pub cut_short: u32,
    /// Whether an unconfirmed group was dropped, whole or in part.
    pub tail_cut: bool,
}

/// A segment and the entries in it.
#[derive(Debug)]
pub struct RecoveredSegment {
    /// The segment.
    pub segment: Arc<Segment>,
    /// Entries whose places are listed in its footer.
    pub runs: Vec<Run>,
    /// Entries found by a scan of a segment whose footer is damaged: ledger, first entry, places.
    pub listed: Vec<(i64, i64, Vec<Place>)>,
}

impl DiskLog {
    /// Opens a log, or makes one. No entry is read; see [`Recovery`] for where they lie.
    ///
    /// # Errors
    /// [`LogError::Refused`]: the directory is not one that this program may write to. [`LogError::Io`] and
    /// [`LogError::Full`]: the disk said no; nothing confirmed was changed.
    pub fn open(
        disk: Arc<dyn Disk>,
        settings: LogSettings,
    ) -> Result<(DiskLog, Recovery), LogError> {
        settings.check()?;
        let manifest = open_manifest(&*disk, &settings)?;
        let names = disk
            .list(&settings.path(SEGMENTS))
            .map_err(|error| LogError::from_disk("cannot list the segments", &error))?;
        let names: Vec<Named> = names.iter().filter_map(|name| parse(name)).collect();
        let spares = open_spares(&disk, &settings, &names)?;
        let opening = Opening {
            disk: &*disk,
            settings: &settings,
            manifest: &manifest,
            recovery: Recovery::default(),
        };
        let (recovery, predecessor) = opening.run(&names)?;
        let log = DiskLog::new(disk, settings, manifest, spares, predecessor);
        Ok((log, recovery))
    }
}

fn open_manifest(disk: &dyn Disk, settings: &LogSettings) -> Result<Manifest, LogError> {
    let failed = |error: io::Error| LogError::from_disk("cannot make the log's directory", &error);
    let found = Manifest::load(disk, settings)?;
    let segments = settings.path(SEGMENTS);
    disk.create_dir(&segments).map_err(failed)?;
    if found.is_none() && !disk.list(&segments).map_err(failed)?.is_empty() {
        return Err(LogError::Refused(format!(
            "{segments} holds segments, but the MANIFEST beside it is gone; restore it from a backup"
        )));
    }
    // The process that made these directories may have died before it synced them. The innermost one is
    // synced with the manifest, which is stored again before the first segment of this process.
    let mut below = settings.directory.as_str();
    while !below.is_empty() {
        below = below.rsplit_once('/').map_or("", |(above, _)| above);
        disk.sync_dir(below).map_err(failed)?;
    }
    if let Some(manifest) = found {
        return Ok(manifest);
    }
    let manifest = Manifest {
        features: 0,
        store_id: settings.store_id,
        segment_bytes: settings.segment_bytes,
        number_ceiling: 1,
    };
    manifest.store(disk, settings)?;
    Ok(manifest)
}

fn open_spares(
    disk: &Arc<dyn Disk>,
    settings: &LogSettings,
    names: &[Named],
) -> Result<Spares, LogError> {
    let failed = |error: io::Error| LogError::from_disk("cannot look through the spares", &error);
    let next = names.iter().map(|named| match named {
        Named::Spare(number) | Named::Preparing(number) => number + 1,
        Named::Segment(_) => 0,
    });
    let spares = Spares::new(Arc::clone(disk), settings.clone(), next.max().unwrap_or(0));
    for named in names {
        let place = settings.path(&path(*named));
        match named {
            Named::Segment(_) => {}
            Named::Preparing(_) => disk.remove(&place).map_err(failed)?,
            Named::Spare(number) => {
                let file = disk.open(&place, OpenHow::Read).map_err(failed)?;
                let fits = file.len().map_err(failed)? == u64::from(settings.segment_bytes);
                if fits && spares.ready() < settings.spares_max {
                    spares.put(*number);
                } else {
                    disk.remove(&place).map_err(failed)?;
                }
            }
        }
    }
    Ok(spares)
}

/// A segment file before it is known what counts of it.
struct Candidate {
    number: u64,
    place: String,
    file: Arc<dyn DiskFile>,
    header: Option<Header>,
}

struct Opening<'a> {
    disk: &'a dyn Disk,
    settings: &'a LogSettings,
    manifest: &'a Manifest,
    recovery: Recovery,
}

impl Opening<'_> {
    /// Goes through the segments, the oldest first; returns the last one's number and the end of its records.
    fn run(mut self, names: &[Named]) -> Result<(Recovery, (u64, u32)), LogError> {
        let mut candidates = Vec::new();
        for named in names {
            if let Named::Segment(number) = named {
                candidates.push(self.candidate(*number)?);
            }
        }
        let mut predecessor = (0, 0);
        for position in 0..candidates.len() {
            let vouch = vouch_for(&candidates, position);
            let candidate = &candidates[position];
            let recovered = self.open_segment(candidate, vouch);
            let recovered =
                recovered.map_err(|error| LogError::from_disk(&candidate.place, &error))?;
            if let Some((segment, end)) = recovered {
                predecessor = (segment.segment.number(), end);
                self.recovery.segments.push(segment);
            }
        }
        Ok((self.recovery, predecessor))
    }

    fn candidate(&mut self, number: u64) -> Result<Candidate, LogError> {
        let place = self.settings.path(&path(Named::Segment(number)));
        let failed = |error: io::Error| LogError::from_disk("cannot open a segment", &error);
        let file = self.disk.open(&place, OpenHow::ReadWrite).map_err(failed)?;
        let mut block = vec![0; HEADER_BYTES as usize];
        // A header that cannot be read is as good as a damaged one.
        let count = file.read_at(&mut block, 0).unwrap_or(0);
        let header = Header::decode(&block[..count]);
        let header = header
            .filter(|header| header.number == number && header.store_id == self.manifest.store_id);
        if header.is_none() {
            self.recovery.damaged_headers += 1;
            tracing::warn!(segment = %place, "the header of a segment is damaged; its records are looked for all the same");
        }
        Ok(Candidate {
            number,
            place,
            file,
            header,
        })
    }

    fn open_segment(
        &mut self,
        candidate: &Candidate,
        vouch: Vouch,
    ) -> io::Result<Option<(RecoveredSegment, u32)>> {
        let seed = Seed {
            store_id: self.manifest.store_id,
            number: candidate.number,
        };
        let segment = Segment::new(seed, candidate.place.clone(), Arc::clone(&candidate.file));
        // A footer that cannot be read is as good as a damaged one.
        if let Some(footer) = Footer::load(&*candidate.file, &seed).unwrap_or(None) {
            let recovered = RecoveredSegment {
                segment,
                runs: footer.runs,
                listed: Vec::new(),
            };
            return Ok(Some((recovered, footer.records_end)));
        }
        self.recovery.scanned += 1;
        let found = scan(&*candidate.file, &seed, vouch)?;
        self.recovery.damaged += found.damaged;
        self.recovery.tail_cut |= found.tail_cut;
        if found.damaged > 0 {
            tracing::warn!(segment = %candidate.place, places = found.damaged, "a segment is damaged; entries in these places are lost, all others are readable");
        }
        if vouch == Vouch::Nobody {
            self.report_cut_file(candidate, &found)?;
        }
        if vouch != Vouch::Nobody {
            return Ok(Some((keep_as_found(segment, &found), found.end)));
        }
        if found.end == HEADER_BYTES {
            // Nothing was ever confirmed in it. If the removal is lost, the next start finds it the same way.
            self.disk.remove(&candidate.place)?;
            return Ok(None);
        }
        let end = found.end;
        Ok(Some((close_tail(segment, found)?, end)))
    }
}

impl Opening<'_> {
    /// A segment takes records in a file of full length, which was synced before its first record. Only closing it cuts
    /// it, to the exact end of its footer, and only when all its records are confirmed. Any other length is not ours.
    fn report_cut_file(&mut self, candidate: &Candidate, found: &Scan) -> io::Result<()> {
        let bytes = candidate.file.len()?;
        let full = u64::from(self.manifest.segment_bytes);
        let mut footer = FooterBuilder::default();
        for found in &found.entries {
            footer.add(found.ledger, found.entry, found.place);
        }
        let closed = u64::from(found.end) + footer.bytes_with(0) as u64;
        if bytes < full && bytes != closed {
            self.recovery.cut_short += 1;
            tracing::warn!(
                segment = %candidate.place, bytes, full,
                "the file of the newest segment was cut short by something else than a crash: entries behind the cut are \
                 lost, although they were confirmed; restore the directory from a backup if there is one"
            );
        }
        Ok(())
    }
}

/// What later segments say about one.
fn vouch_for(candidates: &[Candidate], position: usize) -> Vouch {
    let number = candidates[position].number;
    let later = candidates[position + 1..]
        .iter()
        .filter_map(|later| later.header);
    let mut vouch = Vouch::Nobody;
    for header in later {
        if header.predecessor.0 == number {
            return Vouch::UpTo(header.predecessor.1);
        }
        vouch = Vouch::All;
    }
    vouch
}

/// A segment in the middle whose footer is damaged: its file is left alone.
fn keep_as_found(segment: Arc<Segment>, found: &Scan) -> RecoveredSegment {
    let mut listed: Vec<(i64, i64, Vec<Place>)> = Vec::new();
    let mut entries = found.entries.clone();
    entries.sort_by_key(|found| (found.ledger, found.entry));
    for found in entries {
        match listed.last_mut() {
            Some((ledger, first, places))
                if *ledger == found.ledger
                    && first.checked_add(places.len() as i64) == Some(found.entry) =>
            {
                places.push(found.place);
            }
            _ => listed.push((found.ledger, found.entry, vec![found.place])),
        }
    }
    RecoveredSegment {
        segment,
        runs: Vec::new(),
        listed,
    }
}

/// Writes the doubtful part of the last segment again, so that it lasts, then closes the segment.
fn close_tail(segment: Arc<Segment>, found: Scan) -> io::Result<RecoveredSegment> {
    let file = segment.file();
    let mut at = u64::from(found.doubtful_from);
    let end = u64::from(found.end);
    while at < end {
        let mut piece = vec![0; PIECE_BYTES.min((end - at) as usize)];
        let count = file.read_at(&mut piece, at)?;
        piece.truncate(count.max(1));
        file.write_at(&[&piece], at)?;
        at += piece.len() as u64;
    }
    file.sync_data()?;
    let mut footer = FooterBuilder::default();
    for found in &found.entries {
        footer.add(found.ledger, found.entry, found.place);
    }
    let sealed = write_footer_and_cut(segment, found.end, footer)
        .map_err(|error| io::Error::other(error.to_string()))?;
    Ok(RecoveredSegment {
        segment: sealed.segment,
        runs: sealed.runs,
        listed: Vec::new(),
    })
}
