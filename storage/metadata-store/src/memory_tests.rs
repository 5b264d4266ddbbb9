use super::*;
use crate::suite::{self, StoreUnderTest};
use crate::tree::Tree;
use sim_world::SimDice;
use std::collections::{BTreeMap, BTreeSet};

struct Driven {
    store: MemoryStore,
    dice: SimDice,
}

impl StoreUnderTest for Driven {
    fn ask(&mut self, requests: Vec<MetadataRequest>) -> Vec<MetadataReply> {
        let mut open = requests.len();
        self.store.submit(requests);
        let mut replies = Vec::new();
        for _ in 0..10_000 {
            let said = self.store.turn(&mut self.dice);
            open -= said.iter().filter(|reply| reply.ticket().is_some()).count();
            replies.extend(said);
            if open == 0 {
                return replies;
            }
        }
        panic!("{open} requests were never answered");
    }

    fn end_session(&mut self) {
        self.store.lose_session();
        let mut news = Vec::new();
        while !self.store.is_quiet() {
            news.extend(self.store.turn(&mut self.dice));
        }
        news.retain(|reply| !matches!(reply, MetadataReply::Changed { .. }));
        assert_eq!(
            news,
            [
                MetadataReply::SessionLost,
                MetadataReply::SessionEstablished
            ]
        );
    }

    fn watch(&mut self, prefix: &str) {
        self.store.watch(prefix).unwrap();
    }
}

#[test]
fn well_behaved_passes_the_suite() {
    suite::run(
        &mut Driven {
            store: MemoryStore::well_behaved(),
            dice: SimDice::new(0),
        },
        "/suite",
    );
}

#[test]
fn late_and_out_of_order_passes_the_suite() {
    for seed in 0..20 {
        let store = MemoryStore::adversary(Trouble::only_late());
        suite::run(
            &mut Driven {
                store,
                dice: SimDice::new(seed),
            },
            "/suite",
        );
    }
}

fn get(ticket: u64, path: &str) -> MetadataRequest {
    MetadataRequest::Get {
        ticket,
        path: path.to_owned(),
    }
}

fn put(ticket: u64, path: &str, expect: Expect, kind: KeyKind) -> MetadataRequest {
    let value = Bytes::from(ticket.to_string());
    MetadataRequest::Put {
        ticket,
        path: path.to_owned(),
        value,
        expect,
        kind,
    }
}

/// A random request on one of a few paths; the ticket is its value.
fn some_request(ticket: u64, dice: &mut SimDice) -> MetadataRequest {
    let path = format!("/k/{}", dice.below(4));
    let expect = match dice.below(4) {
        0 => Expect::Absent,
        1 => Expect::Version(i64::try_from(dice.below(3)).unwrap()),
        _ => Expect::Anything,
    };
    match dice.below(5) {
        0 => MetadataRequest::Delete {
            ticket,
            path,
            expect,
        },
        1 | 2 => get(ticket, &path),
        _ => put(ticket, &path, expect, KeyKind::Persistent),
    }
}

/// All that an asker may know of one path: every state that it may be in.
struct Beliefs(BTreeMap<String, BTreeSet<Belief>>);
type Belief = Option<(Bytes, i64)>;

impl Beliefs {
    /// Another writer may have rewritten the key, with the same value, before a change.
    fn rewritten_or_not(&self, path: &str) -> BTreeSet<Belief> {
        let known = self
            .0
            .get(path)
            .cloned()
            .unwrap_or_else(|| BTreeSet::from([None]));
        let rewritten = known
            .iter()
            .flatten()
            .map(|(value, version)| Some((value.clone(), version + 1)));
        rewritten.chain(known.iter().cloned()).collect()
    }

    /// Narrows (an answer) or widens (a time-out) what is known.
    fn learn(&mut self, request: &MetadataRequest, reply: &MetadataReply) {
        let path = request.path();
        let before = if request.is_change() {
            self.rewritten_or_not(path)
        } else {
            self.before(path)
        };
        let timed_out = *reply == timed_out(request);
        let mut after = BTreeSet::new();
        for belief in before {
            let (answer, left) = carry_out(&belief, request);
            if timed_out {
                after.insert(belief);
                after.insert(left);
            } else if agrees(&answer, reply) {
                after.insert(left);
            }
        }
        assert!(
            !after.is_empty(),
            "no state of {path} explains {reply:?} to {request:?}"
        );
        self.0.insert(path.to_owned(), after);
    }

    fn before(&self, path: &str) -> BTreeSet<Belief> {
        self.0
            .get(path)
            .cloned()
            .unwrap_or_else(|| BTreeSet::from([None]))
    }
}

fn carry_out(belief: &Belief, request: &MetadataRequest) -> (MetadataReply, Belief) {
    let mut tree = Tree::default();
    let path = request.path();
    if let Some((value, version)) = belief {
        for _ in 0..=*version {
            tree.put(
                path,
                value.clone(),
                Expect::Anything,
                KeyKind::Persistent,
                1,
                WallTime(0),
            )
            .unwrap();
        }
    }
    let (reply, _) = tree.carry_out(request, 1, WallTime(0));
    let left = tree
        .get(path)
        .unwrap()
        .map(|(value, stat)| (value, stat.version));
    (reply, left)
}

