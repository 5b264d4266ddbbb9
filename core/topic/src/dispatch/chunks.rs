//! All chunks of one message go to one Shared consumer, or no client could put the message together.
//!
//! Who got the first chunk seen is its owner until the last chunk, or until it leaves. A chunk whose owner cannot
//! take it now is parked; it is replayed when the owner can.

use crate::subscription::Subscription;
use crate::turn::Seat;
use std::collections::BTreeMap;
use vocabulary::Position;

/// Messages in the middle of their chunks that are remembered; beyond, the one seen first is forgotten: its
/// remaining chunks may go elsewhere, and come again when they are not acknowledged.
const MESSAGES_MAX: usize = 1000;
/// Parked chunks at which a subscription reads nothing new.
const PARKED_MAX: usize = 1000;

/// What an entry says of its place in a chunked message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Same for all chunks of a message.
    pub uuid: String,
    /// Whether it is the last one.
    pub is_last: bool,
}

/// Who owns which chunked message, and what waits for its owner.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    owners: BTreeMap<String, (u64, Seat)>,
    seen: u64,
    parked: BTreeMap<Position, (Seat, u32)>,
}

impl Chunks {
    pub fn owner(&self, chunk: &Chunk) -> Option<Seat> {
        self.owners.get(&chunk.uuid).map(|(_, seat)| *seat)
    }

    /// A chunk was delivered.
    pub fn delivered(&mut self, chunk: Chunk, seat: Seat) {
        if chunk.is_last {
            self.owners.remove(&chunk.uuid);
            return;
        }
        if !self.owners.contains_key(&chunk.uuid) && self.owners.len() >= MESSAGES_MAX {
            let oldest = self
                .owners
                .iter()
                .min_by_key(|(_, (seen, _))| *seen)
                .map(|(uuid, _)| uuid.clone());
            if let Some(uuid) = oldest {
                self.owners.remove(&uuid);
            }
        }
        self.seen += 1;
        self.owners.insert(chunk.uuid, (self.seen, seat));
    }

    /// A chunk's owner cannot take it now.
    pub fn park(&mut self, position: Position, owner: Seat, bytes: u32) {
        self.parked.insert(position, (owner, bytes));
    }

    /// It was acknowledged.
    pub fn acked(&mut self, position: Position) {
        self.parked.remove(&position);
    }

    /// Everything up to here was acknowledged.
    pub fn acked_to(&mut self, mark: Position) {
        self.parked.retain(|position, _| *position > mark);
    }

    pub fn is_parked(&self, position: Position) -> bool {
        self.parked.contains_key(&position)
    }

    pub fn parked_count(&self) -> usize {
        self.parked.len()
    }

    pub fn is_full(&self) -> bool {
        self.parked.len() >= PARKED_MAX
    }

    pub fn clear(&mut self) {
        self.owners.clear();
        self.parked.clear();
    }

    fn parked_for(&self, seat: Seat) -> impl Iterator<Item = (Position, u32)> + '_ {
        self.parked
            .iter()
            .filter(move |(_, (owner, _))| *owner == seat)
            .map(|(position, (_, bytes))| (*position, *bytes))
    }
}

impl Subscription {
    /// Parked chunks whose owner can take them now are replayed, as many as it has permits for.
    pub(crate) fn unpark_chunks(&mut self) {
        if self.chunks.parked.is_empty() {
            return;
        }
        for consumer in &self.consumers {
            let permits = usize::try_from(consumer.permits).unwrap_or(0);
            let able = |(_, bytes): &(Position, u32)| consumer.has_room_for(*bytes as usize);
            let due: Vec<(Position, u32)> = self
                .chunks
                .parked_for(consumer.seat)
                .take(permits)
                .take_while(able)
                .collect();
            for (position, bytes) in due {
                self.chunks.parked.remove(&position);
                self.replay.add(position, bytes);
            }
        }
    }

    /// The owner is gone: its chunked messages begin anew with somebody else.
    pub(crate) fn disown_chunks(&mut self, seat: Seat) {
        self.chunks.owners.retain(|_, (_, owner)| *owner != seat);
        let parked: Vec<(Position, u32)> = self.chunks.parked_for(seat).collect();
        for (position, bytes) in parked {
            self.chunks.parked.remove(&position);
            self.replay.add(position, bytes);
        }
    }

    /// Whether a parked chunk waits though its owner could take it.
    pub(crate) fn has_stalled_chunk(&self) -> bool {
        self.consumers.iter().any(|consumer| {
            let first = self.chunks.parked_for(consumer.seat).next();
            first.is_some_and(|(_, bytes)| consumer.has_room_for(bytes as usize))
        })
    }
}
