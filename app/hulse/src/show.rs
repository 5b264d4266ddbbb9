//! A message as lines for the terminal.

use bytes::Bytes;
use client_session::Received;
use compression::{DecompressError, decompress};
use pulsar_wire::batch::BatchWalk;
use pulsar_wire::proto::{CompressionType, KeyValue};
use thiserror::Error;

/// Why a message cannot be shown. It is not acknowledged then.
#[derive(Debug, Error)]
pub enum ShowError {
    /// No key for it.
    #[error("the message is encrypted, and this command has no keys")]
    Encrypted,
    /// One of several pieces.
    #[error(
        "the message is one of {0} chunks of a larger one, which this command cannot put together"
    )]
    Chunk(i32),
    /// A codec from the future.
    #[error("the message is compressed in a way ({0}) that is not known here")]
    UnknownCompression(i32),
    /// It does not decompress.
    #[error("{0}")]
    Damaged(#[from] DecompressError),
    /// Its batch cannot be taken apart.
    #[error("the batch cannot be taken apart: {0}")]
    Batch(String),
}

/// The content, one line for each message; `long`: with place, key and properties before it.
pub fn lines(message: &Received, long: bool) -> Result<Vec<Vec<u8>>, ShowError> {
    let metadata = &message.metadata;
    if !metadata.encryption_keys.is_empty() {
        return Err(ShowError::Encrypted);
    }
    if metadata.num_chunks_from_msg() > 1 {
        return Err(ShowError::Chunk(metadata.num_chunks_from_msg()));
    }
    let code = metadata.compression.unwrap_or_default();
    let codec = CompressionType::try_from(code).map_err(|_| ShowError::UnknownCompression(code))?;
    if codec == CompressionType::None {
        let place = message.id.batch.map(|(index, _)| index);
        return Ok(vec![line(
            message,
            place,
            message.key(),
            message.properties(),
            &message.payload,
            long,
        )]);
    }
    let plain = Bytes::from(decompress(
        codec,
        &message.payload,
        metadata.uncompressed_size() as usize,
    )?);
    let Some(size) = metadata.num_messages_in_batch else {
        return Ok(vec![line(
            message,
            None,
            message.key(),
            message.properties(),
            &plain,
            long,
        )]);
    };
    let mut lines = Vec::new();
    for (index, single) in (0_u32..).zip(BatchWalk::new(plain, size.unsigned_abs())) {
        let single = single.map_err(|error| ShowError::Batch(error.to_string()))?;
        let is_wanted = message
            .ack_set
            .as_ref()
            .is_none_or(|set| set.contains(index));
        if is_wanted && !single.metadata.compacted_out() {
            let key = single.metadata.partition_key.as_deref();
            let properties = &single.metadata.properties;
            lines.push(line(
                message,
                Some(index),
                key,
                properties,
                &single.payload,
                long,
            ));
        }
    }
    Ok(lines)
}

fn line(
    message: &Received,
    index: Option<u32>,
    key: Option<&str>,
    properties: &[KeyValue],
    payload: &[u8],
    long: bool,
) -> Vec<u8> {
    let mut line = String::new();
    if long {
        line.push_str(&message.id.position.to_string());
        if let Some(index) = index {
            line.push_str(&format!(":{index}"));
        }
        if let Some(key) = key {
            line.push_str(&format!(" key={key}"));
        }
        for pair in properties {
            line.push_str(&format!(" {}={}", pair.key(), pair.value()));
        }
        line.push('\t');
    }
    let mut line = line.into_bytes();
    line.extend_from_slice(payload);
    line
}
