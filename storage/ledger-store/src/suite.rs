//! What every provider of the seam must keep. Each check gets a new store and panics where the store fails it.

use std::collections::BTreeSet;

use bytes::Bytes;
use world::Dice;

use crate::seam::{Entry, LedgerError, LedgerReply, LedgerRequest, Ticket};

mod asker;
mod calm;
mod rough;

use asker::Asker;

/// A store and the world it lives in.
pub trait StoreUnderTest {
    /// Hands over requests, in order.
    fn submit(&mut self, requests: Vec<LedgerRequest>);
    /// Lets the store work for a moment; returns what it answered. Called again and again.
    fn turn(&mut self) -> Vec<LedgerReply>;
    /// The asker's process ends without a word, and a new one starts on the same store. What was not
    /// answered by then never is.
    fn restart(&mut self);
}

/// Runs every check on stores without trouble.
pub fn run(mut make: impl FnMut() -> Box<dyn StoreUnderTest>) {
    for (name, check) in calm::CHECKS {
        println!("ledger-store suite: {name}");
        check(&mut Asker::new(make()));
    }
}

/// Runs random work on stores that may answer late, out of order or with `Timeout`, and restarts them: no
/// confirmed entry is ever missing, order is kept, each request has one reply at most (one exactly without a
/// restart). `make` is called once for each seed.
pub fn run_rough(
    seeds: u64,
    mut make: impl FnMut(u64) -> Box<dyn StoreUnderTest>,
    dice: impl Fn(u64) -> Box<dyn Dice>,
) {
    for seed in 0..seeds {
        println!("ledger-store suite: rough, seed {seed}");
        rough::run(&mut Asker::new(make(seed)), &mut *dice(seed));
    }
}

/// A body that tells where it belongs.
fn body(ledger: i64, entry: i64) -> Bytes {
    let text = format!("body of {ledger}:{entry} ");
    Bytes::from(text.repeat(1 + entry.rem_euclid(40) as usize * 7 % 40))
}

/// The sum of body bytes up to an entry.
fn length(ledger: i64, entry: i64) -> u64 {
    (0..=entry)
        .map(|entry| body(ledger, entry).len() as u64)
        .sum()
}

fn entries(ledger: i64, numbers: impl Iterator<Item = i64>) -> Vec<Entry> {
    let entry = |entry| Entry {
        entry,
        body: body(ledger, entry),
    };
    numbers.map(entry).collect()
}

/// Every ticket once.
#[derive(Debug, Default)]
struct Tickets {
    last: Ticket,
    open: BTreeSet<Ticket>,
}

impl Tickets {
    fn new_one(&mut self) -> Ticket {
        self.last += 1;
        self.open.insert(self.last);
        self.last
    }

    fn answered(&mut self, ticket: Ticket) {
        assert!(
            self.open.remove(&ticket),
            "ticket {ticket} was answered twice or never asked"
        );
    }
}

fn is_timeout<T>(result: &Result<T, LedgerError>) -> bool {
    matches!(result, Err(LedgerError::Timeout(_)))
}
