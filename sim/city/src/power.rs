//! When the power goes: kinds of disk operations by name, and the choice of the one that it goes with.

use sim_world::{DiskOp, OpKind, SimDisk, SyncKind, SyncWhat};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use world::Dice;

/// Kinds of operations that a cut is aimed at, so that the rare ones are hit as often as the common ones.
const KINDS: [&str; 26] = [
    "create log/segments/*.prep",
    "write log/segments/*.prep",
    "sync log/segments/*.prep",
    "rename log/segments/*.prep",
    "remove log/segments/*.prep",
    "write log/segments/*.spare",
    "sync log/segments/*.spare",
    "rename log/segments/*.spare",
    "remove log/segments/*.spare",
    "write log/segments/*.seg",
    "write log/segments/*.seg",
    "sync log/segments/*.seg",
    "sync log/segments/*.seg",
    "set_len log/segments/*.seg",
    "rename log/segments/*.seg",
    "remove log/segments/*.seg",
    "sync directory log/segments",
    "sync directory log",
    "create_dir log",
    "sync directory of the root",
    "create log/MANIFEST.new",
    "sync log/MANIFEST.new",
    "rename log/MANIFEST.new",
    "write metadata.redb",
    "sync metadata.redb",
    "set_len metadata.redb",
];

/// Which operation the power goes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// After so many more.
    After(u64),
    /// After so many more of that kind.
    AfterOfKind(u64, &'static str),
    /// After so many more from the next sync that is left out.
    AfterSkip(u64),
}

impl Cut {
    /// One that a seed chooses.
    pub fn roll(dice: &mut dyn Dice) -> Cut {
        match dice.below(8) {
            // Early: the opening itself is cut.
            0..=1 => Cut::After(dice.below(60)),
            2 => Cut::After(dice.below(400)),
            _ => {
                let kind = KINDS[dice.below(KINDS.len() as u64) as usize];
                Cut::AfterOfKind(dice.below(4), kind)
            }
        }
    }

    /// One that is sure to come soon, if anything is written at all.
    pub fn soon(dice: &mut dyn Dice) -> Cut {
        Cut::After(dice.below(60))
    }

    /// One at a sync of entries: they are written, and nobody was told.
    pub fn before_receipts(dice: &mut dyn Dice) -> Cut {
        Cut::AfterOfKind(dice.below(8), "sync log/segments/*.seg")
    }

    /// One that follows a sync that is left out.
    pub fn after_skip(dice: &mut dyn Dice) -> Cut {
        let most = [2, 8, 30, 200][dice.below(4) as usize];
        Cut::AfterSkip(dice.below(most))
    }

    /// From now on the disk waits for that operation. `skips` counts the syncs that were left out.
    pub fn arm(&self, disk: &SimDisk, skips: &Arc<AtomicU64>) {
        let skips = Arc::clone(skips);
        let skipped_before = skips.load(Ordering::Relaxed);
        let left = Arc::new(AtomicU64::new(0));
        let cut = self.clone();
        let count = move |matches: bool, after: u64| {
            matches && left.fetch_add(1, Ordering::Relaxed) >= after
        };
        disk.cut_when(Box::new(move |operation| match cut {
            Cut::After(after) => count(true, after),
            Cut::AfterOfKind(after, kind) => count(name_of(operation) == kind, after),
            Cut::AfterSkip(after) => count(skips.load(Ordering::Relaxed) > skipped_before, after),
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
    if what.kind == SyncKind::Dir {
        let (verb, path) = what.last_change.as_deref()?.split_once(' ')?;
        return Some(format!(
            "sync_dir {} ({verb} {})",
            directory(&what.path),
            sort_of(path)
        ));
    }
    what.first_dirty_byte?;
    let call = if what.kind == SyncKind::Data {
        "sync_data"
    } else {
        "sync_all"
    };
    let sort = sort_of(&what.path);
    if !sort.ends_with(".seg") {
        return Some(format!("{call} {sort}"));
    }
    let opening = if while_opening { " while opening" } else { "" };
    Some(match (what.kind, what.reaches_end) {
        // A segment that is closed early, by a stop or by the next start.
        (SyncKind::All, _) => format!("{call} {sort} (footer)"),
        (_, true) => format!("{call} {sort} (footer of a full one)"),
        (_, false) => format!("{call} {sort} (entries){opening}"),
    })
}

fn directory(path: &str) -> &str {
    if path.is_empty() { "of the root" } else { path }
}

/// The path with a star for the name of a numbered file.
fn sort_of(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.rsplit_once('.') {
        Some((number, ending)) if number.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            format!("{directory}/*.{ending}")
        }
        _ => path.to_owned(),
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
            named(OpKind::Write, "log/segments/00000012.seg"),
            "write log/segments/*.seg"
        );
        assert_eq!(
            named(OpKind::Rename, "log/MANIFEST.new"),
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
            Some("sync_data metadata.redb")
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
        let what = SyncWhat {
            path: "log/segments/0a.seg".to_owned(),
            ..what
        };
        let name = name_of_sync(&what, true);
        assert_eq!(
            name.as_deref(),
            Some("sync_data log/segments/*.seg (entries) while opening")
        );
        let last_change = Some("rename segments/01.seg".to_owned());
        let what = SyncWhat {
            kind: SyncKind::Dir,
            path: "segments".to_owned(),
            last_change,
            ..what
        };
        let name = name_of_sync(&what, true);
        assert_eq!(
            name.as_deref(),
            Some("sync_dir segments (rename segments/*.seg)")
        );
    }
}
