use bytes::Bytes;
use proptest::prelude::*;

use crate::record::{HEAD_BYTES, Head, Record, Seed, digest, encode_head};

const SEED: Seed = Seed {
    store_id: [9; 16],
    number: 5,
};

fn record(body: &[u8]) -> Record {
    Record {
        ledger: 7,
        entry: 0,
        last_confirmed: -1,
        length: body.len() as u64,
        body: Bytes::copy_from_slice(body),
    }
}

#[test]
fn the_digest_is_bookkeepers() {
    let head = encode_head(&record(b"hello"), &SEED, 4096, 4096);
    assert_eq!(
        head[52..],
        0x9e3e_717b_u32.to_be_bytes(),
        "checked against BookKeeper"
    );
    assert_eq!(digest(&head[20..52], b"hello"), 0x9e3e_717b);
}

#[test]
fn the_layout_is_the_one_drawn() {
    let head = encode_head(&record(b"hello"), &SEED, 4104, 4096);
    assert_eq!(&head[..8], b"HuRe\x01\0\0\0");
    assert_eq!(head[8..16], [0, 0, 0, 41, 0, 0, 16, 0]);
    assert_eq!(head[20..28], 7_i64.to_be_bytes());
    assert_eq!(head[36..44], (-1_i64).to_be_bytes());
}

#[test]
fn a_head_passes_in_its_own_place_only() {
    let head = encode_head(&record(b"hello"), &SEED, 8192, 4096);
    let read = Head::decode(&head, &SEED, 8192).unwrap();
    assert_eq!(
        (read.ledger, read.entry, read.last_confirmed, read.length),
        (7, 0, -1, 5)
    );
    assert_eq!(
        (read.bytes as usize, read.group_start),
        (HEAD_BYTES + 5, 4096)
    );
    assert!(read.is_entry() && read.fits(b"hello") && !read.fits(b"hellp") && !read.fits(b"hell"));
    assert_eq!(Head::decode(&head, &SEED, 8200), None, "another offset");
    let other_life = Seed { number: 6, ..SEED };
    assert_eq!(
        Head::decode(&head, &other_life, 8192),
        None,
        "another segment number"
    );
    let other_store = Seed {
        store_id: [8; 16],
        ..SEED
    };
    assert_eq!(
        Head::decode(&head, &other_store, 8192),
        None,
        "another store"
    );
    assert_eq!(Head::decode(&head[..55], &SEED, 8192), None, "cut short");
}

#[test]
fn no_flipped_bit_of_a_head_passes() {
    let head = encode_head(&record(b"hello"), &SEED, 4096, 4096);
    for bit in 0..HEAD_BYTES * 8 {
        let mut bent = head;
        bent[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Head::decode(&bent, &SEED, 4096), None, "bit {bit}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), offset in any::<u32>()) {
        let _ = Head::decode(&bytes, &SEED, offset);
    }

    #[test]
    fn any_record_reads_back(ledger in any::<i64>(), entry in any::<i64>(), length in any::<u64>(), body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let record = Record { ledger, entry, last_confirmed: entry, length, body: body.clone().into() };
        let head = encode_head(&record, &SEED, 65_536, 4096);
        let read = Head::decode(&head, &SEED, 65_536).unwrap();
        prop_assert_eq!((read.ledger, read.entry, read.length), (ledger, entry, length));
        prop_assert!(read.fits(&body));
    }
}
