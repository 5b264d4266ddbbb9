//! From a name on the disk to a store that serves.
//!
//! A new file is made and filled under another name, which ends with a durable commit, and only then
//! renamed, so that the real name only ever names a whole store. That lets a file of that name which
//! is empty or no store be told apart from a missing one: it is damage.

use super::backend::{FileBackend, FirstError};
use super::record::RecordError;
use super::record::head::Head;
use super::{COUNTERS, EPHEMERAL, EmbeddedStore, HEAD, KEYS, Settings};
use crate::watch::Watches;
use redb::{Builder, Database, Durability, ReadableTable, WriteTransaction};
use std::io;
use std::sync::Arc;
use world::{Disk, DiskFile, OpenHow};

/// Why a store does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is no such file and none was to be made.
    #[error(
        "there is no metadata file {path}, though other data lies beside it; restore it from a copy, or choose another directory"
    )]
    Missing {
        /// The file.
        path: String,
    },
    /// The file is there, and is not what was written.
    #[error("the metadata file {path} is damaged: {why}; restore it from a copy")]
    Damaged {
        /// The file.
        path: String,
        /// What was found.
        why: String,
    },
    /// The file was written by a newer program.
    #[error("the metadata file {path} was written by a newer version: {why}; use that version")]
    Newer {
        /// The file.
        path: String,
        /// What is not understood.
        why: String,
    },
    /// The disk failed.
    #[error("the metadata file {path} cannot be opened: {why}")]
    Io {
        /// The file.
        path: String,
        /// What the disk said.
        why: String,
    },
}

/// Bits of [`Head::incompatible_features`] that this program understands.
const KNOWN_FEATURES: u64 = 0;

pub(super) fn open(disk: &dyn Disk, settings: &Settings) -> Result<EmbeddedStore, OpenError> {
    let path = settings.path.as_str();
    let io = |e: io::Error| OpenError::Io {
        path: path.to_owned(),
        why: e.to_string(),
    };
    if !disk.exists(path).map_err(io)? {
        if settings.must_exist {
            return Err(OpenError::Missing {
                path: path.to_owned(),
            });
        }
        create(disk, settings)?;
    }
    // Makes the rename last; also that of an earlier process, which may have died before its sync.
    disk.sync_dir(dir_of(path)).map_err(io)?;
    let file = disk.open(path, OpenHow::ReadWrite).map_err(io)?;
    if file.is_empty().map_err(io)? {
        // redb would take an empty file for a new one.
        return Err(OpenError::Damaged {
            path: path.to_owned(),
            why: "it is empty".to_owned(),
        });
    }
    let first_error = FirstError::default();
    let opening = Opening {
        path,
        first_error: &first_error,
    };
    let database = opening.database(file, settings)?;
    let owner = opening.start(&database)?;
    Ok(EmbeddedStore {
        database,
        path: path.to_owned(),
        owner,
        watches: Watches::default(),
        first_error,
        poison: None,
    })
}

/// A write transaction whose commit returns after the disk's sync.
pub(super) fn begin_durable(database: &Database) -> Result<WriteTransaction, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    transaction.set_quick_repair(true);
    Ok(transaction)
}

fn create(disk: &dyn Disk, settings: &Settings) -> Result<(), OpenError> {
    let path = settings.path.as_str();
    let unfinished = format!("{path}.new");
    let dir = dir_of(path);
    let io = |e: io::Error| OpenError::Io {
        path: unfinished.clone(),
        why: e.to_string(),
    };
    make_dirs(disk, dir).map_err(io)?;
    if disk.exists(&unfinished).map_err(io)? {
        disk.remove(&unfinished).map_err(io)?;
    }
    let file = disk.open(&unfinished, OpenHow::CreateNew).map_err(io)?;
    let first_error = FirstError::default();
    Opening {
        path: &unfinished,
        first_error: &first_error,
    }
    .fill(file, settings)?;
    disk.rename(&unfinished, path).map_err(io)
}

fn dir_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// Makes a directory and those above it, each to last.
fn make_dirs(disk: &dyn Disk, dir: &str) -> io::Result<()> {
    if dir.is_empty() {
        return Ok(());
    }
    make_dirs(disk, dir_of(dir))?;
    disk.create_dir(dir)?;
    disk.sync_dir(dir_of(dir))
}

/// One file on its way to being open.
struct Opening<'a> {
    path: &'a str,
    first_error: &'a FirstError,
}

