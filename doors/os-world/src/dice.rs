//! The system's randomness, fetched a handful at a time.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};
use world::Dice;

const POOL_BYTES: usize = 256;

/// Numbers nobody predicts.
#[derive(Debug)]
pub struct OsDice {
    pool: [u8; POOL_BYTES],
    used: usize,
}

impl OsDice {
    /// Fetches the first numbers.
    ///
    /// # Errors
    /// The system has no source of randomness.
    pub fn new() -> io::Result<OsDice> {
        let mut dice = OsDice {
            pool: [0; POOL_BYTES],
            used: 0,
        };
        dice.refill()?;
        Ok(dice)
    }

    fn refill(&mut self) -> io::Result<()> {
        let mut filled = 0;
        while filled < POOL_BYTES {
            match getrandom(&mut self.pool[filled..], GetRandomFlags::empty()) {
                Ok(count) => filled += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.used = 0;
        Ok(())
    }
}

impl Dice for OsDice {
    fn roll(&mut self) -> u64 {
        if self.used + 8 > POOL_BYTES {
            // Invariant: a source that worked at the start works on; Linux promises it after boot.
            assert!(
                self.refill().is_ok(),
                "the system's source of randomness stopped working"
            );
        }
        let mut eight = [0; 8];
        eight.copy_from_slice(&self.pool[self.used..self.used + 8]);
        self.used += 8;
        u64::from_le_bytes(eight)
    }
}
