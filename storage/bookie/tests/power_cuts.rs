//! The power goes at every operation of a random workload; afterwards nothing that was confirmed is missing.

mod workload;

use disk_log::LogSettings;
use sim_world::{SimDisk, SyncKind, SyncWhat};
use workload::{Ending, operations_of, violation_after_cut};

/// Every operation of some workloads, several outcomes of each cut.
#[test]
fn nothing_confirmed_is_lost_wherever_the_power_goes() {
    let mut cuts = 0;
    for seed in 0..12 {
        for ending in [
            Ending::PowerCut,
            Ending::KillThenCut,
            Ending::FailedSyncThenCut,
        ] {
            for operation in 1..=operations_of(seed) {
                for outcome in 0..2 {
                    let violation = violation_after_cut(seed, operation, outcome, ending, None);
                    assert_eq!(
                        violation, None,
                        "seed {seed}, operation {operation}, outcome {outcome}, {ending:?}"
                    );
                    cuts += 1;
                }
            }
        }
    }
    assert!(cuts > 4000, "only {cuts} cuts");
}

/// A sync in the code: its name and how a call of it is recognised.
type Line = (&'static str, fn(&SyncWhat) -> bool);

/// Every sync in the code that writing, rolling, removing and recovering calls.
const SYNCS: &[Line] = &[
    ("group commit", |what| {
        what.kind == SyncKind::Data && is_segment(&what.path) && what.first_dirty_byte != Some(0)
    }),
    ("segment header", |what| {
        what.kind == SyncKind::All
            && is_segment_or_spare(&what.path)
            && what.first_dirty_byte == Some(0)
    }),
    ("names of segments and spares", |what| {
        what.kind == SyncKind::Dir && what.path.ends_with("segments")
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
    ("footer of a segment that is closed early", |what| {
        what.kind == SyncKind::All && is_segment(&what.path) && what.first_dirty_byte != Some(0)
    }),
];

fn is_segment(path: &str) -> bool {
    path.ends_with(".seg")
}

fn is_segment_or_spare(path: &str) -> bool {
    is_segment(path) || path.ends_with(".spare")
}

#[test]
fn without_any_one_sync_something_breaks() {
    for (name, is_it) in SYNCS {
        let mut seeds = 0..400u64;
        let found = seeds.find_map(|seed| {
            let operations = operations_of(seed % 12);
            let operation = 1 + (seed * 7919) % operations;
            let ending = [
                Ending::PowerCut,
                Ending::KillThenCut,
                Ending::FailedSyncThenCut,
            ][(seed % 3) as usize];
            violation_after_cut(seed % 12, operation, seed, ending, Some(*is_it))
        });
        assert!(
            found.is_some(),
            "the sync of the {name} can be left out and no cut shows it"
        );
        println!("{name}: {}", found.unwrap_or_default());
    }
}

#[test]
fn the_same_seed_takes_the_same_steps() {
    assert_eq!(operations_of(3), operations_of(3));
    let disk = SimDisk::new();
    let settings = LogSettings::new(workload::DIRECTORY, [1; 16]);
    assert!(settings.body_bytes_max() >= 5 * 1024 * 1024);
    assert_eq!(disk.operations(), 0);
}
