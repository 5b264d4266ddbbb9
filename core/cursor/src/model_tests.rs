//! The cursor against the plainest model there is: a set of acknowledged messages, and records that are
//! saved, lost or left in flight when the machine dies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use letters::log::CursorRecord;
use proptest::prelude::*;
use vocabulary::{AckSet, Position};

use crate::{Acked, Cursor, Extent};

type Messages = BTreeSet<(Position, u32)>;

#[derive(Clone, Debug)]
enum Step {
    Store {
        new_ledger: bool,
        batch: u32,
    },
    Ack {
        pick: usize,
    },
    AckPart {
        pick: usize,
        remaining: u128,
        sized: bool,
    },
    AckAll {
        pick: usize,
    },
    AckAllPart {
        pick: usize,
        remaining: u128,
        sized: bool,
    },
    AckBeyond {
        cumulative: bool,
        further: i64,
    },
    Trim,
    Seek {
        pick: usize,
    },
    Take,
    Saved,
    SaveFailed {
        stored: bool,
    },
    Crash {
        survive: usize,
    },
}

fn steps() -> impl Strategy<Value = Step> {
    let pick = || any::<usize>();
    let batch = prop_oneof![Just(1u32), 1u32..6, 60u32..70];
    let sparse = (any::<u128>(), any::<u128>()).prop_map(|(one, two)| one & two);
    let part = move || {
        (
            pick(),
            prop_oneof![sparse.clone(), any::<u128>(), Just(0)],
            any::<bool>(),
        )
    };
    prop_oneof![
        12 => (prop::bool::weighted(0.2), batch).prop_map(|(new_ledger, batch)| Step::Store { new_ledger, batch }),
        12 => pick().prop_map(|pick| Step::Ack { pick }),
        6 => part().prop_map(|(pick, remaining, sized)| Step::AckPart { pick, remaining, sized }),
        1 => pick().prop_map(|pick| Step::AckAll { pick }),
        1 => part().prop_map(|(pick, remaining, sized)| Step::AckAllPart { pick, remaining, sized }),
        1 => (any::<bool>(), 1i64..3).prop_map(|(cumulative, further)| Step::AckBeyond { cumulative, further }),
        1 => Just(Step::Trim),
        1 => pick().prop_map(|pick| Step::Seek { pick }),
        5 => Just(Step::Take),
        4 => Just(Step::Saved),
        1 => any::<bool>().prop_map(|stored| Step::SaveFailed { stored }),
        2 => (0usize..4).prop_map(|survive| Step::Crash { survive }),
    ]
}

/// What a log keeps of a cursor.
#[derive(Clone)]
struct Kept {
    snapshot: Bytes,
    deltas: Vec<Bytes>,
}

impl Kept {
    fn keep(&mut self, record: CursorRecord) {
        match record {
            CursorRecord::Snapshot(bytes) => {
                *self = Kept {
                    snapshot: bytes,
                    deltas: Vec::new(),
                }
            }
            CursorRecord::Delta(bytes) => self.deltas.push(bytes),
        }
    }
}

struct World {
    cursor: Cursor,
    extent: Extent,
    /// Existing entries with the sizes of their batches.
    entries: BTreeMap<Position, u32>,
    acked: Messages,
    kept: Kept,
    /// Acknowledged when the last kept record was taken; what the kept records say exactly, unless one before failed.
    kept_acked: Messages,
    exact: bool,
    /// Records under way, with what was acknowledged when each was taken.
    in_flight: VecDeque<(CursorRecord, Messages)>,
    /// Everything that any ack ever named.
    ever: Messages,
}

impl World {
    fn new() -> World {
        let extent = Extent::new(vec![(2, 0)]);
        let cursor = Cursor::at(extent.start());
        World {
            kept: Kept {
                snapshot: cursor.snapshot_bytes(),
                deltas: Vec::new(),
            },
            cursor,
            extent,
            entries: BTreeMap::from([(Position::new(2, 0), 1)]),
            acked: Messages::new(),
            kept_acked: Messages::new(),
            exact: true,
            in_flight: VecDeque::new(),
            ever: Messages::new(),
        }
    }

    fn pick(&self, pick: usize) -> (Position, u32) {
        // The log keeps the last entry in this world, so there is one to pick.
        let index = pick % self.entries.len();
        self.entries
            .iter()
            .nth(index)
            .map(|(position, batch)| (*position, *batch))
            .unwrap_or((Position::EARLIEST, 1))
    }

    fn whole(&self, position: Position) -> bool {
        self.entries
            .get(&position)
            .is_some_and(|batch| (0..*batch).all(|at| self.acked.contains(&(position, at))))
    }

