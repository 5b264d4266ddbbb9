//! The writer: collects entries, writes them as groups, starts and closes segments.

use std::io;
use std::sync::Arc;

use world::{Disk, OpenHow};

use crate::error::LogError;
use crate::footer::{FooterBuilder, Run};
use crate::header::{HEADER_BYTES, Header};
use crate::manifest::Manifest;
use crate::names::{Named, SEGMENTS, path};
use crate::record::{HEAD_BYTES, Place, Record, Seed, align, encode_head};
use crate::segment::Segment;
use crate::settings::LogSettings;
use crate::spares::Spares;

/// Segment numbers set aside by one write of the manifest.
const NUMBERS_AT_ONCE: u64 = 64;

/// A log. One owner writes; what it hands out may be read from any thread.
pub struct DiskLog {
    disk: Arc<dyn Disk>,
    settings: LogSettings,
    manifest: Manifest,
    next_number: u64,
    spares: Spares,
    active: Option<Active>,
    /// The segment closed last and the end of its records.
    predecessor: (u64, u32),
    queued: Vec<Record>,
    removed: Vec<Arc<Segment>>,
    poison: Option<String>,
}

/// The segment being written.
struct Active {
    segment: Arc<Segment>,
    size: u32,
    end: u32,
    footer: FooterBuilder,
}

/// What a commit made last.
#[derive(Debug, Default)]
pub struct Committed {
    /// Where the entries lie, in the order of their appends. Fewer than were appended if `failed` says why.
    pub placed: Vec<(Arc<Segment>, Place)>,
    /// Segments closed on the way: their places are in their footers now.
    pub sealed: Vec<Sealed>,
    /// Why the rest was not written. It may or may not show up after a restart.
    pub failed: Option<LogError>,
}

/// A segment that got its footer.
#[derive(Debug)]
pub struct Sealed {
    /// The segment.
    pub segment: Arc<Segment>,
    /// What its footer lists.
    pub runs: Vec<Run>,
}

