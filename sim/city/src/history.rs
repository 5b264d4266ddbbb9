//! What everybody did and saw, over all lives of the house, and whether the promises were kept.

use crate::checks::confirmed::Confirmed;
use crate::checks::order::Order;
use crate::checks::receipts::Receipts;
use crate::checks::{MessageName, MessagePlace, SubscriptionName};
use crate::violation::Violation;

/// The clients' view.
#[derive(Debug, Default)]
pub struct History {
    /// Confirmed messages.
    pub confirmed: Confirmed,
    /// Order.
    pub order: Order,
    /// Confirmed acks.
    pub receipts: Receipts,
}

/// One message as it came to a consumer.
#[derive(Clone, Debug)]
pub struct Sight {
    /// Of which subscription.
    pub subscription: SubscriptionName,
    /// Whether that has one consumer at a time.
    pub is_single: bool,
    /// What its payload says.
    pub message: MessageName,
    /// Where the broker says it lies.
    pub place: MessagePlace,
    /// In which life of the house the connection was opened that it came on.
    pub life: u32,
}

impl History {
    /// A message came to a consumer. True if the subscription sees it for the first time.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn seen(&mut self, sight: &Sight) -> Result<bool, Violation> {
        self.receipts
            .received(&sight.subscription, sight.place, sight.life)?;
        let is_first = self
            .confirmed
            .received(&sight.subscription, sight.message)?;
        if is_first && sight.is_single {
            self.order
                .first_received(&sight.subscription, sight.message)?;
        }
        Ok(is_first)
    }
}
