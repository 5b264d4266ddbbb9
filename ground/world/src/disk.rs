//! The disk as a directory of files. All paths are relative to it, with `/` between names.
//!
//! What holds after a power cut is what this contract says and nothing more:
//! - bytes written are kept only if [`DiskFile::sync_data`] (or `sync_all`) returned after the write;
//!   until then each 512-byte block may hold old or new bytes, in any mixture;
//! - a file's length change is kept only after a sync of that file;
//! - creating, renaming or removing a name is kept only after [`Disk::sync_dir`] of its directory;
//!   until then any subset of these may have happened;
//! - a failed sync says nothing about what was kept, and a later successful one does not mend it:
//!   the caller must treat the file as poisoned for good.

use std::io;
use std::sync::Arc;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenHow {
    /// It must exist; for reading.
    Read,
    /// It must exist; for reading and writing.
    ReadWrite,
    /// It must not exist; for reading and writing.
    CreateNew,
    /// Made if missing; for reading and writing.
    CreateOrOpen,
}

/// A directory tree.
pub trait Disk: Send + Sync {
    /// Opens a file.
    fn open(&self, path: &str, how: OpenHow) -> io::Result<Arc<dyn DiskFile>>;
    /// The names in a directory, sorted; the root is `""`.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Makes a directory and those above it; fine if it exists.
    fn create_dir(&self, dir: &str) -> io::Result<()>;
    /// Gives a file a new name in place of whatever had that name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &str) -> io::Result<()>;
    /// Whether a file or directory of that name is there.
    fn exists(&self, path: &str) -> io::Result<bool>;
    /// Makes all creations, renames and removals in a directory last.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;
    /// Bytes still free for this process, if the world knows.
    fn free_bytes(&self) -> io::Result<Option<u64>>;
}

/// An open file. Reads and writes name their offset, so that threads may share it.
pub trait DiskFile: Send + Sync {
    /// Reads until `into` is full or the file ends; returns how much was read.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all the slices one after another from `offset`; grows the file if needed.
    fn write_at(&self, slices: &[&[u8]], offset: u64) -> io::Result<()>;
    /// Makes the bytes (and the length, if it grew) last.
    fn sync_data(&self) -> io::Result<()>;
    /// Makes bytes and all attributes last.
    fn sync_all(&self) -> io::Result<()>;
    /// Its length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// True when its length is 0.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Cuts or grows it (growth reads as zeros).
    fn set_len(&self, len: u64) -> io::Result<()>;
}
