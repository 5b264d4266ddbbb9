//! When the power goes: kinds of disk operations by name, and the choice of the one that it goes with.

use sim_world::{DiskOp, OpKind, SimDisk, SyncKind, SyncWhat};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use world::Dice;

/// Kinds of operations that are rare beside writing and syncing entries, and are chosen on purpose.
const RARE_KINDS: [&str; 16] = [
    "create log/segments/*.prep",
    "write log/segments/*.prep",
    "sync log/segments/*.prep",
    "rename log/segments/*.prep",
    "write log/segments/*.spare",
    "sync log/segments/*.spare",
    "rename log/segments/*.spare",
    "sync directory log/segments",
    "sync directory of the root",
    "remove log/segments/*.seg",
    "rename log/segments/*.seg",
    "set_len log/segments/*.seg",
    "write log/MANIFEST.new",
    "sync log/MANIFEST.new",
    "rename log/MANIFEST.new",
    "set_len metadata.redb",
];

/// Which operation the power goes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After so many more.
    After(u64),
    /// After so many more of that kind.
    AfterOfKind(u64, &'static str),
    /// After so many more of any kind but entries written and synced in peace.
    AfterOfMetadata(u64),
}

impl Cut {
    /// One that a seed chooses.
    pub fn roll(dice: &mut dyn Dice) -> Cut {
        match dice.below(10) {
            // Early: the opening itself is cut.
            0..=2 => Cut::After(dice.below(60)),
            3..=5 => Cut::After(dice.below(400)),
            6 => Cut::AfterOfMetadata(dice.below(120)),
            _ => {
                let kind = RARE_KINDS[dice.below(RARE_KINDS.len() as u64) as usize];
                Cut::AfterOfKind(dice.below(3), kind)
            }
        }
    }

    /// From now on the disk waits for that operation.
    pub fn arm(&self, disk: &SimDisk) {
        let left = Arc::new(AtomicU64::new(0));
        let cut = self.clone();
        let count = move |matches: bool, after: u64| {
            matches && left.fetch_add(1, Ordering::Relaxed) >= after
        };
        disk.cut_when(Box::new(move |operation| match cut {
            Cut::After(after) => count(true, after),
            Cut::AfterOfKind(after, kind) => count(name_of(operation) == kind, after),
            Cut::AfterOfMetadata(after) => count(operation.path.starts_with("metadata"), after),
        }));
    }
}

/// A kind of operation by name: what is done, and to which sort of file.
#[must_use]
pub fn name_of(operation: &DiskOp) -> String {
    let verb = match operation.kind {
        OpKind::Open => "open",
        OpKind::Create => "create",
        OpKind::CreateDir => "create_dir",
        OpKind::Read => "read",
        OpKind::Write => "write",
        OpKind::SetLen => "set_len",
        OpKind::Sync => "sync",
        OpKind::SyncDir => return format!("sync directory {}", directory(&operation.path)),
        OpKind::Rename => "rename",
        OpKind::Remove => "remove",
    };
    format!("{verb} {}", sort_of(&operation.path))
}

/// A sync by name: enough to tell apart each line of code that calls one. `None`: it has nothing to do, so that leaving
/// it out changes nothing.
#[must_use]
pub fn name_of_sync(what: &SyncWhat, while_opening: bool) -> Option<String> {
    let call = match what.kind {
        SyncKind::Dir => {
            let (verb, path) = what.last_change.as_deref()?.split_once(' ')?;
            format!(
                "sync_dir {} ({verb} {})",
                directory(&what.path),
                sort_of(path)
            )
        }
        kind => {
            let place = match (what.first_dirty_byte?, what.reaches_end) {
                (0, true) => "all of it",
                (0, false) => "its beginning",
                (_, false) => "its middle",
                (_, true) => "its end",
            };
            let call = if kind == SyncKind::Data {
                "sync_data"
            } else {
                "sync_all"
            };
            format!("{call} {} ({place})", sort_of(&what.path))
        }
    };
    Some(if while_opening {
        format!("{call} while opening")
    } else {
        call
    })
}

fn directory(path: &str) -> &str {
    if path.is_empty() { "of the root" } else { path }
}

/// The path with a star for the name of a numbered file.
fn sort_of(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, name)) => match name.rsplit_once('.') {
            Some((_, ending)) => format!("{directory}/*.{ending}"),
            None => path.to_owned(),
        },
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_named_by_what_is_done_to_which_sort_of_file() {
        let named = |kind, path: &str| {
            name_of(&DiskOp {
                kind,
                path: path.to_owned(),
            })
        };
        assert_eq!(
            named(OpKind::Write, "segments/00000012.seg"),
            "write log/segments/*.seg"
        );
        assert_eq!(
            named(OpKind::Rename, "MANIFEST.new"),
            "rename log/MANIFEST.new"
        );
        assert_eq!(named(OpKind::SyncDir, ""), "sync directory of the root");
    }

    #[test]
    fn syncs_are_named_by_what_they_are_for() {
        let what = SyncWhat {
            kind: SyncKind::Data,
            path: "metadata.redb".to_owned(),
            first_dirty_byte: Some(512),
            reaches_end: false,
            last_change: None,
        };
        assert_eq!(
            name_of_sync(&what, false).as_deref(),
            Some("sync_data metadata.redb (its middle)")
        );
        assert_eq!(
            name_of_sync(
                &SyncWhat {
                    first_dirty_byte: None,
                    ..what.clone()
                },
                false
            ),
            None
        );
        let last_change = Some("rename log/segments/01.seg".to_owned());
        let what = SyncWhat {
            kind: SyncKind::Dir,
            path: "segments".to_owned(),
            last_change,
            ..what
        };
        let name = name_of_sync(&what, true);
        assert_eq!(
            name.as_deref(),
            Some("sync_dir segments (rename segments/*.seg) while opening")
        );
    }
}