impl Opening<'_> {
    fn database(
        &self,
        file: Arc<dyn DiskFile>,
        settings: &Settings,
    ) -> Result<Database, OpenError> {
        let backend = FileBackend::new(file, self.first_error.clone());
        let built = Builder::new()
            .set_cache_size(settings.cache_bytes)
            .set_check_integrity_on_open(settings.check_on_open)
            .create_with_backend(backend);
        built.map_err(|e| self.failed(e))
    }

    /// Makes an empty store of an empty file.
    fn fill(&self, file: Arc<dyn DiskFile>, settings: &Settings) -> Result<(), OpenError> {
        let database = self.database(file, settings)?;
        let transaction = begin_durable(&database).map_err(|e| self.failed(e))?;
        self.open_tables(&transaction)?;
        self.write_head(&transaction, Head::default())?;
        transaction.commit().map_err(|e| self.failed(e))?;
        database.close().map_err(|e| self.failed(e))
    }

    /// Counts this opening and removes the ephemeral keys of earlier ones; returns the count.
    fn start(&self, database: &Database) -> Result<u64, OpenError> {
        let transaction = begin_durable(database).map_err(|e| self.failed(e))?;
        let mut head = self.read_head(&transaction)?;
        let unknown = head.incompatible_features & !KNOWN_FEATURES;
        if unknown != 0 {
            let why = format!("it uses features this program does not know (bits {unknown:#x})");
            return Err(OpenError::Newer {
                path: self.path.to_owned(),
                why,
            });
        }
        head.openings = head.openings.saturating_add(1);
        self.open_tables(&transaction)?;
        self.remove_ephemeral(&transaction)?;
        self.write_head(&transaction, head)?;
        transaction.commit().map_err(|e| self.failed(e))?;
        Ok(head.openings)
    }

    fn open_tables(&self, transaction: &WriteTransaction) -> Result<(), OpenError> {
        transaction.open_table(KEYS).map_err(|e| self.failed(e))?;
        transaction
            .open_table(EPHEMERAL)
            .map_err(|e| self.failed(e))?;
        transaction
            .open_table(COUNTERS)
            .map_err(|e| self.failed(e))?;
        Ok(())
    }

    fn read_head(&self, transaction: &WriteTransaction) -> Result<Head, OpenError> {
        let path = self.path.to_owned();
        let table = transaction.open_table(HEAD).map_err(|e| self.failed(e))?;
        let Some(row) = table.get(()).map_err(|e| self.failed(e))? else {
            return Err(OpenError::Damaged {
                path,
                why: "it has no head record".to_owned(),
            });
        };
        Head::decode(row.value()).map_err(|error| match error {
            RecordError::Format(..) => OpenError::Newer {
                path,
                why: error.to_string(),
            },
            RecordError::Short(..) | RecordError::Checksum(_) => OpenError::Damaged {
                path,
                why: error.to_string(),
            },
        })
    }

    fn write_head(&self, transaction: &WriteTransaction, head: Head) -> Result<(), OpenError> {
        let mut table = transaction.open_table(HEAD).map_err(|e| self.failed(e))?;
        table
            .insert((), head.encode().as_slice())
            .map_err(|e| self.failed(e))?;
        Ok(())
    }

    fn remove_ephemeral(&self, transaction: &WriteTransaction) -> Result<(), OpenError> {
        let mut ephemeral = transaction
            .open_table(EPHEMERAL)
            .map_err(|e| self.failed(e))?;
        let mut keys = transaction.open_table(KEYS).map_err(|e| self.failed(e))?;
        let gone = ephemeral
            .extract_if(|_, ()| true)
            .map_err(|e| self.failed(e))?;
        for row in gone {
            let (path, _) = row.map_err(|e| self.failed(e))?;
            keys.remove(path.value()).map_err(|e| self.failed(e))?;
        }
        Ok(())
    }

    /// Damage is what redb finds wrong with bytes that the disk gave without complaint.
    fn failed(&self, error: impl Into<redb::Error>) -> OpenError {
        let error = error.into();
        let path = self.path.to_owned();
        let disk_failed = self.first_error.get().is_some();
        match error {
            redb::Error::UpgradeRequired(version) => OpenError::Damaged {
                path,
                why: format!("it has redb's file format {version}, which was never used here"),
            },
            _ if disk_failed => {
                let why = self.first_error.get().unwrap_or_default();
                OpenError::Io { path, why }
            }
            error => OpenError::Damaged {
                path,
                why: error.to_string(),
            },
        }
    }
}
