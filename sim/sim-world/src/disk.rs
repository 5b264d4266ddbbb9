//! A disk in memory that keeps exactly what [`world::disk`] promises and no more.
//!
//! Clones share the disk. Changing operations are counted; [`SimDisk::cut_at`] names the one at which the
//! power goes. [`SimDisk::restart`] then builds what is left, [`SimDisk::kill`] only ends the process:
//! everything written is still seen, but what was not synced is still in doubt.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use world::{Dice, Disk, DiskFile, OpenHow};

use crate::cut;
use crate::names::{NameChange, Node, parent};
use crate::state::{CutFilter, Fault, State, SyncFilter, Verdict, power_is_off};

/// Which sync was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// `sync_data`.
    Data,
    /// `sync_all`.
    All,
    /// `sync_dir`.
    Dir,
}

/// One call of a sync, told apart well enough to switch off a single line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncWhat {
    /// Which sync.
    pub kind: SyncKind,
    /// The file's present path, or the directory's.
    pub path: String,
    /// The first byte it would make last, rounded down to a block; `None`: nothing is waiting.
    pub first_dirty_byte: Option<u64>,
    /// Whether the last write to the file ended at the file's end (a segment's footer does).
    pub reaches_end: bool,
    /// The newest change of a name that it would make last, as `verb name`; for directories.
    pub last_change: Option<String>,
}

/// Kinds of operations that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the calls")]
pub enum OpKind {
    Open,
    Create,
    CreateDir,
    Read,
    Write,
    SetLen,
    Sync,
    SyncDir,
    Rename,
    Remove,
}

/// One operation, shown to a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskOp {
    /// What is done.
    pub kind: OpKind,
    /// To what; for a rename the old name.
    pub path: String,
}

/// The disk. Cheap to clone; clones are the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

impl SimDisk {
    /// An empty disk with the power on.
    pub fn new() -> SimDisk {
        SimDisk::default()
    }

    /// Changing operations so far, over all lives.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Bytes handed out by reads so far.
    pub fn bytes_read(&self) -> u64 {
        self.state().bytes_read
    }

    /// The power goes with changing operation number `operation` (the first ever is 1): it may or may not
    /// have happened, and everything from it on fails until [`SimDisk::restart`].
    pub fn cut_at(&self, operation: u64) {
        self.state().cut_at = Some(operation);
    }

    /// The power goes with the first changing operation for which `cut` is true; see [`SimDisk::cut_at`].
    pub fn cut_when(&self, cut: CutFilter) {
        self.state().cut_when = Some(cut);
    }

    /// With which operation the power went, if it is off.
    pub fn cut_operation(&self) -> Option<DiskOp> {
        self.state().cut_operation.clone()
    }

    /// Whether the power has gone.
    pub fn is_off(&self) -> bool {
        self.state().power_is_off
    }

    /// Cuts the power if it is on, lets the dice decide what is left, and switches on again. Handles opened
    /// before are dead.
    pub fn restart(&self, dice: &mut dyn Dice) {
        let mut state = self.state();
        cut::settle(&mut state, dice);
        state.power_is_off = false;
        state.cut_at = None;
        state.cut_when = None;
        state.cut_operation = None;
        state.life += 1;
    }

    /// The process died, the machine did not: handles are dead, bytes are still there, syncs still owed. After
    /// [`SimDisk::cut_when`] or [`SimDisk::cut_at`] has struck, it was the process that went with that operation.
    pub fn kill(&self) {
        let mut state = self.state();
        if state.power_is_off {
            state.power_is_off = false;
            state.cut_at = None;
            state.cut_when = None;
            state.cut_operation = None;
        }
        state.life += 1;
    }

    /// From now on syncs for which `skip` is true do nothing and say that they did. For tests that show what
    /// each sync is good for.
    pub fn disable_sync(&self, skip: SyncFilter) {
        self.state().skipped_syncs = Some(skip);
    }

