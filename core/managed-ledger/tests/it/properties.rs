//! Properties of a topic, kept with the list of its ledgers.

use crate::support::world::World;
use crate::support::{Asker, Trouble};
use bytes::Bytes;
use letters::{LogError, LogReply};
use managed_ledger::{Input, Settings};

fn opened(world: &mut World) -> Asker {
    let owner = world.open();
    world.settle();
    world.take_replies();
    owner
}

fn set(world: &mut World, owner: Asker, ticket: u64, key: &str, value: &str) {
    let (key, value) = (key.to_owned(), value.to_owned());
    world.tell(owner, Input::SetProperty { ticket, key, value });
}

fn set_well(ticket: u64) -> LogReply {
    let result = Ok(());
    LogReply::PropertySet { ticket, result }
}

fn stored(world: &World) -> Vec<(String, String)> {
    world
        .stored_list()
        .map(|list| list.properties)
        .unwrap_or_default()
}

fn pair(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

#[test]
fn a_property_is_answered_when_it_is_stored_and_not_before() {
    let mut world = World::new(1, Settings::default());
    let owner = opened(&mut world);
    set(&mut world, owner, 1, "epoch", "0");
    assert_eq!(world.take_replies(), []);
    assert_eq!(stored(&world), []);
    world.settle();
    assert_eq!(world.take_replies(), [(owner, set_well(1))]);
    assert_eq!(stored(&world), [pair("epoch", "0")]);
}

#[test]
fn those_that_come_during_a_write_go_with_the_next_in_order() {
    let mut world = World::new(1, Settings::default());
    let owner = opened(&mut world);
    for ticket in 1..4 {
        set(&mut world, owner, ticket, "epoch", &ticket.to_string());
    }
    set(&mut world, owner, 4, "other", "x");
    world.tell(
        owner,
        Input::Append {
            ticket: 5,
            body: Bytes::from_static(b"m"),
        },
    );
    world.step();
    assert_eq!(world.take_replies(), [(owner, set_well(1))]);
    assert_eq!(stored(&world), [pair("epoch", "1")]);
    world.settle();
    let replies = world.take_replies();
    let set: Vec<_> = replies
        .iter()
        .filter(|(_, reply)| matches!(reply, LogReply::PropertySet { .. }))
        .collect();
    assert_eq!(
        set,
        [2, 3, 4]
            .map(|n| (owner, set_well(n)))
            .iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(replies.len(), 4, "the entry is stored, too: {replies:?}");
    assert_eq!(stored(&world), [pair("epoch", "3"), pair("other", "x")]);
}

#[test]
fn a_closing_log_finishes_what_it_was_asked_and_takes_no_more() {
    let mut world = World::new(1, Settings::default());
    let owner = opened(&mut world);
    set(&mut world, owner, 1, "epoch", "0");
    set(&mut world, owner, 2, "epoch", "1");
    world.tell(owner, Input::Close);
    set(&mut world, owner, 3, "epoch", "2");
    world.settle();
    let replies = world.take_replies();
    assert!(matches!(
        &replies[0].1,
        LogReply::PropertySet {
            ticket: 3,
            result: Err(_)
        }
    ));
    assert_eq!(
        &replies[1..],
        [set_well(1), set_well(2), LogReply::Closed].map(|reply| (owner, reply))
    );
    assert_eq!(stored(&world), [pair("epoch", "1")]);
}

#[test]
fn a_second_owner_ends_the_first_before_it_can_set_anything() {
    let mut world = World::new(1, Settings::default());
    let first = opened(&mut world);
    let second = opened(&mut world);
    set(&mut world, first, 1, "epoch", "7");
    world.settle();
    let replies = world.take_replies();
    assert!(matches!(
        &replies[0].1,
        LogReply::PropertySet {
            ticket: 1,
            result: Err(LogError::Fenced(_))
        }
    ));
    assert!(matches!(&replies[1].1, LogReply::Lost { .. }));
    assert_eq!(stored(&world), []);
    set(&mut world, second, 2, "epoch", "8");
    world.settle();
    assert_eq!(world.take_replies(), [(second, set_well(2))]);
}

#[test]
fn a_write_that_was_late_is_read_again() {
    for happened in [true, false] {
        let mut world = World::new(1, Settings::default());
        let owner = opened(&mut world);
        world.storage.next_put_late = Some(happened);
        set(&mut world, owner, 1, "epoch", "0");
        world.settle();
        assert_eq!(world.take_replies(), [(owner, set_well(1))]);
        assert_eq!(stored(&world), [pair("epoch", "0")]);
    }
}

#[test]
fn broken_storage_fails_it_and_stores_it_when_it_recovers() {
    let mut world = World::new(1, Settings::default());
    let owner = opened(&mut world);
    world.storage.trouble = Trouble {
        errors: 1000,
        ..Trouble::default()
    };
    set(&mut world, owner, 1, "epoch", "0");
    set(&mut world, owner, 2, "epoch", "1");
    world.settle();
    let replies = world.take_replies();
    assert_eq!(replies.len(), 2, "{replies:?}");
    for (_, reply) in replies {
        assert!(
            matches!(reply, LogReply::PropertySet { result: Err(_), .. }),
            "{reply:?}"
        );
    }
    world.storage.trouble = Trouble::default();
    world.pass(60_000);
    world.settle();
    assert_eq!(world.take_replies(), []);
    assert_eq!(stored(&world), [pair("epoch", "1")]);
}
