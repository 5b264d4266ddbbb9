//! What came in a MESSAGE: its messages, and its permits.
//!
//! Permits (PIP-491): the broker debited P for the entry, and P is what goes back, message by message or at once,
//! whatever becomes of the entry.

use crate::face::MessageId;
use bytes::Bytes;
use pulsar_wire::Message;
use pulsar_wire::batch::BatchWalk;
use pulsar_wire::entry::EntryHeaders;
use pulsar_wire::proto::command_ack::ValidationError;
use pulsar_wire::proto::{
    CommandMessage, CompressionType, KeyValue, MessageMetadata, SingleMessageMetadata,
};
use std::sync::Arc;
use vocabulary::{AckSet, ConsumerId, Position};

/// Messages one entry may say it has: far beyond what fits into the largest frame.
const MESSAGES_MAX: u32 = 16 * 1024 * 1024;

/// A message, or a whole entry that only the application can read (compressed or encrypted).
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// To whom it came.
    pub consumer_id: ConsumerId,
    /// To which incarnation of that consumer; its permits are void in any other.
    pub incarnation: u64,
    /// Its place. Of an entry that was not taken apart: the entry's.
    pub id: MessageId,
    /// How often it was asked for again.
    pub redelivery_count: u32,
    /// What it takes off the consumer's permits until it counts as taken.
    pub permits: u32,
    /// The entry's metadata, shared by the messages of a batch.
    pub metadata: Arc<MessageMetadata>,
    /// Its own metadata, if it came in a batch.
    pub single: Option<SingleMessageMetadata>,
    /// Which messages of the batch are still to be delivered, if the entry was not taken apart; `None`: all.
    pub ack_set: Option<AckSet>,
    /// Its content, as the producer compressed and encrypted it.
    pub payload: Bytes,
}

impl Received {
    /// The application's own pairs.
    pub fn properties(&self) -> &[KeyValue] {
        match &self.single {
            Some(single) => &single.properties,
            None => &self.metadata.properties,
        }
    }

    /// The partition key, if it has one.
    pub fn key(&self) -> Option<&str> {
        match &self.single {
            Some(single) => single.partition_key.as_deref(),
            None => self.metadata.partition_key.as_deref(),
        }
    }

    /// Its sequence id within its producer.
    pub fn sequence_id(&self) -> u64 {
        match &self.single {
            Some(SingleMessageMetadata {
                sequence_id: Some(sequence_id),
                ..
            }) => *sequence_id,
            _ => {
                let index = self.id.batch.map_or(0, |(index, _)| u64::from(index));
                self.metadata.sequence_id().saturating_add(index)
            }
        }
    }
}

/// A MESSAGE taken apart.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// What the broker debited.
    pub permits: u32,
    /// What can be delivered; the sum of their permits is at most `permits`.
    pub messages: Vec<Received>,
    /// What is wrong with it, or with the rest of it.
    pub problem: Option<Problem>,
}

#[derive(Debug)]
pub(crate) struct Problem {
    pub text: String,
    /// How to ack it, so that it does not come again.
    pub validation_error: Option<ValidationError>,
}

/// The broker broke the protocol; the connection is closed over it.
#[derive(Debug)]
pub(crate) struct ImpossiblePermits(pub u32);

pub(crate) fn take_apart(
    command: &CommandMessage,
    entry: &Bytes,
    incarnation: u64,
) -> Result<Arrival, ImpossiblePermits> {
    let explicit = command.message_permits;
    if let Some(permits) = explicit
        && (permits == 0 || i32::try_from(permits).is_err())
    {
        return Err(ImpossiblePermits(permits));
    }
    let corrupt = |text: String, error| {
        // Without the field and without readable metadata nobody knows: 1, as clients always did.
        let problem = Problem {
            text,
            validation_error: Some(error),
        };
        Ok(Arrival {
            permits: explicit.unwrap_or(1),
            messages: Vec::new(),
            problem: Some(problem),
        })
    };
    let headers = match EntryHeaders::parse(entry) {
        Ok(headers) => headers,
        Err(error) => return corrupt(error.to_string(), ValidationError::ChecksumMismatch),
    };
    if let Err(error) = headers.verify_checksum() {
        return corrupt(error.to_string(), ValidationError::ChecksumMismatch);
    }
    let metadata = match MessageMetadata::decode(headers.metadata) {
        Ok(metadata) => metadata,
        Err(error) => return corrupt(error.to_string(), ValidationError::BatchDeSerializeError),
    };
    let size = match metadata.num_messages_in_batch.map(u32::try_from) {
        None => None,
        Some(Ok(size @ 1..=MESSAGES_MAX)) => Some(size),
        Some(_) => {
            let text = format!("a batch of {} messages", metadata.num_messages_in_batch());
            return corrupt(text, ValidationError::BatchDeSerializeError);
        }
    };
    let ack_set = (!command.ack_set.is_empty()).then(|| AckSet::from_wire(&command.ack_set));
    let expected = ack_set
        .as_ref()
        .map_or(size.unwrap_or(1), |set| set.count_within(size.unwrap_or(1)));
    let permits = explicit.unwrap_or(expected);
    if permits != expected {
        let text = format!("the broker counts {permits} messages in it, it has {expected}");
        let problem = Some(Problem {
            text,
            validation_error: None,
        });
        return Ok(Arrival {
            permits,
            messages: Vec::new(),
            problem,
        });
    }
    let id = command.message_id.as_ref();
    let whole = Received {
        consumer_id: command.consumer_id(),
        incarnation,
        id: MessageId {
            position: id.map_or(Position::EARLIEST, |id| {
                Position::from_wire(id.ledger_id(), id.entry_id())
            }),
            batch: None,
        },
        redelivery_count: command.redelivery_count(),
        permits,
        ack_set,
        single: None,
        payload: entry.slice_ref(headers.payload),
        metadata: Arc::new(metadata),
    };
    Ok(match size {
        Some(size) if is_plain(&whole.metadata) => unbatch(whole, size),
        _ => Arrival {
            permits,
            messages: vec![whole],
            problem: None,
        },
    })
}

fn is_plain(metadata: &MessageMetadata) -> bool {
    metadata.compression.unwrap_or_default() == CompressionType::None as i32
        && metadata.encryption_keys.is_empty()
}

fn unbatch(whole: Received, size: u32) -> Arrival {
    let permits = whole.permits;
    let mut messages = Vec::new();
    for (index, message) in (0..).zip(BatchWalk::new(whole.payload.clone(), size)) {
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                let validation_error = Some(ValidationError::BatchDeSerializeError);
                let problem = Some(Problem {
                    text: error.to_string(),
                    validation_error,
                });
                return Arrival {
                    permits,
                    messages,
                    problem,
                };
            }
        };
        let wanted = whole.ack_set.as_ref().is_none_or(|set| set.contains(index));
        if wanted && !message.metadata.compacted_out() {
            messages.push(Received {
                id: MessageId {
                    batch: Some((index, size)),
                    ..whole.id
                },
                permits: 1,
                ack_set: None,
                single: Some(message.metadata),
                payload: message.payload,
                metadata: whole.metadata.clone(),
                ..whole
            });
        }
    }
    Arrival {
        permits,
        messages,
        problem: None,
    }
}

#[cfg(test)]
#[path = "received_tests.rs"]
mod tests;
