//! Values with where they came from.

use super::properties;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A configuration file beyond this is none, bytes.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A line (from 1) of a file.
    File(PathBuf, usize),
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
}

/// Why the configuration cannot be used. Nothing was opened when this is said.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file is not there, or not ours to read.
    #[error("cannot read configuration file {path}: {reason}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// Nobody writes that much configuration.
    #[error(
        "configuration file {path} has {size} bytes, at most {FILE_BYTES_MAX} are read: is this the right file?"
    )]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// The syntax is broken.
    #[error("configuration file {path}, {reason}")]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// Which line, and what is wrong with it.
        reason: properties::BadEscape,
    },
    /// A `--set` without a key or without `=`.
    #[error("--set {0}: expected key=value, as in --set brokerServicePort=6650")]
    BadSet(String),
    /// A value that its key does not allow.
    #[error("{key}={value} ({origin}) is not allowed: expected {allowed}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// What was given.
        value: String,
        /// Who said it.
        origin: Origin,
        /// What would be fine.
        allowed: &'static str,
    },
    /// Two values that do not go together.
    #[error("{0}")]
    Contradiction(String),
}

impl Given {
    /// Adds what a file says.
    pub fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let unreadable = |reason| ConfigError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > FILE_BYTES_MAX {
            return Err(ConfigError::TooLarge {
                path: path.to_owned(),
                size,
            });
        }
        let text = to_text(std::fs::read(path).map_err(unreadable)?);
        let all = properties::parse(&text).map_err(|reason| ConfigError::Syntax {
            path: path.to_owned(),
            reason,
        })?;
        for property in all {
            let origin = Origin::File(path.to_owned(), property.line);
            self.put(property.key, property.value, origin);
        }
        Ok(())
    }

    /// Adds what a `--set key=value` says.
    pub fn read_set(&mut self, argument: &str) -> Result<(), ConfigError> {
        match argument.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                self.put(
                    key.trim().to_owned(),
                    value.trim().to_owned(),
                    Origin::Option("--set"),
                );
                Ok(())
            }
            _ => Err(ConfigError::BadSet(argument.to_owned())),
        }
    }

    /// Adds one value.
    pub fn put(&mut self, key: String, text: String, origin: Origin) {
        self.values.insert(key, Value { text, origin });
    }

    /// All keys with their values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The value of a key, if somebody gave one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }
}

/// Files are UTF-8 nowadays; one that is not is read the way Java reads it (ISO 8859-1).
fn to_text(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(other) => other.into_bytes().into_iter().map(char::from).collect(),
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path, line) => write!(f, "{}:{line}", path.display()),
            Origin::Option(option) => f.write_str(option),
        }
    }
}
