//! Where an entry lies in a topic: Pulsar's (ledger, entry) pair, signed as there.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A place in a managed ledger, ordered by ledger, then entry. Entry -1 means "before the first of that ledger".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The ledger's id.
    pub ledger: i64,
    /// The entry's number within the ledger, from 0.
    pub entry: i64,
}

impl Position {
    /// Before everything: what clients send for "earliest", (-1, -1).
    pub const EARLIEST: Position = Position {
        ledger: -1,
        entry: -1,
    };
    /// After everything: what clients send for "latest", (2^63-1, 2^63-1).
    pub const LATEST: Position = Position {
        ledger: i64::MAX,
        entry: i64::MAX,
    };

    /// The position with these two numbers.
    #[must_use]
    pub const fn new(ledger: i64, entry: i64) -> Position {
        Position { ledger, entry }
    }

    /// The position numerically before this one in the same ledger (entry - 1, down to -1).
    #[must_use]
    pub const fn before(self) -> Position {
        Position {
            ledger: self.ledger,
            entry: self.entry.saturating_sub(1),
        }
    }

    /// The position numerically after this one in the same ledger, whether or not an entry exists there.
    #[must_use]
    pub const fn after(self) -> Position {
        Position {
            ledger: self.ledger,
            entry: self.entry.saturating_add(1),
        }
    }

    /// From the unsigned numbers of the wire, where -1 travels as 2^64-1.
    #[must_use]
    pub const fn from_wire(ledger: u64, entry: u64) -> Position {
        Position {
            ledger: ledger as i64,
            entry: entry as i64,
        }
    }

    /// To the unsigned numbers of the wire.
    #[must_use]
    pub const fn to_wire(self) -> (u64, u64) {
        (self.ledger as u64, self.entry as u64)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.ledger, self.entry)
    }
}
