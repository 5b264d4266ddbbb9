//! Values with where they came from.

use super::error::ConfigError;
use super::secrets::{printable, shown};
use super::{properties, table};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A configuration file beyond this is none, bytes.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Longest key, bytes. Pulsar's longest has 80.
const KEY_BYTES_MAX: usize = 1024;

/// Longest value, bytes: room for a list of a thousand names.
const VALUE_BYTES_MAX: usize = 64 * 1024;

/// What the scripts of Pulsar's container images take as a setting for any key.
const ENVIRONMENT_PREFIX: &str = "PULSAR_PREFIX_";

/// Who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line (from 1) of a file.
    File(PathBuf, usize),
    /// A variable of the environment.
    Environment(String),
    /// An option of the command line, as it is spelt there.
    Option(&'static str),
}

/// A value somebody gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// As written, white space around it removed.
    pub text: String,
    /// Who said it.
    pub origin: Origin,
}

/// All that was given, by key; of several values the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    values: BTreeMap<String, Value>,
    /// Variables of the environment that are called like a key, without the prefix.
    bare: BTreeMap<String, Value>,
}

impl Given {
    /// Adds what a file says.
    pub fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let bytes = read_limited(path)?;
        // Java reads ISO 8859-1, so other bytes may stand in old comments. They are refused where they would matter.
        let text = String::from_utf8_lossy(&bytes);
        // Some editors begin UTF-8 with a mark.
        let all = properties::parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(
            |reason| ConfigError::Syntax {
                path: path.to_owned(),
                reason,
            },
        )?;
        let is_utf8 = matches!(text, std::borrow::Cow::Borrowed(_));
        let mut said = BTreeMap::new();
        for property in all {
            let origin = Origin::File(path.to_owned(), property.line);
            let has_gap = |text: &str| text.contains(char::REPLACEMENT_CHARACTER);
            if !is_utf8 && (has_gap(&property.key) || has_gap(&property.value)) {
                return Err(ConfigError::NotUtf8 {
                    key: printable(&property.key),
                    origin,
                });
            }
            let first = said.insert(
                property.key.clone(),
                (property.line, property.value.clone()),
            );
            match first {
                Some((first_line, first)) if first != property.value => {
                    return Err(ConfigError::SaidTwice {
                        value: shown(&property.key, &property.value),
                        first: shown(&property.key, &first),
                        key: printable(&property.key),
                        origin,
                        first_line,
                    });
                }
                _ => self.put(property.key, property.value, origin)?,
            }
        }
        Ok(())
    }

    /// Adds what the environment says. Only variables with the prefix count: one that merely is called like a key may
    /// be there for another program. Such ones are remembered, because Pulsar's scripts would have taken them.
    pub fn read_environment(
        &mut self,
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigError> {
        for (name, value) in variables {
            let Some(name) = name.to_str() else { continue };
            let key = name.strip_prefix(ENVIRONMENT_PREFIX);
            let is_bare = table::find(name).is_some_and(|key| !key.name.starts_with("hulse."));
            if key.is_none() && !is_bare {
                continue;
            }
            let origin = Origin::Environment(printable(name));
            let Some(text) = value.to_str().map(|text| text.trim().to_owned()) else {
                return Err(ConfigError::NotUtf8 {
                    key: printable(key.unwrap_or(name)),
                    origin,
                });
            };
            match key {
                Some(key) => self.put(key.to_owned(), text, origin)?,
                None => {
                    self.bare.insert(name.to_owned(), Value { text, origin });
                }
            }
        }
        Ok(())
    }

    /// Adds what a `--set key=value` says.
    pub fn read_set(&mut self, argument: &str) -> Result<(), ConfigError> {
        match argument.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
                self.put(key, value, Origin::Option("--set"))
            }
            // What stands before the first `=` is all that is surely no secret.
            _ => Err(ConfigError::BadSet(printable(
                argument.split('=').next().unwrap_or_default(),
            ))),
        }
    }

    /// Adds one value.
    pub fn put(&mut self, key: String, text: String, origin: Origin) -> Result<(), ConfigError> {
        if key.len() > KEY_BYTES_MAX || text.len() > VALUE_BYTES_MAX {
            return Err(ConfigError::TooLong {
                key: printable(&key),
                origin,
                key_most: KEY_BYTES_MAX,
                value_most: VALUE_BYTES_MAX,
            });
        }
        self.values.insert(key, Value { text, origin });
        Ok(())
    }

    /// All keys with their values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The variables of the environment that are called like a key but lack the prefix.
    pub fn bare(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.bare.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The value of a key, if somebody gave one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }
}

/// The bytes of a file; also of one whose length nobody knows beforehand, such as a pipe.
fn read_limited(path: &Path) -> Result<Vec<u8>, ConfigError> {
    let unreadable = |reason| ConfigError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ConfigError::TooLarge {
            path: path.to_owned(),
            most: FILE_BYTES_MAX,
        });
    }
    Ok(bytes)
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path, line) => write!(f, "{}:{line}", path.display()),
            Origin::Environment(name) => write!(f, "environment variable {name}"),
            Origin::Option(option) => f.write_str(option),
        }
    }
}
