//! How a topic's log and cursors are kept, in Pulsar's words: `/admin/v2/persistent/…/internalStats`.

use managed_ledger::LogDetails;
use serde_json::{Map, Value, json};
use shard::CloseFigures;
use topic::{SubscriptionDetails, SubscriptionStats};
use vocabulary::Position;

/// The whole of it. Times of ledgers are not kept here and are left out.
pub(super) fn topic_json(figures: &CloseFigures) -> Value {
    let CloseFigures {
        stats,
        details,
        log,
    } = figures;
    let open = log.ledgers.last().filter(|ledger| ledger.is_open);
    let ledgers: Vec<Value> = log
        .ledgers
        .iter()
        .map(|ledger| {
            // Pulsar counts a ledger's entries when it is left.
            let (entries, bytes) = match ledger.is_open {
                true => (0, 0),
                false => (ledger.entries, ledger.bytes),
            };
            json!({
                "ledgerId": ledger.ledger,
                "entries": entries,
                "size": bytes,
                "offloaded": false,
                "underReplicated": false,
            })
        })
        .collect();
    let closely = stats.subscriptions.iter().zip(&details.subscriptions);
    let cursors: Map<String, Value> = closely
        .map(|(stats, details)| (encoded(&stats.name), cursor_json(stats, details, log)))
        .collect();
    let waiting = details.subscriptions.iter().filter(|one| one.is_reading);
    json!({
        "entriesAddedCounter": stats.entries_in,
        "numberOfEntries": details.entries,
        "totalSize": super::topic_stats::bytes_stored(log),
        "currentLedgerEntries": open.map_or(0, |ledger| ledger.entries),
        "currentLedgerSize": open.map_or(0, |ledger| ledger.bytes),
        "waitingCursorsCount": waiting.count(),
        "pendingAddEntriesCount": details.appending,
        "lastConfirmedEntry": stats.last_position.unwrap_or(last_of(log)).to_string(),
        "state": if open.is_some() { "LedgerOpened" } else { "ClosedLedger" },
        "ledgers": ledgers,
        "cursors": cursors,
        "schemaLedgers": [],
        "compactedLedger": {
            "ledgerId": -1, "entries": -1, "size": -1, "offloaded": false, "underReplicated": false,
        },
    })
}

fn last_of(log: &LogDetails) -> Position {
    let last = log.ledgers.last();
    last.map_or(Position::EARLIEST, |ledger| {
        Position::new(ledger.ledger, -1)
    })
}

fn cursor_json(
    stats: &SubscriptionStats,
    details: &SubscriptionDetails,
    log: &LogDetails,
) -> Value {
    let home = log
        .cursor_ledgers
        .iter()
        .find(|(name, _)| *name == stats.name);
    let runs = details.acked_ahead.iter();
    let runs: Vec<String> = runs
        .map(|run| {
            format!(
                "({}:{}..{}:{}]",
                run.ledger,
                run.first - 1,
                run.ledger,
                run.last
            )
        })
        .collect();
    json!({
        "markDeletePosition": stats.mark.to_string(),
        "readPosition": details.read_position.to_string(),
        "waitingReadOp": details.is_reading,
        "pendingReadOps": u8::from(details.is_reading),
        "messagesConsumedCounter": stats.messages_out,
        "cursorLedger": home.map_or(-1, |(_, ledger)| *ledger),
        "cursorLedgerLastEntry": -1,
        "individuallyDeletedMessages": format!("[{}]", runs.join(",")),
        "state": if home.is_some() { "Open" } else { "NoLedger" },
        "active": !stats.consumers.is_empty(),
        "numberOfEntriesSinceFirstNotAckedMessage": stats.acked_ahead_entries + 1,
        "totalNonContiguousDeletedMessagesRange": details.acked_ahead.len(),
        "subscriptionHavePendingRead": details.is_reading,
        "subscriptionHavePendingReplayRead": false,
        "properties": {},
    })
}

/// Pulsar names cursors by the encoded name of their subscription.
fn encoded(name: &str) -> String {
    vocabulary::name::url_encode(name)
}
