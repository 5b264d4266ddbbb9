//! What somebody may see who looks at one topic closely: more than `stats`, and too much for every page of metrics.

use crate::Topic;
use crate::subscription::Subscription;
use crate::tasks::is_replicated;
use cursor::{Extent, Run};
use vocabulary::Position;

/// Runs of acknowledged entries that are listed; there may be millions.
const RUNS_MAX: usize = 1000;

/// A topic seen closely.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicDetails {
    /// Entries that are there.
    pub entries: u64,
    /// Appends under way.
    pub appending: usize,
    /// By name.
    pub subscriptions: Vec<SubscriptionDetails>,
}

/// A subscription seen closely.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriptionDetails {
    /// Its name.
    pub name: String,
    /// Its own key-value pairs.
    pub properties: Vec<(String, String)>,
    /// Somebody wants it to be replicated.
    pub is_replicated: bool,
    /// The entry that is read next.
    pub read_position: Position,
    /// The runs of entries acknowledged ahead of the mark, the first thousand.
    pub acked_ahead: Vec<Run>,
    /// A read for it is under way.
    pub is_reading: bool,
}

impl Topic {
    /// The topic as it is now, closely.
    #[must_use]
    pub fn details(&self) -> TopicDetails {
        TopicDetails {
            entries: self.extent.count(self.extent.start(), self.extent.end()),
            appending: self.producers.appending.len(),
            subscriptions: self
                .subscriptions
                .values()
                .map(|found| of_subscription(found, &self.extent))
                .collect(),
        }
    }
}

fn of_subscription(subscription: &Subscription, extent: &Extent) -> SubscriptionDetails {
    let cursor = &subscription.cursor;
    let pairs = cursor.string_properties().iter();
    let read_to = subscription.reader.read_to.max(cursor.mark());
    SubscriptionDetails {
        name: subscription.name.to_string(),
        properties: pairs
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        is_replicated: is_replicated(cursor),
        read_position: extent
            .next_valid(read_to)
            .unwrap_or_else(|| read_to.after()),
        acked_ahead: cursor.acked_runs().take(RUNS_MAX).collect(),
        is_reading: subscription.reader.under_way.is_some(),
    }
}
