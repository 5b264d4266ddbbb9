//! Everything the made-up disk remembers, behind one lock.

use std::collections::BTreeMap;
use std::io;

use crate::disk::{DiskOp, OpKind, SyncKind, SyncWhat};
use crate::inode::Inode;
use crate::names::{Names, Node};

/// Removed files whose bytes may show up in new ones.
const GRAVES_MAX: usize = 4;

/// Decides whether a sync is left out.
pub type SyncFilter = Box<dyn Fn(&SyncWhat) -> bool + Send>;
/// Decides whether the power goes with an operation.
pub type CutFilter = Box<dyn FnMut(&DiskOp) -> bool + Send>;
/// Decides whether an operation fails, and how.
pub type Fault = Box<dyn FnMut(&DiskOp) -> Option<io::Error> + Send>;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) inodes: BTreeMap<usize, Inode>,
    next_inode: usize,
    pub(crate) names: Names,
    /// Bytes of removed files.
    pub(crate) graveyard: Vec<Vec<u8>>,
    pub(crate) operations: u64,
    pub(crate) cut_at: Option<u64>,
    pub(crate) cut_when: Option<CutFilter>,
    /// The operation with which the power went, until the restart.
    pub(crate) cut_operation: Option<DiskOp>,
    pub(crate) power_is_off: bool,
    /// Grows with every restart: handles of an earlier life are dead.
    pub(crate) life: u64,
    pub(crate) bytes_max: Option<u64>,
    pub(crate) skipped_syncs: Option<SyncFilter>,
    pub(crate) fault: Option<Fault>,
    pub(crate) bytes_read: u64,
}

/// What a counted operation does to its effect.
pub(crate) enum Verdict {
    /// It happens and says so.
    Works,
    /// It may have happened; the caller is told that the power is off.
    CutNow,
}

impl State {
    /// Counts a changing operation and says whether the power goes with it.
    pub(crate) fn count(&mut self, kind: OpKind, path: &str) -> io::Result<Verdict> {
        self.check_power()?;
        self.operations += 1;
        if self.cuts(kind, path) {
            self.power_is_off = true;
            self.cut_operation = Some(DiskOp {
                kind,
                path: path.to_owned(),
            });
            return Ok(Verdict::CutNow);
        }
        self.check_fault(kind, path)?;
        Ok(Verdict::Works)
    }

    fn cuts(&mut self, kind: OpKind, path: &str) -> bool {
        let operation = || DiskOp {
            kind,
            path: path.to_owned(),
        };
        self.cut_at.is_some_and(|at| self.operations >= at)
            || self.cut_when.as_mut().is_some_and(|cut| cut(&operation()))
    }

    pub(crate) fn check_power(&self) -> io::Result<()> {
        if self.power_is_off {
            return Err(power_is_off());
        }
        Ok(())
    }

    pub(crate) fn check_fault(&mut self, kind: OpKind, path: &str) -> io::Result<()> {
        let Some(fault) = &mut self.fault else {
            return Ok(());
        };
        let operation = DiskOp {
            kind,
            path: path.to_owned(),
        };
        fault(&operation).map_or(Ok(()), Err)
    }

    pub(crate) fn skips(&self, what: &SyncWhat) -> bool {
        self.skipped_syncs.as_ref().is_some_and(|skip| skip(what))
    }

    pub(crate) fn new_inode(&mut self, path: &str) -> usize {
        let index = self.next_inode;
        self.next_inode += 1;
        let inode = Inode {
            path: path.to_owned(),
            ..Inode::default()
        };
        self.inodes.insert(index, inode);
        index
    }

    /// A file's blocks go back to the disk, with what is in them.
    pub(crate) fn bury(&mut self, index: usize) {
        if let Some(inode) = self.inodes.remove(&index) {
            self.keep_stale(inode.now);
        }
    }

    /// Remembers bytes that may show up in blocks of other files.
    pub(crate) fn keep_stale(&mut self, bytes: Vec<u8>) {
        self.graveyard.push(bytes);
        if self.graveyard.len() > GRAVES_MAX {
            self.graveyard.remove(0);
        }
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.inodes
            .values()
            .map(|inode| inode.now.len() as u64)
            .sum()
    }

    pub(crate) fn check_room(&self, inode: usize, end: usize) -> io::Result<()> {
        let Some(bytes_max) = self.bytes_max else {
            return Ok(());
        };
        let present = self.inodes.get(&inode).map_or(0, |inode| inode.now.len());
        let growth = end.saturating_sub(present) as u64;
        if growth > 0 && self.used_bytes() + growth > bytes_max {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    pub(crate) fn sync_file(&mut self, index: usize, kind: SyncKind) -> io::Result<()> {
        // Asked by who is dead already: it says nothing about the disk.
        self.check_power()?;
        let path = self.path_of(index);
        let verdict = match self.count(OpKind::Sync, &path) {
            Ok(verdict) => verdict,
            Err(error) => {
                if let Some(inode) = self.inodes.get_mut(&index) {
                    inode.sync_failed();
                }
                return Err(error);
            }
        };
        if let Verdict::CutNow = verdict {
            return Err(power_is_off());
        }
        let Some(inode) = self.inodes.get(&index) else {
            return Ok(());
        };
        let what = SyncWhat {
            kind,
            path,
            first_dirty_byte: inode.first_dirty_byte(),
            reaches_end: inode.last_write_end == inode.now.len(),
            last_change: None,
        };
        if !self.skips(&what)
            && let Some(inode) = self.inodes.get_mut(&index)
        {
            inode.synced();
        }
        Ok(())
    }

    pub(crate) fn path_of(&self, index: usize) -> String {
        self.inodes
            .get(&index)
            .map_or(String::new(), |inode| inode.path.clone())
    }

    pub(crate) fn file_at(&self, path: &str) -> Option<usize> {
        match self.names.now.get(path) {
            Some(Node::File(inode)) => Some(*inode),
            _ => None,
        }
    }
}

pub(crate) fn power_is_off() -> io::Error {
    io::Error::other("power is off")
}
