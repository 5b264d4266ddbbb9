//! The store of one machine: a redb file on the [`world::Disk`], one durable commit per batch.
//!
//! What it relies on:
//! - redb writes copy-on-write pages, then its header, then syncs, then flips the header's primary
//!   bit, then syncs again (two-phase commit, which `quick_repair` implies). The header and both
//!   commit slots lie in the first 320 bytes of the file, that is in one 512-byte block, which the
//!   disk's contract never tears. So a cut leaves the old tree or the new one.
//! - A batch is one transaction: after a cut either all of its changes are there or none.
//! - Replies of a batch with changes leave after its commit, reads included, since they may have
//!   seen the batch's own changes.
//! - After a failed commit nothing is known about the file, so the store refuses everything until
//!   it is opened again; the changes of the failed batch may then be there or not.
//! - The pages are verified once, when the file is opened; afterwards redb trusts what it reads, and
//!   only the values are checked, each by its own record's checksum.
//! - Nobody else has the file open: the lock of the data directory sees to that.
//!
//! The session of an asker is this opening of the file: ephemeral keys of earlier ones are removed
//! by the next [`EmbeddedStore::open`]. It is never lost while the store is open.

mod backend;
mod batch;
mod open;
pub mod record;

#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod embedded_tests;
#[cfg(test)]
mod model_tests;

pub use open::OpenError;

use crate::seam::{MetadataError, MetadataReply, MetadataRequest};
use crate::watch::Watches;
use backend::FirstError;
use batch::Changes;
use redb::{Database, ReadableDatabase, TableDefinition};
use std::fmt;
use vocabulary::WallTime;

/// Path to key record.
const KEYS: TableDefinition<&str, &[u8]> = TableDefinition::new("keys");
/// Paths of the ephemeral keys, so that opening need not read all keys.
const EPHEMERAL: TableDefinition<&str, ()> = TableDefinition::new("ephemeral");
/// Parent path to counter record.
const COUNTERS: TableDefinition<&str, &[u8]> = TableDefinition::new("counters");
/// One row, the head record.
const HEAD: TableDefinition<(), &[u8]> = TableDefinition::new("head");

/// Where the store is and how much memory it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The file, relative to the disk.
    pub path: String,
    /// Bytes of pages kept in memory.
    pub cache_bytes: usize,
    /// A missing file is an error instead of an empty store.
    pub must_exist: bool,
    /// Opening reads the whole file and verifies every page, so that damage is an error with a name.
    /// Without it redb trusts the pages and may panic on damaged ones. About 3 ms per megabyte.
    pub check_on_open: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            path: "metadata.redb".to_owned(),
            cache_bytes: 4 << 20,
            must_exist: false,
            check_on_open: true,
        }
    }
}

/// The store. Blocking: whoever calls [`turn`](EmbeddedStore::turn) waits for the disk.
pub struct EmbeddedStore {
    database: Database,
    path: String,
    owner: u64,
    watches: Watches,
    first_error: FirstError,
    /// What the first failed commit said.
    poison: Option<String>,
}

impl EmbeddedStore {
    /// Opens the file, or makes it; removes the ephemeral keys of earlier openings.
    pub fn open(disk: &dyn world::Disk, settings: &Settings) -> Result<EmbeddedStore, OpenError> {
        open::open(disk, settings)
    }

    /// Carries out all the requests, in order, and makes their changes last with one commit; then
    /// answers each, in order, and adds a `Changed` for every changed key under a watched prefix.
    pub fn turn(&mut self, now: WallTime, requests: Vec<MetadataRequest>) -> Vec<MetadataReply> {
        if requests.is_empty() {
            return Vec::new();
        }
        if let Some(poison) = &self.poison {
            return refuse(&requests, poison);
        }
        let outcome = if requests.iter().any(MetadataRequest::is_change) {
            self.change(now, &requests)
        } else {
            self.read(&requests)
        };
        match outcome {
            Ok(replies) => replies,
            Err(trouble) => refuse(&requests, &trouble),
        }
    }

    /// Tells of changes under a prefix from now on; see [`Watches`]. Not kept over an opening.
    pub fn watch(&mut self, prefix: &str) -> Result<(), MetadataError> {
        self.watches.watch(prefix)
    }

    /// No longer tells of changes under this prefix.
    pub fn unwatch(&mut self, prefix: &str) {
        self.watches.unwatch(prefix);
    }

    /// How often the file has been opened: the owner of the ephemeral keys made now.
    #[must_use]
    pub fn owner(&self) -> u64 {
        self.owner
    }

    /// Why it refuses everything, if it does.
    #[must_use]
    pub fn poisoned(&self) -> Option<&str> {
        self.poison.as_deref()
    }

    fn read(&self, requests: &[MetadataRequest]) -> Result<Vec<MetadataReply>, String> {
        let transaction = self.database.begin_read().map_err(|e| self.describe(&e))?;
        let keys = transaction
            .open_table(KEYS)
            .map_err(|e| self.describe(&e))?;
        Ok(requests
            .iter()
            .map(|request| batch::read(&keys, request, &|e| self.describe(e)))
            .collect())
    }

    fn change(
        &mut self,
        now: WallTime,
        requests: &[MetadataRequest],
    ) -> Result<Vec<MetadataReply>, String> {
        let transaction = open::begin_durable(&self.database).map_err(|e| self.describe(&e))?;
        let describe = |e: &dyn fmt::Display| self.describe(e);
        let mut replies = Vec::with_capacity(requests.len());
        let changed = {
            let mut changes = Changes::new(&transaction, self.owner, now, &describe)?;
            for request in requests {
                replies.push(changes.carry_out(request)?);
            }
            changes.into_changed()
        };
        if changed.is_empty() {
            // Nothing to keep, so nothing to wait for.
            transaction.abort().map_err(|e| self.describe(&e))?;
            return Ok(replies);
        }
        if let Err(error) = transaction.commit() {
            let poison = format!(
                "{}; no change is accepted any more, and whether the last ones were kept shows after a restart",
                self.describe(&error)
            );
            tracing::error!(file = %self.path, "commit of metadata failed: {poison}");
            self.poison = Some(poison.clone());
            return Err(poison);
        }
        let told = changed.into_iter().filter(|path| self.watches.covers(path));
        replies.extend(told.map(|path| MetadataReply::Changed { path }));
        Ok(replies)
    }

    /// An error of redb with the disk's own words, which redb drops after the first time.
    fn describe(&self, error: &dyn fmt::Display) -> String {
        self.first_error.describe(&self.path, error)
    }
}

impl fmt::Debug for EmbeddedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EmbeddedStore {
            path,
            owner,
            poison,
            ..
        } = self;
        f.debug_struct("EmbeddedStore")
            .field("path", path)
            .field("owner", owner)
            .field("poison", poison)
            .finish()
    }
}

fn refuse(requests: &[MetadataRequest], why: &str) -> Vec<MetadataReply> {
    let failed = |request: &MetadataRequest| {
        request.failed(MetadataError::Io(request.path().to_owned(), why.to_owned()))
    };
    requests.iter().map(failed).collect()
}