    fn wholes(&self) -> usize {
        self.entries
            .keys()
            .filter(|position| self.whole(**position))
            .count()
    }

    /// Acknowledges in the model; answers how many entries that completed, and messages of `named`.
    fn note(
        &mut self,
        messages: impl IntoIterator<Item = (Position, u32)>,
        named: Position,
    ) -> (u64, u32) {
        let (wholes, mut count) = (self.wholes(), 0);
        for message in messages {
            self.ever.insert(message);
            count += u32::from(self.acked.insert(message) && message.0 == named);
        }
        ((self.wholes() - wholes) as u64, count)
    }

    fn expect(&self, acked: Acked, noted: (u64, u32), sized: bool, before: Position) {
        assert_eq!(acked.entries, noted.0);
        if sized {
            assert_eq!(acked.messages, noted.1);
            assert!(acked.changed || noted == (0, 0));
        }
        assert_eq!(acked.mark_moved, self.cursor.mark() != before);
    }

    fn ack(
        &mut self,
        position: Position,
        batch: u32,
        remaining: Option<u128>,
        sized: bool,
        cumulative: bool,
    ) {
        let set = remaining.map(|words| {
            let mut set = AckSet::from_wire(&[words as i64, (words >> 64) as i64]);
            set.truncate(batch);
            set
        });
        let size = sized.then_some(batch);
        let before = self.cursor.mark();
        let acked = if cumulative {
            self.cursor
                .ack_cumulative(&self.extent, position, set.as_ref(), size)
        } else {
            self.cursor.ack(&self.extent, position, set.as_ref(), size)
        };
        let own = (0..batch).filter(|at| set.as_ref().is_none_or(|set| !set.contains(*at)));
        let mut messages: Vec<_> = own.map(|at| (position, at)).collect();
        if cumulative {
            let earlier = self.entries.range(..position);
            messages.extend(
                earlier.flat_map(|(position, batch)| (0..*batch).map(|at| (*position, at))),
            );
        }
        let noted = self.note(messages, position);
        match acked {
            Ok(acked) => self.expect(acked, noted, sized, before),
            Err(refusal) => panic!("{refusal}"),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Store { new_ledger, batch } => {
                let end = self.extent.end();
                let next = if new_ledger {
                    Position::new(end.ledger + 2, 0)
                } else {
                    end.after()
                };
                self.extent.stored(next);
                self.entries.insert(next, batch);
            }
            Step::Ack { pick } => {
                let (position, batch) = self.pick(pick);
                self.ack(position, batch, None, true, false);
            }
            Step::AckPart {
                pick,
                remaining,
                sized,
            } => {
                let (position, batch) = self.pick(pick);
                self.ack(position, batch, Some(remaining), sized, false);
            }
            Step::AckAll { pick } => {
                let (position, batch) = self.pick(pick);
                self.ack(position, batch, None, true, true);
            }
            Step::AckAllPart {
                pick,
                remaining,
                sized,
            } => {
                let (position, batch) = self.pick(pick);
                self.ack(position, batch, Some(remaining), sized, true);
            }
            Step::AckBeyond {
                cumulative,
                further,
            } => self.ack_beyond(cumulative, further),
            Step::Trim => self.trim(),
            Step::Seek { pick } => {
                let (position, _) = self.pick(pick);
                self.cursor.reset(self.extent.before(position));
                let earlier = self.entries.range(..position);
                self.acked = earlier
                    .flat_map(|(position, batch)| (0..*batch).map(|at| (*position, at)))
                    .collect();
                self.ever.extend(self.acked.iter().copied());
            }
            Step::Take => {
                let dirty = self.cursor.is_dirty();
                let record = self.cursor.take_record();
                assert_eq!(record.is_some(), dirty);
                assert!(!self.cursor.is_dirty());
                if let Some(record) = record {
                    self.in_flight.push_back((record, self.acked.clone()));
                }
            }
            Step::Saved => self.saved(),
            Step::SaveFailed { stored } => self.save_failed(stored),
            Step::Crash { survive } => self.crash(survive),
        }
        self.check();
    }

    fn ack_beyond(&mut self, cumulative: bool, further: i64) {
        let end = self.extent.end();
        let position = Position::new(end.ledger, end.entry + further);
        let before = self.cursor.clone();
        let refused = if cumulative {
            self.cursor
                .ack_cumulative(&self.extent, position, None, None)
        } else {
            self.cursor.ack(&self.extent, position, None, None)
        };
        assert!(refused.is_err());
        assert_eq!(self.cursor, before);
    }

