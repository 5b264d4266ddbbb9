use std::sync::Arc;

use sim_world::{SimDice, SimDisk};
use world::{Dice, Disk, OpenHow};

use crate::record::{Place, Record, Stored};
use crate::{DiskLog, LogSettings, Recovery, Segment};

fn settings() -> LogSettings {
    LogSettings {
        segment_bytes: 16 * 1024,
        ..LogSettings::new("", [5; 16])
    }
}

fn open(disk: &SimDisk) -> (DiskLog, Recovery) {
    DiskLog::open(Arc::new(disk.clone()), settings()).unwrap()
}

fn record(entry: i64) -> Record {
    let mut dice = SimDice::new(entry as u64);
    let bytes = 20 + dice.below(200) as usize;
    Record {
        ledger: 1,
        entry,
        last_confirmed: entry - 1,
        length: 0,
        body: std::iter::repeat_with(|| dice.roll() as u8)
            .take(bytes)
            .collect(),
    }
}

fn commit(log: &mut DiskLog, entries: std::ops::Range<i64>) -> Vec<(Arc<Segment>, Place)> {
    let count = entries.clone().count();
    entries.for_each(|entry| log.append(record(entry)).unwrap());
    let done = log.commit();
    assert_eq!((done.placed.len(), done.failed), (count, None));
    done.placed
}

/// Every entry that recovery lists, read back.
fn found(recovery: &Recovery) -> Vec<Stored> {
    let mut all = Vec::new();
    for recovered in &recovery.segments {
        for run in &recovered.runs {
            let places = recovered
                .segment
                .places(run.places_at, 0, run.count)
                .unwrap();
            let (stored, fault) =
                recovered
                    .segment
                    .read(run.ledger, run.first, &places, usize::MAX);
            assert_eq!(fault, None);
            all.extend(stored);
        }
    }
    all
}

fn assert_holds(recovery: &Recovery, last: i64) {
    let stored = found(recovery);
    assert_eq!(stored.len() as i64, last + 1);
    for (entry, stored) in (0..).zip(stored) {
        assert_eq!((stored.entry, stored.body), (entry, record(entry).body));
    }
}

/// A disk whose first segment holds `bytes`, with a manifest from a process that was killed.
fn killed_with(groups: &[std::ops::Range<i64>]) -> (SimDisk, String, u32) {
    let disk = SimDisk::new();
    let (mut log, _) = open(&disk);
    let mut last_group = 0;
    for group in groups {
        last_group = commit(&mut log, group.clone())[0].1.offset;
    }
    disk.kill();
    (disk, "segments/0000000000000001.seg".into(), last_group)
}

