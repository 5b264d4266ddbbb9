//! Two answers, field by field. What differs from run to run is taken out of both first.

use serde_json::Value;

/// What stands for a value that differs from run to run.
pub const ANY: &str = "*";

/// Fields whose values differ from run to run: times, names that brokers make, addresses, numbers of
/// ledgers; and the texts of the binary protocol's errors, which are for people.
pub const VOLATILE: [&str; 46] = [
    "address",
    "brokerId",
    "brokerServiceUrl",
    "brokerUrl",
    "configurationMetadataStoreUrl",
    "configurationStoreServers",
    "connectedSince",
    "creationDate",
    "cursorLedger",
    "cursorLedgerLastEntry",
    "cursorsLedgerId",
    "earliestMsgPublishTimeInBacklog",
    "earliestMsgPublishTimeInBacklogs",
    "error_message",
    "highest_sequence_id",
    "httpUrl",
    "lastAckedTime",
    "lastAckedTimestamp",
    "lastConsumedFlowTimestamp",
    "lastConsumedTime",
    "lastConsumedTimestamp",
    "lastExpireTimestamp",
    "lastLedgerCreatedTimestamp",
    "lastLedgerSwitchTimestamp",
    "lastMarkDeleteAdvancedTimestamp",
    "ledgerId",
    "messageAckRate",
    "message",
    "metadataStoreUrl",
    "modificationDate",
    "msgRateExpired",
    "msgRateIn",
    "msgRateOut",
    "msgThroughputIn",
    "msgThroughputOut",
    "nativeUrl",
    "oldestBacklogMessageAgeSeconds",
    "ownerBroker",
    "producerName",
    "producer_name",
    "server_version",
    "serviceUrl",
    "timestamp",
    "x-pulsar-producer-name",
    "x-pulsar-publish-time",
    "zookeeperServers",
];

/// One field that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// `status`, `body`, or the way to a field of the body: `subscriptions.s.msgBacklog`.
    pub field: String,
    /// As it should be.
    pub expected: String,
    /// As it is.
    pub found: String,
}

/// An answer without what differs from run to run: volatile fields, addresses of this machine and the ledger of positions become `*`,
/// a server's stack trace and a server's page of HTML too, lists of texts are sorted.
#[must_use]
pub fn normal(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let value = match VOLATILE.contains(&name.as_str()) {
                    true => Value::from(ANY),
                    false => normal(value),
                };
                (name.clone(), value)
            });
            Value::Object(fields.collect())
        }
        Value::Array(all) => {
            let mut all: Vec<Value> = all.iter().map(normal).collect();
            if all.iter().all(Value::is_string) {
                all.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
            }
            Value::Array(all)
        }
        Value::String(text) => Value::String(normal_text(text)),
        other => other.clone(),
    }
}

fn normal_text(text: &str) -> String {
    if text.contains("\nStacktrace:") || text.starts_with("<html>") {
        return ANY.to_owned();
    }
    let is_number = |text: &str| text.parse::<i64>().is_ok();
    match text.split_once(':') {
        Some(("127.0.0.1", port)) if is_number(port) => ANY.to_owned(),
        Some((ledger, entry)) if is_number(ledger) && is_number(entry) => format!("{ANY}:{entry}"),
        _ => text.to_owned(),
    }
}

/// Where an answer is not what it should be; both are made [`normal`] first.
#[must_use]
pub fn mismatches(expected: (u16, &Value), found: (u16, &Value)) -> Vec<Mismatch> {
    let mut all = Vec::new();
    if expected.0 != found.0 {
        all.push(Mismatch {
            field: "status".to_owned(),
            expected: expected.0.to_string(),
            found: found.0.to_string(),
        });
    }
    compare(
        String::new(),
        &normal(expected.1),
        &normal(found.1),
        &mut all,
    );
    all
}

fn compare(field: String, expected: &Value, found: &Value, all: &mut Vec<Mismatch>) {
    match (expected, found) {
        (Value::Object(wanted), Value::Object(had)) => {
            let names = wanted
                .keys()
                .chain(had.keys().filter(|name| !wanted.contains_key(*name)));
            for name in names {
                let field = match field.is_empty() {
                    true => name.clone(),
                    false => format!("{field}.{name}"),
                };
                match (wanted.get(name), had.get(name)) {
                    (Some(wanted), Some(had)) => compare(field, wanted, had, all),
                    (wanted, had) => all.push(mismatch(field, wanted, had)),
                }
            }
        }
        (Value::Array(wanted), Value::Array(had)) if wanted.len() == had.len() => {
            for (at, (wanted, had)) in wanted.iter().zip(had).enumerate() {
                compare(format!("{field}.{at}"), wanted, had, all);
            }
        }
        (Value::Number(wanted), Value::Number(had)) if wanted.as_f64() == had.as_f64() => {}
        (wanted, had) if wanted == had => {}
        (wanted, had) => all.push(mismatch(field, Some(wanted), Some(had))),
    }
}

fn mismatch(field: String, expected: Option<&Value>, found: Option<&Value>) -> Mismatch {
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    Mismatch {
        field: match field.is_empty() {
            true => "body".to_owned(),
            false => field,
        },
        expected: text(expected),
        found: text(found),
    }
}