    /// The ledgers before the first entry not acknowledged go, but never the last one.
    fn trim(&mut self) {
        let first = self
            .cursor
            .next_unacked(&self.extent, Position::EARLIEST)
            .unwrap_or(self.extent.end());
        self.extent.trimmed(first);
        self.entries
            .retain(|position, _| position.ledger >= first.ledger);
        self.cursor.clamp(&self.extent);
        self.acked
            .retain(|(position, _)| position.ledger >= first.ledger);
    }

    fn saved(&mut self) {
        if let Some((record, acked)) = self.in_flight.pop_front() {
            self.exact |= matches!(record, CursorRecord::Snapshot(_));
            self.kept.keep(record);
            self.kept_acked = acked;
        }
    }

    /// It fails, and so do all behind it: the log may have kept it or not, and the cursor must not care.
    fn save_failed(&mut self, stored: bool) {
        let failed: Vec<_> = self.in_flight.drain(..).collect();
        if failed.is_empty() {
            return;
        }
        for (index, (record, acked)) in failed.into_iter().enumerate() {
            if stored == (index % 2 == 1) {
                continue;
            }
            self.exact = matches!(record, CursorRecord::Snapshot(_));
            if self.exact {
                self.kept_acked = acked;
            }
            self.kept.keep(record);
        }
        self.cursor.save_failed();
        assert!(self.cursor.is_dirty());
    }

    /// The machine dies: some of the records in flight are on disk, in order.
    fn crash(&mut self, survive: usize) {
        for _ in 0..survive {
            self.saved();
        }
        self.in_flight.clear();
        self.cursor = match Cursor::restore(&self.kept.snapshot, &self.kept.deltas) {
            Ok(cursor) => cursor,
            Err(error) => panic!("{error}"),
        };
        self.cursor.clamp(&self.extent);
        let restored = self.read();
        let existing = |messages: &Messages| -> Messages {
            messages
                .iter()
                .filter(|(position, _)| self.entries.contains_key(position))
                .copied()
                .collect()
        };
        let kept = existing(&self.kept_acked);
        assert!(
            kept.is_subset(&restored),
            "an ack whose record was saved is lost"
        );
        assert!(
            restored.is_subset(&self.ever),
            "an ack appeared that nobody made"
        );
        if self.exact {
            assert_eq!(
                restored, kept,
                "an ack appeared that was not in the records saved"
            );
        }
        self.acked = restored;
    }

    /// Everything the cursor says is acknowledged.
    fn read(&self) -> Messages {
        let cursor = &self.cursor;
        let all = self
            .entries
            .iter()
            .flat_map(|(position, batch)| (0..*batch).map(|at| (*position, at)));
        all.filter(|(position, at)| {
            cursor.is_acked(*position)
                || cursor
                    .remaining(*position)
                    .is_some_and(|set| !set.contains(*at))
        })
        .collect()
    }

    fn check(&self) {
        let cursor = &self.cursor;
        assert_eq!(self.read(), self.acked);
        let open: Vec<Position> = self
            .entries
            .keys()
            .filter(|at| !self.whole(**at))
            .copied()
            .collect();
        for position in self.entries.keys() {
            assert_eq!(cursor.is_acked(*position), self.whole(*position));
            let next = open.iter().find(|open| *open > position).copied();
            assert_eq!(cursor.next_unacked(&self.extent, *position), next);
        }
        assert_eq!(
            cursor.next_unacked(&self.extent, Position::EARLIEST),
            open.first().copied()
        );
        assert_eq!(
            self.extent.next_valid(cursor.mark()),
            open.first().copied(),
            "the mark is where it can be"
        );
        assert_eq!(cursor.backlog(&self.extent), open.len() as u64);
        let holes = cursor.holes(&self.extent);
        let in_holes: Vec<Position> = holes
            .flat_map(|run| {
                (run.first..=run.last).map(move |entry| Position::new(run.ledger, entry))
            })
            .collect();
        assert_eq!(in_holes, open);
        let ahead: usize = cursor
            .acked_runs()
            .map(|run| (run.first..=run.last).count())
            .sum();
        assert_eq!(ahead as u64, cursor.acked_ahead_count());
        assert!(
            cursor
                .partial
                .iter()
                .all(|(position, set)| !set.is_empty() && !cursor.is_acked(*position))
        );
    }
}

proptest! {
    #![proptest_config(crate::seeded(600))]
    #[test]
    fn it_agrees_with_a_naive_set_through_crashes(steps in proptest::collection::vec(steps(), 1..90)) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
        }
        world.crash(0);
        world.check();
    }
}
