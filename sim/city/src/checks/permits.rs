//! Permits balance, for each consumer from its subscribing to its leaving: what is sent was granted, but for the rest
//! of one batch. (That granted = sent + available is asserted by the topic itself after each turn.)

use crate::violation::Violation;

/// The name of this check.
pub const CHECK: &str = "permits";

/// The account of one consumer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    granted: u64,
    sent: u64,
}

impl Account {
    /// FLOW came.
    pub fn granted(&mut self, permits: u32) {
        self.granted += u64::from(permits);
    }

    /// An entry is on its way.
    ///
    /// # Errors
    /// Nothing was left of what had been granted.
    pub fn sent(&mut self, permits: u32) -> Result<(), Violation> {
        let Account { granted, sent } = *self;
        self.sent += u64::from(permits);
        if permits == 0 {
            return Err(Violation::new(CHECK, "an entry was sent at no permit"));
        }
        if sent >= granted {
            return Err(Violation::new(
                CHECK,
                format!("{permits} more messages were sent after {sent} of {granted} granted"),
            ));
        }
        Ok(())
    }
}
