//! The power goes at every operation of a random workload; afterwards nothing that was confirmed is missing.

mod workload;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use sim_world::{SimDisk, SyncKind, SyncWhat};
use workload::{ENDINGS, is_opening, operations_of, violation_after_cut};

/// Every operation of some workloads, every ending.
#[test]
fn nothing_confirmed_is_lost_wherever_the_power_goes() {
    let mut cuts = 0;
    for seed in 0..20 {
        for ending in ENDINGS {
            for operation in 1..=operations_of(seed) {
                let violation = violation_after_cut(seed, operation, seed, ending, None);
                assert_eq!(
                    violation, None,
                    "seed {seed}, operation {operation}, {ending:?}"
                );
                cuts += 1;
            }
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 10_000, "only {cuts} cuts");
}

/// A sync in the code: its name and how a call of it is recognised.
type Line = (&'static str, fn(&SyncWhat) -> bool);

/// Every sync in the code that writing, rolling, removing and recovering calls.
const SYNCS: &[Line] = &[
    ("group commit", |what| {
        is_data(what) && !what.reaches_end && !is_opening()
    }),
    ("footer of a full segment", |what| {
        is_data(what) && what.reaches_end
    }),
    ("doubtful tail", |what| {
        is_data(what) && !what.reaches_end && is_opening()
    }),
    ("footer of a segment that is closed early", |what| {
        what.kind == SyncKind::All && what.path.ends_with(".seg")
    }),
    ("segment header", |what| {
        what.kind == SyncKind::All && what.path.ends_with(".spare")
    }),
    ("name of a new segment", |what| {
        is_segments_directory(what) && is_start(what)
    }),
    ("names of segments that become spares", |what| {
        is_segments_directory(what) && !is_start(what)
    }),
    ("manifest", |what| {
        what.kind == SyncKind::All && what.path.contains("MANIFEST")
    }),
    ("names in the log's directory", |what| {
        what.kind == SyncKind::Dir && what.path == workload::DIRECTORY
    }),
    ("names above the log's directory", |what| {
        what.kind == SyncKind::Dir && what.path.len() < workload::DIRECTORY.len()
    }),
];

/// Not for safety: it only keeps the first commit into a segment from waiting for the whole file.
const PREPARING: fn(&SyncWhat) -> bool = |what| what.path.ends_with(".prep");

fn is_data(what: &SyncWhat) -> bool {
    what.kind == SyncKind::Data && what.path.ends_with(".seg")
}

fn is_segments_directory(what: &SyncWhat) -> bool {
    what.kind == SyncKind::Dir && what.path.ends_with("segments")
}

/// A spare became a segment just before.
fn is_start(what: &SyncWhat) -> bool {
    let change = what.last_change.as_deref().unwrap_or_default();
    change.starts_with("rename ") && change.ends_with(".seg")
}

/// The first violation that some cut shows when a sync is left out.
fn violation_without(is_it: fn(&SyncWhat) -> bool, seeds: u64) -> Option<String> {
    (0..seeds).find_map(|seed| {
        let operation = 1 + (seed * 7919) % operations_of(seed % 12);
        let ending = ENDINGS[(seed % 4) as usize];
        violation_after_cut(seed % 12, operation, seed, ending, Some(is_it))
    })
}

#[test]
fn without_any_one_sync_something_breaks() {
    for (name, is_it) in SYNCS {
        let found = violation_without(*is_it, 2000);
        assert!(
            found.is_some(),
            "the sync of the {name} can be left out and no cut shows it"
        );
        println!("{name}: {}", found.unwrap_or_default());
    }
    assert_eq!(violation_without(PREPARING, 100), None);
}

/// Every call of a sync belongs to one line of the table, and every line is called.
#[test]
fn the_table_of_syncs_is_complete() {
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    for seed in 0..36 {
        let (seen, disk) = (Arc::clone(&seen), SimDisk::new());
        let watch = move |what: &SyncWhat| {
            let lines = SYNCS
                .iter()
                .filter(|(_, is_it)| is_it(what))
                .map(|(name, _)| *name);
            let mut lines: Vec<&str> = lines.collect();
            lines.extend(PREPARING(what).then_some("preparing"));
            assert_eq!(lines.len(), 1, "{what:?} belongs to {lines:?}");
            let mut seen = seen.lock().unwrap();
            *seen.entry(lines[0]).or_insert(0) += 1;
            false
        };
        let ending = ENDINGS[(seed % 4) as usize];
        assert_eq!(
            workload::violation_on(&disk, seed % 12, 40 + seed, seed, ending, Arc::new(watch)),
            None
        );
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), SYNCS.len() + 1, "{seen:?}");
}

#[test]
fn the_same_seed_takes_the_same_steps() {
    assert_eq!(operations_of(3), operations_of(3));
}
