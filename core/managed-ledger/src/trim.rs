//! Which ledgers may go.

use crate::forms::ledger_list::ListedLedger;
use crate::settings::Settings;
use std::time::Duration;
use vocabulary::{Position, WallTime};

/// A verdict on the oldest ledgers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trim {
    /// So many of the oldest may go.
    pub(crate) count: usize,
    /// The next one is kept by its age alone; look again after that long.
    pub(crate) look_again: Option<Duration>,
}

/// Decides. `sealed`: the ledgers that take no more entries, in order. A ledger goes if everything in
/// it is consumed and it is older than the retention time or the log is larger than the retention
/// size. The first that stays keeps all after it: a log has no holes.
pub(crate) fn decide(
    sealed: &[ListedLedger],
    bytes_open: u64,
    consumed: Position,
    settings: &Settings,
    now: WallTime,
) -> Trim {
    let mut bytes_left: u64 =
        bytes_open + sealed.iter().map(|ledger| ledger.size as u64).sum::<u64>();
    let mut trim = Trim::default();
    for ledger in sealed {
        let is_consumed = Position::new(ledger.ledger, ledger.last_entry()) <= consumed;
        if !is_consumed {
            break;
        }
        let age = Duration::from_millis(
            now.0
                .saturating_sub(u64::try_from(ledger.closed_at_ms).unwrap_or(0)),
        );
        let expired = settings.retention_age.is_some_and(|keep| age > keep);
        bytes_left = bytes_left.saturating_sub(ledger.size as u64);
        let over_quota = settings
            .retention_bytes
            .is_some_and(|keep| bytes_left >= keep);
        if !expired && !over_quota {
            trim.look_again = settings
                .retention_age
                .map(|keep| keep.saturating_sub(age) + Duration::from_millis(1));
            break;
        }
        trim.count += 1;
    }
    trim
}
