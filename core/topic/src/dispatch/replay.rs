//! What a Shared subscription delivers again, and how often each entry was asked for again.

use crate::subscription::Subscription;
use letters::StoredEntry;
use std::collections::{BTreeMap, VecDeque};
use vocabulary::Position;

/// Positions to be delivered again. Bounded by what was delivered and not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    /// Not read again yet, with the size of each entry.
    waiting: BTreeMap<Position, u32>,
    /// Read again and waiting for somebody with permits. At most one read's worth.
    pub held: VecDeque<StoredEntry>,
    /// How often each was asked for again; kept in memory until it is acknowledged.
    counts: BTreeMap<Position, u32>,
}

impl Replay {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.held.is_empty()
    }

    /// Whether some have to be read again first.
    pub fn has_unread(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub fn len(&self) -> usize {
        self.waiting.len() + self.held.len()
    }

    pub fn add(&mut self, position: Position, bytes: u32) {
        self.waiting.insert(position, bytes);
    }

    /// An explicit request for redelivery, which counts; a consumer's leaving does not.
    pub fn add_counted(&mut self, position: Position, bytes: u32) {
        self.add(position, bytes);
        let count = self.counts.entry(position).or_default();
        *count = count.saturating_add(1);
    }

    pub fn count(&self, position: Position) -> u32 {
        self.counts.get(&position).copied().unwrap_or(0)
    }

    /// The first positions, at least one if there is any, then at most so many and so many bytes.
    pub fn first(&self, entries_max: usize, bytes_max: u64) -> Vec<Position> {
        let mut bytes_left = bytes_max;
        let mut first = Vec::new();
        for (position, bytes) in &self.waiting {
            let bytes = u64::from(*bytes);
            if !first.is_empty() && (first.len() >= entries_max || bytes > bytes_left) {
                break;
            }
            bytes_left = bytes_left.saturating_sub(bytes);
            first.push(*position);
        }
        first
    }

    /// It was read again.
    pub fn forget_position(&mut self, position: Position) {
        self.waiting.remove(&position);
    }

    /// It was acknowledged.
    pub fn acked(&mut self, position: Position) {
        self.waiting.remove(&position);
        self.counts.remove(&position);
    }

    /// Everything up to here was acknowledged.
    pub fn acked_to(&mut self, mark: Position) {
        self.waiting.retain(|position, _| *position > mark);
        self.counts.retain(|position, _| *position > mark);
    }

    /// Nothing is to be delivered again; the counts stay, since the same entries will come in order.
    pub fn clear_positions(&mut self) {
        self.waiting.clear();
        self.held.clear();
    }

    /// How often entries were asked for no longer matters.
    pub fn forget_counts(&mut self) {
        self.counts.clear();
    }

    /// Whether this entry waits to be delivered again.
    pub fn contains(&self, position: Position) -> bool {
        self.waiting.contains_key(&position)
            || self.held.iter().any(|entry| entry.position == position)
    }
}

impl Subscription {
    /// A Shared consumer asked for entries again: those it holds, or the named ones of those.
    pub(crate) fn replay_of(
        &mut self,
        at: usize,
        positions: &[Position],
        settings: &crate::TopicSettings,
    ) {
        let Some(consumer) = self.consumers.get_mut(at) else {
            return;
        };
        let asked: Vec<Position> = match positions {
            [] => consumer.pending.keys().copied().collect(),
            named => named.to_vec(),
        };
        for position in asked {
            if let Some(pending) = consumer.release(position) {
                self.unacked -= u64::from(pending.left);
                self.replay.add_counted(position, pending.bytes);
            }
        }
        self.unblock_where_due(at, settings);
    }
}
