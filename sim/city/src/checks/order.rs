//! Order: an Exclusive or Failover subscription sees the messages of a producer for the first time in the order in
//! which they were first sent. (What was seen before may come again.)

use super::{MessageName, SubscriptionName};
use crate::violation::Violation;
use std::collections::BTreeMap;

/// The name of this check.
pub const CHECK: &str = "order of a producer";

/// The highest number seen, by subscription and producer.
#[derive(Debug, Default)]
pub struct Order {
    highest: BTreeMap<(SubscriptionName, usize), u64>,
}

impl Order {
    /// The subscription got the message for the first time.
    ///
    /// # Errors
    /// It got a later one before.
    pub fn first_received(
        &mut self,
        subscription: &SubscriptionName,
        message: MessageName,
    ) -> Result<(), Violation> {
        let key = (subscription.clone(), message.producer);
        let before = self.highest.insert(key, message.number);
        match before {
            Some(highest) if highest > message.number => Err(Violation::new(
                CHECK,
                format!(
                    "{subscription} first saw {message} after number {highest} of the same producer"
                ),
            )),
            _ => Ok(()),
        }
    }
}
