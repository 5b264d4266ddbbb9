//! A log (or two that fight over one) on a storage, driven until a condition or until quiet.

use super::{Asker, Rng, Storage};
use bytes::Bytes;
use letters::LogReply;
use managed_ledger::forms::ledger_list::LedgerList;
use managed_ledger::{Effect, Input, ManagedLedger, Settings};
use std::collections::BTreeMap;
use std::sync::Arc;
use vocabulary::{Now, Position, TopicName};

pub struct World {
    pub topic: TopicName,
    pub rng: Rng,
    pub now_ms: u64,
    pub storage: Storage,
    pub settings: Arc<Settings>,
    pub owners: BTreeMap<Asker, ManagedLedger>,
    pub replies: Vec<(Asker, LogReply)>,
    next_asker: Asker,
}

impl World {
    pub fn new(seed: u64, settings: Settings) -> World {
        let mut storage = Storage::default();
        storage.nodes.insert(
            "/admin/policies/public/default".to_owned(),
            (Bytes::from_static(b"{}"), 0),
        );
        World {
            topic: TopicName::parse("orders").expect("a name"),
            rng: Rng(seed),
            now_ms: 1_000_000,
            storage,
            settings: Arc::new(settings),
            owners: BTreeMap::new(),
            replies: Vec::new(),
            next_asker: 1,
        }
    }

    pub fn now(&self) -> Now {
        Now::at_millis(self.now_ms)
    }

    pub fn open(&mut self) -> Asker {
        let asker = self.next_asker;
        self.next_asker += 1;
        let mut effects = Vec::new();
        let log = ManagedLedger::open(
            self.now(),
            &self.topic,
            true,
            self.settings.clone(),
            &mut effects,
        );
        self.owners.insert(asker, log);
        self.carry_out(asker, effects);
        asker
    }

    pub fn tell(&mut self, asker: Asker, input: Input) {
        let now = self.now();
        let mut effects = Vec::new();
        if let Some(log) = self.owners.get_mut(&asker) {
            log.handle(now, input, &mut effects);
        }
        self.carry_out(asker, effects);
    }

    /// The process of this owner dies: what it asked and storage did not get to is lost.
    pub fn crash(&mut self, asker: Asker) {
        self.owners.remove(&asker);
        self.storage.forget_calls_of(asker);
    }

    /// One answer of storage, if there is one to give.
    pub fn step(&mut self) -> bool {
        let mut rng = self.rng.clone();
        let answered = self.storage.step(&mut rng);
        self.rng = rng;
        let Some((asker, answer)) = answered else {
            return false;
        };
        let now = self.now();
        let mut effects = Vec::new();
        if let Some(log) = self.owners.get_mut(&asker) {
            log.answered(now, answer, &mut effects);
        }
        self.carry_out(asker, effects);
        true
    }

    pub fn pass(&mut self, millis: u64) {
        self.now_ms += millis;
        let now = self.now();
        let askers: Vec<Asker> = self.owners.keys().copied().collect();
        for asker in askers {
            let mut effects = Vec::new();
            if let Some(log) = self.owners.get_mut(&asker) {
                log.time_came(now, &mut effects);
            }
            self.carry_out(asker, effects);
        }
    }

    pub fn settle(&mut self) {
        for _ in 0..100_000 {
            if !self.step() {
                return;
            }
        }
        panic!("storage never gets quiet");
    }

    pub fn take_replies(&mut self) -> Vec<(Asker, LogReply)> {
        std::mem::take(&mut self.replies)
    }

    /// The list as it is stored.
    pub fn stored_list(&self) -> Option<LedgerList> {
        let (value, _) = self
            .storage
            .nodes
            .get("/managed-ledgers/public/default/persistent/orders")?;
        Some(LedgerList::decode(value).expect("the stored list can be read"))
    }

    /// Every entry this owner can read.
    pub fn entries(&self, asker: Asker) -> Vec<(Position, Bytes)> {
        let log = self.owners.get(&asker).expect("the owner is there");
        let mut found = Vec::new();
        let mut from = Position::EARLIEST;
        while let Some(run) = log.next_run(from, Position::LATEST) {
            let ledger = self
                .storage
                .ledgers
                .get(&run.ledger)
                .expect("a listed ledger is there");
            for entry in run.first..=run.last {
                let body = ledger
                    .entries
                    .get(entry as usize)
                    .expect("an entry that counts is there");
                found.push((Position::new(run.ledger, entry), body.clone()));
            }
            from = Position::new(run.ledger, run.last).after();
        }
        found
    }

    fn carry_out(&mut self, asker: Asker, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Call(call) => self.storage.submit(asker, call),
                Effect::Reply(reply) => self.replies.push((asker, reply)),
            }
        }
    }
}
