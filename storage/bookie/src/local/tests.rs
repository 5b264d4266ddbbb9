use std::sync::Arc;

use disk_log::LogSettings;
use ledger_store::{LedgerError, LedgerReply, LedgerRequest, StoreUnderTest, suite};
use metadata_store::{MemoryStore, MetadataReply, MetadataRequest, Trouble};
use sim_world::{SimDice, SimDisk};
use world::Dice;

use super::{LocalEffect, LocalLedgerStore, OWN_TICKETS};
use crate::bookie::Bookie;
use crate::desk::BookieRequest;
use crate::paths::ledger_path;

/// The machine between a bookie on a made-up disk and a metadata store in memory.
struct House {
    disk: SimDisk,
    bookie: Bookie,
    metadata: MemoryStore,
    machine: LocalLedgerStore,
    dice: SimDice,
    for_bookie: Vec<BookieRequest>,
    replies: Vec<LedgerReply>,
}

impl House {
    fn new(metadata: MemoryStore, seed: u64) -> House {
        let disk = SimDisk::new();
        let mut house = House {
            bookie: open(&disk),
            disk,
            metadata,
            machine: LocalLedgerStore::new("127.0.0.1:3181"),
            dice: SimDice::new(seed),
            for_bookie: Vec::new(),
            replies: Vec::new(),
        };
        house.with_machine(LocalLedgerStore::start);
        house
    }

    fn with_machine(&mut self, act: impl FnOnce(&mut LocalLedgerStore, &mut Vec<LocalEffect>)) {
        let mut effects = Vec::new();
        act(&mut self.machine, &mut effects);
        for effect in effects {
            match effect {
                LocalEffect::Metadata(request) => self.metadata.submit(vec![request]),
                LocalEffect::Bookie(request) => self.for_bookie.push(request),
                LocalEffect::Reply(reply) => self.replies.push(reply),
            }
        }
    }

    fn settle(&mut self) -> Vec<LedgerReply> {
        let mut replies = Vec::new();
        for _ in 0..100 {
            replies.extend(self.turn());
        }
        replies
    }
}

fn open(disk: &SimDisk) -> Bookie {
    let settings = LogSettings {
        segment_bytes: 16 * 1024,
        ..LogSettings::new("bookie", [3; 16])
    };
    Bookie::open(Arc::new(disk.clone()), settings).unwrap()
}

impl StoreUnderTest for House {
    fn submit(&mut self, requests: Vec<LedgerRequest>) {
        for request in requests {
            self.with_machine(|machine, effects| machine.handle_request(request, effects));
        }
    }

    fn turn(&mut self) -> Vec<LedgerReply> {
        let requests = std::mem::take(&mut self.for_bookie);
        for reply in self.bookie.turn(requests) {
            self.with_machine(|machine, effects| machine.handle_bookie(reply, effects));
        }
        for reply in self.metadata.turn(&mut self.dice) {
            self.with_machine(|machine, effects| machine.handle_metadata(reply, effects));
        }
        std::mem::take(&mut self.replies)
    }

    fn restart(&mut self) {
        // Some of what waits may still be carried out; nobody will hear of it.
        let kept = self.dice.below(self.for_bookie.len() as u64 + 1) as usize;
        self.for_bookie.truncate(kept);
        let requests = std::mem::take(&mut self.for_bookie);
        self.bookie.turn(requests);
        while !self.metadata.is_quiet() {
            self.metadata.turn(&mut self.dice);
        }
        self.disk.restart(&mut self.dice);
        self.bookie = open(&self.disk);
        self.machine = LocalLedgerStore::new("127.0.0.1:3181");
        self.replies.clear();
        self.with_machine(LocalLedgerStore::start);
    }
}

#[test]
fn it_keeps_the_contract() {
    suite::run(|| Box::new(House::new(MemoryStore::well_behaved(), 1)));
}

#[test]
fn it_keeps_the_contract_over_late_metadata() {
    suite::run(|| Box::new(House::new(MemoryStore::adversary(Trouble::only_late()), 2)));
}

#[test]
fn confirmed_entries_survive_whatever_the_metadata_store_does() {
    let make = |seed| -> Box<dyn StoreUnderTest> {
        let metadata = MemoryStore::adversary(Trouble {
            other_writer: 0,
            ..Trouble::everything()
        });
        Box::new(House::new(metadata, seed))
    };
    suite::run_rough(40, make, |seed| Box::new(SimDice::new(seed + 500)));
}

fn create(house: &mut House) -> i64 {
    house.submit(vec![LedgerRequest::Create {
        ticket: 1,
        custom: vec![("component".into(), b"test".to_vec())],
    }]);
    match &house.settle()[..] {
        [
            LedgerReply::Created {
                ticket: 1,
                result: Ok(ledger),
            },
        ] => *ledger,
        other => panic!("{other:?}"),
    }
}

