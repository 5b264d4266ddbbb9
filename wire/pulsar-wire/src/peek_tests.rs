use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use prost::Message;

use super::*;
use crate::fuzz::{assert_same, fuzz_peek};
use crate::proto::{EncryptionKeys, KeyValue, MessageMetadata};

fn text() -> impl Strategy<Value = String> {
    "\\PC{0,12}"
}

fn bytes() -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..12).prop_map(Bytes::from)
}

fn key_value() -> impl Strategy<Value = KeyValue> {
    // Mostly whole: a missing field is to be found, too.
    (
        option::weighted(0.98, text()),
        option::weighted(0.98, text()),
    )
        .prop_map(|(key, value)| KeyValue { key, value })
}

fn encryption_keys() -> impl Strategy<Value = EncryptionKeys> {
    (
        option::weighted(0.98, text()),
        option::weighted(0.98, bytes()),
        vec(key_value(), 0..3),
    )
        .prop_map(|(key, value, metadata)| EncryptionKeys {
            key,
            value,
            metadata,
        })
}

prop_compose! {
    fn basics()(
        producer_name in option::weighted(0.98, text()),
        sequence_id in option::weighted(0.98, any::<u64>()),
        publish_time in option::weighted(0.98, any::<u64>()),
        properties in vec(key_value(), 0..4),
        replicated_from in option::of(text()),
        partition_key in option::of(text()),
        replicate_to in vec(text(), 0..3),
        compression in option::of(any::<i32>()),
        uncompressed_size in option::of(any::<u32>()),
        num_messages_in_batch in option::of(any::<i32>()),
        event_time in option::of(any::<u64>()),
    ) -> MessageMetadata {
        MessageMetadata {
            producer_name, sequence_id, publish_time, properties, replicated_from, partition_key,
            replicate_to, compression, uncompressed_size, num_messages_in_batch, event_time,
            ..Default::default()
        }
    }
}

prop_compose! {
    fn with_keys()(
        basics in basics(),
        encryption_keys in vec(encryption_keys(), 0..3),
        encryption_algo in option::of(text()),
        encryption_param in option::of(bytes()),
        schema_version in option::of(bytes()),
        partition_key_b64_encoded in option::of(any::<bool>()),
        ordering_key in option::of(bytes()),
        deliver_at_time in option::of(any::<i64>()),
        marker_type in option::of(any::<i32>()),
        txnid_least_bits in option::of(any::<u64>()),
        txnid_most_bits in option::of(any::<u64>()),
        highest_sequence_id in option::of(any::<u64>()),
    ) -> MessageMetadata {
        MessageMetadata {
            encryption_keys, encryption_algo, encryption_param, schema_version,
            partition_key_b64_encoded, ordering_key, deliver_at_time, marker_type,
            txnid_least_bits, txnid_most_bits, highest_sequence_id,
            ..basics
        }
    }
}

