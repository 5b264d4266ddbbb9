//! Owns: the endless log made of ledgers: when to roll, what to trim, where entries lie; and where cursors are kept beside it.
//! Never: talks to a bookie or a metadata store: it says what to ask them.
//! Told: [`Input`]s of one topic's log and [`Answer`]s of storage. Says: [`Effect`]s.
//! Read first: [`machine`], then `appending`, `list_work` (rolling and trimming), `opening`, `cursor_keeper`; [`forms`] are the stored bytes.

pub mod machine;

mod appending;
mod closing;
mod deleting;
mod list_work;
mod opening;
mod properties;
pub mod reading;
mod roll;
mod trim;

mod cursor_keeper;
mod cursor_restore;
mod cursors;
mod record;
mod record_ledger;

pub mod forms;
mod node_write;
pub mod settings;
pub mod storage;
mod turn;

pub use machine::{Counts, Input, LedgerDetails, LogDetails, ManagedLedger};
pub use reading::Run;
pub use settings::Settings;
pub use storage::{Answer, Call, Fault, Tag};
pub use turn::Effect;

#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod roll_tests;
#[cfg(test)]
mod trim_tests;
