//! How long to wait before another attempt.

use crate::settings::ClientSettings;
use std::time::Duration;

/// Doubles from wait to wait. Without dice: who runs many clients spreads them by their settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backoff {
    last: Option<Duration>,
}

impl Backoff {
    pub fn next(&mut self, settings: &ClientSettings) -> Duration {
        let next = match self.last {
            None => settings.backoff_initial,
            Some(last) => last.saturating_mul(2),
        };
        *self.last.insert(next.min(settings.backoff_max))
    }

    pub fn reset(&mut self) {
        self.last = None;
    }
}
