use std::io;
use std::sync::Arc;

use bytes::Bytes;
use disk_log::LogSettings;
use ledger_store::{Entry, LedgerError};
use sim_world::{DiskOp, OpKind, SimDice, SimDisk};
use world::{Dice, Disk};

use crate::bookie::Bookie;
use crate::desk::{BookieReply, BookieRequest};

const SEGMENT_BYTES: u32 = 16 * 1024;

fn open(disk: &SimDisk) -> Bookie {
    let settings = LogSettings {
        segment_bytes: SEGMENT_BYTES,
        ..LogSettings::new("", [7; 16])
    };
    Bookie::open(Arc::new(disk.clone()), settings).unwrap()
}

fn body(ledger: i64, entry: i64) -> Bytes {
    let mut dice = SimDice::new((ledger * 1000 + entry) as u64);
    (0..300 + entry as usize % 5)
        .map(|_| dice.roll() as u8)
        .collect()
}

fn length(ledger: i64, entry: i64) -> u64 {
    (0..=entry)
        .map(|entry| body(ledger, entry).len() as u64)
        .sum()
}

fn append(bookie: &mut Bookie, ledger: i64, entry: i64) {
    bookie.append(
        ledger,
        entry,
        entry - 1,
        length(ledger, entry),
        body(ledger, entry),
    );
}

fn fill(bookie: &mut Bookie, ledger: i64, entries: std::ops::Range<i64>) {
    for entry in entries {
        append(bookie, ledger, entry);
        assert_eq!(bookie.commit()[0].result, Ok(()));
    }
}

fn entry(ledger: i64, entry: i64) -> Entry {
    let body = body(ledger, entry);
    Entry { entry, body }
}

fn segments(disk: &SimDisk) -> Vec<String> {
    disk.list("segments").unwrap()
}

#[test]
fn entries_over_many_segments_read_back_before_and_after_a_restart() {
    let disk = SimDisk::new();
    let mut bookie = open(&disk);
    fill(&mut bookie, 1, 0..100);
    fill(&mut bookie, 2, 0..5);
    for _ in 0..3 {
        let all = bookie.reader().read(1, 0, 200, usize::MAX).unwrap();
        assert_eq!(
            all,
            (0..100).map(|number| entry(1, number)).collect::<Vec<_>>()
        );
        assert_eq!(bookie.last_entry(1), Ok((99, length(1, 99))));
        assert_eq!(bookie.reader().read(2, 4, 4, 1), Ok(vec![entry(2, 4)]));
        assert_eq!(
            bookie.reader().read(2, 5, 5, 1),
            Err(LedgerError::NoSuchEntry(2, 5))
        );
        assert_eq!(
            bookie.reader().read(3, 0, 5, 1),
            Err(LedgerError::NoSuchLedger(3))
        );
        drop(bookie);
        disk.restart(&mut SimDice::new(1));
        bookie = open(&disk);
    }
}

#[test]
fn one_turn_syncs_once_and_answers_all() {
    let disk = SimDisk::new();
    let mut bookie = open(&disk);
    fill(&mut bookie, 1, 0..1);
    let before = disk.operations();
    let appends = (1..=10).map(|entry| BookieRequest::Append {
        ledger: 1,
        entry,
        last_confirmed: entry - 1,
        length: length(1, entry),
        body: body(1, entry),
    });
    let mut requests: Vec<BookieRequest> = appends.collect();
    requests.insert(
        3,
        BookieRequest::LastEntry {
            ticket: 5,
            ledger: 1,
        },
    );
    let replies = bookie.turn(requests);
    assert_eq!(disk.operations() - before, 2, "one write and one sync");
    assert_eq!(replies.len(), 11);
    let last = BookieReply::LastEntry {
        ticket: 5,
        ledger: 1,
        result: Ok((10, length(1, 10))),
    };
    assert_eq!(replies[10], last, "it sees what came with it");
}

#[test]
fn a_clean_start_reads_footers_only() {
    let disk = SimDisk::new();
    let mut bookie = open(&disk);
    fill(&mut bookie, 1, 0..200);
    bookie.close().unwrap();
    disk.kill();
    let before = disk.bytes_read();
    let bookie = open(&disk);
    let read = disk.bytes_read() - before;
    assert_eq!(bookie.report().scanned, 0);
    let headers = 4096 * segments(&disk).len() as u64;
    assert!(read < headers + 200 * 8 + 2000, "{read} bytes");
}

#[test]
fn forgotten_ledgers_give_their_segments_back_and_old_records_never_pass() {
    let disk = SimDisk::new();
    let mut bookie = open(&disk);
    for ledger in 1..60 {
        fill(&mut bookie, ledger, 0..40);
        bookie.forget(ledger - 1);
        assert!(segments(&disk).len() < 8, "{:?}", segments(&disk));
    }
    for seed in 0..20 {
        disk.restart(&mut SimDice::new(seed));
        let bookie = open(&disk);
        assert_eq!(bookie.report().damaged, 0);
        assert!(
            bookie.ledgers().iter().all(|ledger| *ledger >= 55),
            "{:?}",
            bookie.ledgers()
        );
        assert_eq!(bookie.last_entry(59), Ok((39, length(59, 39))));
    }
}

#[test]
fn removing_a_ledger_leaves_its_neighbours_in_a_segment_alone() {
    let disk = SimDisk::new();
    let mut bookie = open(&disk);
    fill(&mut bookie, 1, 0..40);
    fill(&mut bookie, 2, 0..40);
    let reader = bookie.reader();
    bookie.forget(1);
    assert_eq!(
        reader.read(1, 0, 5, 1000),
        Err(LedgerError::NoSuchLedger(1))
    );
    fill(&mut bookie, 3, 0..80);
    let all = reader.read(2, 0, 39, usize::MAX).unwrap();
    assert_eq!(all.len(), 40);
}

