//! Settings in Pulsar's words: a `.properties` file, then `--set key=value`, the later word wins.
//!
//! A key acts only if it stands in [`acting`]; every other key that somebody gave is named at start, so that nobody
//! believes in a setting that does nothing.

mod acting;
mod check;
mod known;
mod layers;
pub mod properties;

pub use check::{Checked, check};
pub use layers::{ConfigError, Given, Origin};

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod properties_tests;
