//! Both stores in memory.

use super::Stores;
use bytes::Bytes;
use ledger_store::LedgerStore;
use ledger_store::memory::MemoryLedgerStore;
use ledger_store::{LedgerReply, LedgerRequest};
use metadata_store::memory::MemoryStore;
use metadata_store::{MetadataReply, MetadataRequest};
use sim_world::SimDice;
use vocabulary::Now;

pub struct InMemory {
    pub ledgers: MemoryLedgerStore,
    pub nodes: MemoryStore,
    dice: SimDice,
}

impl InMemory {
    pub fn well_behaved() -> InMemory {
        InMemory {
            ledgers: MemoryLedgerStore::new(ledger_store::memory::Trouble::default()),
            nodes: MemoryStore::well_behaved(),
            dice: SimDice::new(0),
        }
    }

    pub fn late(seed: u64) -> InMemory {
        InMemory::adversary(seed, 0, metadata_store::Trouble::only_late())
    }

    pub fn hostile(seed: u64) -> InMemory {
        let nodes = metadata_store::Trouble {
            other_writer: 20,
            ..metadata_store::Trouble::everything()
        };
        InMemory::adversary(seed, 40, nodes)
    }

    fn adversary(
        seed: u64,
        timeouts_per_thousand: u64,
        nodes: metadata_store::Trouble,
    ) -> InMemory {
        let trouble = ledger_store::memory::Trouble {
            delay_turns_max: 3,
            timeouts_per_thousand,
        };
        InMemory {
            ledgers: MemoryLedgerStore::new(trouble),
            nodes: MemoryStore::adversary(nodes),
            dice: SimDice::new(seed),
        }
    }
}

impl Stores for InMemory {
    fn turn(
        &mut self,
        _: Now,
        ledgers: Vec<LedgerRequest>,
        nodes: Vec<MetadataRequest>,
    ) -> (Vec<LedgerReply>, Vec<MetadataReply>) {
        self.ledgers.submit(ledgers);
        self.nodes.submit(nodes);
        (
            self.ledgers.turn(&mut self.dice),
            self.nodes.turn(&mut self.dice),
        )
    }

    fn put(&mut self, path: &str, value: &str) {
        let value = Bytes::copy_from_slice(value.as_bytes());
        self.nodes
            .interfere(path, Some(value))
            .expect("the path is one");
    }

    fn crash(&mut self) {
        self.ledgers.restart(&mut self.dice);
        self.nodes.lose_session();
        while !self.nodes.is_quiet() {
            self.nodes.turn(&mut self.dice);
        }
    }
}
