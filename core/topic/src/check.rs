//! What must hold after every input, and what must hold when nothing is under way any more.

use crate::Topic;
use crate::subscription::{Subscription, View};
use letters::SubscriptionType;
use std::collections::BTreeSet;

impl Topic {
    /// Asserts everything that must hold between two inputs. Costs as much as the topic holds: for tests and
    /// simulations; the cheap parts are asserted where they happen, always.
    ///
    /// # Panics
    /// If anything does not hold.
    pub fn check(&self) {
        self.producers.check();
        let free = self.producers.exclusive.holder().is_none()
            && self.producers.is_empty()
            && !self.producers.fenced;
        // Invariant: who waits for exclusive access waits for somebody.
        assert!(
            !free || !self.newcomers.wait_for_exclusive(),
            "{}: somebody waits for exclusive access, and nobody has it",
            self.name
        );
        for (seat, name) in &self.consumers {
            let subscription = self.subscriptions.get(name);
            // Invariant: each consumer sits in its subscription.
            assert!(
                subscription.is_some_and(|found| found.index_of(*seat).is_some()),
                "{seat:?} sits nowhere"
            );
        }
        let seated: usize = self
            .subscriptions
            .values()
            .map(|subscription| subscription.consumers.len())
            .sum();
        // Invariant: nobody sits in a subscription that the topic does not know.
        assert!(
            seated == self.consumers.len(),
            "{seated} consumers sit, {} are known",
            self.consumers.len()
        );
        for subscription in self.subscriptions.values() {
            subscription.check();
        }
        let timers: BTreeSet<_> = self
            .subscriptions
            .values()
            .filter_map(|found| Some((found.timer?, found.name.clone())))
            .collect();
        // Invariant: every subscription that wants to be woken will be.
        assert!(timers == self.timers, "timers differ");
    }

    /// Says which entry could be delivered to whom and is not, though no answer and no moment is waited for. To be
    /// asked when nothing is under way; then it must find nothing.
    #[must_use]
    pub fn find_stalled(&self) -> Option<String> {
        let view = View {
            topic: &self.name,
            settings: &self.settings,
            extent: &self.extent,
            max_read_position: self.max_read_position,
        };
        self.subscriptions
            .values()
            .find_map(|subscription| subscription.find_stalled(&view))
    }
}

impl Subscription {
    fn check(&self) {
        for consumer in &self.consumers {
            consumer.check();
            for position in consumer.pending.keys() {
                // Invariant: what is acknowledged is held by nobody.
                assert!(
                    !self.cursor.is_acked(*position),
                    "'{}': {position} is acknowledged and pending",
                    self.name
                );
                // Invariant: an entry is pending or waits for replay, never both.
                let waits = self.replay.contains(*position) || self.chunks.is_parked(*position);
                assert!(
                    !waits,
                    "'{}': {position} is pending and waits for replay",
                    self.name
                );
            }
        }
        let unacked: u64 = self.consumers.iter().map(|consumer| consumer.unacked).sum();
        // Invariant: the subscription's unacked count is its consumers'.
        assert!(
            unacked == self.unacked,
            "'{}': unacked {}, consumers hold {unacked}",
            self.name,
            self.unacked
        );
        let pending: usize = self
            .consumers
            .iter()
            .map(|consumer| consumer.pending.len())
            .sum();
        let distinct: BTreeSet<_> = self
            .consumers
            .iter()
            .flat_map(|consumer| consumer.pending.keys())
            .collect();
        // Invariant: an entry is held by one consumer.
        assert!(
            distinct.len() == pending,
            "'{}': an entry is held by two consumers",
            self.name
        );
        let sorted = self
            .consumers
            .is_sorted_by_key(|consumer| consumer.priority_level);
        // Invariant: better levels come first.
        assert!(sorted, "'{}': consumers are not in order", self.name);
        match self.kind {
            Some(SubscriptionType::Shared) => {}
            // Invariant: only Shared consumers hold entries and replay.
            _ => assert!(
                self.unacked == 0 && self.replay.is_empty() && self.chunks.parked_count() == 0,
                "'{}' holds entries",
                self.name
            ),
        }
        if self.is_single_active() && self.is_ready() {
            // Invariant: whoever is active sits here; where somebody sits, somebody is active.
            let sits = self
                .active
                .seat
                .is_some_and(|seat| self.index_of(seat).is_some());
            assert!(
                sits != self.consumers.is_empty(),
                "'{}': active {:?}",
                self.name,
                self.active
            );
        }
        // Invariant: an Exclusive subscription has one consumer.
        let exclusive = self.kind == Some(SubscriptionType::Exclusive);
        assert!(
            !exclusive || self.consumers.len() <= 1,
            "'{}' is exclusive to several",
            self.name
        );
        // Invariant: a subscription in memory has a consumer, or waits for it to come back from its seek.
        assert!(
            self.cursor.is_durable()
                || !self.consumers.is_empty()
                || self.seek.is_some()
                || self.abandoned_at.is_some(),
            "'{}' should have vanished",
            self.name
        );
        // Invariant: nothing that was not stored is marked on disk.
        assert!(
            self.saving.durable_mark <= self.cursor.mark(),
            "'{}': the durable mark is ahead",
            self.name
        );
    }

    fn find_stalled(&self, view: &View<'_>) -> Option<String> {
        let waits = self.reader.under_way.is_some() || self.reader.retry_at.is_some();
        if !self.is_ready() || self.is_halted() || !self.has_taker() || waits {
            return None;
        }
        if self.has_stalled_chunk() {
            return Some(format!(
                "'{}': a chunk waits though its consumer has permits",
                self.name
            ));
        }
        if self.replay.has_unread() {
            return Some(format!(
                "'{}': replays wait while somebody has permits",
                self.name
            ));
        }
        let head = self.replay.held.front().or(self
            .reader
            .held
            .front()
            .filter(|_| !self.unacked_limit_reached && !self.chunks.is_full()));
        if let Some(entry) = head {
            let bytes = entry.body.len();
            let taker = match self.is_single_active() {
                true => self
                    .takes_now()
                    .is_some_and(|consumer| consumer.has_room_for(bytes)),
                false => self
                    .consumers
                    .iter()
                    .any(|consumer| consumer.has_room_for(bytes)),
            };
            return taker.then(|| {
                format!(
                    "'{}': {} waits while somebody has permits",
                    self.name, entry.position
                )
            });
        }
        let stopped = self.unacked_limit_reached || self.chunks.is_full();
        let next = self.next_to_read(view).filter(|_| !stopped);
        next.map(|(from, _)| {
            format!(
                "'{}': {from} is not read while somebody has permits",
                self.name
            )
        })
    }
}