/// The same answer; of a refusal only that it is one, as it names what it found.
fn agrees(expected: &MetadataReply, got: &MetadataReply) -> bool {
    let refused = |reply: &MetadataReply| {
        matches!(
            reply,
            MetadataReply::Put {
                result: Err(MetadataError::BadVersion(..)),
                ..
            } | MetadataReply::Deleted {
                result: Err(MetadataError::BadVersion(..)),
                ..
            }
        )
    };
    expected == got || (refused(expected) && refused(got))
}

/// One long conversation under all troubles; what was asked and what was said.
fn conversation(seed: u64) -> (Vec<MetadataRequest>, Vec<MetadataReply>, MemoryStore) {
    let mut dice = SimDice::new(seed);
    let mut store = MemoryStore::adversary(Trouble::everything());
    store.watch("/k").unwrap();
    let (mut asked, mut said) = (Vec::new(), Vec::new());
    for round in 0..100 {
        let burst = dice.below(4);
        let requests: Vec<_> = (0..burst)
            .map(|at| some_request(round * 10 + at, &mut dice))
            .collect();
        asked.extend(requests.iter().cloned());
        store.submit(requests);
        said.extend(store.turn(&mut dice));
    }
    for _ in 0..10_000 {
        if store.is_quiet() {
            return (asked, said, store);
        }
        said.extend(store.turn(&mut dice));
    }
    panic!("it never came to rest");
}

#[test]
fn whatever_it_does_some_course_of_events_explains_it() {
    for seed in 0..200 {
        let (asked, said, store) = conversation(seed);
        let answers: Vec<&MetadataReply> = said
            .iter()
            .filter(|reply| reply.ticket().is_some())
            .collect();
        assert_eq!(answers.len(), asked.len(), "one request, one answer");
        let mut beliefs = Beliefs(BTreeMap::new());
        // Across paths the order is lost, on each path it is kept; so each path is followed alone.
        for request in &asked {
            let answer = answers
                .iter()
                .find(|reply| reply.ticket() == Some(request.ticket()))
                .unwrap();
            beliefs.learn(request, answer);
        }
        let path_of = |ticket| asked.iter().find(|r| r.ticket() == ticket).unwrap().path();
        let mut last: BTreeMap<&str, u64> = BTreeMap::new();
        for ticket in answers.iter().filter_map(|reply| reply.ticket()) {
            let earlier = last.insert(path_of(ticket), ticket);
            assert!(
                earlier < Some(ticket),
                "answers about one path keep their order"
            );
        }
        for (path, states) in &beliefs.0 {
            let really = store
                .tree()
                .get(path)
                .unwrap()
                .map(|(value, stat)| (value, stat.version));
            assert!(
                states.contains(&really),
                "{path} is {really:?}, believed {states:?}"
            );
        }
    }
}

#[test]
fn the_same_seed_tells_the_same_story() {
    assert_eq!(conversation(7).1, conversation(7).1);
    assert_ne!(conversation(7).1, conversation(8).1);
}

#[test]
fn every_trouble_comes_up() {
    let mut seen = BTreeSet::new();
    for seed in 0..50 {
        let (asked, said, store) = conversation(seed);
        let order: Vec<u64> = said.iter().filter_map(MetadataReply::ticket).collect();
        if !order.is_sorted() {
            seen.insert("answers out of order");
        }
        let changed: Vec<&MetadataReply> = said
            .iter()
            .filter(|reply| matches!(reply, MetadataReply::Changed { .. }))
            .collect();
        assert!(!changed.is_empty());
        for reply in &said {
            match reply {
                MetadataReply::SessionLost => drop(seen.insert("session lost")),
                MetadataReply::SessionEstablished => drop(seen.insert("session established")),
                MetadataReply::Put {
                    ticket,
                    result: Err(MetadataError::Timeout(path)),
                } => {
                    let value = Bytes::from(ticket.to_string());
                    let there = store
                        .tree()
                        .get(path)
                        .unwrap()
                        .is_some_and(|(kept, _)| kept == value);
                    seen.insert(if there {
                        "timed out and happened"
                    } else {
                        "timed out and not there"
                    });
                }
                MetadataReply::Put {
                    ticket,
                    result: Ok((_, stat)),
                } => {
                    let first = asked.iter().find(|r| r.ticket() == *ticket);
                    if stat.version > 0 && matches!(first, Some(MetadataRequest::Put { .. })) {
                        seen.insert("rewritten");
                    }
                }
                _ => {}
            }
        }
    }
    let all = [
        "answers out of order",
        "rewritten",
        "session established",
        "session lost",
        "timed out and happened",
        "timed out and not there",
    ];
    assert_eq!(seen, BTreeSet::from(all));
}

