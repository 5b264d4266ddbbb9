//! A managed ledger under answers in any order, failures, calls that are said to be late and happened
//! or did not, owners that die at any point and owners that fight; held against a list of what was
//! confirmed.

use crate::support::world::World;
use crate::support::{Asker, Trouble};
use bytes::Bytes;
use letters::LogReply;
use letters::log::CursorRecord;
use managed_ledger::{Input, Settings};
use std::collections::BTreeMap;
use std::time::Duration;
use vocabulary::Position;

/// What must be there.
#[derive(Default)]
struct Model {
    next_ticket: u64,
    given: BTreeMap<u64, Bytes>,
    /// Appends not answered, by owner, in order.
    unanswered: BTreeMap<Asker, Vec<u64>>,
    confirmed: BTreeMap<Position, Bytes>,
    /// The last confirmed entry when an owner came.
    confirmed_before: BTreeMap<Asker, Option<Position>>,
    /// What was confirmed of the cursor when an owner came.
    cursor_before: BTreeMap<Asker, Vec<String>>,
    trimmed: Option<Position>,
    /// The records that make up the cursor as confirmed; all that were ever asked, with whether they are snapshots.
    cursor_exists: bool,
    cursor_confirmed: Vec<String>,
    cursor_asked: BTreeMap<String, bool>,
    needs_snapshot: bool,
    /// The highest value of the property that was confirmed; values grow.
    property_confirmed: Option<u64>,
    /// The same when an owner came.
    property_before: BTreeMap<Asker, Option<u64>>,
    lost: u64,
}

struct Storm {
    world: World,
    model: Model,
    owner: Option<Asker>,
    usable: bool,
}

const CURSOR: &str = "sub";

impl Storm {
    fn new(seed: u64) -> Storm {
        let settings = Settings {
            ledger_entries_max: 4,
            rollover_age_min: Duration::ZERO,
            cursor_ledger_entries_max: 6,
            cursor_part_bytes_max: 3,
            node_snapshot_bytes_max: 8,
            ..Settings::default()
        };
        let mut world = World::new(seed, settings);
        world.storage.trouble = match seed % 3 {
            0 => Trouble::default(),
            1 => Trouble {
                timeouts: 60,
                errors: 30,
            },
            _ => Trouble {
                timeouts: 200,
                errors: 100,
            },
        };
        Storm {
            world,
            model: Model::default(),
            owner: None,
            usable: false,
        }
    }

    fn run(&mut self) {
        for _ in 0..400 {
            match self.world.rng.below(100) {
                0..35 => self.append(),
                35..50 => self.save(),
                50..54 => self.trim(),
                54..57 => self.die(),
                57..58 => self.close(),
                58..60 => self.fight(),
                60..63 => self.world.pass(400),
                63..66 => self.set_property(),
                _ => {
                    self.world.step();
                }
            }
            self.listen();
            self.check_stored();
            if self.owner.is_none() {
                self.owner = Some(self.open());
                self.usable = false;
            }
        }
        self.end();
    }

    fn append(&mut self) {
        let Some(owner) = self.owner.filter(|_| self.usable) else {
            return;
        };
        for _ in 0..self.world.rng.below(4) {
            let ticket = self.model.next_ticket;
            self.model.next_ticket += 1;
            let body = Bytes::from(format!("m{ticket}"));
            self.model.given.insert(ticket, body.clone());
            self.model.unanswered.entry(owner).or_default().push(ticket);
            self.world.tell(owner, Input::Append { ticket, body });
        }
    }

    fn save(&mut self) {
        let Some(owner) = self.owner.filter(|_| self.usable) else {
            return;
        };
        let ticket = self.model.next_ticket;
        self.model.next_ticket += 1;
        let text = format!("<{ticket}>");
        let body = Bytes::from(text.clone());
        let name = CURSOR.to_owned();
        if !self.model.cursor_exists {
            self.model.cursor_exists = true;
            self.model.needs_snapshot = false;
            self.model.cursor_asked.insert(text, true);
            return self.world.tell(
                owner,
                Input::CreateCursor {
                    ticket,
                    name,
                    snapshot: body,
                },
            );
        }
        let is_snapshot = self.model.needs_snapshot || self.world.rng.chance(200);
        let record = if is_snapshot {
            CursorRecord::Snapshot(body)
        } else {
            CursorRecord::Delta(body)
        };
        self.model.cursor_asked.insert(text, is_snapshot);
        self.model.needs_snapshot = false;
        self.world.tell(
            owner,
            Input::SaveCursor {
                ticket,
                name,
                record,
            },
        );
    }

    fn set_property(&mut self) {
        let Some(owner) = self.owner.filter(|_| self.usable) else {
            return;
        };
        let ticket = self.model.next_ticket;
        self.model.next_ticket += 1;
        let (key, value) = ("grows".to_owned(), ticket.to_string());
        self.world
            .tell(owner, Input::SetProperty { ticket, key, value });
    }

