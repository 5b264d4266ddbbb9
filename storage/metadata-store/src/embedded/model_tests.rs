//! Random conversations, against the plain tree.

use super::{EmbeddedStore, Settings};
use crate::seam::{Expect, KeyKind, MetadataReply, MetadataRequest};
use crate::tree::Tree;
use bytes::Bytes;
use proptest::prelude::*;
use sim_world::{SimDice, SimDisk};
use std::collections::BTreeSet;
use vocabulary::WallTime;

#[derive(Clone, Debug)]
enum Step {
    Batch(Vec<MetadataRequest>),
    Restart(End),
}

/// How a life ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Close,
    Kill,
    Cut(u64),
}

/// Few names, so that requests meet; some sort around the slash, some look like numbers.
fn path() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        5 => prop::sample::select(vec!["a", "b", "a-", "a!", "ab", "a0", "n-", "ä"]),
        1 => prop::sample::select(vec!["n-0000000001", "a0000000000"]),
        1 => prop::sample::select(vec!["", ".."]),
    ];
    prop::collection::vec(name, 1..4).prop_map(|names| format!("/{}", names.join("/")))
}

fn expect() -> impl Strategy<Value = Expect> {
    prop_oneof![4 => Just(Expect::Anything), 2 => Just(Expect::Absent), 2 => (0..3i64).prop_map(Expect::Version)]
}

fn request() -> impl Strategy<Value = MetadataRequest> {
    let kind = prop::sample::select(vec![
        KeyKind::Persistent,
        KeyKind::Persistent,
        KeyKind::Ephemeral,
        KeyKind::Sequential,
        KeyKind::EphemeralSequential,
    ]);
    let value = prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes::from);
    let ticket = 0..1000u64;
    prop_oneof![
        4 => (ticket.clone(), path(), value, expect(), kind)
            .prop_map(|(ticket, path, value, expect, kind)| MetadataRequest::Put { ticket, path, value, expect, kind }),
        2 => (ticket.clone(), path(), expect())
            .prop_map(|(ticket, path, expect)| MetadataRequest::Delete { ticket, path, expect }),
        2 => (ticket.clone(), path()).prop_map(|(ticket, path)| MetadataRequest::Get { ticket, path }),
        2 => (ticket, prop_oneof![3 => path(), 1 => Just("/".to_owned())])
            .prop_map(|(ticket, path)| MetadataRequest::Children { ticket, path }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let end = prop_oneof![
        Just(End::Close),
        Just(End::Kill),
        any::<u64>().prop_map(End::Cut)
    ];
    prop_oneof![5 => prop::collection::vec(request(), 1..8).prop_map(Step::Batch), 1 => end.prop_map(Step::Restart)]
}

fn open(disk: &SimDisk) -> EmbeddedStore {
    let mut store =
        EmbeddedStore::open(disk, &Settings::default()).expect("it opens after every end");
    store.watch("/a").expect("a path");
    store
}

/// What the tree says to a batch, with the notices as a set after the replies.
fn expected(
    tree: &mut Tree,
    owner: u64,
    now: WallTime,
    requests: &[MetadataRequest],
) -> Vec<MetadataReply> {
    let mut changed = BTreeSet::new();
    let mut replies = Vec::new();
    for request in requests {
        let (reply, path) = tree.carry_out(request, owner, now);
        replies.push(reply);
        changed.extend(path.filter(|path| path == "/a" || path.starts_with("/a/")));
    }
    replies.extend(
        changed
            .into_iter()
            .map(|path| MetadataReply::Changed { path }),
    );
    replies
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_does_what_the_tree_does(steps in prop::collection::vec(step(), 1..25)) {
        let disk = SimDisk::new();
        let mut store = open(&disk);
        let mut tree = Tree::default();
        for (now, step) in steps.into_iter().enumerate() {
            let now = WallTime(now as u64);
            match step {
                Step::Batch(requests) => {
                    let wanted = expected(&mut tree, store.owner(), now, &requests);
                    prop_assert_eq!(store.turn(now, requests), wanted);
                }
                Step::Restart(end) => {
                    match end {
                        End::Close => {}
                        End::Kill => disk.kill(),
                        End::Cut(seed) => disk.restart(&mut SimDice::new(seed)),
                    }
                    drop(store);
                    store = open(&disk);
                    tree.end_other_sessions(store.owner());
                }
            }
        }
    }
}
