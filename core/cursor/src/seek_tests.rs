use vocabulary::{AckSet, Position};

use crate::cursor::BATCH_MESSAGES_MAX;
use crate::{AckRefusal, Cursor, Extent};
use letters::log::CursorRecord;

fn at(ledger: i64, entry: i64) -> Position {
    Position::new(ledger, entry)
}

fn extent() -> Extent {
    Extent::new(vec![(3, 9), (5, 4), (8, 2)])
}

/// Somebody acked up to 5:2, 8:0 ahead of it and half of 8:1.
fn busy() -> Cursor {
    let mut cursor = Cursor::at(at(5, 2));
    cursor.ack(&extent(), at(8, 0), None, None).unwrap();
    let half = AckSet::from_wire(&[2]);
    cursor
        .ack(&extent(), at(8, 1), Some(&half), Some(2))
        .unwrap();
    cursor.take_record();
    cursor
}

/// The first entry wanted after a seek there.
fn first_after(target: Position) -> Option<Position> {
    let mut cursor = busy();
    cursor.seek(&extent(), target, None).unwrap();
    assert_eq!(
        (cursor.acked_ahead_count(), cursor.remaining(at(8, 1))),
        (0, None)
    );
    cursor.next_unacked(&extent(), Position::EARLIEST)
}

#[test]
fn the_named_entry_is_wanted_again_or_the_next_one_that_exists() {
    assert_eq!(first_after(at(3, 4)), Some(at(3, 4)));
    assert_eq!(first_after(at(3, 0)), Some(at(3, 0)));
    assert_eq!(first_after(at(3, 77)), Some(at(5, 0)));
    assert_eq!(first_after(at(4, -1)), Some(at(5, 0)));
    assert_eq!(first_after(at(1, 5)), Some(at(3, 0)));
    assert_eq!(first_after(Position::EARLIEST), Some(at(3, 0)));
    assert_eq!(first_after(Position::LATEST), None);
    assert_eq!(first_after(at(8, 3)), None);
}

#[test]
fn of_a_batch_only_the_named_messages_are_wanted_and_only_if_it_exists() {
    let half = AckSet::from_wire(&[6]);
    let mut cursor = busy();
    cursor.seek(&extent(), at(5, 1), Some(&half)).unwrap();
    assert_eq!(cursor.remaining(at(5, 1)), Some(&half));
    cursor.seek(&extent(), at(4, 1), Some(&half)).unwrap();
    assert_eq!(cursor.remaining(at(5, 0)), None);
}

#[test]
fn a_set_larger_than_any_batch_is_refused_and_changes_nothing() {
    let mut words = vec![0; BATCH_MESSAGES_MAX as usize / 64];
    words.push(1);
    let mut cursor = busy();
    let refused = cursor.seek(&extent(), at(5, 1), Some(&AckSet::from_wire(&words)));
    assert_eq!(refused, Err(AckRefusal::SetTooLarge { position: at(5, 1) }));
    assert_eq!(cursor, busy());
}

#[test]
fn a_seek_is_saved_whole() {
    let half = AckSet::from_wire(&[6]);
    let mut cursor = busy();
    cursor.seek(&extent(), at(5, 1), Some(&half)).unwrap();
    let Some(CursorRecord::Snapshot(bytes)) = cursor.take_record() else {
        panic!("a snapshot");
    };
    let restored = Cursor::restore(&bytes, &[]).unwrap();
    assert_eq!(
        (restored.mark(), restored.remaining(at(5, 1))),
        (at(5, 0), Some(&half))
    );
}