#[test]
fn another_writer_makes_an_expectation_fail() {
    let trouble = Trouble {
        other_writer: 1000,
        delay: 0,
        timeout: 0,
        session_loss: 0,
        doubled_notice: 0,
    };
    let mut driven = Driven {
        store: MemoryStore::adversary(trouble),
        dice: SimDice::new(1),
    };
    driven.ask(vec![put(1, "/a", Expect::Absent, KeyKind::Persistent)]);
    let replies = driven.ask(vec![put(2, "/a", Expect::Version(0), KeyKind::Persistent)]);
    let [
        MetadataReply::Put {
            result: Err(error), ..
        },
    ] = replies.as_slice()
    else {
        panic!("{replies:?}")
    };
    assert_eq!(
        error.to_string(),
        "/a was changed by another writer (expected version 0, found version 1)"
    );
}

#[test]
fn on_request_another_writer_writes_and_removes() {
    let mut driven = Driven {
        store: MemoryStore::well_behaved(),
        dice: SimDice::new(1),
    };
    driven.watch("/a");
    driven
        .store
        .interfere("/a/b", Some(Bytes::from_static(b"theirs")))
        .unwrap();
    let replies = driven.ask(vec![get(1, "/a/b")]);
    assert!(replies.contains(&MetadataReply::Changed {
        path: "/a/b".to_owned()
    }));
    assert!(
        matches!(&replies[0], MetadataReply::Got { result: Ok(Some((value, _))), .. } if value == "theirs")
    );
    driven.store.interfere("/a/b", None).unwrap();
    assert!(matches!(
        &driven.ask(vec![get(2, "/a/b")])[0],
        MetadataReply::Got {
            result: Ok(None),
            ..
        }
    ));
    assert!(driven.store.interfere("a/b", None).is_err());
}

#[test]
fn what_waits_when_the_session_is_lost_times_out_and_never_happens() {
    for store in [
        MemoryStore::well_behaved(),
        MemoryStore::adversary(Trouble::only_late()),
    ] {
        let mut driven = Driven {
            store,
            dice: SimDice::new(3),
        };
        driven.ask(vec![put(1, "/mine", Expect::Absent, KeyKind::Ephemeral)]);
        driven
            .store
            .submit(vec![put(2, "/lost", Expect::Absent, KeyKind::Ephemeral)]);
        driven.store.lose_session();
        driven.store.lose_session();
        let mut said = Vec::new();
        while !driven.store.is_quiet() {
            said.extend(driven.store.turn(&mut driven.dice));
        }
        said.retain(|reply| !matches!(reply, MetadataReply::Changed { .. }));
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said.contains(&MetadataReply::Put {
            ticket: 2,
            result: Err(MetadataError::Timeout("/lost".to_owned()))
        }));
        assert_eq!(
            driven.store.tree().iter().count(),
            0,
            "ephemeral keys are gone"
        );
    }
}

/// Times out everything; whether the key was there when the answer came, and whether it was in the end.
fn fate_of_a_timed_out_put(seed: u64) -> (bool, bool) {
    let trouble = Trouble {
        delay: 500,
        timeout: 1000,
        other_writer: 0,
        session_loss: 0,
        doubled_notice: 0,
    };
    let mut driven = Driven {
        store: MemoryStore::adversary(trouble),
        dice: SimDice::new(seed),
    };
    let said = driven.ask(vec![put(1, "/a", Expect::Absent, KeyKind::Persistent)]);
    assert!(matches!(
        said[0],
        MetadataReply::Put {
            result: Err(MetadataError::Timeout(_)),
            ..
        }
    ));
    let there = |driven: &Driven| driven.store.tree().get("/a").unwrap().is_some();
    let at_once = there(&driven);
    while !driven.store.is_quiet() {
        driven.store.turn(&mut driven.dice);
    }
    (at_once, there(&driven))
}

#[test]
fn a_timed_out_call_happened_happens_later_or_never_happens() {
    let fates: BTreeSet<(bool, bool)> = (0..50).map(fate_of_a_timed_out_put).collect();
    assert_eq!(
        fates,
        BTreeSet::from([(false, false), (false, true), (true, true)])
    );
}

#[test]
fn answers_of_one_turn_come_in_any_order_and_notices_twice() {
    let trouble = Trouble {
        delay: 0,
        timeout: 0,
        other_writer: 0,
        session_loss: 0,
        doubled_notice: 500,
    };
    let mut orders = BTreeSet::new();
    let mut notices = BTreeSet::new();
    for seed in 0..50 {
        let mut driven = Driven {
            store: MemoryStore::adversary(trouble),
            dice: SimDice::new(seed),
        };
        driven.watch("/");
        let puts = ["/a", "/b", "/c"].into_iter().zip(1..);
        driven.store.submit(
            puts.map(|(path, ticket)| put(ticket, path, Expect::Absent, KeyKind::Persistent))
                .collect(),
        );
        let mut said = driven.store.turn(&mut driven.dice);
        orders.insert(
            said.iter()
                .filter_map(MetadataReply::ticket)
                .collect::<Vec<_>>(),
        );
        while !driven.store.is_quiet() {
            said.extend(driven.store.turn(&mut driven.dice));
        }
        notices.insert(said.iter().filter(|reply| reply.ticket().is_none()).count() > 3);
    }
    assert_eq!(orders.len(), 6, "{orders:?}");
    assert_eq!(notices.len(), 2);
}
