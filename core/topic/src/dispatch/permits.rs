//! What delivering an entry costs: settled once, here, and then used for everything (PIP-491).

use super::chunks::Chunk;
use pulsar_wire::entry::EntryHeaders;
use pulsar_wire::peek::{MetadataPeek, peek};
use vocabulary::AckSet;

/// What an entry turned out to be when its turn came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// To be delivered at this price.
    Deliver(Price),
    /// No message but a marker for servers: acknowledged by us, at no permit.
    Marker,
    /// Every message of it is acknowledged already, bit by bit.
    NothingLeft,
}

/// P of one entry, and what it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Price {
    /// P: messages still to be delivered, at least 1.
    pub permits: u32,
    /// Messages of the entry.
    pub batch_size: u32,
    /// Which of them are still to be delivered; `None`: all.
    pub ack_set: Option<AckSet>,
    /// If it is part of a chunked message.
    pub chunk: Option<Chunk>,
}

/// Settles an entry's price. An entry whose metadata cannot be read costs 1: the client decides what to do with it.
pub(crate) fn settle(entry: &[u8], left: Option<AckSet>) -> Verdict {
    let headers = EntryHeaders::parse(entry).ok();
    let Some(metadata) = headers.and_then(|headers| peek(headers.metadata).ok()) else {
        return Verdict::Deliver(Price {
            permits: 1,
            batch_size: 1,
            ack_set: left,
            chunk: None,
        });
    };
    if metadata.marker_type.is_some() {
        return Verdict::Marker;
    }
    let batch_size = metadata.message_count();
    let permits = left
        .as_ref()
        .map_or(batch_size, |left| left.count_within(batch_size));
    match permits {
        0 => Verdict::NothingLeft,
        _ => Verdict::Deliver(Price {
            permits,
            batch_size,
            ack_set: left,
            chunk: chunk_of(&metadata),
        }),
    }
}

fn chunk_of(metadata: &MetadataPeek<'_>) -> Option<Chunk> {
    let (uuid, count) = (metadata.uuid?, metadata.num_chunks_from_msg?);
    let is_last = metadata.chunk_id? >= count.saturating_sub(1);
    (count > 1).then(|| Chunk {
        uuid: uuid.to_owned(),
        is_last,
    })
}
