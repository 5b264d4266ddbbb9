//! Single messages in a batch: `length:u32 | SingleMessageMetadata | payload`, one after the other, as many as the
//! entry's `num_messages_in_batch` says. The batch must be decrypted and uncompressed already.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;
use thiserror::Error;

use crate::proto::SingleMessageMetadata;
use crate::validate::MissingField;

/// One message of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleMessage {
    /// Its own metadata, every required field present.
    pub metadata: SingleMessageMetadata,
    /// Its payload, sharing the batch's bytes. Empty for tombstones and where the producer sent nothing.
    pub payload: Bytes,
}

/// Why a batch cannot be walked further.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("message {index} of a batch of {count}: {problem}")]
pub struct BatchError {
    /// Which message, from 0.
    pub index: u32,
    /// How many the batch should hold.
    pub count: u32,
    /// What is wrong with it.
    pub problem: BatchProblem,
}

/// What is wrong with one message of a batch.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BatchProblem {
    /// The batch ends within or before the message.
    #[error("the batch ends within its {part}")]
    Truncated {
        /// The part that is cut off.
        part: &'static str,
    },
    /// The metadata is no protobuf message of that shape.
    #[error("its metadata cannot be decoded: {0}")]
    Undecodable(#[from] prost::DecodeError),
    /// A required field of the metadata is not there.
    #[error(transparent)]
    MissingField(#[from] MissingField),
    /// The metadata states a negative payload size.
    #[error("its payload size is {0}")]
    NegativeSize(i32),
}

/// Walks a batch; after an error there is nothing more, because the next message's place is unknown.
///
/// Bytes after the last message are left alone, as Pulsar's clients leave them; `rest` shows them.
#[derive(Debug, Clone)]
pub struct BatchWalk {
    rest: Bytes,
    count: u32,
    next_index: u32,
    failed: bool,
}

impl BatchWalk {
    /// Starts at the first of `count` messages. Nothing is read or set aside yet, however large `count` is.
    pub fn new(batch: Bytes, count: u32) -> BatchWalk {
        BatchWalk {
            rest: batch,
            count,
            next_index: 0,
            failed: false,
        }
    }

    /// What has not been walked.
    pub fn rest(&self) -> &Bytes {
        &self.rest
    }

    fn take(&mut self) -> Result<SingleMessage, BatchProblem> {
        let truncated = |part| BatchProblem::Truncated { part };
        let length = self.rest.try_get_u32().map_err(|_| truncated("length"))?;
        let metadata = take_bytes(&mut self.rest, length).ok_or(truncated("metadata"))?;
        let metadata = SingleMessageMetadata::decode(metadata)?;
        metadata.validate()?;
        let size = metadata.payload_size();
        let size = u32::try_from(size).map_err(|_| BatchProblem::NegativeSize(size))?;
        let payload = take_bytes(&mut self.rest, size).ok_or(truncated("payload"))?;
        Ok(SingleMessage { metadata, payload })
    }
}

impl Iterator for BatchWalk {
    type Item = Result<SingleMessage, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.next_index == self.count {
            return None;
        }
        let index = self.next_index;
        self.next_index += 1;
        let message = self.take();
        self.failed = message.is_err();
        Some(message.map_err(|problem| BatchError {
            index,
            count: self.count,
            problem,
        }))
    }
}

fn take_bytes(from: &mut Bytes, length: u32) -> Option<Bytes> {
    let length = usize::try_from(length)
        .ok()
        .filter(|length| *length <= from.len())?;
    Some(from.split_to(length))
}

/// Collects single messages into the payload of a batch entry.
#[derive(Debug, Default)]
pub struct BatchBuilder {
    bytes: BytesMut,
    count: u32,
}

impl BatchBuilder {
    /// An empty batch.
    pub fn new() -> BatchBuilder {
        BatchBuilder::default()
    }

    /// Appends a message; its metadata's payload size is set here.
    pub fn push(&mut self, mut metadata: SingleMessageMetadata, payload: &[u8]) {
        // Invariant: callers keep batches within the negotiated message size, far below 2 GiB.
        assert!(
            i32::try_from(payload.len()).is_ok(),
            "a message of {} bytes",
            payload.len()
        );
        metadata.payload_size = Some(payload.len() as i32);
        self.bytes.put_u32(metadata.encoded_len() as u32);
        metadata.encode_raw(&mut self.bytes);
        self.bytes.put_slice(payload);
        self.count += 1;
    }

    /// How many messages it holds: the entry's `num_messages_in_batch`.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Its size so far, bytes: the entry's `uncompressed_size`.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The finished payload.
    pub fn finish(self) -> Bytes {
        self.bytes.freeze()
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
