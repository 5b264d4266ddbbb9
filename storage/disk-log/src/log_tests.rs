use std::sync::Arc;

use bytes::Bytes;
use sim_world::SimDisk;
use world::Disk;

use crate::record::Record;
use crate::{DiskLog, LogError, LogSettings};

fn open(disk: &SimDisk) -> DiskLog {
    let settings = LogSettings {
        segment_bytes: 8 * 1024,
        ..LogSettings::new("log", [5; 16])
    };
    DiskLog::open(Arc::new(disk.clone()), settings).unwrap().0
}

fn record(entry: i64, bytes: usize) -> Record {
    Record {
        ledger: 1,
        entry,
        last_confirmed: entry - 1,
        length: 0,
        body: Bytes::from(vec![entry as u8; bytes]),
    }
}

#[test]
fn an_entry_that_can_never_fit_is_refused_with_both_sizes() {
    let mut log = open(&SimDisk::new());
    let refused = log.append(record(0, 2049));
    assert_eq!(
        refused,
        Err(LogError::TooLarge {
            bytes: 2049,
            bytes_max: 2048
        })
    );
    log.append(record(0, 2048)).unwrap();
    assert_eq!(log.queued(), 1);
    assert_eq!(log.commit().placed.len(), 1);
}

#[test]
fn one_commit_may_fill_several_segments() {
    let mut log = open(&SimDisk::new());
    (0..20).for_each(|entry| log.append(record(entry, 1000)).unwrap());
    let done = log.commit();
    assert_eq!((done.placed.len(), done.failed), (20, None));
    let segments: std::collections::BTreeSet<u64> = done
        .placed
        .iter()
        .map(|(segment, _)| segment.number())
        .collect();
    assert_eq!(segments.len(), done.sealed.len() + 1);
    assert!(segments.len() >= 5);
    for (entry, (segment, place)) in (0..).zip(&done.placed) {
        let (stored, fault) = segment.read(1, entry, &[*place], 0);
        assert_eq!(
            (stored[0].body[..].to_vec(), fault),
            (vec![entry as u8; 1000], None)
        );
    }
    assert!(log.commit().placed.is_empty(), "nothing was left queued");
}

#[test]
fn a_prepared_spare_is_used_and_another_made_only_when_it_is_gone() {
    let disk = SimDisk::new();
    let mut log = open(&disk);
    let spares = log.spares();
    assert_eq!(spares.prepare(), Ok(true));
    assert_eq!(spares.prepare(), Ok(false));
    assert_eq!(
        disk.list("log/segments").unwrap(),
        ["0000000000000000.spare"]
    );
    log.append(record(0, 10)).unwrap();
    log.commit();
    assert_eq!(disk.list("log/segments").unwrap(), ["0000000000000001.seg"]);
    assert_eq!(spares.ready(), 0);
    assert_eq!(spares.prepare(), Ok(true));
    drop(log);
    disk.kill();
    assert_eq!(open(&disk).spares().ready(), 1, "a start finds it");
}

#[test]
fn a_group_costs_one_write_and_one_sync() {
    let disk = SimDisk::new();
    let mut log = open(&disk);
    log.append(record(0, 10)).unwrap();
    log.commit();
    let before = disk.operations();
    (1..10).for_each(|entry| log.append(record(entry, 10)).unwrap());
    log.commit();
    assert_eq!(disk.operations() - before, 2);
}

#[test]
fn a_segment_that_is_being_read_is_not_reused() {
    let disk = SimDisk::new();
    let mut log = open(&disk);
    (0..5).for_each(|entry| log.append(record(entry, 1500)).unwrap());
    let mut done = log.commit();
    let reading = done.placed.swap_remove(0);
    let removed = done.sealed.swap_remove(0).segment;
    drop(done);
    log.remove(removed);
    log.tidy().unwrap();
    assert!(disk.exists("log/segments/0000000000000001.seg").unwrap());
    assert_eq!(reading.0.read(1, 0, &[reading.1], 0).1, None);
    drop(reading);
    log.tidy().unwrap();
    assert!(!disk.exists("log/segments/0000000000000001.seg").unwrap());
}

#[test]
fn numbers_go_on_after_every_restart() {
    let disk = SimDisk::new();
    let mut last = 0;
    for _ in 0..5 {
        let mut log = open(&disk);
        log.append(record(0, 10)).unwrap();
        let number = log.commit().placed[0].0.number();
        assert!(number > last);
        last = number;
        drop(log);
        disk.kill();
    }
}
