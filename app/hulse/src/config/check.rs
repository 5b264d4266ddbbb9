//! From what was given to settings, and what must be said about the rest.

use super::acting;
use super::error::{ConfigError, ConfigErrors};
use super::kind::Kind;
use super::layers::{Given, Value};
use super::secrets::{printable, shown};
use super::spelling::nearest;
use super::table::{self, Class, Key};
use broker::BrokerSettings;

/// Keys of our own begin so.
const OURS: &str = "hulse.";

/// What an entry may need beyond its message, on the wire and on disk, bytes.
const ENTRY_OVERHEAD_BYTES: u32 = 16 * 1024;

/// A configuration that can be used.
#[derive(Debug)]
pub struct Checked {
    /// For the broker.
    pub settings: BrokerSettings,
    /// For the person who wrote the configuration: one line each.
    pub notices: Vec<String>,
}

/// Turns what was given into settings, or says everything that is wrong with it.
pub fn check(given: &Given) -> Result<Checked, ConfigErrors> {
    let mut judge = Judge::default();
    for (name, value) in given.iter() {
        match table::find(name) {
            Some(key) => judge.known(key, value),
            None => judge.unknown(name, value),
        }
    }
    for (name, value) in given.bare() {
        judge.bare(name, value, given);
    }
    if judge.errors.is_empty() {
        agree(&judge.settings)?;
        Ok(Checked {
            notices: judge.notices(),
            settings: judge.settings,
        })
    } else {
        Err(ConfigErrors(judge.errors))
    }
}

/// Looks at one value after another.
#[derive(Default)]
struct Judge {
    settings: BrokerSettings,
    errors: Vec<ConfigError>,
    /// Values that weaken durability.
    weakening: Vec<String>,
    /// Copies that somebody counts on.
    copies: Option<String>,
    not_yet: Vec<String>,
    inert: Vec<String>,
    unknown: Vec<String>,
    bare: Vec<String>,
}

impl Judge {
    fn known(&mut self, key: &'static Key, value: &Value) {
        // A door that is closed by an empty value must not open by default.
        let closes_door = key.acts() && key.kind == Kind::Port && value.text.is_empty();
        if key.is_silent(&value.text) && !closes_door {
            return;
        }
        let Some(typed) = key.read(&value.text) else {
            self.bad(key, value);
            return;
        };
        let is_usual = key.is_usual(&value.text);
        match key.class {
            Class::Works | Class::Partly => {
                if acting::apply(key.name, typed, &mut self.settings).is_none() {
                    self.bad(key, value);
                }
            }
            Class::Guards if !is_usual => self.errors.push(refused(key, value)),
            Class::Guards => self.count_on_copies(key, value),
            Class::Durable if !is_usual => self.weakening.push(format!(
                "{}={} ({}) is not followed, it would weaken durability",
                key.name, value.text, value.origin
            )),
            Class::NotYet if !is_usual => self.not_yet.push(with_origin(key.name, value)),
            Class::Inert if !is_usual => self.inert.push(with_origin(key.name, value)),
            Class::Durable | Class::NotYet | Class::Inert => {}
        }
    }

    fn bad(&mut self, key: &'static Key, value: &Value) {
        self.errors.push(ConfigError::BadValue {
            key: key.name,
            value: shown(key.name, &value.text),
            origin: value.origin.clone(),
            allowed: key.expected(),
        });
    }

    /// Shipped files ask for two copies, which must load; but it is said that there is one.
    fn count_on_copies(&mut self, key: &Key, value: &Value) {
        if key.name == "managedLedgerDefaultWriteQuorum" && value.text != "1" {
            self.copies = Some(format!(
                "{}={} ({}) asks for copies on several bookies: this program keeps one copy, synced to this disk",
                key.name, value.text, value.origin
            ));
        }
    }

    fn unknown(&mut self, name: &str, value: &Value) {
        let names = || table::keys().iter().map(|key| key.name);
        if table::handed_through(name).is_some() {
            self.inert.push(with_origin(name, value));
        } else if name.starts_with(OURS) {
            let ours = || names().filter(|name| name.starts_with(OURS));
            let advice = match nearest(name, ours()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!(
                    "those of Hulse are {}",
                    ours().collect::<Vec<_>>().join(", ")
                ),
            };
            self.errors.push(ConfigError::NoSuchKey {
                key: printable(name),
                origin: value.origin.clone(),
                advice,
            });
        } else {
            let hint = nearest(name, names()).map(|near| format!("; did you mean {near}?"));
            self.unknown.push(format!(
                "{}{}",
                with_origin(name, value),
                hint.unwrap_or_default()
            ));
        }
    }

    /// A variable that Pulsar's container scripts would have taken, though it lacks the prefix.
    fn bare(&mut self, name: &str, value: &Value, given: &Given) {
        let Some(key) = table::find(name) else { return };
        let is_allowed = key.read(&value.text).is_some();
        if key.class == Class::Guards && !(is_allowed && key.is_usual(&value.text)) {
            self.errors.push(refused(key, value));
            return;
        }
        let effective = given
            .get(name)
            .map_or(key.default, |given| given.text.as_str());
        if !key.is_silent(&value.text) && !key.kind.is_same(&value.text, effective) {
            self.bare.push(name.to_owned());
        }
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = self.weakening.clone();
        notices.extend(self.copies.clone());
        let lists = [
            (
                "known to Pulsar, but not acting in this version",
                &self.not_yet,
            ),
            ("known to Pulsar, but without meaning here", &self.inert),
            ("not known to Pulsar, and ignored", &self.unknown),
            (
                "environment variables called like a key are not read, only those that begin with PULSAR_PREFIX_",
                &self.bare,
            ),
        ];
        for (what, names) in lists {
            if !names.is_empty() {
                notices.push(format!("{what}: {}", names.join(", ")));
            }
        }
        notices
    }
}

fn refused(key: &'static Key, value: &Value) -> ConfigError {
    ConfigError::Refused {
        key: key.name,
        value: shown(key.name, &value.text),
        origin: value.origin.clone(),
        note: key.note,
    }
}

/// Values are not repeated where it is not needed: they may be anything.
fn with_origin(name: &str, value: &Value) -> String {
    format!("{} ({})", printable(name), value.origin)
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