    fn trim(&mut self) {
        let Some(owner) = self.owner.filter(|_| self.usable) else {
            return;
        };
        let which = self.world.rng.below(self.model.confirmed.len() as u64) as usize;
        if let Some(up_to) = self.model.confirmed.keys().nth(which).copied() {
            self.model.trimmed = self.model.trimmed.max(Some(up_to));
            self.world.tell(owner, Input::Trim { up_to });
        }
    }

    fn die(&mut self) {
        if let Some(owner) = self.owner.take() {
            self.world.crash(owner);
            self.model.unanswered.remove(&owner);
        }
    }

    fn close(&mut self) {
        if let Some(owner) = self.owner.filter(|_| self.usable) {
            self.usable = false;
            self.world.tell(owner, Input::Close);
        }
    }

    /// Another owner comes while the first one thinks it is fine.
    fn fight(&mut self) {
        self.owner = Some(self.open());
        self.usable = false;
    }

    fn listen(&mut self) {
        for (owner, reply) in self.world.take_replies() {
            match reply {
                LogReply::Opened {
                    extent,
                    cursors,
                    properties,
                } => {
                    let property = properties
                        .first()
                        .map(|(_, value)| value.parse().expect("a number"));
                    assert!(
                        property >= self.model.property_before[&owner],
                        "{property:?} came back, {:?} was confirmed",
                        self.model.property_confirmed
                    );
                    self.check_extent(owner, &extent);
                    if self.owner == Some(owner) {
                        self.usable = true;
                        let found = cursors.first().map(|cursor| {
                            let parts = std::iter::once(&cursor.snapshot).chain(&cursor.deltas);
                            parts
                                .map(|part| String::from_utf8_lossy(part).into_owned())
                                .collect::<Vec<_>>()
                        });
                        self.check_cursor(owner, found);
                    }
                }
                LogReply::OpenFailed { error } => {
                    assert!(!matches!(error, letters::LogError::Damaged(_)), "{error}");
                    self.gone(owner);
                }
                LogReply::Stored { ticket, position } => {
                    self.answered(owner, ticket);
                    let body = self.model.given.get(&ticket).expect("was given").clone();
                    let last = self.model.confirmed.last_key_value().map(|(last, _)| *last);
                    assert!(Some(position) > last, "{position} comes after {last:?}");
                    self.model.confirmed.insert(position, body);
                }
                LogReply::NotStored { ticket, .. } => self.answered(owner, ticket),
                LogReply::CursorSaved { ticket, result, .. } => {
                    self.cursor_saved(owner, ticket, result.is_ok())
                }
                LogReply::PropertySet { ticket, result } => {
                    if result.is_ok() {
                        self.model.property_confirmed =
                            self.model.property_confirmed.max(Some(ticket));
                    }
                }
                LogReply::Lost { .. } => {
                    self.model.lost += 1;
                    self.gone(owner);
                }
                LogReply::Closed | LogReply::Deleted { .. } => self.gone(owner),
                LogReply::Trimmed { first } => {
                    assert!(
                        self.kept().all(|position| position >= first),
                        "needed entries before {first} are gone"
                    );
                }
                LogReply::Found { .. } | LogReply::Read { .. } | LogReply::CursorDeleted { .. } => {
                }
            }
        }
    }

    fn answered(&mut self, owner: Asker, ticket: u64) {
        let Some(unanswered) = self.model.unanswered.get_mut(&owner) else {
            return;
        };
        assert_eq!(
            unanswered.first(),
            Some(&ticket),
            "answers come in the order of the appends"
        );
        unanswered.remove(0);
    }

    fn cursor_saved(&mut self, owner: Asker, ticket: u64, saved: bool) {
        let text = format!("<{ticket}>");
        if !saved {
            if self.owner == Some(owner) {
                self.model.needs_snapshot = true;
                self.model.cursor_exists &= !self.model.cursor_confirmed.is_empty();
            }
            return;
        }
        if self.model.cursor_asked[&text] {
            self.model.cursor_confirmed.clear();
        }
        self.model.cursor_confirmed.push(text);
    }

    fn gone(&mut self, owner: Asker) {
        if let Some(unanswered) = self.model.unanswered.remove(&owner) {
            assert!(
                unanswered.is_empty(),
                "every append is answered before the log is gone: {unanswered:?}"
            );
        }
        self.world.owners.remove(&owner);
        if self.owner == Some(owner) {
            self.owner = None;
        }
    }

    fn open(&mut self) -> Asker {
        let owner = self.world.open();
        let last = self.model.confirmed.last_key_value().map(|(last, _)| *last);
        self.model.confirmed_before.insert(owner, last);
        self.model
            .property_before
            .insert(owner, self.model.property_confirmed);
        let cursor = self.model.cursor_confirmed.clone();
        self.model.cursor_before.insert(owner, cursor);
        owner
    }

