//! No confirmed ack is undone: what was acknowledged, and the ack confirmed, is never delivered to that subscription
//! again, batch index included.

use super::SubscriptionName;
use crate::violation::Violation;
use letters::{AckId, AckKind, Delivery};
use std::collections::BTreeMap;
use vocabulary::{AckSet, Position};

/// The name of this check.
pub const CHECK: &str = "confirmed ack undone";

/// What is acknowledged and confirmed, by subscription.
#[derive(Debug, Default)]
pub struct ConfirmedAcks {
    subscriptions: BTreeMap<SubscriptionName, Acked>,
    confirmed: u64,
}

#[derive(Debug)]
struct Acked {
    /// Everything before this.
    before: Position,
    /// Of these entries everything (`None`), or everything but what is in the set.
    entries: BTreeMap<Position, Option<AckSet>>,
}

impl ConfirmedAcks {
    /// Acks are on disk, it is said.
    pub fn confirmed(&mut self, subscription: &SubscriptionName, kind: AckKind, ids: &[AckId]) {
        self.confirmed += ids.len() as u64;
        let acked = self
            .subscriptions
            .entry(subscription.clone())
            .or_insert_with(|| Acked {
                before: Position::EARLIEST,
                entries: BTreeMap::new(),
            });
        for id in ids {
            acked.add(id);
            if kind == AckKind::Cumulative && id.position > acked.before {
                acked.before = id.position;
                acked.entries = acked.entries.split_off(&id.position);
            }
        }
    }

    /// An entry is on its way to a consumer of the subscription.
    ///
    /// # Errors
    /// It holds a message whose ack was confirmed.
    pub fn delivered(
        &self,
        subscription: &SubscriptionName,
        delivery: &Delivery,
    ) -> Result<(), Violation> {
        let again = match self.subscriptions.get(subscription) {
            None => false,
            Some(acked) if delivery.position < acked.before => true,
            Some(acked) => match acked.entries.get(&delivery.position) {
                None => false,
                Some(None) => true,
                Some(Some(left)) => !delivery
                    .ack_set
                    .as_ref()
                    .is_some_and(|delivered| is_within(delivered, left)),
            },
        };
        if !again {
            return Ok(());
        }
        Err(Violation::new(
            CHECK,
            format!(
                "{subscription} is sent {} (messages {:?}) again after its ack was confirmed",
                delivery.position, delivery.ack_set
            ),
        ))
    }

    /// How many acks were confirmed.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.confirmed
    }
}

impl Acked {
    fn add(&mut self, id: &AckId) {
        let Some(remaining) = &id.remaining else {
            self.entries.insert(id.position, None);
            return;
        };
        let left = self
            .entries
            .entry(id.position)
            .or_insert_with(|| Some(remaining.clone()));
        if let Some(left) = left {
            left.intersect(remaining);
        }
    }
}

fn is_within(inner: &AckSet, outer: &AckSet) -> bool {
    let mut both = inner.clone();
    both.intersect(outer);
    both == *inner
}
