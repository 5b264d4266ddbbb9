//! The rules of a managed ledger, one by one, on a storage that does as it is told.

use crate::support::world::World;
use crate::support::{Asker, Trouble};
use bytes::Bytes;
use letters::{LogError, LogReply};
use managed_ledger::{Input, Settings};
use std::time::Duration;
use vocabulary::Position;

fn young() -> Settings {
    Settings {
        rollover_age_min: Duration::ZERO,
        ..Settings::default()
    }
}

fn opened(world: &mut World) -> Asker {
    let owner = world.open();
    world.settle();
    let replies = world.take_replies();
    assert!(
        matches!(replies.as_slice(), [(_, LogReply::Opened { .. })]),
        "{replies:?}"
    );
    owner
}

fn append(world: &mut World, owner: Asker, numbers: std::ops::Range<u64>) {
    for ticket in numbers {
        world.tell(
            owner,
            Input::Append {
                ticket,
                body: Bytes::from(format!("m{ticket}")),
            },
        );
    }
}

fn stored(world: &mut World) -> Vec<(u64, Position)> {
    let replies = world.take_replies();
    let stored = replies.iter().filter_map(|(_, reply)| match reply {
        LogReply::Stored { ticket, position } => Some((*ticket, *position)),
        _ => None,
    });
    stored.collect()
}

#[test]
fn a_topic_never_written_makes_no_ledger() {
    let mut world = World::new(1, young());
    let owner = opened(&mut world);
    assert!(world.storage.ledgers.is_empty());
    world.tell(
        owner,
        Input::CreateCursor {
            ticket: 1,
            name: "a".to_owned(),
            snapshot: Bytes::from_static(b"s"),
        },
    );
    world.settle();
    assert!(world.storage.ledgers.is_empty(), "a new cursor is one node");
    assert_eq!(world.storage.nodes.len(), 3);
}

#[test]
fn a_missing_topic_is_not_made_unless_asked_and_allowed() {
    let mut world = World::new(1, young());
    world.storage.nodes.clear();
    world.open();
    world.settle();
    let namespace = LogReply::OpenFailed {
        error: LogError::NoSuchNamespace("public/default".to_owned()),
    };
    assert_eq!(world.take_replies(), [(1, namespace)]);
    assert!(world.storage.nodes.is_empty());
}

#[test]
fn a_full_ledger_is_sealed_then_the_next_one_made_then_listed_then_written() {
    let mut world = World::new(
        1,
        Settings {
            ledger_entries_max: 3,
            ..young()
        },
    );
    let owner = opened(&mut world);
    append(&mut world, owner, 0..7);
    world.settle();
    let at = |ledger, entry| Position::new(ledger, entry);
    let expected = [
        at(1, 0),
        at(1, 1),
        at(1, 2),
        at(2, 0),
        at(2, 1),
        at(2, 2),
        at(3, 0),
    ];
    assert_eq!(stored(&mut world), (0..7).zip(expected).collect::<Vec<_>>());
    let list = world.stored_list().expect("a list");
    let entries: Vec<(i64, i64)> = list.ledgers.iter().map(|l| (l.ledger, l.entries)).collect();
    assert_eq!(entries, [(1, 3), (2, 3), (3, 0)]);
}

#[test]
fn a_ledger_younger_than_the_minimum_is_never_full() {
    let settings = Settings {
        ledger_entries_max: 3,
        ..Settings::default()
    };
    let mut world = World::new(1, settings);
    let owner = opened(&mut world);
    append(&mut world, owner, 0..7);
    world.settle();
    world.now_ms += 10 * 60 * 1000;
    append(&mut world, owner, 7..9);
    world.settle();
    let ledgers: Vec<i64> = stored(&mut world)
        .iter()
        .map(|(_, position)| position.ledger)
        .collect();
    assert_eq!(ledgers, [1, 1, 1, 1, 1, 1, 1, 1, 2]);
}

#[test]
fn an_old_ledger_is_sealed_without_an_append() {
    let mut world = World::new(1, Settings::default());
    let owner = opened(&mut world);
    append(&mut world, owner, 0..1);
    world.settle();
    let wake = world.owners[&owner]
        .wake_at()
        .expect("wants to roll by age");
    let minutes = wake.since(world.now().moment).as_secs_f64() / 60.0;
    assert!((240.0..=252.0).contains(&minutes), "{minutes}");
    world.pass(253 * 60 * 1000);
    world.settle();
    assert_eq!(world.owners[&owner].wake_at(), None);
    assert!(!world.owners[&owner].has_open_ledger());
    assert_eq!(world.stored_list().expect("a list").ledgers[0].entries, 1);
}

