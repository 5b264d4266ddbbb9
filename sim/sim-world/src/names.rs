//! The directory tree: the names a process sees, those that would survive, and the changes between them.

use std::collections::BTreeMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Dir,
    /// Index of an inode.
    File(usize),
}

/// A change of one name, or of two at once.
#[derive(Clone, Debug)]
pub(crate) enum NameChange {
    Set {
        path: String,
        node: Node,
    },
    Remove {
        path: String,
    },
    Rename {
        from: String,
        to: String,
        node: Node,
    },
}

impl NameChange {
    fn dir(&self) -> &str {
        match self {
            NameChange::Set { path, .. } | NameChange::Remove { path } => parent(path),
            NameChange::Rename { to, .. } => parent(to),
        }
    }

    pub(crate) fn apply(&self, tree: &mut BTreeMap<String, Node>) {
        match self {
            NameChange::Set { path, node } => {
                tree.insert(path.clone(), *node);
            }
            NameChange::Remove { path } => {
                tree.remove(path);
            }
            NameChange::Rename { from, to, node } => {
                if tree.get(from) == Some(node) {
                    tree.remove(from);
                }
                tree.insert(to.clone(), *node);
            }
        }
    }
}

/// All names. The root is always there and has no entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) now: BTreeMap<String, Node>,
    pub(crate) durable: BTreeMap<String, Node>,
    pub(crate) pending: Vec<NameChange>,
}

impl Names {
    pub(crate) fn change(&mut self, change: NameChange) {
        change.apply(&mut self.now);
        self.pending.push(change);
    }

    /// Makes the changes of one directory last.
    pub(crate) fn sync(&mut self, dir: &str) {
        let durable = &mut self.durable;
        self.pending.retain(|change| {
            if change.dir() != dir {
                return true;
            }
            change.apply(durable);
            false
        });
    }

    /// The newest change that waits for a sync of this directory.
    pub(crate) fn last_change(&self, dir: &str) -> Option<String> {
        let mut waiting = self.pending.iter().rev();
        waiting
            .find(|change| change.dir() == dir)
            .map(|change| match change {
                NameChange::Set { path, .. } => format!("create {path}"),
                NameChange::Remove { path } => format!("remove {path}"),
                NameChange::Rename { to, .. } => format!("rename {to}"),
            })
    }

    pub(crate) fn is_dir(&self, path: &str) -> bool {
        path.is_empty() || self.now.get(path) == Some(&Node::Dir)
    }

    pub(crate) fn list(&self, dir: &str) -> Vec<String> {
        let under = self.now.keys().filter(|path| parent(path) == dir);
        under
            .filter_map(|path| path.rsplit('/').next())
            .map(str::to_owned)
            .collect()
    }

    /// Drops every name whose directory is not there.
    pub(crate) fn drop_orphans(&mut self) {
        let dirs: Vec<String> = self
            .now
            .iter()
            .filter(|(_, node)| **node == Node::Dir)
            .map(|(path, _)| path.clone())
            .collect();
        self.now.retain(|path, _| {
            let mut above = parent(path);
            while !above.is_empty() {
                if dirs
                    .binary_search_by(|dir| dir.as_str().cmp(above))
                    .is_err()
                {
                    return false;
                }
                above = parent(above);
            }
            true
        });
    }
}

/// The directory part of a path; `""` is the root.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}
