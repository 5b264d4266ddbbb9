//! REDELIVER_UNACKNOWLEDGED_MESSAGES: Shared replays what the consumer holds, the others begin again after the mark.

use crate::TopicSettings;
use crate::subscription::Subscription;
use crate::turn::Seat;
use letters::SubscriptionType;
use vocabulary::Position;

impl Subscription {
    /// A consumer wants entries again: the named ones, or (none named, or not Shared) all that are not acknowledged.
    /// No permits are given back: the client grants anew what it threw away.
    pub fn redeliver(
        &mut self,
        seat: Seat,
        positions: &[Position],
        epoch: Option<u64>,
        settings: &TopicSettings,
    ) {
        if self.kind == Some(SubscriptionType::Shared) {
            if let Some(at) = self.index_of(seat) {
                self.replay_of(at, positions, settings);
            }
            return;
        }
        let is_active = self.active.seat == Some(seat);
        let Some(consumer) = self.consumer(seat) else {
            return;
        };
        // Expectation: a client counts its epoch up with each request and drops messages of older epochs.
        if epoch < consumer.epoch && epoch.is_some() {
            return;
        }
        consumer.epoch = epoch.or(consumer.epoch);
        if is_active {
            self.rewind();
        }
    }
}