#[test]
fn consumed_ledgers_go_list_first() {
    let mut world = World::new(
        1,
        Settings {
            ledger_entries_max: 2,
            ..young()
        },
    );
    let owner = opened(&mut world);
    append(&mut world, owner, 0..5);
    world.settle();
    world.take_replies();
    world.tell(
        owner,
        Input::Trim {
            up_to: Position::new(2, 0),
        },
    );
    world.settle();
    assert_eq!(
        world.take_replies(),
        [(
            owner,
            LogReply::Trimmed {
                first: Position::new(2, 0)
            }
        )]
    );
    assert_eq!(world.storage.deleted, [1]);
    world.tell(
        owner,
        Input::Trim {
            up_to: Position::new(3, 0),
        },
    );
    world.settle();
    assert_eq!(world.storage.deleted, [1, 2], "the open ledger stays");
}

#[test]
fn retention_keeps_consumed_ledgers_for_their_time() {
    let retention_age = Some(Duration::from_secs(60));
    let mut world = World::new(
        1,
        Settings {
            ledger_entries_max: 2,
            retention_age,
            retention_bytes: None,
            ..young()
        },
    );
    let owner = opened(&mut world);
    append(&mut world, owner, 0..3);
    world.settle();
    world.tell(
        owner,
        Input::Trim {
            up_to: Position::new(2, 0),
        },
    );
    world.settle();
    assert!(world.storage.deleted.is_empty());
    assert!(world.owners[&owner].wake_at().is_some());
    world.pass(61_000);
    world.settle();
    assert_eq!(world.storage.deleted, [1]);
}

#[test]
fn a_failed_append_fails_all_behind_it_and_the_log_goes_on_in_a_new_ledger() {
    let mut world = World::new(1, young());
    let owner = opened(&mut world);
    append(&mut world, owner, 0..2);
    world.settle();
    world.take_replies();
    world.storage.trouble = Trouble {
        errors: 1000,
        timeouts: 0,
    };
    append(&mut world, owner, 2..5);
    assert!(world.step());
    world.storage.trouble = Trouble::default();
    append(&mut world, owner, 5..6);
    world.settle();
    let replies: Vec<LogReply> = world
        .take_replies()
        .into_iter()
        .map(|(_, reply)| reply)
        .collect();
    let failed = |ticket| LogReply::NotStored {
        ticket,
        error: LogError::Io("broken".to_owned()),
    };
    let position = Position::new(2, 0);
    assert_eq!(
        replies,
        [
            failed(2),
            failed(3),
            failed(4),
            LogReply::Stored {
                ticket: 5,
                position
            }
        ]
    );
    assert_eq!(world.entries(owner).len(), 3);
}

#[test]
fn a_second_owner_ends_the_first() {
    for written in [0, 2] {
        let mut world = World::new(1, young());
        let first = opened(&mut world);
        append(&mut world, first, 0..written);
        world.settle();
        let second = opened_beside(&mut world);
        append(&mut world, first, 10..11);
        world.settle();
        let error = LogError::Fenced(world.topic.to_string());
        let expected = [
            LogReply::NotStored {
                ticket: 10,
                error: error.clone(),
            },
            LogReply::Lost { error },
        ];
        let of_first = world
            .take_replies()
            .into_iter()
            .filter(|(asker, _)| *asker == first)
            .map(|(_, reply)| reply);
        assert_eq!(of_first.collect::<Vec<_>>(), expected);
        append(&mut world, second, 20..21);
        world.settle();
        assert_eq!(stored(&mut world).len(), 1);
        assert_eq!(world.entries(second).len(), written as usize + 1);
    }
}

fn opened_beside(world: &mut World) -> Asker {
    world.take_replies();
    opened(world)
}

#[test]
fn a_fenced_append_ends_the_log_at_once() {
    let mut world = World::new(1, young());
    let first = opened(&mut world);
    append(&mut world, first, 0..1);
    world.settle();
    opened_beside(&mut world);
    append(&mut world, first, 1..2);
    assert!(world.step());
    let replies = world.take_replies();
    let ended = matches!(
        replies.as_slice(),
        [(_, LogReply::NotStored { .. }), (_, LogReply::Lost { .. })]
    );
    assert!(ended && !world.step(), "{replies:?}");
}

#[test]
fn a_write_that_was_late_is_read_again() {
    for happened in [true, false] {
        let mut world = World::new(1, young());
        let owner = opened(&mut world);
        world.storage.next_put_late = Some(happened);
        append(&mut world, owner, 0..2);
        world.settle();
        assert_eq!(stored(&mut world).len(), 2, "happened: {happened}");
        assert_eq!(world.storage.next_put_late, None);
    }
}

