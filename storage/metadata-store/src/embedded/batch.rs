//! One batch against redb's tables.
//!
//! A request that the rules refuse, or whose row is damaged, fails alone, inside its reply; other
//! trouble of the file fails the whole batch, as its transaction cannot go on.

use super::record::counter;
use super::record::key::KeyRecord;
use super::{COUNTERS, EPHEMERAL, KEYS};
use crate::path;
use crate::rules::check_expect;
use crate::seam::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest, Stat};
use bytes::Bytes;
use redb::{ReadableTable, Table, WriteTransaction};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Bound;
use vocabulary::WallTime;

/// Puts an error of redb in words.
pub(super) type Describe<'a> = &'a dyn Fn(&dyn fmt::Display) -> String;

/// Why a change was not made.
enum Failure {
    /// This request fails, the batch goes on.
    Request(MetadataError),
    /// The batch fails.
    Batch(redb::StorageError),
}

impl From<MetadataError> for Failure {
    fn from(error: MetadataError) -> Failure {
        Failure::Request(error)
    }
}

impl From<redb::StorageError> for Failure {
    fn from(error: redb::StorageError) -> Failure {
        Failure::Batch(error)
    }
}

type Keys<'txn> = Table<'txn, &'static str, &'static [u8]>;

/// Answers a request that changes nothing. Trouble of the file is in the reply.
pub(super) fn read(
    keys: &impl ReadableTable<&'static str, &'static [u8]>,
    request: &MetadataRequest,
    describe: Describe<'_>,
) -> MetadataReply {
    match request {
        MetadataRequest::Get { ticket, path } => {
            let result = path::check_key(path).and_then(|()| get(keys, path, describe));
            MetadataReply::Got {
                ticket: *ticket,
                path: path.clone(),
                result,
            }
        }
        MetadataRequest::Children { ticket, path } => {
            let result = path::check_parent(path).and_then(|()| children(keys, path, describe));
            MetadataReply::Children {
                ticket: *ticket,
                path: path.clone(),
                result,
            }
        }
        MetadataRequest::Put { path, .. } | MetadataRequest::Delete { path, .. } => {
            request.failed(MetadataError::Io(
                path.clone(),
                "a change cannot be made while reading".to_owned(),
            ))
        }
    }
}

fn get(
    keys: &impl ReadableTable<&'static str, &'static [u8]>,
    path: &str,
    describe: Describe<'_>,
) -> Result<Option<(Bytes, Stat)>, MetadataError> {
    let Some(row) = keys.get(path).map_err(|e| failed(path, &e, describe))? else {
        return Ok(None);
    };
    let record = KeyRecord::decode(path, row.value()).map_err(|e| failed(path, &e, describe))?;
    Ok(Some((Bytes::copy_from_slice(record.value), record.stat)))
}

/// How many keys of one child are stepped over before it pays to search for the next child.
const STEPS_BEFORE_SEARCH: usize = 8;

/// Goes through the keys below a path; where a child has many keys of its own they are jumped over.
fn children(
    keys: &impl ReadableTable<&'static str, &'static [u8]>,
    parent: &str,
    describe: Describe<'_>,
) -> Result<Vec<String>, MetadataError> {
    let (below, after) = (path::below(parent), path::after_below(parent));
    let mut names = BTreeSet::new();
    let mut from = below.clone();
    while let Some(jump) = collect_names(keys, &below, &from, &after, &mut names)
        .map_err(|e| failed(parent, &e, describe))?
    {
        from = jump;
    }
    Ok(names.into_iter().collect())
}

/// Adds names until the keys end or one child has too many; then returns where to go on.
fn collect_names(
    keys: &impl ReadableTable<&'static str, &'static [u8]>,
    below: &str,
    from: &str,
    after: &str,
    names: &mut BTreeSet<String>,
) -> Result<Option<String>, redb::StorageError> {
    let mut steps = 0;
    for row in keys.range(from..after)? {
        let (key, _) = row?;
        let rest = key.value().strip_prefix(below).unwrap_or_default();
        let name = rest.split('/').next().unwrap_or_default();
        if names.insert(name.to_owned()) {
            steps = 0;
            continue;
        }
        // A name seen before means a key deeper than the child, so all that lies below the child may
        // be jumped over. The child's own key does not: `child-x` sorts between `child` and `child/x`.
        steps += 1;
        if steps >= STEPS_BEFORE_SEARCH {
            return Ok(Some(path::after_below(&format!("{below}{name}"))));
        }
    }
    Ok(None)
}

fn first_key(
    keys: &impl ReadableTable<&'static str, &'static [u8]>,
    from: Bound<&str>,
    before: &str,
) -> Result<Option<String>, redb::StorageError> {
    let mut range = keys.range::<&str>((from, Bound::Excluded(before)))?;
    let first = range.next().transpose()?;
    Ok(first.map(|(key, _)| key.value().to_owned()))
}

fn failed(path: &str, error: &dyn fmt::Display, describe: Describe<'_>) -> MetadataError {
    MetadataError::Io(path.to_owned(), describe(error))
}

/// The open tables of a batch that changes something.
pub(super) struct Changes<'txn> {
    keys: Keys<'txn>,
    ephemeral: Table<'txn, &'static str, ()>,
    counters: Table<'txn, &'static str, &'static [u8]>,
    owner: u64,
    now: WallTime,
    describe: Describe<'txn>,
    changed: BTreeSet<String>,
}

