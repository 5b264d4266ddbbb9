//! Owns: what is acknowledged of a topic by one subscription - the mark, the acks ahead of it, batch bits - and its saved form.
//! Never: delivers, reads entries, or knows a read position, a consumer, a file or a clock.
//! Told: which entries exist ([`Extent`]), which are acknowledged, what was saved before.
//! Says: what an ack changed, what is still to be delivered, and the record to save ([`letters::log::CursorRecord`]).
//! Read first: [`extent`], then [`cursor`], [`ack`], then [`entry_set`] and the stored forms [`snapshot`] and [`delta`].

pub mod ack;
pub mod ahead;
mod block;
mod changes;
mod codec;
pub mod cursor;
pub mod delta;
pub mod entry_set;
pub mod extent;
#[doc(hidden)]
pub mod fuzz;
pub mod saving;
pub mod snapshot;

pub use ack::{AckRefusal, Acked};
pub use ahead::Run;
pub use codec::CursorError;
pub use cursor::Cursor;
pub use extent::Extent;

#[cfg(test)]
mod ack_tests;
#[cfg(test)]
mod entry_set_tests;
#[cfg(test)]
mod extent_tests;
#[cfg(test)]
mod form_tests;
#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod saving_tests;
#[cfg(test)]
mod seek_tests;
#[cfg(test)]
mod size_tests;

/// Property tests see the same cases on every run; `PROPTEST_RNG_SEED` and `PROPTEST_CASES` are for a longer look.
#[cfg(test)]
fn seeded(cases: u32) -> proptest::test_runner::Config {
    let mut config = proptest::test_runner::Config {
        failure_persistence: None,
        ..Default::default()
    };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = proptest::test_runner::RngSeed::Fixed(0x6375_7273_6f72);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    config
}
