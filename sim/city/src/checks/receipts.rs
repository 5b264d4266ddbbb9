//! The same promise as in [`super::acks`], as a client sees it: what it acknowledged, with the receipt in its hand, does
//! not come again after the house was opened anew. (Within one life of the house a message may be on its way to one
//! client while another acknowledges it; the door sees that case exactly.)

use super::{MessagePlace, SubscriptionName};
use crate::violation::Violation;
use std::collections::{BTreeMap, BTreeSet};

/// The name of this check.
pub const CHECK: &str = "ack with a receipt undone";

/// Acks whose receipts came, by subscription.
#[derive(Debug, Default)]
pub struct Receipts {
    single: BTreeMap<SubscriptionName, BTreeMap<MessagePlace, u32>>,
    /// Everything up to a message, with the life in which the ack was sent.
    through: BTreeMap<SubscriptionName, BTreeSet<(MessagePlace, u32)>>,
    count: u64,
}

impl Receipts {
    /// The receipt for the ack of one message came; `life` is that in which it was sent.
    pub fn confirmed(&mut self, subscription: &SubscriptionName, place: MessagePlace, life: u32) {
        self.count += 1;
        self.single
            .entry(subscription.clone())
            .or_default()
            .entry(place)
            .or_insert(life);
    }

    /// The receipt for an ack of everything up to a message came.
    pub fn confirmed_through(
        &mut self,
        subscription: &SubscriptionName,
        place: MessagePlace,
        life: u32,
    ) {
        self.count += 1;
        self.through
            .entry(subscription.clone())
            .or_default()
            .insert((place, life));
    }

    /// A message came, on a connection that was opened in that life of the house.
    ///
    /// # Errors
    /// It was acknowledged and confirmed in an earlier life.
    pub fn received(
        &self,
        subscription: &SubscriptionName,
        place: MessagePlace,
        life: u32,
    ) -> Result<(), Violation> {
        let single = self
            .single
            .get(subscription)
            .and_then(|acked| acked.get(&place));
        let through = self.through.get(subscription).into_iter().flatten();
        let mut through = through
            .filter(|(last, _)| place <= *last)
            .map(|(_, life)| life);
        if single.is_some_and(|acked| *acked < life) || through.any(|acked| *acked < life) {
            return Err(Violation::new(
                CHECK,
                format!(
                    "{subscription} gets {place} in life {life}, after the receipt for its ack came in an earlier one"
                ),
            ));
        }
        Ok(())
    }

    /// How many receipts came.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}
