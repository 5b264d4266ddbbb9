//! The power goes, at any operation; what was confirmed is there, each batch is there whole or not at all.

use super::{EmbeddedStore, Settings};
use crate::seam::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest};
use crate::tree::Tree;
use bytes::Bytes;
use sim_world::{SimDice, SimDisk, SyncKind, SyncWhat};
use vocabulary::WallTime;
use world::Dice;

type Sabotage = fn(&SyncWhat) -> bool;

/// One machine over several lives, and what its store may hold.
struct Machine {
    disk: SimDisk,
    dice: SimDice,
    settings: Settings,
    /// All confirmed changes.
    confirmed: Tree,
    /// The same with the batch that was under way when the life ended.
    perhaps: Option<Tree>,
    /// A store was opened before, so from now on it must be there.
    was_open: bool,
    batches: u64,
    cuts: u64,
}

impl Machine {
    fn new(seed: u64, path: &str, sabotage: Option<Sabotage>) -> Machine {
        let disk = SimDisk::new();
        if let Some(sabotage) = sabotage {
            disk.disable_sync(Box::new(sabotage));
        }
        let settings = Settings {
            path: path.to_owned(),
            cache_bytes: 64 << 10,
            must_exist: false,
            check_on_open: true,
        };
        let dice = SimDice::new(seed);
        Machine {
            disk,
            dice,
            settings,
            confirmed: Tree::default(),
            perhaps: None,
            was_open: false,
            batches: 0,
            cuts: 0,
        }
    }

    fn cut_within(&mut self, operations: u64) {
        self.disk
            .cut_at(self.disk.operations() + 1 + self.dice.below(operations));
    }

    fn end_life(&mut self) {
        if self.disk.is_off() || self.dice.chance(1, 2) {
            self.cuts += 1;
            self.disk.restart(&mut self.dice);
        } else {
            self.disk.kill();
        }
    }

    fn open(&mut self) -> Result<EmbeddedStore, String> {
        let settings = Settings {
            must_exist: self.was_open,
            ..self.settings.clone()
        };
        let opened = EmbeddedStore::open(&self.disk, &settings);
        self.was_open |= opened.is_ok();
        opened.map_err(|error| error.to_string())
    }

    /// One life: perhaps one that dies while opening, then one that is checked, works and dies.
    fn live(&mut self) -> Result<(), String> {
        if self.dice.chance(1, 3) {
            self.cut_within(30);
            let opened = self.open();
            if let (Err(error), false) = (&opened, self.disk.is_off()) {
                return Err(format!("with the power on: {error}"));
            }
            self.disk.cut_at(u64::MAX);
            self.end_life();
        }
        let mut store = self.open()?;
        self.check(&mut store)?;
        self.cut_within(80);
        while !self.disk.is_off() && !self.dice.chance(1, 12) {
            self.work(&mut store)?;
        }
        self.disk.cut_at(u64::MAX);
        self.end_life();
        Ok(())
    }

    fn work(&mut self, store: &mut EmbeddedStore) -> Result<(), String> {
        let requests = self.some_batch();
        let now = WallTime(self.batches);
        let mut after = self.confirmed.clone();
        let wanted: Vec<MetadataReply> = requests
            .iter()
            .map(|request| after.carry_out(request, store.owner(), now).0)
            .collect();
        let got = store.turn(now, requests);
        if got == wanted {
            self.confirmed = after;
            return Ok(());
        }
        let refused = |reply: &MetadataReply| {
            matches!(
                reply,
                MetadataReply::Put {
                    result: Err(MetadataError::Io(..)),
                    ..
                } | MetadataReply::Deleted {
                    result: Err(MetadataError::Io(..)),
                    ..
                }
            )
        };
        if !self.disk.is_off() || !got.iter().all(refused) {
            return Err(format!("got {got:?}, wanted {wanted:?}"));
        }
        self.perhaps = Some(after);
        Ok(())
    }

    /// Changes of a few keys, and of one that tells batches apart.
    fn some_batch(&mut self) -> Vec<MetadataRequest> {
        self.batches += 1;
        let mark = Bytes::from(self.batches.to_string());
        let count = 1 + self.dice.below(6);
        let mut requests = Vec::new();
        for ticket in 0..count {
            let path = format!("/dir-{}/key-{}", self.dice.below(3), self.dice.below(8));
            let kinds = [
                KeyKind::Persistent,
                KeyKind::Persistent,
                KeyKind::Ephemeral,
                KeyKind::Sequential,
            ];
            let kind = kinds[usize::try_from(self.dice.below(4)).unwrap()];
            let size = if self.dice.chance(1, 10) {
                20_000
            } else {
                self.dice.below(300)
            };
            let value = Bytes::from(vec![ticket as u8; usize::try_from(size).unwrap()]);
            requests.push(match self.dice.below(4) {
                0 => MetadataRequest::Delete {
                    ticket,
                    path,
                    expect: Expect::Anything,
                },
                _ => MetadataRequest::Put {
                    ticket,
                    path,
                    value,
                    expect: Expect::Anything,
                    kind,
                },
            });
        }
        let mark = MetadataRequest::Put {
            ticket: count,
            path: "/mark".to_owned(),
            value: mark,
            expect: Expect::Anything,
            kind: KeyKind::Persistent,
        };
        requests.insert(usize::try_from(self.dice.below(count)).unwrap(), mark);
        requests
    }

