use vocabulary::{AckSet, Position};

use crate::{AckRefusal, Acked, Cursor, Extent, Run};

fn at(ledger: i64, entry: i64) -> Position {
    Position::new(ledger, entry)
}

fn extent() -> Extent {
    Extent::new(vec![(3, 9), (5, 4), (8, 2)])
}

fn set(words: &[i64]) -> AckSet {
    AckSet::from_wire(words)
}

/// Only whether the ack counted, and how.
fn ack(cursor: &mut Cursor, position: Position) -> Acked {
    cursor
        .ack(&extent(), position, None, None)
        .unwrap_or_default()
}

#[test]
fn an_ack_in_order_moves_the_mark_and_one_ahead_leaves_a_hole() {
    let mut cursor = Cursor::at(at(3, -1));
    assert!(ack(&mut cursor, at(3, 0)).mark_moved);
    assert_eq!(cursor.mark(), at(3, 0));
    let ahead = ack(&mut cursor, at(3, 2));
    assert_eq!(
        ahead,
        Acked {
            entries: 1,
            messages: 1,
            mark_moved: false,
            changed: true
        }
    );
    assert_eq!(cursor.next_unacked(&extent(), at(3, 0)), Some(at(3, 1)));
    assert_eq!(cursor.next_unacked(&extent(), at(3, 1)), Some(at(3, 3)));
    assert!(ack(&mut cursor, at(3, 1)).mark_moved);
    assert_eq!((cursor.mark(), cursor.acked_ahead_count()), (at(3, 2), 0));
}

#[test]
fn the_mark_crosses_ledgers_that_are_wholly_acknowledged() {
    let mut cursor = Cursor::at(at(3, 8));
    for entry in 0..=4 {
        ack(&mut cursor, at(5, entry));
    }
    ack(&mut cursor, at(8, 0));
    assert_eq!(cursor.mark(), at(3, 8));
    ack(&mut cursor, at(3, 9));
    assert_eq!(cursor.mark(), at(8, 0));
    assert_eq!(cursor.backlog(&extent()), 2);
}

#[test]
fn an_ack_made_before_changes_nothing() {
    let mut cursor = Cursor::at(at(3, 0));
    ack(&mut cursor, at(3, 5));
    let _ = cursor.ack(&extent(), at(3, 7), Some(&set(&[0b110])), Some(3));
    let before = cursor.clone();
    for position in [at(3, 0), at(3, 5), at(1, 0)] {
        assert_eq!(ack(&mut cursor, position), Acked::default());
    }
    for again in [0b110, 0b111] {
        let acked = cursor.ack(&extent(), at(3, 7), Some(&set(&[again])), Some(3));
        assert_eq!(acked, Ok(Acked::default()));
    }
    assert_eq!(cursor, before);
}

#[test]
fn what_never_existed_is_refused_behind_the_end_and_ignored_between() {
    let mut cursor = Cursor::at(at(3, -1));
    let refused = Err(AckRefusal::BeyondLast {
        position: at(8, 3),
        last: at(8, 2),
    });
    assert_eq!(cursor.ack(&extent(), at(8, 3), None, None), refused);
    assert_eq!(
        cursor.ack_cumulative(&extent(), at(8, 3), None, None),
        refused
    );
    assert_eq!(ack(&mut cursor, at(5, 5)), Acked::default());
    assert_eq!(ack(&mut cursor, at(5, -1)), Acked::default());
    assert_eq!(ack(&mut cursor, at(4, 0)), Acked::default());
    assert_eq!(cursor, Cursor::at(at(3, -1)));
    assert!(
        cursor
            .ack(&Extent::default(), at(0, 0), None, None)
            .is_err()
    );
}

#[test]
fn a_partial_ack_is_never_taken_back_and_completes_the_entry() {
    let mut cursor = Cursor::at(at(3, -1));
    let first = cursor.ack(&extent(), at(3, 0), Some(&set(&[0b101])), Some(3));
    assert_eq!(
        first,
        Ok(Acked {
            entries: 0,
            messages: 1,
            mark_moved: false,
            changed: true
        })
    );
    assert_eq!(cursor.remaining(at(3, 0)), Some(&set(&[0b101])));
    assert!(!cursor.is_acked(at(3, 0)));
    let second = cursor.ack(&extent(), at(3, 0), Some(&set(&[0b011])), Some(3));
    assert_eq!(second.map(|acked| acked.messages), Ok(1));
    assert_eq!(cursor.remaining(at(3, 0)), Some(&set(&[0b001])));
    let third = cursor.ack(&extent(), at(3, 0), Some(&set(&[0b110])), Some(3));
    assert_eq!(
        third,
        Ok(Acked {
            entries: 1,
            messages: 1,
            mark_moved: true,
            changed: true
        })
    );
    assert_eq!(
        (cursor.mark(), cursor.remaining(at(3, 0))),
        (at(3, 0), None)
    );
}

#[test]
fn an_empty_set_or_one_of_messages_the_batch_has_not_is_a_whole_ack() {
    for words in [[0], [0b1000]] {
        let mut cursor = Cursor::at(at(3, -1));
        let acked = cursor.ack(&extent(), at(3, 0), Some(&set(&words)), Some(3));
        assert_eq!(
            acked,
            Ok(Acked {
                entries: 1,
                messages: 3,
                mark_moved: true,
                changed: true
            })
        );
    }
}

