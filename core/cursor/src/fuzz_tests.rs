use bytes::{BufMut, Bytes, BytesMut};
use letters::log::CursorRecord;
use vocabulary::{AckSet, Position};

use crate::fuzz::fuzz_restore;
use crate::{Cursor, Extent};

/// The same numbers on every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// A snapshot with some of everything, and two deltas.
pub(crate) fn saved() -> (Bytes, Vec<Bytes>) {
    let extent = Extent::new(vec![(3, 9), (5, 4999), (8, 0)]);
    let mut cursor = Cursor::at(Position::new(3, 2));
    for entry in (100..400).step_by(3) {
        assert!(
            cursor
                .ack(&extent, Position::new(5, entry), None, None)
                .is_ok()
        );
    }
    assert!(
        cursor
            .ack(
                &extent,
                Position::new(3, 8),
                Some(&AckSet::from_wire(&[6])),
                Some(3)
            )
            .is_ok()
    );
    cursor.set_property("sequence", Some(-3));
    cursor.set_string_property("colour", Some("green".to_owned()));
    let snapshot = cursor.snapshot_bytes();
    let mut deltas = Vec::new();
    for entry in [900, 3] {
        assert!(
            cursor
                .ack(&extent, Position::new(5, entry), None, None)
                .is_ok()
        );
        assert!(
            cursor
                .ack_cumulative(&extent, Position::new(3, entry / 100), None, None)
                .is_ok()
        );
        assert!(
            cursor
                .ack(
                    &extent,
                    Position::new(8, 0),
                    Some(&AckSet::from_wire(&[3])),
                    Some(3)
                )
                .is_ok()
        );
        cursor.set_property("sequence", Some(entry));
        cursor.set_string_property("colour", None);
        match cursor.take_record() {
            Some(CursorRecord::Delta(bytes)) => deltas.push(bytes),
            other => panic!("a delta was expected, not {other:?}"),
        }
    }
    (snapshot, deltas)
}

fn joined(pieces: &[Bytes]) -> Vec<u8> {
    let mut out = BytesMut::new();
    for piece in pieces {
        out.put_u16_le(piece.len() as u16);
        out.put_slice(piece);
    }
    out.to_vec()
}

#[test]
fn what_is_saved_restores() {
    let (snapshot, deltas) = saved();
    assert!(Cursor::restore(&snapshot, &deltas).is_ok());
}

#[test]
fn no_bytes_panic() {
    let (snapshot, deltas) = saved();
    let mut pieces = vec![snapshot];
    pieces.extend(deltas);
    let good = joined(&pieces);
    fuzz_restore(&good);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..4_000 {
        let mut bytes = good.clone();
        for _ in 0..=dice.below(4) {
            let at = dice.below(bytes.len());
            match dice.below(5) {
                0 => bytes[at] ^= 1 << dice.below(8),
                1 => bytes[at] = 0xff,
                2 => bytes.truncate(at + 1),
                3 => bytes.insert(at, dice.next() as u8),
                _ => drop(bytes.drain(at..(at + dice.below(4)).min(bytes.len()))),
            }
            if bytes.is_empty() {
                break;
            }
        }
        fuzz_restore(&bytes);
    }
    for _ in 0..4_000 {
        let mut bytes = vec![60, 0, 1, 0];
        for _ in 0..dice.below(80) {
            let small = dice.below(2) == 0;
            bytes.push(if small {
                dice.below(6) as u8
            } else {
                dice.next() as u8
            });
        }
        fuzz_restore(&bytes);
    }
}

#[test]
fn every_cut_is_refused() {
    let (snapshot, deltas) = saved();
    for size in 0..snapshot.len() {
        assert!(
            Cursor::restore(&snapshot[..size], &[]).is_err(),
            "cut to {size}"
        );
    }
    for delta in deltas {
        for size in 0..delta.len() {
            assert!(
                Cursor::restore(&snapshot, &[delta.slice(..size)]).is_err(),
                "cut to {size}"
            );
        }
    }
}
