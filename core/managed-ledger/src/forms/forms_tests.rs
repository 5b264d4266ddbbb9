//! Stored forms against bytes put together by hand.

use super::FormError;
use super::compressed::body;
use super::cursor_node::CursorNode;
use super::ledger_list::{LedgerList, ListedLedger};
use bytes::Bytes;
use vocabulary::{Position, WallTime};

/// A protobuf field of length-delimited kind.
fn nested(field: u8, inner: &[u8]) -> Vec<u8> {
    [&[field << 3 | 2, inner.len() as u8], inner].concat()
}

#[test]
fn a_list_is_written_and_read_as_pulsar_does() {
    // ledger 300: 5 entries, 1000 bytes, closed at 1; ledger 301: open.
    let closed = [8, 0xac, 2, 16, 5, 24, 0xe8, 7, 32, 1];
    let open = [8, 0xad, 2, 32, 0];
    let property = [nested(1, b"key"), nested(2, b"value")].concat();
    let bytes = [
        nested(1, &closed),
        nested(1, &open),
        nested(2, &[8, 7, 16, 9]),
        nested(3, &property),
    ]
    .concat();
    let list = LedgerList::decode(&bytes.clone().into()).expect("it can be read");
    assert_eq!(list.terminated, Some(Position::new(7, 9)));
    assert_eq!(list.properties, [("key".to_owned(), "value".to_owned())]);
    let [first, second] = list.ledgers.as_slice() else {
        panic!("{list:?}")
    };
    assert_eq!(
        (first.ledger, first.entries, first.size, first.closed_at_ms),
        (300, 5, 1000, 1)
    );
    assert_eq!(
        (second.ledger, second.entries, second.last_entry()),
        (301, 0, -1)
    );
    assert_eq!(list.encode(), bytes);
}

#[test]
fn an_offload_context_is_kept_as_it_was() {
    let driver = [
        nested(1, b"s3"),
        nested(2, &[nested(1, b"k"), nested(2, b"v")].concat()),
    ]
    .concat();
    let context = [&[8, 5, 16, 6, 24, 1, 32, 0, 40, 9][..], &nested(6, &driver)].concat();
    let ledger = [&[8, 1, 16, 2, 24, 3, 32, 4][..], &nested(5, &context)].concat();
    let bytes = nested(1, &ledger);
    let list = LedgerList::decode(&bytes.clone().into()).expect("it can be read");
    assert_eq!(list.encode(), bytes);
}

#[test]
fn a_new_ledger_is_listed_with_its_id_and_no_closing_time() {
    let list = LedgerList {
        ledgers: vec![ListedLedger::open(7)],
        ..LedgerList::default()
    };
    assert_eq!(list.encode(), nested(1, &[8, 7, 32, 0]));
}

#[test]
fn a_compressed_value_is_recognised() {
    let plain = Bytes::from(nested(1, &[8, 7]));
    let framed = |codec: u8, size: u8| {
        let header = [8, codec, 16, size];
        Bytes::from([&[0x47, 0x78, 0, 0, 0, 4][..], &header, &plain].concat())
    };
    assert_eq!(body(&framed(0, 4)), Ok(plain.clone()));
    assert_eq!(
        LedgerList::decode(&framed(0, 4))
            .expect("it can be read")
            .ledgers
            .len(),
        1
    );
    for (codec, name) in [
        (1, "LZ4"),
        (2, "ZLIB"),
        (3, "ZSTD"),
        (4, "SNAPPY"),
        (9, "unknown codec 9"),
    ] {
        assert_eq!(
            body(&framed(codec, 4)),
            Err(FormError::Codec(name.to_owned()))
        );
    }
    assert!(body(&framed(0, 5)).is_err(), "the size must fit");
    let text = body(&framed(3, 4)).expect_err("not supported").to_string();
    assert!(
        text.contains("ZSTD") && text.contains("managedLedgerInfoCompressionType"),
        "{text}"
    );
}

#[test]
fn no_prefix_of_a_compressed_value_panics() {
    let whole = Bytes::from(vec![0x47, 0x78, 0, 0, 0, 4, 8, 0, 16, 2, 8, 7]);
    for end in 2..whole.len() {
        assert!(body(&whole.slice(..end)).is_err());
    }
}

#[test]
fn a_cursor_node_says_where_the_state_is() {
    let none = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    let here = CursorNode::Here(Bytes::from_static(b"xy"));
    let bytes = [&[8][..], &none, &[48, 9], &[0xca, 0x3e, 2], b"xy"].concat();
    assert_eq!(here.encode(WallTime(9)), bytes);
    assert_eq!(CursorNode::decode(&bytes.into()), Ok(here));
    let in_ledger = CursorNode::InLedger {
        ledger: 5,
        fallback: None,
    };
    assert_eq!(in_ledger.encode(WallTime(9)), [8, 5, 48, 9][..]);
    assert_eq!(
        CursorNode::decode(&Bytes::from_static(&[8, 5])),
        Ok(in_ledger)
    );
    let with_fallback = CursorNode::InLedger {
        ledger: 5,
        fallback: Some(Bytes::from_static(b"xy")),
    };
    let bytes = [&[8, 5, 48, 9, 0xca, 0x3e, 2][..], b"xy"].concat();
    assert_eq!(with_fallback.encode(WallTime(9)), bytes);
    assert_eq!(CursorNode::decode(&bytes.into()), Ok(with_fallback));
    let of_pulsar = [&[8][..], &none, &[16, 3, 24, 4]].concat();
    let text = CursorNode::decode(&of_pulsar.into())
        .expect_err("no snapshot of ours")
        .to_string();
    assert!(text.contains("Pulsar"), "{text}");
}
