//! A managed ledger on a made-up storage: its rules one by one, its cursors, and storms.

mod cursors;
mod deleting;
mod properties;
mod rules;
mod storms;
mod support;
