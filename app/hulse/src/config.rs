//! Settings in Pulsar's words: a `.properties` file, then the environment (`PULSAR_PREFIX_<key>`), then
//! `--set key=value`; the later word wins.
//!
//! [`table`] knows every key. A key acts only if it stands in [`acting`]; what becomes of all others is decided key by
//! key in the table and carried out in [`check()`], so that nobody believes in a setting that does nothing.
//!
//! To make a key act: give it the class `works` (or `partly` with a note) and its bounds in `keys.tsv`, a line in
//! `acting.rs`, take it out of `guards_tests.rs` if it stood there; then `cargo xtask status` and, for the listings in
//! `tests/data/config`, `HULSE_WRITE_GOLDEN=1 cargo test -p hulse config`.

mod acting;
mod check;
mod error;
mod kind;
mod layers;
mod listing;
mod properties;
mod secrets;
mod spelling;
mod table;

pub use check::{Checked, check};
pub use error::ConfigErrors;
pub use layers::{Given, Origin};
pub use listing::{Extent, as_json, as_text, rows, values};

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod guards_tests;
#[cfg(test)]
mod kind_tests;
#[cfg(test)]
mod layers_tests;
#[cfg(test)]
mod listing_tests;
#[cfg(test)]
mod properties_tests;
#[cfg(test)]
mod table_tests;