impl DiskLog {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        settings: LogSettings,
        manifest: Manifest,
        spares: Spares,
        predecessor: (u64, u32),
    ) -> DiskLog {
        DiskLog {
            disk,
            settings,
            next_number: manifest.number_ceiling,
            manifest,
            spares,
            active: None,
            predecessor,
            queued: Vec::new(),
            removed: Vec::new(),
            poison: None,
        }
    }

    /// Queues an entry for the next commit. What waits is bounded by the caller alone.
    ///
    /// # Errors
    /// [`LogError::Poisoned`] or [`LogError::TooLarge`]; nothing was queued.
    pub fn append(&mut self, record: Record) -> Result<(), LogError> {
        self.check_poison()?;
        let bytes_max = self.settings.body_bytes_max();
        if record.body.len() > bytes_max {
            return Err(LogError::TooLarge {
                bytes: record.body.len(),
                bytes_max,
            });
        }
        self.queued.push(record);
        Ok(())
    }

    /// Entries that wait for a commit.
    pub fn queued(&self) -> usize {
        self.queued.len()
    }

    /// Writes and syncs everything queued. What is listed as placed survives a power cut. A failed write or
    /// sync poisons the log for good; a full disk does not, it only leaves the rest unwritten.
    pub fn commit(&mut self) -> Committed {
        let mut done = Committed::default();
        let queued = std::mem::take(&mut self.queued);
        if queued.is_empty() {
            return done;
        }
        if let Err(error) = self.write_queued(&queued, &mut done) {
            done.failed = Some(self.poisoned_by(error));
        }
        done
    }

    /// Closes the segment being written, so that a start after this has nothing to scan. A later commit
    /// begins another one.
    ///
    /// # Errors
    /// The disk said no; the log is poisoned then, and nothing confirmed is lost.
    pub fn seal(&mut self) -> Result<Option<Sealed>, LogError> {
        self.check_poison()?;
        let Some(active) = self.active.take() else {
            return Ok(None);
        };
        let (segment, end, footer) = (active.segment, active.end, active.footer);
        let sealed = write_footer_and_cut(segment, end, footer);
        let sealed = sealed.map_err(|error| self.poisoned_by(error))?;
        self.predecessor = (sealed.segment.number(), end);
        Ok(Some(sealed))
    }

    /// Takes a closed segment that nobody needs: its file becomes a spare or is deleted, once the last reader
    /// let go of it, by [`DiskLog::tidy`].
    pub fn remove(&mut self, segment: Arc<Segment>) {
        self.removed.push(segment);
    }

    /// Carries out removals that no reader is in the way of.
    ///
    /// # Errors
    /// The disk said no. Nothing needed is lost; what is left over is found at the next start.
    pub fn tidy(&mut self) -> Result<(), LogError> {
        let mut kept = Vec::new();
        let mut reusable = Vec::new();
        for segment in std::mem::take(&mut self.removed) {
            if Arc::strong_count(&segment) > 1 {
                kept.push(segment);
                continue;
            }
            let made = self.reuse_or_delete(&segment, self.spares.ready() + reusable.len());
            reusable.extend(
                made.map_err(|error| LogError::from_disk("cannot remove a segment", &error))?,
            );
        }
        self.removed = kept;
        if reusable.is_empty() {
            return Ok(());
        }
        // A spare is overwritten soon. Its old name has to be gone for good by then, or a cut could leave
        // both names on one file.
        self.disk
            .sync_dir(&self.settings.path(SEGMENTS))
            .map_err(|error| {
                LogError::from_disk("cannot sync the directory of segments", &error)
            })?;
        reusable
            .into_iter()
            .for_each(|spare| self.spares.put(spare));
        Ok(())
    }

    /// For a thread that makes spares ahead of time.
    pub fn spares(&self) -> Spares {
        self.spares.clone()
    }

    /// Why nothing can be written any more, if so.
    pub fn poison(&self) -> Option<&str> {
        self.poison.as_deref()
    }

    /// The longest body of an entry, in bytes.
    pub fn body_bytes_max(&self) -> usize {
        self.settings.body_bytes_max()
    }

    fn write_queued(&mut self, queued: &[Record], done: &mut Committed) -> Result<(), LogError> {
        self.check_poison()?;
        let mut rest = queued;
        while !rest.is_empty() {
            let mut active = match self.active.take() {
                Some(active) => active,
                None => self.start_segment()?,
            };
            let count = active.fitting(rest);
            if count > 0 {
                let (group, others) = rest.split_at(count);
                let places = active.write_group(group)?;
                let segment = &active.segment;
                done.placed
                    .extend(places.into_iter().map(|place| (Arc::clone(segment), place)));
                rest = others;
            }
            // Invariant: an empty segment has room for the largest entry that `append` lets in.
            assert!(
                count > 0 || active.end > HEADER_BYTES,
                "an entry does not fit into an empty segment"
            );
            if rest.is_empty() {
                self.active = Some(active);
                return Ok(());
            }
            self.predecessor = (active.segment.number(), active.end);
            done.sealed.push(active.close()?);
        }
        Ok(())
    }

    fn start_segment(&mut self) -> Result<Active, LogError> {
        let spare = self.spares.take()?;
        let number = match self.take_number() {
            Ok(number) => number,
            Err(error) => {
                self.spares.put(spare);
                return Err(error);
            }
        };
        let spare_path = self.settings.path(&path(Named::Spare(spare)));
        let segment_path = self.settings.path(&path(Named::Segment(number)));
        let seed = Seed {
            store_id: self.manifest.store_id,
            number,
        };
        let header = Header {
            flags: 0,
            number,
            size: self.settings.segment_bytes,
            predecessor: self.predecessor,
            store_id: self.manifest.store_id,
        };
        let started = || -> io::Result<_> {
            let file = self.disk.open(&spare_path, OpenHow::ReadWrite)?;
            file.write_at(&[&header.encode()], 0)?;
            file.sync_all()?;
            self.disk.rename(&spare_path, &segment_path)?;
            self.disk.sync_dir(&self.settings.path(SEGMENTS))?;
            Ok(file)
        };
        let file =
            started().map_err(|error| LogError::Io(format!("cannot start a segment: {error}")))?;
        Ok(Active {
            segment: Segment::new(seed, segment_path, file),
            size: self.settings.segment_bytes,
            end: HEADER_BYTES,
            footer: FooterBuilder::default(),
        })
    }

    fn take_number(&mut self) -> Result<u64, LogError> {
        if self.next_number >= self.manifest.number_ceiling {
            let mut manifest = self.manifest;
            manifest.number_ceiling = self.next_number + NUMBERS_AT_ONCE;
            manifest.segment_bytes = self.settings.segment_bytes;
            manifest.store(&*self.disk, &self.settings)?;
            self.manifest = manifest;
        }
        self.next_number += 1;
        Ok(self.next_number - 1)
    }

    fn reuse_or_delete(&self, segment: &Segment, spares: usize) -> io::Result<Option<u64>> {
        let is_whole = segment.file().len()? == u64::from(self.settings.segment_bytes);
        if !is_whole || spares >= self.settings.spares_max {
            self.disk.remove(segment.path())?;
            return Ok(None);
        }
        let spare = self.spares.name();
        let spare_path = self.settings.path(&path(Named::Spare(spare)));
        self.disk.rename(segment.path(), &spare_path)?;
        Ok(Some(spare))
    }

    fn check_poison(&self) -> Result<(), LogError> {
        let poisoned = self.poison.clone().map(LogError::Poisoned);
        poisoned.map_or(Ok(()), Err)
    }

    /// A full disk is no reason to distrust it; everything else is.
    fn poisoned_by(&mut self, error: LogError) -> LogError {
        if let LogError::Io(text) = &error {
            tracing::error!(reason = %text, "the log takes no more entries: a write failed");
            self.poison.get_or_insert_with(|| text.clone());
        }
        error
    }
}