fn overwrite(disk: &SimDisk, path: &str, offset: u32, bytes: &[u8]) {
    let file = disk.open(path, OpenHow::ReadWrite).unwrap();
    file.write_at(&[bytes], u64::from(offset)).unwrap();
    file.sync_all().unwrap();
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_at_the_first_incomplete_record() {
    let groups = [0..2, 2..4, 4..8];
    let (disk, path, group) = killed_with(&groups);
    let whole = disk.bytes_of(&path).unwrap();
    let end = whole.iter().rposition(|byte| *byte != 0).unwrap() as u32 + 1;
    let mut lasts = std::collections::BTreeSet::new();
    for torn_at in group..end {
        let (disk, path, _) = killed_with(&groups);
        overwrite(&disk, &path, torn_at, &vec![0; (end - torn_at) as usize]);
        let (mut log, recovery) = open(&disk);
        assert_eq!(recovery.damaged, 0);
        let last = found(&recovery).len() as i64 - 1;
        assert!((3..7).contains(&last), "torn at {torn_at}: up to {last}");
        assert_holds(&recovery, last);
        lasts.insert(last);
        commit(&mut log, last + 1..last + 3);
        disk.kill();
        assert_holds(&open(&disk).1, last + 2);
    }
    assert_eq!(lasts, [3, 4, 5, 6].into());
}

#[test]
fn what_lies_behind_a_cut_never_comes_back() {
    let (disk, path, group) = killed_with(&[0..3, 3..9]);
    // The first record of the last group is torn, the five behind it are whole.
    overwrite(&disk, &path, group + 30, &[0xaa; 8]);
    let (mut log, recovery) = open(&disk);
    assert!(recovery.tail_cut);
    assert_holds(&recovery, 2);
    commit(&mut log, 3..5);
    drop(log);
    for seed in 0..10 {
        disk.restart(&mut SimDice::new(seed));
        assert_holds(&open(&disk).1, 4);
    }
}

#[test]
fn the_first_group_of_a_segment_may_be_torn_too() {
    let (disk, path, _) = killed_with(std::slice::from_ref(&(0..6)));
    overwrite(&disk, &path, 4096, &[0; 56]);
    let (mut log, recovery) = open(&disk);
    assert!(recovery.segments.is_empty() && recovery.damaged == 0);
    commit(&mut log, 0..2);
    disk.kill();
    assert_holds(&open(&disk).1, 1);
}

#[test]
fn damage_that_a_later_group_vouches_for_takes_only_its_entry() {
    let (disk, path, group) = killed_with(&[0..1, 1..2, 2..3]);
    overwrite(&disk, &path, 4096 + 60, &[0xaa; 4]);
    let (_, recovery) = open(&disk);
    assert_eq!((recovery.damaged, recovery.tail_cut), (1, false));
    let recovered = &recovery.segments[0];
    let run = recovered.runs[0];
    let places = recovered
        .segment
        .places(run.places_at, 0, run.count)
        .unwrap();
    assert_eq!(places.last().unwrap().offset, group);
    let (stored, fault) = recovered.segment.read(1, 0, &places, usize::MAX);
    assert!(
        stored.is_empty()
            && fault
                .unwrap()
                .to_string()
                .contains("offset 4096 of segments/")
    );
    let (stored, fault) = recovered.segment.read(1, 1, &places[1..], usize::MAX);
    assert_eq!((stored.len(), fault), (2, None));
}

#[test]
fn damage_over_a_group_boundary_cuts_only_the_last_group() {
    let (disk, path, group) = killed_with(&[0..2, 2..3, 3..6]);
    overwrite(&disk, &path, group - 20, &[0xaa; 60]);
    let (_, recovery) = open(&disk);
    assert_eq!(recovery.damaged, 1, "entry 2 was confirmed");
    assert!(recovery.tail_cut);
    let entries: u32 = recovery.segments[0].runs.iter().map(|run| run.count).sum();
    assert_eq!(entries, 3, "two good ones and the damaged one");
}

#[test]
fn a_damaged_footer_is_replaced_by_a_scan() {
    let disk = SimDisk::new();
    let (mut log, _) = open(&disk);
    for entry in 0..150 {
        commit(&mut log, entry..entry + 1);
    }
    disk.kill();
    let path = "segments/0000000000000001.seg";
    let len = disk.bytes_of(path).unwrap().len();
    disk.flip(path, len as u64 - 1, 1);
    let (_, recovery) = open(&disk);
    assert_eq!((recovery.scanned, recovery.damaged), (2, 0));
    let first = &recovery.segments[0];
    assert!(first.runs.is_empty());
    let (ledger, from, places) = &first.listed[0];
    let (stored, fault) = first.segment.read(*ledger, *from, places, usize::MAX);
    assert_eq!((stored.len(), fault), (places.len(), None));
    assert_eq!(first.listed.len(), 1);
    assert_eq!(
        *from + places.len() as i64,
        recovery.segments[1].runs[0].first
    );
}

#[test]
fn a_damaged_header_costs_nothing() {
    let (disk, path, _) = killed_with(&[0..2, 2..4]);
    disk.flip(&path, 20, 0xff);
    let (_, recovery) = open(&disk);
    assert_eq!(recovery.damaged_headers, 1);
    assert_holds(&recovery, 3);
}

#[test]
fn an_end_that_cannot_be_read_is_not_cut() {
    let (disk, path, _) = killed_with(&[0..2, 2..4]);
    let before = disk.bytes_of(&path);
    disk.inject(Box::new(|op| {
        let hits = op.kind == sim_world::OpKind::Read && op.path.ends_with(".seg");
        hits.then(|| std::io::Error::other("bad sector"))
    }));
    let opened = DiskLog::open(Arc::new(disk.clone()), settings());
    let text = opened.map(drop).unwrap_err().to_string();
    assert!(
        text.contains("cannot read the end") && text.contains(".seg"),
        "{text}"
    );
    disk.heal();
    assert_eq!(disk.bytes_of(&path), before);
    assert_holds(&open(&disk).1, 3);
}

#[test]
fn records_of_a_files_former_life_never_pass() {
    let disk = SimDisk::new();
    let (mut log, _) = open(&disk);
    let mut first: Vec<Arc<Segment>> = Vec::new();
    let mut entry = 0;
    while first.last().is_none_or(|segment| segment.number() == 1) {
        first.extend(
            commit(&mut log, entry..entry + 1)
                .into_iter()
                .map(|(segment, _)| segment),
        );
        entry += 1;
    }
    let used = first.swap_remove(0);
    drop(first);
    log.remove(used);
    log.tidy().unwrap();
    assert_eq!(log.spares().ready(), 1);
    log.seal().unwrap();
    commit(&mut log, 1000..1001);
    let path = "segments/0000000000000003.seg";
    let bytes = disk.bytes_of(path).unwrap();
    assert!(
        bytes
            .windows(4)
            .filter(|window| window == crate::record::MAGIC)
            .count()
            > 10,
        "old records are still there"
    );
    disk.kill();
    let (_, recovery) = open(&disk);
    assert_eq!((recovery.damaged, recovery.tail_cut), (0, false));
    let last = recovery.segments.last().unwrap();
    assert_eq!(last.segment.path(), path);
    assert_eq!(
        last.runs
            .iter()
            .map(|run| (run.first, run.count))
            .collect::<Vec<_>>(),
        [(1000, 1)]
    );
}

#[test]
fn a_newest_segment_that_was_cut_is_told_from_one_that_a_crash_left() {
    let (disk, path, last_group) = killed_with(&[0..2, 2..4]);
    let (log, recovery) = open(&disk);
    assert_eq!(recovery.cut_short, 0, "the file has its full length");
    drop(log);
    let file = disk.open(&path, OpenHow::ReadWrite).unwrap();
    let closed = file.len().unwrap();
    overwrite(&disk, &path, closed as u32 - 8, &[0; 8]);
    assert_eq!(
        open(&disk).1.cut_short,
        0,
        "closed, and its footer was lost"
    );
    for length in [
        closed - 1,
        u64::from(last_group) + 20,
        u64::from(last_group),
    ] {
        let (disk, path, _) = killed_with(&[0..2, 2..4]);
        drop(open(&disk));
        let file = disk.open(&path, OpenHow::ReadWrite).unwrap();
        file.set_len(length).unwrap();
        file.sync_all().unwrap();
        assert_eq!(open(&disk).1.cut_short, 1, "{length} of {closed} bytes");
    }
}