    /// From now on operations for which `fault` gives an error fail with it and do nothing. A failed sync
    /// leaves its blocks in doubt until they are written again, whatever later syncs say.
    pub fn inject(&self, fault: Fault) {
        self.state().fault = Some(fault);
    }

    /// Ends what [`SimDisk::inject`] and [`SimDisk::disable_sync`] began.
    pub fn heal(&self) {
        let mut state = self.state();
        state.fault = None;
        state.skipped_syncs = None;
    }

    /// Limits the sum of all file lengths; `None`: no limit.
    pub fn limit_bytes(&self, bytes_max: Option<u64>) {
        self.state().bytes_max = bytes_max;
    }

    /// Rot: flips the bits of `mask` in a byte that is there.
    pub fn flip(&self, path: &str, offset: u64, mask: u8) {
        let mut state = self.state();
        let inode = state.file_at(path);
        if let Some(inode) = inode.and_then(|index| state.inodes.get_mut(&index)) {
            inode.flip(offset as usize, mask);
        }
    }

    /// All bytes of a file, without counting as a read; `None`: no such file.
    pub fn bytes_of(&self, path: &str) -> Option<Vec<u8>> {
        let state = self.state();
        let inode = state.file_at(path)?;
        state.inodes.get(&inode).map(|inode| inode.now.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn handle(&self, state: &State, inode: usize) -> Arc<dyn DiskFile> {
        Arc::new(SimFile {
            disk: Arc::clone(&self.state),
            inode,
            life: state.life,
        })
    }
}

impl Disk for SimDisk {
    fn open(&self, path: &str, how: OpenHow) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state();
        state.check_power()?;
        let found = state.file_at(path);
        match (found, how) {
            (Some(_), OpenHow::CreateNew) => Err(named(io::ErrorKind::AlreadyExists, path)),
            (None, OpenHow::Read | OpenHow::ReadWrite) => Err(named(io::ErrorKind::NotFound, path)),
            (Some(inode), _) => {
                state.check_fault(OpKind::Open, path)?;
                Ok(self.handle(&state, inode))
            }
            (None, _) => {
                if !state.names.is_dir(parent(path)) || state.names.is_dir(path) {
                    return Err(named(io::ErrorKind::NotFound, parent(path)));
                }
                let verdict = state.count(OpKind::Create, path)?;
                let inode = state.new_inode(path);
                state.names.change(NameChange::Set {
                    path: path.to_owned(),
                    node: Node::File(inode),
                });
                said(verdict)?;
                Ok(self.handle(&state, inode))
            }
        }
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let state = self.state();
        state.check_power()?;
        if !state.names.is_dir(dir) {
            return Err(named(io::ErrorKind::NotFound, dir));
        }
        Ok(state.names.list(dir))
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        let mut state = self.state();
        state.check_power()?;
        let ends = dir.match_indices('/').map(|(end, _)| end);
        for end in ends.chain([dir.len()]) {
            let path = &dir[..end];
            if state.names.is_dir(path) {
                continue;
            }
            let verdict = state.count(OpKind::CreateDir, path)?;
            state.names.change(NameChange::Set {
                path: path.to_owned(),
                node: Node::Dir,
            });
            said(verdict)?;
        }
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        state.check_power()?;
        let Some(inode) = state.file_at(from) else {
            return Err(named(io::ErrorKind::NotFound, from));
        };
        if parent(from) != parent(to) {
            let text =
                format!("cannot rename {from} to {to}: the disk's contract covers one directory");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let verdict = state.count(OpKind::Rename, from)?;
        state.names.change(NameChange::Rename {
            from: from.to_owned(),
            to: to.to_owned(),
            node: Node::File(inode),
        });
        if let Some(inode) = state.inodes.get_mut(&inode) {
            inode.path = to.to_owned();
        }
        said(verdict)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let mut state = self.state();
        state.check_power()?;
        let Some(inode) = state.file_at(path) else {
            return Err(named(io::ErrorKind::NotFound, path));
        };
        let verdict = state.count(OpKind::Remove, path)?;
        state.names.change(NameChange::Remove {
            path: path.to_owned(),
        });
        // Its blocks may be given to another file at once, while the name still waits to go.
        let bytes = state.inodes.get(&inode).map(|inode| inode.now.clone());
        state.keep_stale(bytes.unwrap_or_default());
        said(verdict)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        let state = self.state();
        state.check_power()?;
        Ok(state.names.is_dir(path) || state.names.now.contains_key(path))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        let mut state = self.state();
        state.check_power()?;
        if !state.names.is_dir(dir) {
            return Err(named(io::ErrorKind::NotFound, dir));
        }
        said(state.count(OpKind::SyncDir, dir)?)?;
        let what = SyncWhat {
            kind: SyncKind::Dir,
            path: dir.to_owned(),
            first_dirty_byte: None,
            reaches_end: false,
            last_change: state.names.last_change(dir),
        };
        if !state.skips(&what) {
            state.names.sync(dir);
        }
        Ok(())
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        let state = self.state();
        state.check_power()?;
        let free = |bytes_max: u64| bytes_max.saturating_sub(state.used_bytes());
        Ok(state.bytes_max.map(free))
    }
}

/// A handle: an inode seen from one life of the machine.
struct SimFile {
    disk: Arc<Mutex<State>>,
    inode: usize,
    life: u64,
}

impl SimFile {
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = lock(&self.disk);
        state.check_power()?;
        if state.life != self.life {
            return Err(io::Error::other(
                "this handle belongs to a process that has died",
            ));
        }
        Ok(state)
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.state()?;
        if state.fault.is_some() {
            let path = state.path_of(self.inode);
            state.check_fault(OpKind::Read, &path)?;
        }
        let Some(inode) = state.inodes.get(&self.inode) else {
            return Ok(0);
        };
        let from = (offset as usize).min(inode.now.len());
        let count = into.len().min(inode.now.len() - from);
        into[..count].copy_from_slice(&inode.now[from..from + count]);
        state.bytes_read += count as u64;
        Ok(count)
    }

    fn write_at(&self, slices: &[&[u8]], offset: u64) -> io::Result<()> {
        let mut state = self.state()?;
        let length: usize = slices.iter().map(|slice| slice.len()).sum();
        state.check_room(self.inode, offset as usize + length)?;
        let path = state.path_of(self.inode);
        let verdict = state.count(OpKind::Write, &path)?;
        if let Some(inode) = state.inodes.get_mut(&self.inode) {
            inode.write(&slices.concat(), offset as usize);
        }
        said(verdict)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.state()?.sync_file(self.inode, SyncKind::Data)
    }

    fn sync_all(&self) -> io::Result<()> {
        self.state()?.sync_file(self.inode, SyncKind::All)
    }

    fn len(&self) -> io::Result<u64> {
        let state = self.state()?;
        let length = state
            .inodes
            .get(&self.inode)
            .map_or(0, |inode| inode.now.len());
        Ok(length as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.state()?;
        state.check_room(self.inode, len as usize)?;
        let path = state.path_of(self.inode);
        let verdict = state.count(OpKind::SetLen, &path)?;
        if let Some(inode) = state.inodes.get_mut(&self.inode) {
            inode.set_len(len as usize);
        }
        said(verdict)
    }
}

fn said(verdict: Verdict) -> io::Result<()> {
    match verdict {
        Verdict::Works => Ok(()),
        Verdict::CutNow => Err(power_is_off()),
    }
}

fn named(kind: io::ErrorKind, path: &str) -> io::Error {
    io::Error::new(kind, format!("{path}: {kind}"))
}

fn lock(state: &Arc<Mutex<State>>) -> MutexGuard<'_, State> {
    // A test that panicked while holding the lock has failed already.
    state
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
