//! What the hot path wants to know of a MessageMetadata, read in one pass without allocating.
//!
//! The answer is prost's: on any bytes `peek` accepts what `MessageMetadata::decode` followed by `validate` accepts and
//! finds the same values, down to the form of fields it does not report, so a broker stores nothing a consumer could
//! not read. It is stricter in one point: group wire types (3 and 4) are refused even in unknown fields (see `scan`).

use thiserror::Error;

use crate::proto::CompressionType;
use crate::scan::{Fields, Malformed};
use crate::validate::MissingField;

/// The fields of a MessageMetadata that decide something on the way through a broker. Text and bytes are slices of the
/// metadata. Where presence matters, and not only the value, the field is an `Option`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MetadataPeek<'a> {
    /// The producer's name, unique per topic.
    pub producer_name: &'a str,
    /// Sequence id of the (first) message.
    pub sequence_id: u64,
    /// When the producer published, milliseconds since 1970 by its clock.
    pub publish_time_ms: u64,
    /// Present exactly for batches, even with value 1.
    pub num_messages_in_batch: Option<i32>,
    /// Number of the compression, `CompressionType` or one from the future.
    pub compression: i32,
    /// Size before compression, bytes; 0 where not given.
    pub uncompressed_size: u32,
    /// Whether encryption keys are attached, so that the payload is unreadable to a broker.
    pub encrypted: bool,
    /// The partition key, where given.
    pub partition_key: Option<&'a str>,
    /// Whether the partition key is base64 of the real one.
    pub partition_key_b64_encoded: bool,
    /// The ordering key, which goes before the partition key where both are given.
    pub ordering_key: Option<&'a [u8]>,
    /// Not to be delivered before this moment, milliseconds since 1970.
    pub deliver_at_time_ms: Option<i64>,
    /// `MarkerType` of an entry that is no message.
    pub marker_type: Option<i32>,
    /// Low half of the transaction's id.
    pub txnid_least_bits: Option<u64>,
    /// High half of the transaction's id.
    pub txnid_most_bits: Option<u64>,
    /// Sequence id of the batch's last message, where given.
    pub highest_sequence_id: Option<u64>,
    /// Whether this is a tombstone.
    pub null_value: bool,
    /// What the chunks of one message have in common.
    pub uuid: Option<&'a str>,
    /// How many chunks the message has; present exactly for chunks.
    pub num_chunks_from_msg: Option<i32>,
    /// This chunk's number, from 0.
    pub chunk_id: Option<i32>,
    /// Size of the whole chunked message, bytes.
    pub total_chunk_msg_size: Option<i32>,
}

/// Why bytes are no usable MessageMetadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PeekError {
    /// Not a protobuf message of that shape.
    #[error("message metadata cannot be decoded: {0}")]
    Malformed(#[from] Malformed),
    /// A required field is not there.
    #[error("message metadata refused: {0}")]
    MissingField(#[from] MissingField),
}

impl MetadataPeek<'_> {
    /// How many messages the entry holds. Zero and negative counts, which no client means, count as one.
    pub fn message_count(&self) -> u32 {
        self.num_messages_in_batch
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(1)
            .max(1)
    }

    /// The compression, if it is one this protocol version has.
    pub fn known_compression(&self) -> Option<CompressionType> {
        CompressionType::try_from(self.compression).ok()
    }
}

/// Reads the encoded MessageMetadata of an entry.
pub fn peek(metadata: &[u8]) -> Result<MetadataPeek<'_>, PeekError> {
    let mut peek = MetadataPeek::default();
    let (mut producer_name, mut sequence_id, mut publish_time_ms) = (None, None, None);
    // A missing field inside is reported after everything was read: bytes that are no message at all come first.
    let mut missing_inside = None;
    for field in Fields::of(metadata) {
        let field = field?;
        match field.number {
            1 => producer_name = Some(field.text()?),
            2 => sequence_id = Some(field.varint()?),
            3 => publish_time_ms = Some(field.varint()?),
            4 => note(&mut missing_inside, check_key_value(field.bytes()?)?),
            5 | 7 | 14 => drop(field.text()?),
            6 => peek.partition_key = Some(field.text()?),
            8 => peek.compression = field.int32()?,
            9 => peek.uncompressed_size = field.varint()? as u32,
            11 => peek.num_messages_in_batch = Some(field.int32()?),
            12 => drop(field.varint()?),
            13 => {
                peek.encrypted = true;
                note(&mut missing_inside, check_encryption_keys(field.bytes()?)?);
            }
            15 | 16 | 32 => drop(field.bytes()?),
            17 => peek.partition_key_b64_encoded = field.bool()?,
            18 => peek.ordering_key = Some(field.bytes()?),
            19 => peek.deliver_at_time_ms = Some(field.varint()? as i64),
            20 => peek.marker_type = Some(field.int32()?),
            22 => peek.txnid_least_bits = Some(field.varint()?),
            23 => peek.txnid_most_bits = Some(field.varint()?),
            24 => peek.highest_sequence_id = Some(field.varint()?),
            25 => peek.null_value = field.bool()?,
            26 => peek.uuid = Some(field.text()?),
            27 => peek.num_chunks_from_msg = Some(field.int32()?),
            28 => peek.total_chunk_msg_size = Some(field.int32()?),
            29 => peek.chunk_id = Some(field.int32()?),
            30 | 33 | 34 => drop(field.varint()?),
            31 => field.check_repeated_varint()?,
            _ => {}
        }
    }
    let missing = |field| MissingField {
        message: "MessageMetadata",
        field,
    };
    peek.producer_name = producer_name.ok_or(missing("producer_name"))?;
    peek.sequence_id = sequence_id.ok_or(missing("sequence_id"))?;
    peek.publish_time_ms = publish_time_ms.ok_or(missing("publish_time"))?;
    match missing_inside {
        Some(missing) => Err(missing.into()),
        None => Ok(peek),
    }
}

/// Keeps the first finding.
fn note(kept: &mut Option<MissingField>, found: Option<MissingField>) {
    *kept = kept.or(found);
}

/// Checks the form of a KeyValue; says which required field it lacks.
fn check_key_value(message: &[u8]) -> Result<Option<MissingField>, Malformed> {
    let (mut has_key, mut has_value) = (false, false);
    for field in Fields::of(message) {
        let field = field?;
        match field.number {
            1 => {
                field.text()?;
                has_key = true;
            }
            2 => {
                field.text()?;
                has_value = true;
            }
            _ => {}
        }
    }
    Ok(lacking("KeyValue", has_key, has_value))
}

/// Checks the form of an EncryptionKeys; says which required field it, or a KeyValue inside, lacks.
fn check_encryption_keys(message: &[u8]) -> Result<Option<MissingField>, Malformed> {
    let (mut has_key, mut has_value, mut missing_inside) = (false, false, None);
    for field in Fields::of(message) {
        let field = field?;
        match field.number {
            1 => {
                field.text()?;
                has_key = true;
            }
            2 => {
                field.bytes()?;
                has_value = true;
            }
            3 => note(&mut missing_inside, check_key_value(field.bytes()?)?),
            _ => {}
        }
    }
    Ok(lacking("EncryptionKeys", has_key, has_value).or(missing_inside))
}

fn lacking(message: &'static str, has_key: bool, has_value: bool) -> Option<MissingField> {
    match (has_key, has_value) {
        (false, _) => Some(MissingField {
            message,
            field: "key",
        }),
        (true, false) => Some(MissingField {
            message,
            field: "value",
        }),
        (true, true) => None,
    }
}

#[cfg(test)]
#[path = "peek_tests.rs"]
mod tests;
