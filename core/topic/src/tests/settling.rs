//! What an entry costs.

use super::world::{bits, chunk_entry, entry, marker};
use crate::dispatch::permits::{Price, Verdict, settle};
use vocabulary::AckSet;

fn price(permits: u32, batch_size: u32, ack_set: Option<AckSet>) -> Verdict {
    Verdict::Deliver(Price {
        permits,
        batch_size,
        ack_set,
        chunk: None,
    })
}

#[test]
fn an_entry_costs_the_messages_that_are_left_of_it() {
    assert_eq!(settle(&entry(0, 1), None), price(1, 1, None));
    assert_eq!(settle(&entry(0, 10), None), price(10, 10, None));
    assert_eq!(
        settle(&entry(0, 10), Some(bits(&[1, 9]))),
        price(2, 10, Some(bits(&[1, 9])))
    );
    assert_eq!(
        settle(&entry(0, 10), Some(bits(&[1, 30]))),
        price(1, 10, Some(bits(&[1, 30]))),
        "within the batch"
    );
    assert_eq!(
        settle(&entry(0, 10), Some(bits(&[30]))),
        Verdict::NothingLeft
    );
}

#[test]
fn what_cannot_be_read_costs_one_and_is_the_clients_affair() {
    assert_eq!(settle(b"", None), price(1, 1, None));
    assert_eq!(settle(b"\x00\x00\x00\x01\xff", None), price(1, 1, None));
}

#[test]
fn a_marker_costs_nothing() {
    assert_eq!(settle(&marker(), None), Verdict::Marker);
}

#[test]
fn chunks_say_of_which_message_they_are_and_which_is_the_last() {
    let chunk = |id, count| match settle(&chunk_entry("m", id, count), None) {
        Verdict::Deliver(price) => price.chunk.map(|chunk| (chunk.uuid, chunk.is_last)),
        other => panic!("{other:?}"),
    };
    assert_eq!(chunk(0, 3), Some(("m".to_owned(), false)));
    assert_eq!(chunk(2, 3), Some(("m".to_owned(), true)));
    assert_eq!(chunk(0, 1), None);
}
