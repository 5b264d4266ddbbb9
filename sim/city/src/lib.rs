//! Owns: a broker and many clients in one thread, from one seed: network, faults, power cuts, and the checks of what was promised.
//! Never: decides anything that the house itself decides; it only composes the same rooms as the program does.
//! Told: seeds. Says: what happened, how often, and which promise was broken.
//! Read first: [`plan`], [`city`], then [`house`], [`seat`], [`checks`]; [`programs`] is what the command line calls.

pub mod plan;

pub mod city;
pub mod heap;
pub mod link;
pub mod power;

pub mod first_start;
pub mod house;

pub mod seat;

pub mod checks;
pub mod history;
pub mod violation;

pub mod counts;
pub mod transcript;

pub mod programs;

pub use city::City;
pub use plan::Plan;
pub use violation::Violation;
