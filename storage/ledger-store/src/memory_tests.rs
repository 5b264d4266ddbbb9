use bytes::Bytes;
use world::Dice;

use crate::suite::{self, StoreUnderTest};
use crate::{LedgerError, LedgerReply, LedgerRequest, LedgerStore, MemoryLedgerStore, Trouble};

/// xorshift: enough for tests, and this crate needs nobody else's.
struct Rolls(u64);

impl Dice for Rolls {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn rolls(seed: u64) -> Rolls {
    Rolls(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

struct Memory {
    store: MemoryLedgerStore,
    dice: Rolls,
}

impl StoreUnderTest for Memory {
    fn submit(&mut self, requests: Vec<LedgerRequest>) {
        self.store.submit(requests);
    }

    fn turn(&mut self) -> Vec<LedgerReply> {
        self.store.turn(&mut self.dice)
    }

    fn restart(&mut self) {
        self.store.restart(&mut self.dice);
    }
}

fn memory(trouble: Trouble, seed: u64) -> Box<dyn StoreUnderTest> {
    Box::new(Memory {
        store: MemoryLedgerStore::new(trouble),
        dice: rolls(seed),
    })
}

const ROUGH: Trouble = Trouble {
    delay_turns_max: 5,
    timeouts_per_thousand: 60,
};

#[test]
fn it_keeps_the_contract() {
    suite::run(|| memory(Trouble::default(), 1));
}

#[test]
fn it_keeps_the_contract_when_it_is_late() {
    let late = Trouble {
        delay_turns_max: 7,
        timeouts_per_thousand: 0,
    };
    suite::run(|| memory(late, 2));
}

#[test]
fn the_adversary_stays_within_the_contract() {
    suite::run_rough(
        60,
        |seed| memory(ROUGH, seed),
        |seed| Box::new(rolls(seed + 1000)),
    );
}

#[test]
fn it_can_be_full() {
    let mut store = MemoryLedgerStore::new(Trouble::default());
    let mut dice = rolls(3);
    store.submit(vec![LedgerRequest::Create {
        ticket: 1,
        custom: Vec::new(),
    }]);
    assert_eq!(
        store.turn(&mut dice),
        [LedgerReply::Created {
            ticket: 1,
            result: Ok(1)
        }]
    );
    let append = || LedgerRequest::Append {
        ledger: 1,
        entry: 0,
        last_confirmed: -1,
        length: 1,
        body: Bytes::from_static(b"x"),
    };
    store.set_full(true);
    store.submit(vec![append()]);
    let refused = store.turn(&mut dice);
    assert!(matches!(
        refused[..],
        [LedgerReply::Appended {
            result: Err(LedgerError::Full(_)),
            ..
        }]
    ));
    store.set_full(false);
    store.submit(vec![append()]);
    assert!(matches!(
        store.turn(&mut dice)[..],
        [LedgerReply::Appended { result: Ok(()), .. }]
    ));
    assert!(store.is_idle());
}

#[test]
fn some_timeouts_happened_and_some_did_not() {
    let mut ends = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut store = MemoryLedgerStore::new(Trouble::default());
        let mut dice = rolls(seed);
        store.submit(vec![LedgerRequest::Create {
            ticket: 1,
            custom: Vec::new(),
        }]);
        store.turn(&mut dice);
        store.set_trouble(Trouble {
            delay_turns_max: 0,
            timeouts_per_thousand: 1000,
        });
        store.submit(vec![LedgerRequest::Append {
            ledger: 1,
            entry: 0,
            last_confirmed: -1,
            length: 0,
            body: Bytes::new(),
        }]);
        store.turn(&mut dice);
        store.set_trouble(Trouble::default());
        store.submit(vec![LedgerRequest::Recover {
            ticket: 2,
            ledger: 1,
        }]);
        match &store.turn(&mut dice)[..] {
            [
                LedgerReply::Recovered {
                    result: Ok((last, _)),
                    ..
                },
            ] => ends.insert(*last),
            other => panic!("{other:?}"),
        };
    }
    assert_eq!(ends, [-1, 0].into());
}
