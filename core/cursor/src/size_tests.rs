//! What a million holes cost: bytes stored, and nodes looked at (not time).

use std::sync::LazyLock;

use letters::log::CursorRecord;
use vocabulary::Position;

use crate::entry_set::steps;
use crate::{Cursor, Extent};

const HOLES: i64 = 1_000_000;

fn at(entry: i64) -> Position {
    Position::new(7, entry)
}

fn acked(cursor: &mut Cursor, extent: &Extent, entry: i64) {
    assert!(cursor.ack(extent, at(entry), None, None).is_ok());
}

/// Every second of two million entries acknowledged.
static COMB: LazyLock<(Cursor, Extent)> = LazyLock::new(comb);

fn comb() -> (Cursor, Extent) {
    let extent = Extent::new(vec![(7, 2 * HOLES - 1), (9, 99)]);
    let mut cursor = Cursor::at(at(-1));
    let steps =
        steps::of(|| (0..HOLES).for_each(|tooth| acked(&mut cursor, &extent, tooth * 2 + 1)));
    assert!(steps < 40 * HOLES as u64, "{steps} nodes looked at");
    (cursor, extent)
}

#[test]
fn a_million_holes_are_small_and_asked_in_few_steps() {
    let (mut cursor, extent) = COMB.clone();
    assert_eq!(cursor.acked_ahead_count(), HOLES as u64);
    assert_eq!(cursor.backlog(&extent), HOLES as u64 + 100);
    let stored = cursor.snapshot_bytes();
    assert!(stored.len() <= 1024 * 1024, "{} bytes", stored.len());
    for set in cursor.ahead.ledgers().values() {
        assert!(set.parts().count() <= 600, "{} nodes", set.parts().count());
    }
    let steps = steps::of(|| {
        for entry in (0..2 * HOLES).step_by(9973) {
            assert_eq!(cursor.is_acked(at(entry)), entry % 2 == 1);
            let next = cursor
                .next_unacked(&extent, at(entry))
                .map(|position| position.entry);
            let expected = if entry % 2 == 0 { entry + 2 } else { entry + 1 };
            assert_eq!(next, Some(if expected < 2 * HOLES { expected } else { 0 }));
        }
        for entry in (10..2 * HOLES).step_by(9974) {
            acked(&mut cursor, &extent, entry);
        }
    });
    assert!(steps < 201 * 20, "{steps} nodes looked at");
    let again = Cursor::restore(&stored, &[]);
    assert_eq!(
        again.map(|cursor| cursor.acked_ahead_count()),
        Ok(HOLES as u64)
    );
}

#[test]
fn closing_a_million_holes_looks_at_each_node_a_few_times() {
    let (mut cursor, extent) = COMB.clone();
    let steps = steps::of(|| (0..HOLES).for_each(|tooth| acked(&mut cursor, &extent, tooth * 2)));
    assert_eq!(cursor.mark(), at(2 * HOLES - 1));
    assert!(steps < 40 * HOLES as u64, "{steps} nodes looked at");
    assert_eq!(cursor.acked_ahead_count(), 0);
}

#[test]
fn one_late_ack_moves_the_mark_over_everything_behind_it() {
    let extent = Extent::new(vec![(7, 10 * HOLES)]);
    let mut cursor = Cursor::at(at(-1));
    for entry in 1..=100_000 {
        acked(&mut cursor, &extent, entry);
    }
    let steps = steps::of(|| acked(&mut cursor, &extent, 0));
    assert_eq!(cursor.mark(), at(100_000));
    assert!(steps < 20, "{steps} nodes looked at");
}

#[test]
fn a_large_backlog_with_few_holes_is_tiny() {
    let ledgers: Vec<(i64, i64)> = (0..1000).map(|ledger| (ledger, 49_999)).collect();
    let extent = Extent::new(ledgers);
    let mut cursor = Cursor::at(Position::new(0, -1));
    for hole in 0..10 {
        let position = Position::new(hole * 97 + 5, 31_000);
        assert!(cursor.ack(&extent, position, None, None).is_ok());
    }
    assert_eq!(cursor.backlog(&extent), 50_000_000 - 10);
    let stored = cursor.snapshot_bytes().len();
    assert!(stored < 1024, "{stored} bytes");
}

#[test]
fn all_acked_but_ten_entries_is_small() {
    let extent = Extent::new(vec![(7, 49_999_999)]);
    let mut cursor = Cursor::at(at(-1));
    for hole in 0..10 {
        let first = hole * 5_000_000 + 1;
        cursor.ahead.insert(crate::Run {
            ledger: 7,
            first,
            last: first + 4_999_998,
        });
    }
    assert_eq!(cursor.backlog(&extent), 10);
    let stored = cursor.snapshot_bytes().len();
    assert!(stored < 1024, "{stored} bytes");
}

#[test]
fn what_is_written_stays_in_proportion_to_the_acks() {
    let extent = Extent::new(vec![(7, 4 * HOLES)]);
    let mut cursor = Cursor::at(at(-1));
    let (mut deltas, mut snapshots, mut largest) = (0, 0, 0);
    for tooth in 0..20_000 {
        acked(&mut cursor, &extent, tooth * 4 + 1);
        match cursor.take_record() {
            Some(CursorRecord::Delta(bytes)) => {
                largest = largest.max(bytes.len());
                deltas += bytes.len();
            }
            Some(CursorRecord::Snapshot(bytes)) => snapshots += bytes.len(),
            None => panic!("an ack leaves something to save"),
        }
    }
    assert!(largest <= 20, "a delta of one ack has {largest} bytes");
    assert!(
        snapshots <= 2 * deltas,
        "{snapshots} bytes of snapshots for {deltas} of deltas"
    );
}
