//! The stored forms byte by byte: what a released version has written must be read for ever.

use letters::log::CursorRecord;
use vocabulary::{AckSet, Position};

use crate::{Cursor, Extent};

fn at(ledger: i64, entry: i64) -> Position {
    Position::new(ledger, entry)
}

#[rustfmt::skip]
const SNAPSHOT: &[u8] = &[
    0x01,                                   // snapshot, version 1
    0,                                      // sequence 0
    6, 1,                                   // mark 3:-1
    1,                                      // ledgers
    10, 2,                                  //   ledger 5, two parts
    4, 1,                                   //     from 2: 2..=3
    0x9c, 0x01, 0,                          //     78 further: 82
    1,                                      // batches
    6, 4, 1, 5, 0, 0, 0, 0, 0, 0, 0,        //   3:2, one word: 0 and 2 remain
    1,                                      // properties
    1, b'a', 13,                            //   a = -7
    1,                                      // text properties
    1, b'b', 2, 0xc3, 0xa9,                 //   b = é
];

#[rustfmt::skip]
const DELTA: &[u8] = &[
    0x81,                                   // delta, version 1
    1,                                      // sequence 1
    1, 6, 2,                                // mark 3:1
    1,                                      // ledgers
    10, 1,                                  //   ledger 5, one part
    1, 3, 0x51, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, //  three words from entry 0: every second, 2 and 82 were
          0x55, 0x55, 0x51, 0x55, 0x55, 0x55, 0x55, 0x55,
          0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
    1,                                      // batches
    6, 4, 1, 4, 0, 0, 0, 0, 0, 0, 0,        //   3:2, one word: 2 remains
    1,                                      // properties
    1, b'a', 0,                             //   a is removed
    1,                                      // text properties
    1, b'b', 1, 1, b'x',                    //   b = x
];

fn cursor(extent: &Extent) -> Cursor {
    let mut cursor = Cursor::at(at(3, -1));
    for entry in [2, 3, 82] {
        assert!(cursor.ack(extent, at(5, entry), None, None).is_ok());
    }
    assert!(
        cursor
            .ack(extent, at(3, 2), Some(&AckSet::from_wire(&[5])), Some(3))
            .is_ok()
    );
    cursor.set_property("a", Some(-7));
    cursor.set_string_property("b", Some("é".to_owned()));
    cursor
}

#[test]
fn a_snapshot_is_these_bytes() {
    let extent = Extent::new(vec![(3, 9), (5, 199)]);
    let written = cursor(&extent);
    assert_eq!(written.snapshot_bytes(), SNAPSHOT);
    let read = Cursor::restore(SNAPSHOT, &[]);
    assert_eq!(read.as_ref().map(Cursor::state), Ok(written.state()));
}

#[test]
fn a_delta_is_these_bytes() {
    let extent = Extent::new(vec![(3, 9), (5, 199)]);
    let Ok(mut written) = Cursor::restore(SNAPSHOT, &[]) else {
        panic!("the snapshot reads")
    };
    assert!(
        written
            .ack_cumulative(&extent, at(3, 1), None, None)
            .is_ok()
    );
    for entry in (0..192).step_by(2) {
        assert!(written.ack(&extent, at(5, entry), None, None).is_ok());
    }
    assert!(
        written
            .ack(&extent, at(3, 2), Some(&AckSet::from_wire(&[4])), Some(3))
            .is_ok()
    );
    written.set_property("a", None);
    written.set_string_property("b", Some("x".to_owned()));
    match written.take_record() {
        Some(CursorRecord::Delta(bytes)) => assert_eq!(bytes, DELTA),
        other => panic!("a delta was expected, not {other:?}"),
    }
    let read = Cursor::restore(SNAPSHOT, &[DELTA.into()]);
    assert_eq!(read.as_ref().map(Cursor::state), Ok(written.state()));
}