#[test]
fn without_a_batch_size_only_what_is_known_counts() {
    let mut cursor = Cursor::at(at(3, -1));
    let ack = |cursor: &mut Cursor, words: Option<i64>| {
        let set = words.map(|word| set(&[word]));
        cursor
            .ack(&extent(), at(3, 4), set.as_ref(), None)
            .map(|acked| acked.messages)
    };
    assert_eq!(ack(&mut cursor, Some(0b11111)), Ok(0));
    assert_eq!(ack(&mut cursor, Some(0b01010)), Ok(3));
    assert_eq!(ack(&mut cursor, None), Ok(2));
}

#[test]
fn a_cumulative_ack_covers_what_lies_before() {
    let mut cursor = Cursor::at(at(3, -1));
    ack(&mut cursor, at(3, 4));
    ack(&mut cursor, at(5, 1));
    let _ = cursor.ack(&extent(), at(5, 0), Some(&set(&[0b10])), Some(2));
    let acked = cursor.ack_cumulative(&extent(), at(5, 0), None, Some(2));
    assert_eq!(
        acked,
        Ok(Acked {
            entries: 10,
            messages: 1,
            mark_moved: true,
            changed: true
        })
    );
    assert_eq!(cursor.mark(), at(5, 1));
    assert_eq!(
        cursor.ack_cumulative(&extent(), at(3, 9), None, None),
        Ok(Acked::default())
    );
}

#[test]
fn a_cumulative_ack_with_a_set_acts_on_the_entry_before_and_the_set() {
    let mut cursor = Cursor::at(at(3, -1));
    let acked = cursor.ack_cumulative(&extent(), at(5, 0), Some(&set(&[0b100])), Some(3));
    assert_eq!(
        acked,
        Ok(Acked {
            entries: 10,
            messages: 2,
            mark_moved: true,
            changed: true
        })
    );
    assert_eq!(cursor.mark(), at(3, 9));
    assert_eq!(cursor.remaining(at(5, 0)), Some(&set(&[0b100])));
}

#[test]
fn a_cumulative_ack_before_a_ledger_stands_for_all_before_it() {
    let mut cursor = Cursor::at(at(3, -1));
    assert!(
        cursor
            .ack_cumulative(&extent(), at(5, -1), None, None)
            .is_ok()
    );
    assert_eq!(cursor.mark(), at(3, 9));
    // What a client sends that knows the next ledger before its first entry is stored.
    assert!(
        cursor
            .ack_cumulative(&extent(), at(9, -1), None, None)
            .is_ok()
    );
    assert_eq!(cursor.mark(), at(8, 2));
}

#[test]
fn a_set_larger_than_any_batch_is_refused() {
    let mut cursor = Cursor::at(at(3, -1));
    let mut words = vec![0i64; 20_000];
    words.push(1);
    let refused = cursor.ack(&extent(), at(3, 0), Some(&set(&words)), None);
    assert_eq!(refused, Err(AckRefusal::SetTooLarge { position: at(3, 0) }));
    assert_eq!(cursor, Cursor::at(at(3, -1)));
}

#[test]
fn holes_and_acked_runs_are_told_by_ledger() {
    let mut cursor = Cursor::at(at(3, 7));
    for position in [at(3, 9), at(5, 0), at(5, 1), at(5, 4)] {
        ack(&mut cursor, position);
    }
    let run = |ledger, first, last| Run {
        ledger,
        first,
        last,
    };
    let holes: Vec<Run> = cursor.holes(&extent()).collect();
    assert_eq!(holes, [run(3, 8, 8), run(5, 2, 3), run(8, 0, 2)]);
    let acked: Vec<Run> = cursor.acked_runs().collect();
    assert_eq!(acked, [run(3, 9, 9), run(5, 0, 1), run(5, 4, 4)]);
}

#[test]
fn a_mark_in_a_trimmed_ledger_moves_before_the_first_entry() {
    let mut extent = extent();
    let mut cursor = Cursor::at(at(3, 2));
    ack(&mut cursor, at(3, 5));
    ack(&mut cursor, at(5, 0));
    extent.trimmed(at(5, 0));
    cursor.clamp(&extent);
    assert_eq!((cursor.mark(), cursor.acked_ahead_count()), (at(5, 0), 0));
    assert_eq!(cursor.backlog(&extent), 7);
}

#[test]
fn a_mark_behind_the_last_entry_goes_back_to_it() {
    for lost in [at(8, 7), at(11, 0), Position::LATEST] {
        let mut cursor = Cursor::at(lost);
        cursor.clamp(&extent());
        assert_eq!(cursor.mark(), at(8, 2));
        assert!(cursor.is_dirty());
    }
    let mut cursor = Cursor::at(Position::LATEST);
    cursor.clamp(&Extent::default());
    assert_eq!(cursor.mark(), Position::EARLIEST);
}

#[test]
fn a_seek_forgets_acks_and_keeps_properties() {
    let mut cursor = Cursor::at(at(3, 2));
    ack(&mut cursor, at(5, 0));
    cursor.set_property("a", Some(1));
    cursor.reset(at(3, -1));
    assert_eq!((cursor.mark(), cursor.acked_ahead_count()), (at(3, -1), 0));
    assert_eq!(cursor.properties().get("a"), Some(&1));
    assert!(!cursor.is_acked(at(5, 0)));
}
