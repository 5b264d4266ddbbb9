//! A log is deleted for good, whatever storage does and whenever the process ends.

use crate::support::world::World;
use crate::support::{Asker, Trouble};
use bytes::Bytes;
use letters::log::CursorRecord;
use letters::{LogError, LogReply};
use managed_ledger::{Input, Settings};
use std::time::Duration;

/// A log with three ledgers and two cursors, of which one has a ledger.
fn filled(seed: u64) -> (World, Asker) {
    let settings = Settings {
        rollover_age_min: Duration::ZERO,
        ledger_entries_max: 2,
        ..Settings::default()
    };
    let mut world = World::new(seed, settings);
    let owner = world.open();
    world.settle();
    for (ticket, name) in [(1, "a"), (2, "b c")] {
        world.tell(
            owner,
            Input::CreateCursor {
                ticket,
                name: name.to_owned(),
                snapshot: Bytes::from_static(b"s"),
            },
        );
    }
    for ticket in 3..8 {
        world.tell(
            owner,
            Input::Append {
                ticket,
                body: Bytes::from_static(b"m"),
            },
        );
        world.settle();
    }
    world.tell(
        owner,
        Input::SaveCursor {
            ticket: 9,
            name: "a".to_owned(),
            record: CursorRecord::Delta(Bytes::from_static(b"d")),
        },
    );
    world.settle();
    world.take_replies();
    assert!(world.storage.ledgers.len() >= 4, "ledgers to delete");
    (world, owner)
}

/// Only the namespace is left.
fn is_clean(world: &World) -> bool {
    world.storage.ledgers.is_empty() && world.storage.nodes.len() == 1
}

#[test]
fn nothing_is_left() {
    let (mut world, owner) = filled(1);
    world.tell(owner, Input::Delete);
    world.settle();
    assert_eq!(
        world.take_replies(),
        [(owner, LogReply::Deleted { result: Ok(()) })]
    );
    assert!(is_clean(&world), "{:?}", world.storage);
}

#[test]
fn a_crash_at_any_moment_leaves_the_log_whole_or_its_rest_to_the_next_opening() {
    for steps in 0..60 {
        let (mut world, owner) = filled(steps);
        let entries = world.entries(owner).len();
        world.tell(owner, Input::Delete);
        for _ in 0..steps {
            world.step();
        }
        world.crash(owner);
        let next = world.open();
        world.settle();
        let replies = world.take_replies();
        assert!(
            matches!(replies.last(), Some((_, LogReply::Opened { .. }))),
            "{replies:?}"
        );
        let left = world.entries(next).len();
        assert!(
            left == entries || (left == 0 && world.storage.ledgers.is_empty()),
            "after {steps} answers: {left} entries, {:?}",
            world.storage.ledgers.keys()
        );
    }
}

#[test]
fn trouble_is_told_and_trying_again_helps() {
    for seed in 0..200 {
        let (mut world, mut owner) = filled(seed);
        world.storage.trouble = Trouble {
            timeouts: 150,
            errors: 100,
        };
        world.tell(owner, Input::Delete);
        world.settle();
        for _ in 0..100 {
            world.pass(60_000);
            world.settle();
        }
        let replies = world.take_replies();
        let answers = replies
            .iter()
            .filter(|(_, reply)| matches!(reply, LogReply::Deleted { .. } | LogReply::Lost { .. }));
        assert_eq!(answers.count(), 1, "seed {seed}: {replies:?}");
        let done = replies.contains(&(owner, LogReply::Deleted { result: Ok(()) }));
        world.storage.trouble = Trouble::default();
        if !done {
            owner = world.open();
            world.settle();
            world.tell(owner, Input::Delete);
            world.settle();
            let replies = world.take_replies();
            assert!(
                replies.contains(&(owner, LogReply::Deleted { result: Ok(()) })),
                "seed {seed}: {replies:?}"
            );
        }
        let nodes: Vec<_> = world.storage.nodes.keys().collect();
        assert_eq!(nodes.len(), 1, "seed {seed}: {nodes:?}");
    }
}

#[test]
fn who_lost_the_log_deletes_nothing_of_the_new_owner() {
    let (mut world, old) = filled(5);
    let new = world.open();
    world.settle();
    let entries = world.entries(new).len();
    world.take_replies();
    world.tell(old, Input::Delete);
    world.settle();
    let replies = world.take_replies();
    let fenced = replies.iter().any(|(of, reply)| {
        let error = match reply {
            LogReply::Deleted { result: Err(error) } | LogReply::Lost { error } => error,
            _ => return false,
        };
        *of == old && matches!(error, LogError::Fenced(_))
    });
    assert!(fenced, "{replies:?}");
    assert_eq!(world.entries(new).len(), entries);
}
