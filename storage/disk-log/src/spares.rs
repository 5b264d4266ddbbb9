//! Files that are ready to become segments.
//!
//! A log writes into blocks that exist already: growing a file with every commit costs a second journal write
//! of the file system and meets a full disk in the middle of an entry. A spare is written with zeros under
//! the name `.prep`, synced and renamed. That sync keeps the log quick, not right: a segment's header is
//! synced, with everything else in the file, before its first record is confirmed.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use world::{Disk, OpenHow};

use crate::error::LogError;
use crate::names::{Named, path};
use crate::settings::LogSettings;

/// Zeros written at once.
const PIECE_BYTES: usize = 1024 * 1024;

/// The spares of one log; clones share them. Preparing may happen on any thread.
#[derive(Clone)]
pub struct Spares {
    disk: Arc<dyn Disk>,
    settings: LogSettings,
    shelf: Arc<Mutex<Shelf>>,
}

#[derive(Debug, Default)]
struct Shelf {
    ready: Vec<u64>,
    next: u64,
}

impl Spares {
    pub(crate) fn new(disk: Arc<dyn Disk>, settings: LogSettings, next: u64) -> Spares {
        let shelf = Shelf {
            ready: Vec::new(),
            next,
        };
        Spares {
            disk,
            settings,
            shelf: Arc::new(Mutex::new(shelf)),
        }
    }

    /// Makes a spare if none is ready; says whether it made one. The log makes one itself, in the way of a
    /// commit, if this is not called in time.
    ///
    /// # Errors
    /// The disk is full or said no. Nothing is lost; it may be tried again.
    pub fn prepare(&self) -> Result<bool, LogError> {
        if !self.shelf().ready.is_empty() {
            return Ok(false);
        }
        let number = self.make()?;
        self.shelf().ready.push(number);
        Ok(true)
    }

    /// How many are ready.
    pub fn ready(&self) -> usize {
        self.shelf().ready.len()
    }

    /// A spare for a new segment, made now if none is ready.
    pub(crate) fn take(&self) -> Result<u64, LogError> {
        let ready = self.shelf().ready.pop();
        ready.map_or_else(|| self.make(), Ok)
    }

    /// A name for a file that will be a spare.
    pub(crate) fn name(&self) -> u64 {
        let mut shelf = self.shelf();
        let number = shelf.next;
        shelf.next += 1;
        number
    }

    pub(crate) fn put(&self, number: u64) {
        self.shelf().ready.push(number);
    }

    fn make(&self) -> Result<u64, LogError> {
        let number = self.name();
        let preparing = self.settings.path(&path(Named::Preparing(number)));
        let made = self.write_zeros(&preparing).and_then(|()| {
            let spare = self.settings.path(&path(Named::Spare(number)));
            self.disk.rename(&preparing, &spare)
        });
        made.map_err(|error| {
            // Gives the space back if it can; a leftover is removed at the next start.
            let _ = self.disk.remove(&preparing);
            LogError::from_disk("cannot make a file for the next segment", &error)
        })?;
        Ok(number)
    }

    fn write_zeros(&self, place: &str) -> io::Result<()> {
        let file = self.disk.open(place, OpenHow::CreateNew)?;
        let total = self.settings.segment_bytes as usize;
        let zeros = vec![0; PIECE_BYTES.min(total)];
        let mut written = 0;
        while written < total {
            let count = zeros.len().min(total - written);
            file.write_at(&[&zeros[..count]], written as u64)?;
            written += count;
        }
        file.sync_all()
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // The lists are whole between any two statements, so a panic elsewhere does not spoil them.
        self.shelf
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
