use std::collections::BTreeMap;

use bytes::Bytes;
use letters::log::CursorRecord;
use vocabulary::{AckSet, Position};

use crate::fuzz_tests::saved;
use crate::saving::DELTAS_BYTES_MIN;
use crate::{Cursor, CursorError, Extent};

fn at(ledger: i64, entry: i64) -> Position {
    Position::new(ledger, entry)
}

fn extent() -> Extent {
    Extent::new(vec![(3, 9), (5, 49_999)])
}

fn ack(cursor: &mut Cursor, position: Position) {
    assert!(cursor.ack(&extent(), position, None, None).is_ok());
}

fn delta(cursor: &mut Cursor) -> Bytes {
    match cursor.take_record() {
        Some(CursorRecord::Delta(bytes)) => bytes,
        other => panic!("a delta was expected, not {other:?}"),
    }
}

fn snapshot(cursor: &mut Cursor) -> Bytes {
    match cursor.take_record() {
        Some(CursorRecord::Snapshot(bytes)) => bytes,
        other => panic!("a snapshot was expected, not {other:?}"),
    }
}

#[test]
fn only_changes_leave_something_to_save() {
    let mut cursor = Cursor::at(at(3, -1));
    assert!(!cursor.is_dirty());
    assert_eq!(cursor.take_record(), None);
    ack(&mut cursor, at(3, 4));
    assert!(cursor.is_dirty());
    delta(&mut cursor);
    assert!(!cursor.is_dirty());
    ack(&mut cursor, at(3, 4));
    cursor.set_property("a", None);
    assert!(!cursor.is_dirty());
    cursor.set_property("a", Some(1));
    delta(&mut cursor);
    cursor.set_property("a", Some(1));
    assert!(!cursor.is_dirty());
}

#[test]
fn a_cursor_that_is_not_durable_has_nothing_to_save() {
    let mut cursor = Cursor::non_durable(at(3, -1));
    ack(&mut cursor, at(3, 0));
    ack(&mut cursor, at(3, 4));
    let _ = cursor.ack(&extent(), at(3, 6), Some(&AckSet::from_wire(&[1])), Some(2));
    let _ = cursor.ack_cumulative(&extent(), at(3, 5), None, None);
    cursor.set_property("a", Some(1));
    cursor.set_string_property("b", Some("c".to_owned()));
    cursor.reset(at(3, -1));
    cursor.save_failed();
    assert!(!cursor.is_dirty());
    assert_eq!(cursor.take_record(), None);
}

