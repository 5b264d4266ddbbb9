//! What is kept about a ledger in the metadata store: BookKeeper's format version 3, the line
//! `BookieMetadataFormatVersion\t3\n`, a varint length, and a `LedgerMetadataFormat`.

use bytes::Bytes;
use prost::Message;

#[expect(missing_docs, reason = "generated; the names are BookKeeper's")]
mod proto {
    include!(concat!(env!("OUT_DIR"), "/bookkeeper.rs"));
}

pub use proto::LedgerMetadataFormat;
use proto::ledger_metadata_format::{CMetadataMapEntry, DigestType, Segment, State};

const VERSION_LINE: &[u8] = b"BookieMetadataFormatVersion\t3\n";

/// The metadata of a new, open ledger that lives on one bookie.
pub fn open_ledger(bookie_id: &str, custom: Vec<(String, Vec<u8>)>) -> LedgerMetadataFormat {
    let entry = |(key, value)| CMetadataMapEntry {
        key: Some(key),
        value: Some(value),
    };
    LedgerMetadataFormat {
        quorum_size: 1,
        ensemble_size: 1,
        length: 0,
        last_entry_id: Some(-1),
        state: State::Open as i32,
        segment: vec![Segment {
            ensemble_member: vec![bookie_id.to_owned()],
            first_entry_id: 0,
        }],
        digest_type: Some(DigestType::Crc32c as i32),
        password: Some(Vec::new()),
        ack_quorum_size: Some(1),
        ctime: None,
        custom_metadata: custom.into_iter().map(entry).collect(),
        c_token: None,
    }
}

/// The same ledger, sealed.
pub fn closed(
    mut metadata: LedgerMetadataFormat,
    last_entry: i64,
    length: u64,
) -> LedgerMetadataFormat {
    metadata.state = State::Closed as i32;
    metadata.last_entry_id = Some(last_entry);
    metadata.length = i64::try_from(length).unwrap_or(i64::MAX);
    metadata
}

/// The last entry and the sum of body bytes of a sealed ledger; `None`: it is not sealed.
pub fn end_of(metadata: &LedgerMetadataFormat) -> Option<(i64, u64)> {
    if metadata.state != State::Closed as i32 {
        return None;
    }
    let length = u64::try_from(metadata.length).unwrap_or(0);
    Some((metadata.last_entry_id.unwrap_or(-1), length))
}

/// The bytes of the key.
pub fn encode(metadata: &LedgerMetadataFormat) -> Bytes {
    let mut bytes = VERSION_LINE.to_vec();
    bytes.extend_from_slice(&metadata.encode_length_delimited_to_vec());
    Bytes::from(bytes)
}

/// Reads the bytes of the key.
///
/// # Errors
/// A text that says why they cannot be read.
pub fn decode(bytes: &[u8]) -> Result<LedgerMetadataFormat, String> {
    let Some(message) = bytes.strip_prefix(VERSION_LINE) else {
        let line = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let line = String::from_utf8_lossy(&line[..line.len().min(64)]);
        return Err(format!(
            "ledger metadata begins with {line:?}; only version 3 is read"
        ));
    };
    LedgerMetadataFormat::decode_length_delimited(message)
        .map_err(|error| format!("ledger metadata cannot be read: {error}"))
}