impl<'txn> Changes<'txn> {
    pub(super) fn new(
        transaction: &'txn WriteTransaction,
        owner: u64,
        now: WallTime,
        describe: Describe<'txn>,
    ) -> Result<Changes<'txn>, String> {
        Ok(Changes {
            keys: transaction.open_table(KEYS).map_err(|e| describe(&e))?,
            ephemeral: transaction
                .open_table(EPHEMERAL)
                .map_err(|e| describe(&e))?,
            counters: transaction.open_table(COUNTERS).map_err(|e| describe(&e))?,
            owner,
            now,
            describe,
            changed: BTreeSet::new(),
        })
    }

    /// The paths of all keys that changed.
    pub(super) fn into_changed(self) -> BTreeSet<String> {
        self.changed
    }

    /// Carries out one request; an error fails the whole batch.
    pub(super) fn carry_out(&mut self, request: &MetadataRequest) -> Result<MetadataReply, String> {
        match request {
            MetadataRequest::Get { .. } | MetadataRequest::Children { .. } => {
                Ok(read(&self.keys, request, self.describe))
            }
            MetadataRequest::Put {
                ticket,
                path,
                value,
                expect,
                kind,
            } => {
                let outcome = self.put(path, value, *expect, *kind);
                let result = self.alone(outcome)?;
                Ok(MetadataReply::Put {
                    ticket: *ticket,
                    result,
                })
            }
            MetadataRequest::Delete {
                ticket,
                path,
                expect,
            } => {
                let outcome = self.delete(path, *expect);
                let result = self.alone(outcome)?;
                Ok(MetadataReply::Deleted {
                    ticket: *ticket,
                    path: path.clone(),
                    result,
                })
            }
        }
    }

    fn put(
        &mut self,
        path: &str,
        value: &[u8],
        expect: Expect,
        kind: KeyKind,
    ) -> Result<(String, Stat), Failure> {
        path::check_key(path)?;
        // A key that gets a new number never existed before.
        let found = if kind.is_sequential() {
            None
        } else {
            self.find(path)?
        };
        check_expect(path, expect, found.map(|(stat, _)| stat.version))?;
        let path = if kind.is_sequential() {
            self.take_number(path)?
        } else {
            path.to_owned()
        };
        let (stat, owner) = match found {
            Some((stat, owner)) => (stat.rewritten(self.now), owner),
            None => {
                let stat = Stat::created(self.now, kind.is_ephemeral());
                (stat, if stat.ephemeral { self.owner } else { 0 })
            }
        };
        let record = KeyRecord { stat, owner, value }.encode(&path);
        self.keys.insert(path.as_str(), record.as_slice())?;
        if stat.ephemeral {
            self.ephemeral.insert(path.as_str(), ())?;
        }
        self.changed.insert(path.clone());
        Ok((path, stat))
    }

    fn delete(&mut self, path: &str, expect: Expect) -> Result<(), Failure> {
        path::check_key(path)?;
        let found = self.find(path)?;
        check_expect(path, expect, found.map(|(stat, _)| stat.version))?;
        let (below, after) = (path::below(path), path::after_below(path));
        let deeper = first_key(&self.keys, Bound::Excluded(below.as_str()), &after);
        if deeper?.is_some() {
            return Err(MetadataError::NotEmpty(path.to_owned()).into());
        }
        let Some((stat, _)) = found else {
            return Ok(());
        };
        self.keys.remove(path)?;
        if stat.ephemeral {
            self.ephemeral.remove(path)?;
        }
        self.changed.insert(path.to_owned());
        Ok(())
    }

    /// State and owner of a key.
    fn find(&self, path: &str) -> Result<Option<(Stat, u64)>, Failure> {
        let row = self.keys.get(path)?;
        let Some(row) = row else { return Ok(None) };
        let record =
            KeyRecord::decode(path, row.value()).map_err(|e| failed(path, &e, self.describe))?;
        Ok(Some((record.stat, record.owner)))
    }

    fn take_number(&mut self, path: &str) -> Result<String, Failure> {
        let parent = path::parent(path);
        let mut next = match self.counters.get(parent)? {
            Some(row) => {
                counter::decode(parent, row.value()).map_err(|e| failed(path, &e, self.describe))?
            }
            None => 0,
        };
        loop {
            let candidate = path::numbered(path, next);
            let used_up = || {
                failed(
                    path,
                    &"all numbers below its parent are used up",
                    self.describe,
                )
            };
            next = next.checked_add(1).ok_or_else(used_up)?;
            // Somebody may have written a key of that very name without asking for a number.
            if self.keys.get(candidate.as_str())?.is_none() {
                let record = counter::encode(parent, next);
                self.counters.insert(parent, record.as_slice())?;
                return Ok(candidate);
            }
        }
    }

    /// Keeps the trouble of one request inside its reply.
    fn alone<T>(&self, outcome: Result<T, Failure>) -> Result<Result<T, MetadataError>, String> {
        match outcome {
            Ok(done) => Ok(Ok(done)),
            Err(Failure::Request(error)) => Ok(Err(error)),
            Err(Failure::Batch(error)) => Err((self.describe)(&error)),
        }
    }
}
