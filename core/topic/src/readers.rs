//! Subscriptions in memory only, which is how readers read: they hold nothing back from being trimmed, are never
//! saved, and vanish with their last consumer.

use crate::Topic;
use crate::saving::Saving;
use crate::subscription::Subscription;
use crate::turn::Turn;
use cursor::{Cursor, Extent};
use letters::{AddConsumer, InitialPosition};
use std::sync::Arc;
use vocabulary::Position;

impl Topic {
    /// Makes a subscription in memory; false if there are too many.
    pub(crate) fn create_reading(&mut self, add: &AddConsumer) -> bool {
        if self.has_too_many_subscriptions() {
            return false;
        }
        let start = add.start.as_ref().map(|(position, _)| *position);
        let mut cursor = Cursor::non_durable(mark_for(start, add.initial_position, &self.extent));
        cursor.clamp(&self.extent);
        let name: Arc<str> = add.subscription.as_str().into();
        let subscription = Subscription::new(name.clone(), cursor, Saving::none());
        self.subscriptions.insert(name, subscription);
        true
    }

    /// A subscription in memory is nothing without consumers. One that its own seek has disconnected is kept for a
    /// while: a client comes back to where it wanted to be.
    pub(crate) fn vanish_where_due(&mut self, name: &str, turn: &mut Turn<'_>) {
        let Some(found) = self.subscriptions.get(name) else {
            return;
        };
        let waits = found.abandoned_at.is_some_and(|at| at > turn.now.moment);
        if !found.cursor.is_durable() && found.consumers.is_empty() && !waits {
            self.forget_subscription(name, turn);
            self.readmit_when_unfenced(name, turn);
        }
    }
}

/// Where a reader's mark stands, as in Pulsar: a named entry is read again (the client drops what it has had of it),
/// entry -1 means "from the first of that ledger on", beyond the end counts the initial position.
fn mark_for(start: Option<Position>, initial: InitialPosition, extent: &Extent) -> Position {
    let wanted = match start {
        Some(start) if start.ledger >= 0 && start.entry >= 0 => Some(start.before()),
        other => other,
    };
    match (wanted, initial) {
        (Some(mark), _) if mark <= extent.end() => mark,
        (_, InitialPosition::Latest) => extent.end(),
        (_, InitialPosition::Earliest) => extent.start(),
    }
}
