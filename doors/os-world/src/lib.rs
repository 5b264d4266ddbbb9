//! Owns: the real world: files below one directory, the lock on it, the clocks, the randomness of the system.
//! Never: decides anything; needs no `unsafe`.
//! Told: file operations. Says: what the operating system said, with the path in the message.
//! Read first: [`disk`].

pub mod clock;
pub mod dice;
pub mod disk;
pub mod lock;

pub use clock::OsClock;
pub use dice::OsDice;
pub use disk::OsDisk;
pub use lock::DirectoryLock;

#[cfg(test)]
mod disk_tests;
#[cfg(test)]
mod lock_tests;
