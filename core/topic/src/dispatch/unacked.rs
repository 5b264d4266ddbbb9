//! Limits of what a Shared consumer and its subscription may hold unacknowledged.

use crate::TopicSettings;
use crate::subscription::Subscription;

impl Subscription {
    /// After a delivery: stops who reached a limit.
    pub(crate) fn block_where_due(&mut self, at: usize, settings: &TopicSettings) {
        let Some(consumer) = self.consumers.get_mut(at) else {
            return;
        };
        let per_consumer = settings.unacked_per_consumer_max;
        if per_consumer > 0 && consumer.unacked >= per_consumer {
            consumer.blocked = true;
        }
        let per_subscription = settings.unacked_per_subscription_max;
        if per_subscription > 0 && self.unacked >= per_subscription {
            self.unacked_limit_reached = true;
        }
    }

    /// After something was given up: lets go on who is at half of the limit, with the permits granted meanwhile.
    pub(crate) fn unblock_where_due(&mut self, at: usize, settings: &TopicSettings) {
        if let Some(consumer) = self.consumers.get_mut(at)
            && consumer.blocked
            && consumer.unacked <= settings.unacked_per_consumer_max / 2
        {
            consumer.blocked = false;
            consumer.permits += std::mem::take(&mut consumer.parked_permits) as i64;
        }
        self.unblock_subscription_where_due(settings);
    }

    pub(crate) fn unblock_subscription_where_due(&mut self, settings: &TopicSettings) {
        let half = settings.unacked_per_subscription_max / 2;
        if self.unacked_limit_reached && (self.unacked == 0 || self.unacked < half) {
            self.unacked_limit_reached = false;
        }
    }
}