#[test]
fn a_late_write_over_which_another_wrote_ends_the_log() {
    let mut world = World::new(1, young());
    let owner = opened(&mut world);
    world.storage.next_put_late = Some(false);
    append(&mut world, owner, 0..1);
    while world.storage.next_put_late.is_some() {
        assert!(world.step());
    }
    let node = world
        .storage
        .nodes
        .get_mut("/managed-ledgers/public/default/persistent/orders");
    node.expect("the list is there").1 += 1;
    world.settle();
    let replies = world.take_replies();
    let ended = matches!(
        replies.as_slice(),
        [(_, LogReply::NotStored { .. }), (_, LogReply::Lost { .. })]
    );
    assert!(ended, "{replies:?}");
}

#[test]
fn a_ledger_id_that_does_not_grow_is_not_used() {
    let mut world = World::new(
        1,
        Settings {
            ledger_entries_max: 1,
            ..young()
        },
    );
    world.storage.next_ledger = 10;
    let owner = opened(&mut world);
    append(&mut world, owner, 0..1);
    world.settle();
    world.storage.next_ledger = 9;
    append(&mut world, owner, 1..2);
    world.settle();
    let ledgers: Vec<i64> = stored(&mut world)
        .iter()
        .map(|(_, position)| position.ledger)
        .collect();
    assert_eq!(ledgers, [11, 12], "10 and 11 are not above 11");
}

#[test]
fn a_log_that_stalled_can_be_closed() {
    let mut world = World::new(1, young());
    let owner = opened(&mut world);
    append(&mut world, owner, 0..1);
    assert!(world.step(), "the ledger is made");
    world.storage.trouble = Trouble {
        errors: 1000,
        timeouts: 0,
    };
    world.settle();
    world.storage.trouble = Trouble::default();
    world.tell(owner, Input::Close);
    world.settle();
    let replies = world.take_replies();
    assert!(
        matches!(
            replies.as_slice(),
            [(_, LogReply::NotStored { .. }), (_, LogReply::Closed)]
        ),
        "{replies:?}"
    );
    assert!(
        world.storage.ledgers.is_empty(),
        "an empty ledger is not kept"
    );
}

#[test]
fn a_clean_close_needs_no_recovery() {
    let mut world = World::new(1, young());
    let owner = opened(&mut world);
    append(&mut world, owner, 0..3);
    world.tell(owner, Input::Close);
    append(&mut world, owner, 3..4);
    world.settle();
    let replies: Vec<LogReply> = world
        .take_replies()
        .into_iter()
        .map(|(_, reply)| reply)
        .collect();
    assert!(
        matches!(
            replies.as_slice(),
            [
                LogReply::Stored { .. },
                LogReply::Stored { .. },
                LogReply::Stored { .. },
                LogReply::NotStored { ticket: 3, .. },
                LogReply::Closed,
            ]
        ),
        "{replies:?}"
    );
    assert_eq!(world.stored_list().expect("a list").ledgers[0].entries, 3);
    world.open();
    world.settle();
    let opened = world.take_replies();
    assert!(
        matches!(&opened[0].1, LogReply::Opened { extent, .. } if extent == &[(1, 2)]),
        "{opened:?}"
    );
}

#[test]
fn hostile_bytes_are_an_error_that_names_the_node() {
    let path = "/managed-ledgers/public/default/persistent/orders";
    let long = |start: &[u8]| [start, &[0xff; 40]].concat();
    let list_values = [
        vec![0xff],
        vec![0x0a, 0x00],
        vec![0x47, 0x78],
        vec![0x47, 0x78, 0xff, 0xff, 0xff, 0xff],
        vec![0x47, 0x78, 0, 0, 0, 4, 8, 3, 16, 1, 0],
        long(&[0x0a]),
        vec![0x0a, 2, 8, 5, 0x0a, 2, 8, 5],
        vec![
            0x0a, 11, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
        ],
    ];
    for value in list_values {
        expect_damaged(path, path, value);
    }
    for value in [
        vec![],
        vec![0xff],
        vec![8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    ] {
        expect_damaged(&format!("{path}/c"), &format!("{path}/c"), value);
    }
}

fn expect_damaged(path: &str, named: &str, value: Vec<u8>) {
    let mut world = World::new(1, young());
    let owner = opened(&mut world);
    world.crash(owner);
    world
        .storage
        .nodes
        .insert(path.to_owned(), (value.clone().into(), 7));
    world.open();
    world.settle();
    let replies = world.take_replies();
    let [
        (
            _,
            LogReply::OpenFailed {
                error: LogError::Damaged(text),
            },
        ),
    ] = replies.as_slice()
    else {
        panic!("{value:?}: {replies:?}");
    };
    assert!(text.contains(named), "{text}");
}