prop_compose! {
    fn metadata()(
        with_keys in with_keys(),
        null_value in option::of(any::<bool>()),
        uuid in option::of(text()),
        num_chunks_from_msg in option::of(any::<i32>()),
        total_chunk_msg_size in option::of(any::<i32>()),
        chunk_id in option::of(any::<i32>()),
        null_partition_key in option::of(any::<bool>()),
        compacted_batch_indexes in vec(any::<i32>(), 0..4),
        schema_id in option::of(bytes()),
        entry_hash_min in option::of(any::<u32>()),
        entry_hash_max in option::of(any::<u32>()),
    ) -> MessageMetadata {
        MessageMetadata {
            null_value, uuid, num_chunks_from_msg, total_chunk_msg_size, chunk_id,
            null_partition_key, compacted_batch_indexes, schema_id, entry_hash_min, entry_hash_max,
            ..with_keys
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_peek_finds_what_prost_finds(metadata in metadata()) {
        let encoded = metadata.encode_to_vec();
        match (peek(&encoded), metadata.validate()) {
            (Ok(peeked), Ok(())) => assert_same(&peeked, &metadata),
            (Err(PeekError::MissingField(_)), Err(_)) => {}
            (peeked, valid) => panic!("{peeked:?} but {valid:?}"),
        }
    }

    #[test]
    fn the_peek_agrees_with_prost_on_cut_and_altered_metadata(
        metadata in metadata(),
        cut in any::<prop::sample::Index>(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        unknown in vec(any::<u8>(), 0..6),
    ) {
        let mut encoded = metadata.encode_to_vec();
        encoded.extend(unknown);
        for (at, byte) in changes {
            if !encoded.is_empty() {
                let at = at.index(encoded.len());
                encoded[at] = byte;
            }
        }
        fuzz_peek(&encoded);
        encoded.truncate(cut.index(encoded.len() + 1));
        fuzz_peek(&encoded);
    }

    #[test]
    fn the_peek_agrees_with_prost_on_any_bytes(bytes in vec(any::<u8>(), 0..40)) {
        fuzz_peek(&bytes);
    }
}

/// The required fields, so that what follows decides.
fn whole(more: &[u8]) -> Vec<u8> {
    [b"\x0a\x01p\x10\x00\x18\x01", more].concat()
}

#[test]
fn a_later_value_replaces_an_earlier_one() {
    let bytes = whole(b"\x10\x05\x10\x06");
    assert_eq!(peek(&bytes).unwrap().sequence_id, 6);
}

#[test]
fn unknown_fields_of_every_wire_type_are_skipped() {
    // Field 100 as varint, eight bytes, delimited, four bytes.
    let bytes = whole(b"\xa0\x06\x07\xa1\x0612345678\xa2\x06\x02hi\xa5\x061234");
    assert!(peek(&bytes).is_ok());
    fuzz_peek(&bytes);
}

#[test]
fn groups_are_refused_though_prost_skips_them() {
    let bytes = whole(b"\xa3\x06\xa4\x06");
    assert!(MessageMetadata::decode(&bytes[..]).is_ok());
    assert_eq!(
        peek(&bytes),
        Err(PeekError::Malformed(Malformed::Group { field: 100 }))
    );
}

#[test]
fn packed_numbers_are_read_as_prost_reads_them() {
    fuzz_peek(&whole(b"\xfa\x01\x03\x01\x80\x01"));
    assert!(peek(&whole(b"\xfa\x01\x03\x01\x80\x01")).is_ok());
    // The packed run ends within a number.
    assert!(peek(&whole(b"\xfa\x01\x02\x01\x80")).is_err());
    fuzz_peek(&whole(b"\xfa\x01\x02\x01\x80"));
}

#[test]
fn numbers_beyond_64_bits_are_refused() {
    let largest = [b"\x10".as_slice(), &[0xff; 9], b"\x01"].concat();
    assert_eq!(peek(&whole(&largest)).unwrap().sequence_id, u64::MAX);
    let beyond = [b"\x10".as_slice(), &[0xff; 9], b"\x02"].concat();
    assert_eq!(
        peek(&whole(&beyond)),
        Err(PeekError::Malformed(Malformed::Varint))
    );
}

#[test]
fn every_missing_required_field_is_named() {
    for (bytes, field) in [
        (&b"\x10\x00\x18\x01"[..], "producer_name"),
        (b"\x0a\x01p\x18\x01", "sequence_id"),
        (b"\x0a\x01p\x10\x00", "publish_time"),
    ] {
        let missing = MissingField {
            message: "MessageMetadata",
            field,
        };
        assert_eq!(peek(bytes), Err(PeekError::MissingField(missing)));
    }
}

#[test]
fn a_batch_of_one_is_a_batch() {
    let bytes = whole(b"\x58\x01");
    assert_eq!(peek(&bytes).unwrap().num_messages_in_batch, Some(1));
    assert_eq!(peek(&whole(b"")).unwrap().num_messages_in_batch, None);
}

#[test]
fn counts_no_client_means_count_as_one() {
    for (count, expected) in [(None, 1), (Some(0), 1), (Some(-3), 1), (Some(7), 7)] {
        let peek = MetadataPeek {
            num_messages_in_batch: count,
            ..Default::default()
        };
        assert_eq!(peek.message_count(), expected, "{count:?}");
    }
}
