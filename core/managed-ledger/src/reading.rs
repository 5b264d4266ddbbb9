//! Where the entries of a log lie.

use crate::forms::ledger_list::ListedLedger;
use vocabulary::Position;

/// Entries of one ledger, `first..=last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The ledger.
    pub ledger: i64,
    /// First entry.
    pub first: i64,
    /// Last entry.
    pub last: i64,
}

/// The first run of existing entries at or after `from` and not after `until`. `open`: the ledger
/// that takes entries, with its last confirmed one.
pub(crate) fn next_run(
    ledgers: &[ListedLedger],
    open: Option<(i64, i64)>,
    from: Position,
    until: Position,
) -> Option<Run> {
    let start = ledgers.partition_point(|listed| listed.ledger < from.ledger);
    for listed in ledgers.get(start..)? {
        let ledger = listed.ledger;
        if ledger > until.ledger {
            return None;
        }
        let end = match open {
            Some((open, confirmed)) if open == ledger => confirmed,
            _ => listed.last_entry(),
        };
        let first = if ledger == from.ledger {
            from.entry.max(0)
        } else {
            0
        };
        let last = if ledger == until.ledger {
            end.min(until.entry)
        } else {
            end
        };
        if first <= last {
            return Some(Run {
                ledger,
                first,
                last,
            });
        }
    }
    None
}