impl Active {
    /// How many of the records fit before the footer that they would need.
    fn fitting(&self, records: &[Record]) -> usize {
        let mut end = u64::from(self.end);
        let fits = |(position, record): &(usize, &Record)| {
            end = align(end + (HEAD_BYTES + record.body.len()) as u64);
            end + self.footer.bytes_with(position + 1) as u64 <= u64::from(self.size)
        };
        records.iter().enumerate().take_while(fits).count()
    }

    /// One vectored write and one sync. Bodies are written from where they lie; `frames` holds what is
    /// between them: the padding of the record before and the head of the next.
    fn write_group(&mut self, group: &[Record]) -> Result<Vec<Place>, LogError> {
        let seed = *self.segment.seed();
        let start = self.end;
        let mut frames = Vec::with_capacity(group.len() * (HEAD_BYTES + 8) + 8);
        let mut frame_ends = Vec::with_capacity(group.len());
        let mut places = Vec::with_capacity(group.len());
        let mut end = u64::from(start);
        for record in group {
            // Invariant: `fitting` kept the group inside the segment, whose size fits 32 bits.
            let offset = align(end) as u32;
            frames.extend(std::iter::repeat_n(0, (u64::from(offset) - end) as usize));
            frames.extend_from_slice(&encode_head(record, &seed, offset, start));
            frame_ends.push(frames.len());
            let bytes = (HEAD_BYTES + record.body.len()) as u32;
            places.push(Place { offset, bytes });
            end = u64::from(offset) + u64::from(bytes);
        }
        let padding = (align(end) - end) as usize;
        let mut slices: Vec<&[u8]> = Vec::with_capacity(group.len() * 2 + 1);
        let mut frame_start = 0;
        for (record, frame_end) in group.iter().zip(frame_ends) {
            slices.push(&frames[frame_start..frame_end]);
            slices.push(&record.body);
            frame_start = frame_end;
        }
        slices.push(&[0; 8][..padding]);
        let file = self.segment.file();
        let written = file
            .write_at(&slices, u64::from(start))
            .and_then(|()| file.sync_data());
        written.map_err(|error| LogError::Io(error.to_string()))?;
        self.end = align(end) as u32;
        for (record, place) in group.iter().zip(&places) {
            self.footer.add(record.ledger, record.entry, *place);
        }
        Ok(places)
    }

    /// Writes the footer at the end of the pre-written file and syncs it.
    fn close(self) -> Result<Sealed, LogError> {
        let start = self.size - self.footer.bytes_with(0) as u32;
        let (bytes, runs) = self.footer.encode(self.segment.seed(), start, self.end);
        let file = self.segment.file();
        let written = file
            .write_at(&[&bytes], u64::from(start))
            .and_then(|()| file.sync_data());
        written.map_err(|error| LogError::Io(error.to_string()))?;
        Ok(Sealed {
            segment: self.segment,
            runs,
        })
    }
}

/// Closes a segment that is not full: the footer follows the records and the rest of the file is given back.
pub(crate) fn write_footer_and_cut(
    segment: Arc<Segment>,
    end: u32,
    footer: FooterBuilder,
) -> Result<Sealed, LogError> {
    let (bytes, runs) = footer.encode(segment.seed(), end, end);
    let file = segment.file();
    let written = file
        .write_at(&[&bytes], u64::from(end))
        .and_then(|()| file.set_len(u64::from(end) + bytes.len() as u64))
        .and_then(|()| file.sync_all());
    written.map_err(|error| LogError::Io(format!("cannot close {}: {error}", segment.path())))?;
    Ok(Sealed { segment, runs })
}
