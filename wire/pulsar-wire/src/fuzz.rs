//! One function per decoder that takes any bytes and must not panic: driven by a bounded test here and by cargo-fuzz
//! where there is one (`fuzz/`). They also hold what must be true of whatever was accepted.

use bytes::{Bytes, BytesMut};
use prost::Message;

use crate::proto::MessageMetadata;
use crate::{batch, entry, frame, peek};

const LIMIT: u32 = 1 << 20;

/// A frame that decodes encodes to one that decodes to the same.
pub fn fuzz_frame(data: &[u8]) {
    let mut buffer = BytesMut::from(data);
    while let Ok(Some(decoded)) = frame::decode_frame(&mut buffer, LIMIT) {
        let mut again = BytesMut::new();
        match &decoded.payload {
            None => frame::encode_command(&decoded.command, &mut again),
            Some(payload) => {
                frame::encode_payload_header(&decoded.command, payload.len(), &mut again);
                again.extend_from_slice(payload);
            }
        }
        // Bits of floating-point fields may be a NaN, which equals nothing: compare what is printed.
        let repeated = frame::decode_frame(&mut again, u32::MAX);
        assert_eq!(
            format!("{repeated:?}"),
            format!("{:?}", Ok::<_, frame::FrameError>(Some(decoded)))
        );
    }
}

/// An entry's parts add up, and it keeps them when a checksum is added or the broker's section taken off.
pub fn fuzz_entry(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let Ok(headers) = entry::EntryHeaders::parse(&bytes) else {
        assert!(entry::add_checksum(&bytes).is_err());
        return;
    };
    let verified = headers.verify_checksum();
    let (Ok(with_checksum), Ok(stripped)) = (
        entry::add_checksum(&bytes),
        entry::strip_broker_entry_metadata(&bytes),
    ) else {
        panic!("an entry that parses was refused");
    };
    let (Ok(checked), Ok(short)) = (
        entry::EntryHeaders::parse(&with_checksum),
        entry::EntryHeaders::parse(&stripped),
    ) else {
        panic!("an entry no longer parses");
    };
    assert_eq!(checked.covered, headers.covered);
    assert_eq!(checked.verify_checksum(), verified);
    assert!(checked.checksum.is_some());
    assert_eq!(
        short,
        entry::EntryHeaders {
            broker_entry_metadata: None,
            ..headers
        }
    );
}

/// The peek and prost give one answer, groups apart (see `peek`).
pub fn fuzz_peek(data: &[u8]) {
    let decoded = MessageMetadata::decode(data)
        .ok()
        .filter(|decoded| decoded.validate().is_ok());
    match (peek::peek(data), decoded) {
        (Ok(peeked), Some(decoded)) => assert_same(&peeked, &decoded),
        (Ok(_), None) => panic!("the peek accepts what prost refuses: {data:02x?}"),
        (Err(error), Some(_)) => assert!(
            matches!(
                error,
                peek::PeekError::Malformed(crate::scan::Malformed::Group { .. })
            ),
            "the peek refuses what prost accepts: {error}: {data:02x?}"
        ),
        (Err(_), None) => {}
    }
}

/// Every field the peek reports is the one prost decoded.
pub fn assert_same(peeked: &peek::MetadataPeek<'_>, decoded: &MessageMetadata) {
    let expected = peek::MetadataPeek {
        producer_name: decoded.producer_name(),
        sequence_id: decoded.sequence_id(),
        publish_time_ms: decoded.publish_time(),
        num_messages_in_batch: decoded.num_messages_in_batch,
        compression: decoded.compression.unwrap_or_default(),
        uncompressed_size: decoded.uncompressed_size(),
        encrypted: !decoded.encryption_keys.is_empty(),
        partition_key: decoded.partition_key.as_deref(),
        partition_key_b64_encoded: decoded.partition_key_b64_encoded(),
        ordering_key: decoded.ordering_key.as_deref(),
        deliver_at_time_ms: decoded.deliver_at_time,
        marker_type: decoded.marker_type,
        txnid_least_bits: decoded.txnid_least_bits,
        txnid_most_bits: decoded.txnid_most_bits,
        highest_sequence_id: decoded.highest_sequence_id,
        null_value: decoded.null_value(),
        uuid: decoded.uuid.as_deref(),
        num_chunks_from_msg: decoded.num_chunks_from_msg,
        chunk_id: decoded.chunk_id,
        total_chunk_msg_size: decoded.total_chunk_msg_size,
    };
    assert_eq!(*peeked, expected);
}

/// A batch yields no more messages than asked for, nor more bytes than it has.
pub fn fuzz_batch(data: &[u8]) {
    let mut size = 0;
    let walk = batch::BatchWalk::new(Bytes::copy_from_slice(data), 1000);
    for (index, message) in walk.enumerate() {
        assert!(index < 1000);
        if let Ok(message) = message {
            size += message.payload.len();
        }
    }
    assert!(size <= data.len());
}
