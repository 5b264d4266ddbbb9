//! How cursors are kept and restored, on a storage that does as it is told.

use crate::support::world::World;
use crate::support::{Asker, Trouble};
use bytes::Bytes;
use letters::LogReply;
use letters::log::CursorRecord;
use managed_ledger::{Input, Settings};
use std::time::Duration;

fn young() -> Settings {
    Settings {
        rollover_age_min: Duration::ZERO,
        ..Settings::default()
    }
}

fn opened(world: &mut World) -> Asker {
    let owner = world.open();
    world.settle();
    world.take_replies();
    owner
}

fn save(world: &mut World, owner: Asker, ticket: u64, record: CursorRecord) {
    world.tell(
        owner,
        Input::SaveCursor {
            ticket,
            name: "a/b".to_owned(),
            record,
        },
    );
}

fn delta(text: &'static str) -> CursorRecord {
    CursorRecord::Delta(Bytes::from_static(text.as_bytes()))
}

fn snapshot(text: &'static str) -> CursorRecord {
    CursorRecord::Snapshot(Bytes::from_static(text.as_bytes()))
}

/// Snapshot and deltas of the one cursor, after a crash.
fn restored(world: &mut World, owner: Asker) -> (Asker, String) {
    world.crash(owner);
    world.take_replies();
    let owner = world.open();
    world.settle();
    let replies = world.take_replies();
    let [(_, LogReply::Opened { cursors, .. })] = replies.as_slice() else {
        panic!("{replies:?}")
    };
    let [cursor] = cursors.as_slice() else {
        return (owner, "none".to_owned());
    };
    assert_eq!(cursor.name, "a/b");
    let deltas = cursor
        .deltas
        .iter()
        .map(|delta| format!("+{}", String::from_utf8_lossy(delta)));
    (
        owner,
        format!(
            "{}{}",
            String::from_utf8_lossy(&cursor.snapshot),
            deltas.collect::<String>()
        ),
    )
}

fn with_cursor(settings: Settings) -> (World, Asker) {
    let mut world = World::new(1, settings);
    let owner = opened(&mut world);
    let snapshot = Bytes::from_static(b"zero");
    world.tell(
        owner,
        Input::CreateCursor {
            ticket: 1,
            name: "a/b".to_owned(),
            snapshot,
        },
    );
    world.settle();
    (world, owner)
}

#[test]
fn a_cursor_is_restored_from_node_ledger_and_the_ledger_after_that() {
    let (mut world, owner) = with_cursor(young());
    assert!(
        world
            .storage
            .nodes
            .contains_key("/managed-ledgers/public/default/persistent/orders/a%2Fb")
    );
    let (owner, found) = restored(&mut world, owner);
    assert_eq!(found, "zero");
    for (ticket, record) in [delta("1"), delta("2")].into_iter().enumerate() {
        save(&mut world, owner, ticket as u64, record);
    }
    world.settle();
    let (owner, found) = restored(&mut world, owner);
    assert_eq!(found, "zero+1+2");
    save(&mut world, owner, 3, delta("3"));
    save(&mut world, owner, 4, snapshot("four"));
    save(&mut world, owner, 5, delta("5"));
    world.settle();
    let (owner, found) = restored(&mut world, owner);
    assert_eq!(found, "four+5");
    assert_eq!(
        world.storage.ledgers.len(),
        1,
        "a ledger that is left behind is deleted"
    );
    world.tell(
        owner,
        Input::DeleteCursor {
            ticket: 6,
            name: "a/b".to_owned(),
        },
    );
    world.settle();
    assert!(world.storage.ledgers.is_empty());
    assert_eq!(restored(&mut world, owner).1, "none");
}

#[test]
fn an_unfinished_snapshot_does_not_count() {
    let (mut world, owner) = with_cursor(Settings {
        cursor_part_bytes_max: 2,
        ..young()
    });
    save(&mut world, owner, 1, snapshot("abcdef"));
    save(&mut world, owner, 2, delta("123"));
    world.settle();
    let (owner, found) = restored(&mut world, owner);
    assert_eq!(found, "abcdef+123");
    save(&mut world, owner, 3, delta("4"));
    world.settle();
    save(&mut world, owner, 4, snapshot("uvwxyz"));
    for _ in 0..2 {
        assert!(world.step());
    }
    let (owner, found) = restored(&mut world, owner);
    assert_eq!(found, "abcdef+123+4");
    save(&mut world, owner, 5, delta("567"));
    world.settle();
    assert_eq!(restored(&mut world, owner).1, "abcdef+123+4+567");
}

#[test]
fn a_grown_cursor_ledger_is_left_at_a_snapshot() {
    let (mut world, owner) = with_cursor(Settings {
        cursor_ledger_entries_max: 3,
        ..young()
    });
    for ticket in 0..4 {
        save(&mut world, owner, ticket, delta("d"));
    }
    world.settle();
    let before: Vec<i64> = world.storage.ledgers.keys().copied().collect();
    save(&mut world, owner, 4, snapshot("s"));
    save(&mut world, owner, 5, delta("e"));
    world.settle();
    let after: Vec<i64> = world.storage.ledgers.keys().copied().collect();
    assert_ne!(before, after);
    assert_eq!(restored(&mut world, owner).1, "s+e");
}

