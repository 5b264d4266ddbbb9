//! Owns: a made-up world for tests: a disk that loses, tears and reorders, dice that repeat, a clock that is set by hand.
//! Never: touches the real disk, clock or randomness.
//! Told: file operations, and when to fail. Says: what a real machine might say, the worst of it included.
//! Read first: [`disk`]; then its module `cut`, which builds what is left after a power cut.

pub mod clock;
mod cut;
pub mod dice;
pub mod disk;
mod inode;
mod names;
mod state;

pub use clock::SimClock;
pub use dice::SimDice;
pub use disk::{DiskOp, OpKind, SimDisk, SyncKind, SyncWhat};
pub use state::{CutFilter, Fault, SyncFilter};

#[cfg(test)]
mod disk_tests;