    /// Holds the opened store against what it may be; from now on that is what is confirmed.
    fn check(&mut self, store: &mut EmbeddedStore) -> Result<(), String> {
        let found = read_all(store)?;
        let owner = store.owner();
        let mut explained = None;
        for mut tree in [Some(self.confirmed.clone()), self.perhaps.take()]
            .into_iter()
            .flatten()
        {
            tree.end_other_sessions(owner);
            let keys: Vec<_> = tree
                .iter()
                .map(|(path, value, stat)| (path.to_owned(), value.clone(), stat))
                .collect();
            if keys == found {
                explained = Some(tree);
            }
        }
        let names: Vec<_> = found
            .iter()
            .map(|(path, _, stat)| format!("{path}@{}", stat.version))
            .collect();
        self.confirmed = explained.ok_or_else(|| format!("not what was confirmed: {names:?}"))?;
        Ok(())
    }
}

/// Every key, found by walking down from the root.
fn read_all(store: &mut EmbeddedStore) -> Result<Vec<(String, Bytes, crate::Stat)>, String> {
    let mut found = Vec::new();
    let mut parents = vec!["/".to_owned()];
    while let Some(parent) = parents.pop() {
        let request = MetadataRequest::Children {
            ticket: 0,
            path: parent.clone(),
        };
        let names = match store.turn(WallTime(0), vec![request]).pop() {
            Some(MetadataReply::Children {
                result: Ok(names), ..
            }) => names,
            other => return Err(format!("children of {parent}: {other:?}")),
        };
        for name in names {
            let path = format!("{}{name}", crate::path::below(&parent));
            match store
                .turn(
                    WallTime(0),
                    vec![MetadataRequest::Get {
                        ticket: 0,
                        path: path.clone(),
                    }],
                )
                .pop()
            {
                Some(MetadataReply::Got {
                    result: Ok(Some((value, stat))),
                    ..
                }) => found.push((path.clone(), value, stat)),
                Some(MetadataReply::Got {
                    result: Ok(None), ..
                }) => {}
                other => return Err(format!("{path}: {other:?}")),
            }
            parents.push(path);
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Runs machines until enough cuts have been survived; the first broken promise is the error.
fn survive(cuts: u64, path: &str, sabotage: Option<Sabotage>) -> Result<(), String> {
    let mut survived = 0;
    let mut seed = 0;
    while survived < cuts {
        seed += 1;
        let mut machine = Machine::new(seed, path, sabotage);
        for life in 0..8 {
            machine
                .live()
                .map_err(|error| format!("seed {seed}, life {life}: {error}"))?;
        }
        survived += machine.cuts;
    }
    Ok(())
}

const CUTS: u64 = 600;

#[test]
fn what_was_confirmed_survives_any_cut() {
    survive(CUTS, "metadata.redb", None).unwrap();
}

#[test]
fn it_also_survives_in_a_directory_of_its_own() {
    survive(CUTS / 4, "state/meta/metadata.redb", None).unwrap();
}

/// What the run says with some syncs switched off; garbage may also make redb's own asserts fail.
fn sabotaged(path: &'static str, sabotage: Sabotage) -> bool {
    std::panic::catch_unwind(|| survive(CUTS, path, Some(sabotage)))
        .map_or(true, |result| result.is_err())
}

#[test]
fn without_the_sync_of_the_file_it_does_not() {
    assert!(sabotaged("metadata.redb", |sync| sync.kind
        == SyncKind::Data
        && sync.path == "metadata.redb"));
}

#[test]
fn without_the_sync_of_its_directory_it_does_not() {
    assert!(sabotaged("metadata.redb", |sync| sync.kind == SyncKind::Dir));
}

#[test]
fn without_the_syncs_of_the_directories_above_it_does_not() {
    assert!(sabotaged("state/meta/metadata.redb", |sync| sync.kind
        == SyncKind::Dir
        && sync.path.is_empty()));
    assert!(sabotaged("state/meta/metadata.redb", |sync| sync.kind
        == SyncKind::Dir
        && sync.path == "state"));
}

/// A cut at every operation of making a store, several outcomes each.
fn survive_making(sabotage: Option<Sabotage>) -> Result<(), String> {
    let whole = SimDisk::new();
    drop(EmbeddedStore::open(&whole, &Settings::default()).map_err(|error| error.to_string())?);
    for operation in 1..=whole.operations() {
        for seed in 0..6 {
            let disk = SimDisk::new();
            if let Some(sabotage) = sabotage {
                disk.disable_sync(Box::new(sabotage));
            }
            disk.cut_at(operation);
            drop(EmbeddedStore::open(&disk, &Settings::default()));
            disk.restart(&mut SimDice::new(seed));
            let mut store = EmbeddedStore::open(&disk, &Settings::default())
                .map_err(|error| format!("cut at {operation}, seed {seed}: {error}"))?;
            let found = read_all(&mut store)?;
            if !found.is_empty() {
                return Err(format!(
                    "cut at {operation}, seed {seed}: {found:?} in a new store"
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn a_cut_while_it_is_made_leaves_a_store_or_nothing() {
    survive_making(None).unwrap();
}

#[test]
fn without_the_sync_of_the_new_file_it_does_not() {
    let new_file =
        |sync: &SyncWhat| sync.kind == SyncKind::Data && sync.path == "metadata.redb.new";
    let outcome = std::panic::catch_unwind(|| survive_making(Some(new_file)));
    assert!(outcome.map_or(true, |result| result.is_err()));
}

#[test]
fn one_seed_gives_one_file() {
    let run = || {
        let mut machine = Machine::new(11, "metadata.redb", None);
        for _ in 0..10 {
            machine.live().unwrap();
        }
        (
            machine.disk.operations(),
            machine.disk.bytes_of("metadata.redb"),
        )
    };
    assert!(run() == run());
}
