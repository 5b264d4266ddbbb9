//! Why a configuration cannot be used. Nothing was opened when this is said.

use super::layers::Origin;
use super::properties;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// One reason.
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
        "configuration file {path} has more than {most} bytes, which is the most that is read: is this the right file?"
    )]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// What would be read, bytes.
        most: u64,
    },
    /// The syntax is broken.
    #[error("configuration file {path}, {reason}")]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// Which line, and what is wrong with it.
        reason: properties::BadEscape,
    },
    /// Bytes that are no characters.
    #[error(
        "{key} ({origin}) is not UTF-8: expected UTF-8, or \\uXXXX in a file for what is not ASCII"
    )]
    NotUtf8 {
        /// The key as far as it can be read.
        key: String,
        /// Who said it.
        origin: Origin,
    },
    /// A word that nobody writes by hand.
    #[error(
        "{key} ({origin}) is too long: expected a key of at most {key_most} and a value of at most {value_most} bytes"
    )]
    TooLong {
        /// The beginning of the key.
        key: String,
        /// Who said it.
        origin: Origin,
        /// Longest key, bytes.
        key_most: usize,
        /// Longest value, bytes.
        value_most: usize,
    },
    /// A file that contradicts itself.
    #[error(
        "{key}={value} ({origin}) contradicts line {first_line}, which says {key}={first}: remove one of the two"
    )]
    SaidTwice {
        /// The key.
        key: String,
        /// The later value.
        value: String,
        /// Where that stands.
        origin: Origin,
        /// The earlier value.
        first: String,
        /// Where that stands in the same file.
        first_line: usize,
    },
    /// A `--set` without a key or without `=`.
    #[error("--set '{0}': expected key=value, as in --set brokerServicePort=6650")]
    BadSet(String),
    /// A value that its key does not allow.
    #[error("{key}={value} ({origin}) is not allowed: expected {allowed}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// What was given, as it may be shown.
        value: String,
        /// Who said it.
        origin: Origin,
        /// What would be fine.
        allowed: String,
    },
    /// A value that asks for protection that is not there.
    #[error("{key}={value} ({origin}) is not supported, and must not be ignored: {note}")]
    Refused {
        /// The key.
        key: &'static str,
        /// What was given, as it may be shown.
        value: String,
        /// Who said it.
        origin: Origin,
        /// What would be lost, and what to do.
        note: &'static str,
    },
    /// A key of ours that does not exist. There are few, so this can only be a slip.
    #[error("{key} ({origin}) is not a key: {advice}")]
    NoSuchKey {
        /// The key.
        key: String,
        /// Who said it.
        origin: Origin,
        /// What was probably meant.
        advice: String,
    },
    /// Two values that do not go together.
    #[error("{0}")]
    Contradiction(String),
}

/// All reasons, a line each.
#[derive(Debug)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let before = if index == 0 { "" } else { "\n" };
            write!(f, "{before}{error}")?;
        }
        Ok(())
    }
}

impl From<ConfigError> for ConfigErrors {
    fn from(error: ConfigError) -> ConfigErrors {
        ConfigErrors(vec![error])
    }
}