    /// (What another owner confirmed meanwhile may be missing: then this one has lost already.)
    fn check_extent(&self, owner: Asker, extent: &[(i64, i64)]) {
        let before = self.model.confirmed_before[&owner];
        for position in self.kept().filter(|position| Some(*position) <= before) {
            assert!(
                extent
                    .iter()
                    .any(|(ledger, last)| *ledger == position.ledger && position.entry <= *last),
                "confirmed entry {position} is not in {extent:?}"
            );
        }
    }

    fn kept(&self) -> impl Iterator<Item = Position> {
        let trimmed = self.model.trimmed;
        self.model
            .confirmed
            .keys()
            .copied()
            .filter(move |position| Some(*position) > trimmed)
    }

    /// The cursor as found holds every confirmed record since the newest snapshot among confirmed
    /// ones, or begins with a later snapshot; and it holds nothing that was never asked. (What another
    /// owner confirmed since this one came may be missing: then the node has changed since it was read,
    /// and this one loses the cursor at its first write.)
    fn check_cursor(&mut self, owner: Asker, found: Option<Vec<String>>) {
        let before = self.model.cursor_before[&owner].clone();
        let Some(found) = found else {
            assert!(before.is_empty(), "the cursor is gone");
            self.model.cursor_exists = !self.model.cursor_confirmed.is_empty();
            return;
        };
        let left = self.missing(&before, &found);
        assert!(
            left.is_empty(),
            "{left:?} were confirmed and are not in {found:?}"
        );
        self.model.cursor_exists = true;
        self.model.needs_snapshot = false;
        if self
            .missing(&self.model.cursor_confirmed, &found)
            .is_empty()
        {
            self.model.cursor_confirmed = found;
        }
    }

    /// Which of the confirmed records were not found.
    fn missing<'a>(&self, confirmed: &'a [String], found: &[String]) -> &'a [String] {
        let mut left = confirmed;
        for record in found {
            if left.first() == Some(record) {
                left = &left[1..];
            } else {
                let asked = self.model.cursor_asked.get(record);
                let is_snapshot =
                    asked.unwrap_or_else(|| panic!("{record} was never asked: {found:?}"));
                if *is_snapshot && found.first() == Some(record) {
                    left = &[];
                }
            }
        }
        left
    }

    /// Holds at every moment, whoever died where.
    fn check_stored(&self) {
        let Some(list) = self.world.stored_list() else {
            return;
        };
        let open = list.ledgers.iter().filter(|listed| {
            let ledger = self.world.storage.ledgers.get(&listed.ledger);
            listed.entries == 0 && ledger.is_some_and(|ledger| !ledger.sealed)
        });
        assert!(open.count() <= 1, "more than one ledger is open: {list:?}");
        for (position, body) in &self.model.confirmed {
            if Some(*position) <= self.model.trimmed {
                continue;
            }
            let listed = list
                .ledgers
                .iter()
                .find(|listed| listed.ledger == position.ledger);
            let listed =
                listed.unwrap_or_else(|| panic!("ledger of {position} is not listed: {list:?}"));
            assert!(
                listed.entries == 0 || position.entry < listed.entries,
                "{position} is behind the end"
            );
            let ledger = &self.world.storage.ledgers[&position.ledger];
            assert_eq!(&ledger.entries[position.entry as usize], body);
        }
    }

    /// Storage gets well; whoever has the log then can use it and finds everything.
    fn end(&mut self) {
        self.world.storage.trouble = Trouble::default();
        for _ in 0..200 {
            if self.usable && self.owner.is_some() {
                break;
            }
            if self.owner.is_none() {
                self.owner = Some(self.open());
                self.usable = false;
            }
            self.world.settle();
            self.world.pass(2_000);
            self.listen();
        }
        let owner = self.owner.expect("somebody has the log");
        assert!(self.usable, "the log opens when storage is well");
        let before = self.model.confirmed.len();
        for _ in 0..20 {
            self.append();
            self.world.settle();
            self.listen();
        }
        if self.owner == Some(owner) {
            assert!(
                self.model.confirmed.len() > before,
                "the log stores when storage is well"
            );
            let entries: BTreeMap<Position, Bytes> =
                self.world.entries(owner).into_iter().collect();
            for position in self.kept() {
                assert_eq!(entries.get(&position), self.model.confirmed.get(&position));
            }
        }
    }
}

#[test]
fn nothing_confirmed_is_lost_in_a_storm() {
    let mut lost = 0;
    let mut confirmed = 0;
    for seed in 0..1500 {
        let mut storm = Storm::new(seed);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| storm.run()));
        if let Err(panic) = outcome {
            eprintln!("seed {seed}");
            std::panic::resume_unwind(panic);
        }
        lost += storm.model.lost;
        confirmed += storm.model.confirmed.len();
    }
    assert!(
        lost > 500 && confirmed > 50_000,
        "{lost} lost, {confirmed} confirmed: too calm to mean anything"
    );
}
