//! The store as a value: the rules in their simplest form, nothing kept, nothing late.
//!
//! It is what the memory provider serves and what the tests hold other providers against; so it
//! favours the obvious way over the fast one.

use crate::path;
use crate::rules::check_expect;
use crate::seam::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest, Stat};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use vocabulary::WallTime;

/// Whose ephemeral keys these are.
pub type SessionId = u64;

#[derive(Clone, Debug, PartialEq)]
struct Key {
    value: Bytes,
    stat: Stat,
    /// Set on ephemeral keys.
    owner: Option<SessionId>,
}

/// All keys and counters of a store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    keys: BTreeMap<String, Key>,
    /// Parent path to the next number of a sequential key below it. Never goes back, so that a
    /// number is not given twice even after its key was deleted.
    next_numbers: BTreeMap<String, u64>,
}

impl Tree {
    /// Carries out one request for a session. Beside the reply: the path of the key it changed, if it changed one.
    pub fn carry_out(
        &mut self,
        request: &MetadataRequest,
        session: SessionId,
        now: WallTime,
    ) -> (MetadataReply, Option<String>) {
        match request {
            MetadataRequest::Get { ticket, path } => {
                let result = self.get(path);
                (
                    MetadataReply::Got {
                        ticket: *ticket,
                        path: path.clone(),
                        result,
                    },
                    None,
                )
            }
            MetadataRequest::Put {
                ticket,
                path,
                value,
                expect,
                kind,
            } => {
                let result = self.put(path, value.clone(), *expect, *kind, session, now);
                let changed = result.as_ref().ok().map(|(written, _)| written.clone());
                (
                    MetadataReply::Put {
                        ticket: *ticket,
                        result,
                    },
                    changed,
                )
            }
            MetadataRequest::Delete {
                ticket,
                path,
                expect,
            } => {
                let outcome = self.delete(path, *expect);
                let changed = matches!(outcome, Ok(true)).then(|| path.clone());
                let result = outcome.map(|_| ());
                (
                    MetadataReply::Deleted {
                        ticket: *ticket,
                        path: path.clone(),
                        result,
                    },
                    changed,
                )
            }
            MetadataRequest::Children { ticket, path } => {
                let result = self.children(path);
                (
                    MetadataReply::Children {
                        ticket: *ticket,
                        path: path.clone(),
                        result,
                    },
                    None,
                )
            }
        }
    }

    /// The value and state of a key.
    pub fn get(&self, path: &str) -> Result<Option<(Bytes, Stat)>, MetadataError> {
        path::check_key(path)?;
        Ok(self.keys.get(path).map(|key| (key.value.clone(), key.stat)))
    }

    /// Writes a key; see [`MetadataRequest::Put`].
    pub fn put(
        &mut self,
        path: &str,
        value: Bytes,
        expect: Expect,
        kind: KeyKind,
        session: SessionId,
        now: WallTime,
    ) -> Result<(String, Stat), MetadataError> {
        path::check_key(path)?;
        let owner = kind.is_ephemeral().then_some(session);
        if kind.is_sequential() {
            // A key that gets a new number never existed before.
            check_expect(path, expect, None)?;
            let path = self.take_number(path);
            let stat = Stat::created(now, owner.is_some());
            self.keys.insert(path.clone(), Key { value, stat, owner });
            return Ok((path, stat));
        }
        let found = self.keys.get(path);
        check_expect(path, expect, found.map(|key| key.stat.version))?;
        let (stat, owner) = match found {
            Some(key) => (key.stat.rewritten(now), key.owner),
            None => (Stat::created(now, owner.is_some()), owner),
        };
        self.keys
            .insert(path.to_owned(), Key { value, stat, owner });
        Ok((path.to_owned(), stat))
    }

    /// Removes a key; see [`MetadataRequest::Delete`]. Whether there was one.
    pub fn delete(&mut self, path: &str, expect: Expect) -> Result<bool, MetadataError> {
        path::check_key(path)?;
        check_expect(
            path,
            expect,
            self.keys.get(path).map(|key| key.stat.version),
        )?;
        if self.keys_below(path).next().is_some() {
            return Err(MetadataError::NotEmpty(path.to_owned()));
        }
        Ok(self.keys.remove(path).is_some())
    }

    /// The names directly below a path; see [`MetadataRequest::Children`].
    pub fn children(&self, path: &str) -> Result<Vec<String>, MetadataError> {
        path::check_parent(path)?;
        let below = path::below(path);
        let deeper = self
            .keys_below(path)
            .filter_map(|key| key.strip_prefix(&below));
        let names: BTreeSet<&str> = deeper.filter_map(|rest| rest.split('/').next()).collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    fn keys_below(&self, path: &str) -> impl Iterator<Item = &str> {
        let below = path::below(path);
        let from = self
            .keys
            .range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded));
        from.map(|(key, _)| key.as_str())
            .take_while(move |key| key.starts_with(&below))
    }

    /// Removes the ephemeral keys of a session and names them. Keys below one of them stay.
    pub fn end_session(&mut self, session: SessionId) -> Vec<String> {
        self.end_sessions_where(|owner| owner == session)
    }

    /// Removes the ephemeral keys of all sessions but one and names them.
    pub fn end_other_sessions(&mut self, session: SessionId) -> Vec<String> {
        self.end_sessions_where(|owner| owner != session)
    }

    fn end_sessions_where(&mut self, ended: impl Fn(SessionId) -> bool) -> Vec<String> {
        let gone = self
            .keys
            .extract_if(.., |_, key| key.owner.is_some_and(&ended));
        gone.map(|(path, _)| path).collect()
    }

    /// Every key with its state, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Bytes, Stat)> {
        self.keys
            .iter()
            .map(|(path, key)| (path.as_str(), &key.value, key.stat))
    }

    fn take_number(&mut self, path: &str) -> String {
        let next = self
            .next_numbers
            .entry(path::parent(path).to_owned())
            .or_insert(0);
        loop {
            let candidate = path::numbered(path, *next);
            *next += 1;
            // Somebody may have written a key of that very name without asking for a number.
            if !self.keys.contains_key(&candidate) {
                return candidate;
            }
        }
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tree_tests;