#[test]
fn a_full_disk_refuses_entries_and_takes_them_again_later() {
    let disk = SimDisk::new();
    let mut bookie = open(&disk);
    fill(&mut bookie, 1, 0..10);
    disk.limit_bytes(Some(u64::from(SEGMENT_BYTES) + 100));
    let mut next = 10;
    let refused = loop {
        append(&mut bookie, 1, next);
        append(&mut bookie, 1, next + 1);
        let answers = bookie.commit();
        match &answers[..] {
            [first, second] if first.result.is_ok() && second.result.is_ok() => next += 2,
            [first, second] => {
                next += i64::from(first.result.is_ok());
                break second.result.clone();
            }
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(refused, Err(LedgerError::Full(_))), "{refused:?}");
    assert_eq!(bookie.poison(), None);
    assert_eq!(
        bookie.reader().read(1, 0, 0, 1),
        Ok(vec![entry(1, 0)]),
        "reading still works"
    );
    disk.limit_bytes(None);
    fill(&mut bookie, 1, next..next + 5);
    assert_eq!(bookie.last_entry(1), Ok((next + 4, length(1, next + 4))));
}

#[test]
fn a_failed_sync_ends_writing_for_good_and_reading_goes_on() {
    let disk = SimDisk::new();
    let mut bookie = open(&disk);
    fill(&mut bookie, 1, 0..3);
    disk.inject(Box::new(|op: &DiskOp| {
        (op.kind == OpKind::Sync).then(|| io::Error::other("the cable fell out"))
    }));
    append(&mut bookie, 1, 3);
    assert!(matches!(bookie.commit()[0].result, Err(LedgerError::Io(_))));
    disk.heal();
    append(&mut bookie, 1, 3);
    let Err(LedgerError::Io(text)) = bookie.commit().remove(0).result else {
        panic!("it must stay poisoned");
    };
    assert!(
        text.contains("the cable fell out") && text.contains("no more entries"),
        "{text}"
    );
    assert_eq!(bookie.reader().read(1, 0, 9, usize::MAX).unwrap().len(), 3);
}

#[test]
fn an_unreadable_spot_is_an_error_of_its_entry_only() {
    let disk = SimDisk::new();
    let mut bookie = open(&disk);
    fill(&mut bookie, 1, 0..10);
    let mut left = 2;
    disk.inject(Box::new(move |op: &DiskOp| {
        let hits = op.kind == OpKind::Read && left > 0;
        left -= i32::from(hits);
        hits.then(|| io::Error::other("bad sector"))
    }));
    let refused = bookie.reader().read(1, 0, 9, usize::MAX);
    assert!(matches!(refused, Err(LedgerError::Io(_))), "{refused:?}");
    assert_eq!(bookie.reader().read(1, 0, 9, usize::MAX).unwrap().len(), 10);
}

/// Every byte of synced records, one at a time: the entry it belongs to errs, the others read.
#[test]
fn a_flipped_byte_costs_one_entry() {
    let base = SimDisk::new();
    let mut bookie = open(&base);
    for number in 0..6 {
        append(&mut bookie, 1, number);
        append(&mut bookie, 2, number);
        bookie.commit();
    }
    fill(&mut bookie, 3, 0..1);
    let path = format!("segments/{}", segments(&base)[0]);
    let bytes = base.bytes_of(&path).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    for offset in (4096..end).step_by(5) {
        base.flip(&path, offset as u64, 0x20);
        let (mut bad, mut good) = (0, 0);
        for (ledger, count) in [(1, 6), (2, 6), (3, 1)] {
            for number in 0..count {
                match bookie.reader().read(ledger, number, number, 1) {
                    Ok(found) => good += usize::from(found == [entry(ledger, number)]),
                    Err(LedgerError::Damaged(..)) => bad += 1,
                    Err(other) => panic!("{other}"),
                }
            }
        }
        assert!(
            bad <= 1 && bad + good == 13,
            "byte {offset}: {bad} bad, {good} good"
        );
        base.flip(&path, offset as u64, 0x20);
    }
}

/// The same, found by a restart after a kill: what was vouched for is damage, and nothing else is lost.
#[test]
fn a_flipped_byte_found_by_recovery_costs_one_entry() {
    let template = || {
        let disk = SimDisk::new();
        let mut bookie = open(&disk);
        for number in 0..6 {
            append(&mut bookie, 1, number);
            append(&mut bookie, 2, number);
            bookie.commit();
        }
        fill(&mut bookie, 3, 0..1);
        disk.kill();
        disk
    };
    let disk = template();
    let path = format!("segments/{}", segments(&disk)[0]);
    let record = 56 + 304;
    let last_group = 4096 + record as u64 * 12 - 100;
    for offset in (4096..last_group).step_by(37) {
        let disk = template();
        disk.flip(&path, offset, 0x01);
        let bookie = open(&disk);
        let mut good = 0;
        for (ledger, count) in [(1, 6), (2, 6), (3, 1)] {
            for number in 0..count {
                match bookie.reader().read(ledger, number, number, 1) {
                    Ok(found) => good += usize::from(found == [entry(ledger, number)]),
                    // The last entry of a ledger, if its head is unreadable, is not known to have been there.
                    Err(LedgerError::NoSuchEntry(..)) => assert_eq!(number, count - 1),
                    Err(LedgerError::Damaged(..)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
        assert!(good >= 12, "byte {offset}: {good} good");
    }
}
