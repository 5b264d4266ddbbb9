//! What must be true of the real topic, as the model knows it.

use super::{CONSUMERS, Model, is_chunk};
use letters::SubscriptionType;
use vocabulary::Position;

impl Model {
    pub(super) fn check(&self) {
        let stats = self.world.topic.stats();
        let Some(subscription) = stats.subscriptions.first() else {
            return;
        };
        assert_eq!(subscription.consumers.len(), self.seats.len());
        for consumer in &subscription.consumers {
            let seat = &self.seats[&consumer.session.0];
            let available = consumer.permits + consumer.parked_permits as i64;
            assert_eq!(
                seat.granted - seat.emitted,
                available,
                "granted = emitted + available"
            );
            assert_eq!(consumer.unwritten_bytes, seat.unwritten);
            if self.kind == SubscriptionType::Shared {
                let held: u32 = seat
                    .held
                    .iter()
                    .map(|(position, set)| set.count_within(self.stored[position]))
                    .sum();
                assert_eq!(consumer.unacked_messages, u64::from(held));
            }
        }
        if self.kind != SubscriptionType::Shared {
            assert_eq!(subscription.active.is_some(), !self.seats.is_empty());
        }
        if self.world.log.requests.is_empty() {
            assert_eq!(self.world.topic.find_stalled(), None);
            self.nothing_waits_for_nothing();
        }
    }

    /// The same question asked of the model.
    fn nothing_waits_for_nothing(&self) {
        let stats = self.world.topic.stats();
        let subscription = &stats.subscriptions[0];
        if subscription.blocked_on_unacked || self.reads_troubled {
            return;
        }
        let able: Vec<bool> = (subscription.consumers.iter())
            .map(|consumer| {
                let ready = consumer.permits > 0 && !consumer.blocked_on_unacked;
                ready && consumer.unwritten_bytes == 0
            })
            .collect();
        let (any, all) = (able.contains(&true), !able.contains(&false));
        let active = subscription
            .active
            .and_then(|(session, _)| self.seats.get(&session.0));
        for (position, body) in &self.world.log.entries {
            if !self.is_wanted(*position) {
                continue;
            }
            if self.kind == SubscriptionType::Shared {
                // A chunk may wait for its consumer; when all of them are able nothing waits.
                let able = any && (all || !is_chunk(body));
                let held = self
                    .seats
                    .values()
                    .any(|seat| seat.held.contains_key(position));
                assert!(
                    held || !able,
                    "{position} waits though somebody has permits"
                );
            } else if let Some(active) = active
                && self.is_settled()
            {
                let able = active.granted > active.emitted && active.unwritten == 0;
                let given = active.given.contains(position);
                assert!(
                    given || !able,
                    "{position} waits though the active consumer has permits"
                );
            }
        }
    }

    /// Whether the active consumer was told so, and no change is under way.
    fn is_settled(&self) -> bool {
        let stats = self.world.topic.stats();
        let chosen = stats.subscriptions[0].active.map(|(session, _)| session.0);
        let changes = |at: vocabulary::Moment| at.since(self.world.now).as_millis() <= 1000;
        chosen == self.active && !self.world.wake_at.is_some_and(changes)
    }

    /// Trouble ends; whatever was confirmed to a producer and not acknowledged must come.
    pub fn finish(mut self) {
        self.world.log.saves_to_fail = 0;
        self.world.log.reads_to_fail = 0;
        self.world.prompt_log = true;
        self.world.answer_all();
        for session in 1..=CONSUMERS {
            self.listen();
            self.leave(session, 1);
        }
        self.world.advance(20_000);
        self.listen();
        self.delivered.clear();
        self.join(9);
        self.listen();
        self.world.prompt_writers = true;
        for _ in 0..self.stored.len() + 1 {
            self.flow(9, 100);
            self.world.advance(2000);
            let before = self.delivered.clone();
            self.listen();
            let new: Vec<Position> = self.delivered.difference(&before).copied().collect();
            self.world.ack(9, 1, &new);
            if self.delivered == before {
                break;
            }
        }
        for position in self
            .stored
            .keys()
            .filter(|position| self.world.log.entries.contains_key(position))
        {
            assert!(
                !self.is_wanted(*position) || self.delivered.contains(position),
                "{position} was confirmed to its producer and never came"
            );
        }
        assert_eq!(self.world.topic.stats().subscriptions[0].backlog_entries, 0);
    }
}
