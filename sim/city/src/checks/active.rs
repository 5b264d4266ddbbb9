//! An Exclusive or Failover subscription has at most one active consumer, and nobody else gets anything.

use crate::violation::Violation;
use std::collections::BTreeMap;
use vocabulary::{ConsumerId, SessionId};

/// The name of this check.
pub const CHECK: &str = "one active consumer";

/// A consumer's address.
pub type Seat = (SessionId, ConsumerId);

/// Who has been told that it is active.
#[derive(Debug, Default)]
pub struct ActiveConsumers {
    by_subscription: BTreeMap<super::SubscriptionName, Vec<Seat>>,
}

impl ActiveConsumers {
    /// A consumer was told what it is.
    pub fn told(&mut self, subscription: &super::SubscriptionName, seat: Seat, is_active: bool) {
        let active = self
            .by_subscription
            .entry(subscription.clone())
            .or_default();
        active.retain(|other| *other != seat);
        if is_active {
            active.push(seat);
        }
    }

    /// A consumer left.
    pub fn left(&mut self, subscription: &super::SubscriptionName, seat: Seat) {
        self.told(subscription, seat, false);
    }

    /// An entry is on its way to a consumer.
    ///
    /// # Errors
    /// It was not told that it is the active one.
    pub fn delivered(
        &self,
        subscription: &super::SubscriptionName,
        seat: Seat,
    ) -> Result<(), Violation> {
        let active = self
            .by_subscription
            .get(subscription)
            .map_or(&[][..], Vec::as_slice);
        if active.contains(&seat) {
            return Ok(());
        }
        Err(Violation::new(
            CHECK,
            format!(
                "{subscription}: {seat:?} is sent an entry, while the active ones are {active:?}"
            ),
        ))
    }

    /// To be asked when a turn is over.
    ///
    /// # Errors
    /// A subscription has two.
    pub fn check(&self) -> Result<(), Violation> {
        let two = self
            .by_subscription
            .iter()
            .find(|(_, active)| active.len() > 1);
        match two {
            None => Ok(()),
            Some((subscription, active)) => Err(Violation::new(
                CHECK,
                format!("{subscription} has several active consumers: {active:?}"),
            )),
        }
    }
}
