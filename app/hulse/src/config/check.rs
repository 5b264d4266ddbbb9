//! From what was given to settings, and what must be said about the rest.

use super::acting::{ACTING, Acting};
use super::known::Known;
use super::layers::{ConfigError, Given, Value};
use broker::BrokerSettings;

/// Keys with which a bookie can be told to confirm what is not yet on disk. They can only be obeyed where they ask for
/// more than is done anyway.
const WEAKENING: &[&str] = &["journalSyncData", "journalWriteData"];

/// What an entry may need beyond its message, on the wire and on disk, bytes.
const ENTRY_OVERHEAD_BYTES: u32 = 16 * 1024;

/// Ports have a meaning when empty (Pulsar then opens no such door), so that emptiness must not pass for the default.
const NEVER_EMPTY: &[&str] = &["brokerServicePort", "webServicePort"];

/// A configuration that can be used.
#[derive(Debug)]
pub struct Checked {
    /// For the broker.
    pub settings: BrokerSettings,
    /// For the person who wrote the configuration: one line each.
    pub notices: Vec<String>,
}

/// Turns what was given into settings. An empty value means the default, as in Pulsar's own files.
pub fn check(given: &Given) -> Result<Checked, ConfigError> {
    let mut settings = BrokerSettings::default();
    for acting in ACTING {
        if let Some(value) = given.get(acting.key) {
            apply(acting, value, &mut settings)?;
        }
    }
    agree(&settings)?;
    Ok(Checked {
        settings,
        notices: notices(given),
    })
}

fn apply(acting: &Acting, value: &Value, settings: &mut BrokerSettings) -> Result<(), ConfigError> {
    if value.text.is_empty() && !NEVER_EMPTY.contains(&acting.key) {
        return Ok(());
    }
    (acting.apply)(settings, &value.text).ok_or_else(|| ConfigError::BadValue {
        key: acting.key,
        value: value.text.clone(),
        origin: value.origin.clone(),
        allowed: acting.allowed,
    })
}

/// What must hold between several settings.
fn agree(settings: &BrokerSettings) -> Result<(), ConfigError> {
    if settings.ledgers.rollover_age_min > settings.ledgers.rollover_age_max {
        return Err(ConfigError::Contradiction(format!(
            "managedLedgerMinLedgerRolloverTimeMinutes={} exceeds managedLedgerMaxLedgerRolloverTimeMinutes={}: \
             lower the one or raise the other",
            settings.ledgers.rollover_age_min.as_secs() / 60,
            settings.ledgers.rollover_age_max.as_secs() / 60,
        )));
    }
    let entry_bytes_max = u64::from(settings.message_size_max) + u64::from(ENTRY_OVERHEAD_BYTES);
    if entry_bytes_max * 4 > settings.segment_bytes {
        return Err(ConfigError::Contradiction(format!(
            "maxMessageSize={} needs more than a quarter of a segment of the log (hulse.segmentSizeMb={}): \
             lower the one or raise the other",
            settings.message_size_max,
            settings.segment_bytes / (1024 * 1024),
        )));
    }
    Ok(())
}

fn notices(given: &Given) -> Vec<String> {
    let known = Known::load();
    let mut notices = Vec::new();
    let mut idle = Vec::new();
    for (key, value) in given.iter() {
        if ACTING.iter().any(|acting| acting.key == key) {
            continue;
        }
        if WEAKENING.contains(&key) {
            if value.text.eq_ignore_ascii_case("false") {
                notices.push(format!(
                    "{key}=false ({}) is ignored: receipts are always synced to disk before they are sent; \
                     only a key that begins with hulse. may weaken durability",
                    value.origin
                ));
            }
        } else if !known.contains(key) {
            notices.push(unknown(&known, key, value));
        } else if !known.is_usual(key, &value.text) {
            idle.push(format!("{key} ({})", value.origin));
        }
    }
    if !idle.is_empty() {
        notices.push(format!(
            "known to Pulsar, but not acting in this version: {}",
            idle.join(", ")
        ));
    }
    notices
}

fn unknown(known: &Known, key: &str, value: &Value) -> String {
    let acting = ACTING.iter().map(|acting| acting.key);
    match known.nearest(key, acting) {
        Some(nearest) => format!(
            "{key} ({}) is not a known key and is ignored; did you mean {nearest}?",
            value.origin
        ),
        None => format!("{key} ({}) is not a known key and is ignored", value.origin),
    }
}
