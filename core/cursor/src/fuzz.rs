//! Any bytes as a saved cursor: refused or restored, never a panic. Driven by a bounded test here.

use bytes::Bytes;
use vocabulary::{AckSet, Position};

use crate::cursor::Cursor;
use crate::extent::Extent;

/// Splits the bytes into a snapshot and deltas (a length of two bytes before each), restores them, and uses
/// the cursor that comes of it.
pub fn fuzz_restore(data: &[u8]) {
    let mut pieces = pieces(data).into_iter();
    let snapshot = pieces.next().unwrap_or_default();
    let deltas: Vec<Bytes> = pieces.collect();
    let Ok(cursor) = Cursor::restore(&snapshot, &deltas) else {
        return;
    };
    assert_round_trip(&cursor);
    let extent = Extent::new(vec![(3, 9), (5, 4999), (8, 0)]);
    let mut cursor = cursor;
    cursor.clamp(&extent);
    assert_round_trip(&cursor);
    assert_fits(&cursor, &extent);
    for position in [
        Position::new(5, 17),
        Position::new(3, 0),
        Position::EARLIEST,
        Position::LATEST,
    ] {
        let set = AckSet::from_wire(&[5]);
        let acked = cursor.ack(&extent, position, Some(&set), Some(3));
        assert_eq!(acked.is_err(), position == Position::LATEST);
        assert_fits(&cursor, &extent);
    }
    let _ = cursor.ack_cumulative(&extent, Position::new(5, 2000), None, None);
    assert_fits(&cursor, &extent);
    let _ = cursor.take_record();
    assert!(!cursor.is_dirty());
}

fn pieces(mut data: &[u8]) -> Vec<Bytes> {
    let mut pieces = Vec::new();
    while let [low, high, rest @ ..] = data {
        let size = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (piece, behind) = rest.split_at(size);
        pieces.push(Bytes::copy_from_slice(piece));
        data = behind;
    }
    pieces
}

/// What is written reads the same.
fn assert_round_trip(cursor: &Cursor) {
    let bytes = cursor.snapshot_bytes();
    let again = Cursor::restore(&bytes, &[]);
    assert_eq!(again.as_ref().map(Cursor::state), Ok(cursor.state()));
}

/// The numbers agree with each other.
fn assert_fits(cursor: &Cursor, extent: &Extent) {
    let open: u64 = cursor
        .holes(extent)
        .map(|run| run.last.abs_diff(run.first) + 1)
        .sum();
    assert_eq!(open, cursor.backlog(extent));
    let ahead: u64 = cursor
        .acked_runs()
        .map(|run| run.last.abs_diff(run.first) + 1)
        .sum();
    assert_eq!(ahead, cursor.acked_ahead_count());
    let next = cursor.next_unacked(extent, Position::EARLIEST);
    assert_eq!(next, extent.next_valid(cursor.mark()));
}
