//! Which changes somebody wants to hear of.

use crate::{path, seam::MetadataError};
use std::collections::BTreeSet;

/// The watched prefixes of one asker. A prefix covers the key of that very path and all keys below
/// it, at any depth; `/` covers everything. `/a/b` does not cover `/a/bc`.
#[derive(Clone, Debug, Default)]
pub struct Watches {
    prefixes: BTreeSet<String>,
}

impl Watches {
    /// From now on, changes under the prefix count. Twice is as once.
    pub fn watch(&mut self, prefix: &str) -> Result<(), MetadataError> {
        path::check_parent(prefix)?;
        self.prefixes.insert(prefix.to_owned());
        Ok(())
    }

    /// No longer. Other prefixes that cover the same keys stay.
    pub fn unwatch(&mut self, prefix: &str) {
        self.prefixes.remove(prefix);
    }

    /// Whether a change of this key is to be told.
    #[must_use]
    pub fn covers(&self, key: &str) -> bool {
        let mut at = key;
        loop {
            if self.prefixes.contains(at) {
                return true;
            }
            if at == "/" {
                return false;
            }
            at = path::parent(at);
        }
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod watch_tests;
