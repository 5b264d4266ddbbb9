//! Owns: the windows through which the house sees the world, as traits: disk, clock, dice.
//! Never: implements one. `os-world` holds the real world, `sim-world` a made-up one.
//! Told: nothing. Says: what every world must keep.
//! Read first: [`disk`]; it is the contract that power cuts are tested against.

pub mod clock;
pub mod dice;
pub mod disk;

pub use clock::Clock;
pub use dice::Dice;
pub use disk::{Disk, DiskFile, OpenHow};
