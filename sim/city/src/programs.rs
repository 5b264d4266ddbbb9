//! What the command line calls: power cuts, syncs left out, the city's own life.

pub mod arguments;
mod cuts;
mod run;
mod story;
mod syncs;

pub use cuts::{cuts, cuts_of_one};
pub use run::{run, run_one};
pub use story::{CITY_LIFE, CUTS_PER_SEED, Outcome, Story, tell};
pub use syncs::syncs;
