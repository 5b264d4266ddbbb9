//! redb's window onto the disk.

use redb::StorageBackend;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use world::DiskFile;

/// The first error the disk gave; later ones often only say that there was one.
#[derive(Clone, Default)]
pub(super) struct FirstError(Arc<Mutex<Option<String>>>);

impl FirstError {
    fn note(&self, doing: &str, error: io::Error) -> io::Error {
        let text = format!("{doing} failed: {error}");
        let kind = error.kind();
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| text.clone());
        io::Error::new(kind, text)
    }

    /// The disk's first error, if there was one.
    pub(super) fn get(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What happened to the file `path`, in one line.
    pub(super) fn describe(&self, path: &str, error: &dyn fmt::Display) -> String {
        let error = error.to_string();
        match self.get() {
            Some(first) if !error.contains(&first) => format!("{path}: {error} ({first})"),
            _ => format!("{path}: {error}"),
        }
    }
}

/// One file, as redb wants it. No locks: the data directory's lock keeps others out.
pub(super) struct FileBackend {
    file: Arc<dyn DiskFile>,
    first_error: FirstError,
}

impl FileBackend {
    pub(super) fn new(file: Arc<dyn DiskFile>, first_error: FirstError) -> FileBackend {
        FileBackend { file, first_error }
    }
}

impl fmt::Debug for FileBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileBackend")
    }
}

impl StorageBackend for FileBackend {
    fn len(&self) -> io::Result<u64> {
        self.file
            .len()
            .map_err(|e| self.first_error.note("asking its length", e))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let wanted = out.len();
        let doing = || format!("reading {wanted} bytes at {offset}");
        let got = self
            .file
            .read_at(out, offset)
            .map_err(|e| self.first_error.note(&doing(), e))?;
        if got < wanted {
            // No failure of the disk: the file is not what it was.
            let text = format!("{} failed: the file ends after {got} of them", doing());
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len).map_err(|e| {
            self.first_error
                .note(&format!("setting its length to {len}"), e)
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        // A commit may have grown or shrunk the file. `sync_data` keeps a length that grew, and a
        // length that shrank but was not kept only leaves unused pages at the end, which redb allows.
        self.file
            .sync_data()
            .map_err(|e| self.first_error.note("syncing", e))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let doing = || format!("writing {} bytes at {offset}", data.len());
        self.file
            .write_at(&[data], offset)
            .map_err(|e| self.first_error.note(&doing(), e))
    }
}