fn append(house: &mut House, ledger: i64, entry: i64) {
    house.submit(vec![LedgerRequest::Append {
        ledger,
        entry,
        last_confirmed: entry - 1,
        length: 5 * (entry as u64 + 1),
        body: "hello".into(),
    }]);
    let replies = house.settle();
    assert_eq!(
        replies,
        [LedgerReply::Appended {
            ledger,
            entry,
            result: Ok(())
        }]
    );
}

#[test]
fn entries_of_a_ledger_whose_deletion_was_interrupted_are_dropped_at_the_next_start() {
    let mut house = House::new(MemoryStore::well_behaved(), 4);
    let gone = create(&mut house);
    append(&mut house, gone, 0);
    let kept = create(&mut house);
    append(&mut house, kept, 0);
    // The key goes, then the process dies before the bookie hears of it.
    house.submit(vec![LedgerRequest::Delete {
        ticket: 9,
        ledger: gone,
    }]);
    let replies: Vec<MetadataReply> = house.metadata.turn(&mut house.dice);
    assert!(!replies.is_empty());
    house.restart();
    assert_eq!(house.bookie.ledgers(), [gone, kept]);
    house.settle();
    assert!(house.machine.has_collected());
    assert_eq!(house.bookie.ledgers(), [kept]);
}

#[test]
fn a_listing_that_fails_drops_nothing() {
    let mut house = House::new(MemoryStore::well_behaved(), 5);
    let kept = create(&mut house);
    append(&mut house, kept, 0);
    let stray = kept + 77;
    house.bookie.append(stray, 0, -1, 1, "x".into());
    house.bookie.commit();
    house.restart();
    let mut effects = Vec::new();
    let ledgers = house
        .bookie
        .turn(std::mem::take(&mut house.for_bookie))
        .remove(0);
    house.machine.handle_bookie(ledgers, &mut effects);
    let Some(LocalEffect::Metadata(MetadataRequest::Children { ticket, path })) = effects.pop()
    else {
        panic!("{effects:?}");
    };
    assert!(ticket & OWN_TICKETS != 0);
    let failed = MetadataReply::Children {
        ticket,
        path: path.clone(),
        result: Err(metadata_store::MetadataError::Timeout(path)),
    };
    house.machine.handle_metadata(failed, &mut effects);
    assert_eq!(effects, []);
    assert!(house.machine.has_collected());
    assert_eq!(house.bookie.ledgers(), [kept, stray]);
}

#[test]
fn a_ledger_whose_entries_are_all_lost_is_damaged_and_not_missing() {
    let mut house = House::new(MemoryStore::well_behaved(), 6);
    let ledger = create(&mut house);
    append(&mut house, ledger, 0);
    house.submit(vec![LedgerRequest::Recover { ticket: 2, ledger }]);
    house.settle();
    house.bookie.forget(ledger);
    house.submit(vec![LedgerRequest::Read {
        ticket: 3,
        ledger,
        first: 0,
        last: 0,
        bytes_max: 10,
    }]);
    assert!(matches!(
        house.settle()[..],
        [LedgerReply::Read {
            result: Err(LedgerError::Damaged(..)),
            ..
        }]
    ));
}

#[test]
fn the_key_is_one_that_bookkeeper_reads() {
    let mut house = House::new(MemoryStore::well_behaved(), 7);
    let ledger = create(&mut house);
    let path = ledger_path(ledger);
    house
        .metadata
        .submit(vec![MetadataRequest::Get { ticket: 8, path }]);
    let mut replies = house.metadata.turn(&mut house.dice);
    let Some(MetadataReply::Got {
        result: Ok(Some((value, _))),
        ..
    }) = replies.pop()
    else {
        panic!("{replies:?}");
    };
    assert!(
        value.starts_with(b"BookieMetadataFormatVersion\t3\n"),
        "{value:?}"
    );
    let metadata = crate::metadata::decode(&value).unwrap();
    assert_eq!((metadata.quorum_size, metadata.ensemble_size), (1, 1));
    assert_eq!(metadata.segment[0].ensemble_member, ["127.0.0.1:3181"]);
    assert_eq!(
        metadata.custom_metadata[0].key.as_deref(),
        Some("component")
    );
}

#[test]
fn replies_to_others_are_left_alone() {
    let ours = |ticket| {
        LocalLedgerStore::owns(&MetadataReply::Children {
            ticket,
            path: String::new(),
            result: Ok(Vec::new()),
        })
    };
    assert!(ours(OWN_TICKETS) && ours(OWN_TICKETS | 7) && !ours(7));
    assert!(!LocalLedgerStore::owns(&MetadataReply::SessionLost));
}
