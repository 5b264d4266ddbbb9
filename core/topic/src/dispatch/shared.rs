//! Shared: whose turn it is. Better priority levels first; within a level in turns of some entries.

use crate::TopicSettings;
use crate::subscription::Subscription;
use crate::turn::Seat;

/// Whose turn it is, and how many entries of it were used.
#[derive(Debug, Default)]
pub(crate) struct RoundRobin {
    last: Option<Seat>,
    used: u32,
}

impl RoundRobin {
    /// A consumer's turn ends with the read that it was served from, as Pulsar's does: messages that come one
    /// at a time go round, too.
    pub(crate) fn end_turn(&mut self) {
        self.used = u32::MAX;
    }
}

impl Subscription {
    /// The index of the consumer that gets an entry of this size. Consumers are sorted by priority level, stably.
    ///
    /// Pulsar's order: no consumer gets anything while one of a better level (a smaller number) could take it.
    pub(crate) fn whose_turn(&mut self, bytes: usize, settings: &TopicSettings) -> Option<usize> {
        let able = |at: &usize| {
            self.consumers
                .get(*at)
                .is_some_and(|consumer| consumer.has_room_for(bytes))
        };
        let first = (0..self.consumers.len()).find(able)?;
        let level = self.consumers.get(first)?.priority_level;
        let same_level = |at: &usize| {
            self.consumers
                .get(*at)
                .is_some_and(|consumer| consumer.priority_level == level)
        };
        let last = self
            .round_robin
            .last
            .and_then(|seat| self.index_of(seat))
            .filter(same_level);
        let chosen = match last {
            Some(last)
                if self.round_robin.used < settings.round_robin_entries_max.max(1)
                    && able(&last) =>
            {
                last
            }
            Some(last) => {
                let later = (last + 1..self.consumers.len())
                    .filter(same_level)
                    .find(able);
                later.unwrap_or(first)
            }
            None => first,
        };
        let seat = self.consumers.get(chosen)?.seat;
        if self.round_robin.last == Some(seat)
            && self.round_robin.used < settings.round_robin_entries_max.max(1)
        {
            self.round_robin.used += 1;
        } else {
            self.round_robin = RoundRobin {
                last: Some(seat),
                used: 1,
            };
        }
        Some(chosen)
    }
}