#[test]
fn after_a_failed_record_only_a_snapshot_helps() {
    let (mut world, owner) = with_cursor(young());
    save(&mut world, owner, 1, delta("1"));
    world.settle();
    world.take_replies();
    world.storage.trouble = Trouble {
        errors: 1000,
        timeouts: 0,
    };
    save(&mut world, owner, 2, delta("2"));
    save(&mut world, owner, 3, delta("3"));
    assert!(world.step());
    world.storage.trouble = Trouble::default();
    save(&mut world, owner, 4, delta("4"));
    save(&mut world, owner, 5, snapshot("five"));
    save(&mut world, owner, 6, delta("6"));
    world.settle();
    let results: Vec<(u64, bool)> = world
        .take_replies()
        .into_iter()
        .filter_map(|(_, reply)| match reply {
            LogReply::CursorSaved { ticket, result, .. } => Some((ticket, result.is_ok())),
            _ => None,
        })
        .collect();
    assert_eq!(
        results,
        [(2, false), (3, false), (4, false), (5, true), (6, true)]
    );
    assert_eq!(restored(&mut world, owner).1, "five+6");
}

#[test]
fn a_second_owner_ends_the_log_at_the_next_record() {
    for saves_before in [0, 1] {
        let (mut world, first) = with_cursor(young());
        for ticket in 0..saves_before {
            save(&mut world, first, ticket, delta("1"));
        }
        world.settle();
        opened(&mut world);
        save(&mut world, first, 9, delta("2"));
        world.settle();
        let replies = world.take_replies();
        let ended = matches!(
            replies.as_slice(),
            [
                (
                    _,
                    LogReply::CursorSaved {
                        ticket: 9,
                        result: Err(letters::LogError::Fenced(_)),
                        ..
                    }
                ),
                (_, LogReply::Lost { .. }),
            ]
        );
        assert_eq!(
            ended,
            saves_before > 0,
            "a cursor ledger is fenced, a node is not: {replies:?}"
        );
    }
}

#[test]
fn a_cursor_that_another_owner_moved_ends_the_log() {
    let (mut world, first) = with_cursor(young());
    let second = opened(&mut world);
    save(&mut world, second, 1, delta("1"));
    world.settle();
    world.take_replies();
    save(&mut world, first, 2, delta("2"));
    world.settle();
    let replies = world.take_replies();
    assert!(
        matches!(replies.last(), Some((owner, LogReply::Lost { .. })) if *owner == first),
        "{replies:?}"
    );
    assert_eq!(restored(&mut world, second).1, "zero+1");
}

/// What is lost of the one cursor, after a crash, and its snapshot.
fn restored_in_part(world: &mut World, owner: Asker) -> (Asker, String, Option<String>) {
    world.crash(owner);
    world.take_replies();
    let owner = world.open();
    world.settle();
    let replies = world.take_replies();
    let [(_, LogReply::Opened { cursors, .. })] = replies.as_slice() else {
        panic!("{replies:?}")
    };
    let [cursor] = cursors.as_slice() else {
        panic!("{cursors:?}")
    };
    assert!(cursor.deltas.is_empty());
    let snapshot = String::from_utf8_lossy(&cursor.snapshot).into_owned();
    (owner, snapshot, cursor.lost.clone())
}

#[test]
fn a_cursor_whose_ledger_is_gone_or_damaged_begins_at_what_its_node_remembers() {
    for gone in [true, false] {
        for (small, remembered) in [(1024, "one"), (2, "")] {
            let (mut world, owner) = with_cursor(Settings {
                node_snapshot_bytes_max: small,
                ..young()
            });
            save(&mut world, owner, 1, snapshot("one"));
            save(&mut world, owner, 2, delta("2"));
            world.settle();
            let ids: Vec<i64> = world.storage.ledgers.keys().copied().collect();
            let [ledger] = ids[..] else { panic!("{ids:?}") };
            match gone {
                true => drop(world.storage.ledgers.remove(&ledger)),
                false => world.storage.damaged.push(ledger),
            }
            let (owner, found, lost) = restored_in_part(&mut world, owner);
            assert_eq!(found, remembered);
            let lost = lost.expect("something is lost");
            assert!(lost.contains(&format!("ledger {ledger}")), "{lost}");
            // A delta to what is not there would be nonsense; a snapshot makes it whole, in a ledger of its own.
            save(&mut world, owner, 3, delta("3"));
            save(&mut world, owner, 4, snapshot("four"));
            save(&mut world, owner, 5, delta("5"));
            world.settle();
            let saved: Vec<(u64, bool)> = world
                .take_replies()
                .into_iter()
                .filter_map(|(_, reply)| match reply {
                    LogReply::CursorSaved { ticket, result, .. } => Some((ticket, result.is_ok())),
                    _ => None,
                })
                .collect();
            assert_eq!(saved, [(3, false), (4, true), (5, true)]);
            assert!(!world.storage.ledgers.contains_key(&ledger));
            assert_eq!(restored(&mut world, owner).1, "four+5");
        }
    }
}