#[test]
fn deltas_add_up_to_the_cursor_in_any_order_and_number() {
    let (first, deltas) = saved();
    let straight = Cursor::restore(&first, &deltas);
    let reversed: Vec<Bytes> = deltas.iter().rev().chain(&deltas).cloned().collect();
    let again = Cursor::restore(&first, &reversed);
    match (straight, again) {
        (Ok(straight), Ok(again)) => assert_eq!(straight.state(), again.state()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_delta_that_the_snapshot_contains_changes_nothing() {
    let mut cursor = Cursor::at(at(3, -1));
    cursor.set_property("a", Some(1));
    ack(&mut cursor, at(5, 7));
    let old = delta(&mut cursor);
    cursor.set_property("a", Some(2));
    cursor.reset(at(3, 3));
    let newer = snapshot(&mut cursor);
    let restored = Cursor::restore(&newer, &[old]);
    assert_eq!(restored.as_ref().map(Cursor::state), Ok(cursor.state()));
}

#[test]
fn after_a_failed_save_and_after_a_seek_the_record_is_a_snapshot() {
    let mut cursor = Cursor::at(at(3, -1));
    ack(&mut cursor, at(5, 7));
    delta(&mut cursor);
    cursor.save_failed();
    assert!(cursor.is_dirty());
    let whole = snapshot(&mut cursor);
    let restored = Cursor::restore(&whole, &[]);
    assert_eq!(restored.as_ref().map(Cursor::state), Ok(cursor.state()));
    ack(&mut cursor, at(5, 9));
    delta(&mut cursor);
    cursor.reset(at(3, 2));
    snapshot(&mut cursor);
}

#[test]
fn deltas_that_outgrow_the_snapshot_become_one() {
    let mut cursor = Cursor::at(at(3, -1));
    let (mut since, mut snapshots, mut size) = (0, 0, 0);
    for entry in (1..40_000).step_by(3) {
        ack(&mut cursor, at(5, entry));
        match cursor.take_record() {
            Some(CursorRecord::Delta(bytes)) => {
                since += bytes.len();
                assert!(
                    since <= DELTAS_BYTES_MIN.max(size),
                    "{since} bytes of deltas"
                );
            }
            Some(CursorRecord::Snapshot(bytes)) => {
                assert!(
                    since > DELTAS_BYTES_MIN - 64,
                    "a snapshot after {since} bytes"
                );
                (since, snapshots, size) = (0, snapshots + 1, bytes.len());
            }
            None => panic!("an ack leaves something to save"),
        }
    }
    assert!(snapshots >= 2, "{snapshots} snapshots");
}

#[test]
fn a_restored_cursor_goes_on_counting_deltas_and_records() {
    let mut cursor = Cursor::at(at(3, -1));
    let first = cursor.snapshot_bytes();
    let mut deltas = Vec::new();
    for entry in [4, 6] {
        ack(&mut cursor, at(3, entry));
        deltas.push(delta(&mut cursor));
    }
    let Ok(mut restored) = Cursor::restore(&first, &deltas) else {
        panic!("what was written reads")
    };
    assert_eq!(
        restored.saving,
        crate::cursor::Saving {
            snapshot_bytes: first.len(),
            ..cursor.saving
        }
    );
    ack(&mut restored, at(3, 8));
    deltas.push(delta(&mut restored));
    let again = Cursor::restore(&first, &deltas);
    assert_eq!(again.as_ref().map(Cursor::state), Ok(restored.state()));
}

#[test]
fn a_mark_of_lost_entries_is_replaced_in_what_is_saved() {
    let cursor = Cursor::at(at(5, 60_000));
    let Ok(mut restored) = Cursor::restore(&cursor.snapshot_bytes(), &[]) else {
        panic!("it reads")
    };
    restored.clamp(&extent());
    let again = Cursor::restore(&snapshot(&mut restored), &[]);
    assert_eq!(again.map(|cursor| cursor.mark()), Ok(at(5, 49_999)));
}

#[test]
fn replaced_properties_are_set_and_removed() {
    let mut cursor = Cursor::at(at(3, -1));
    cursor.set_property("gone", Some(1));
    cursor.set_property("kept", Some(2));
    let first = cursor.snapshot_bytes();
    delta(&mut cursor);
    cursor.replace_properties(BTreeMap::from([
        ("kept".to_owned(), 3),
        ("new".to_owned(), 4),
    ]));
    let restored = Cursor::restore(&first, &[delta(&mut cursor)]);
    let expected = BTreeMap::from([("kept".to_owned(), 3), ("new".to_owned(), 4)]);
    assert_eq!(
        restored.map(|cursor| cursor.properties().clone()),
        Ok(expected)
    );
}

#[test]
fn a_form_of_a_newer_version_is_refused_by_name() {
    let (first, deltas) = saved();
    let mut newer = first.to_vec();
    newer[0] = 0x02;
    let refused = Cursor::restore(&newer, &[]).map(|cursor| cursor.mark());
    assert_eq!(
        refused,
        Err(CursorError::Version {
            found: 0x02,
            known: 0x01
        })
    );
    let mut newer = deltas[0].to_vec();
    newer[0] = 0x82;
    let refused = Cursor::restore(&first, &[newer.into()]).map(|cursor| cursor.mark());
    assert_eq!(
        refused,
        Err(CursorError::Version {
            found: 0x82,
            known: 0x81
        })
    );
}

#[test]
fn what_the_mark_covers_is_not_told_entry_by_entry() {
    let mut cursor = Cursor::at(at(5, -1));
    (0..1000)
        .rev()
        .for_each(|entry| ack(&mut cursor, at(5, entry * 2)));
    (0..1000).for_each(|entry| ack(&mut cursor, at(5, entry * 2 + 1)));
    assert_eq!(cursor.mark(), at(5, 1999));
    let bytes = delta(&mut cursor);
    assert!(bytes.len() <= 12, "{} bytes", bytes.len());
}

#[test]
fn entries_numbered_higher_than_any_ledger_holds_are_refused() {
    // Sequence 0, mark 0:0, one ledger 0 with one part: a run from entry 0 of the length that follows.
    let head = [0x01, 0, 0, 0, 1, 0, 1, 0];
    let tail = [0, 0, 0];
    let restore = |length: &[u8]| {
        let bytes = [&head[..], length, &tail[..]].concat();
        Cursor::restore(&bytes, &[]).map(|cursor| cursor.acked_ahead_count())
    };
    assert_eq!(restore(&[0xff, 0xff, 0x03]), Ok(65_535));
    let refused = Err(CursorError::Damaged("acknowledged entries"));
    assert_eq!(
        restore(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40]),
        refused
    );
    assert_eq!(
        restore(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        refused
    );
}
