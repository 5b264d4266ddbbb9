//! Readers: subscriptions in memory only.

use super::world::{World, at, code, subscribe, text};
use letters::SubscriptionType::{Exclusive, Shared};
use letters::{AckKind, AddConsumer, InitialPosition, LogRequest, RefusalCode, SessionLetter};
use vocabulary::Position;

fn reader(consumer_id: u64, start: Option<Position>) -> AddConsumer {
    AddConsumer {
        durable: false,
        subscription: format!("reader-{consumer_id}"),
        initial_position: InitialPosition::Latest,
        start: start.map(|start| (start, None)),
        ..subscribe(consumer_id, Exclusive)
    }
}

/// Entries 1:0 to 1:2, 2:0 to 2:2, 3:0 and 3:1; what a reader that starts there gets.
fn read_from(start: Option<Position>, initial: InitialPosition) -> Vec<Position> {
    let mut world = World::new();
    world.log.entries_per_ledger = 3;
    world.publish_many(8);
    let mut add = reader(1, start);
    add.initial_position = initial;
    world.subscribe(1, add);
    world.flow(1, 1, 100);
    let got = world.got(1);
    got.iter().map(|delivery| delivery.position).collect()
}

#[test]
fn a_reader_starts_where_it_says() {
    let from = |start| {
        read_from(Some(start), InitialPosition::Latest)
            .first()
            .copied()
    };
    let pos = Position::new;
    assert_eq!(
        from(pos(1, 1)),
        Some(pos(1, 1)),
        "the named entry is read again"
    );
    assert_eq!(from(pos(2, 0)), Some(pos(2, 0)));
    assert_eq!(
        from(pos(2, -1)),
        Some(pos(2, 0)),
        "entry -1: from the first of the ledger on"
    );
    assert_eq!(
        from(pos(1, 77)),
        Some(pos(2, 0)),
        "past the end of a ledger"
    );
    assert_eq!(from(pos(0, 5)), Some(pos(1, 0)), "a ledger that is gone");
    assert_eq!(from(Position::EARLIEST), Some(pos(1, 0)));
    assert_eq!(from(Position::LATEST), None);
    assert_eq!(from(pos(3, 2)), None, "beyond the end");
    assert_eq!(from(pos(9, 0)), None);
    // Expectation: C++ has 48 bits for an entry, so its "latest" is not the largest number.
    assert_eq!(from(pos(i64::MAX, (1 << 48) - 1)), None);
    let all = read_from(Some(pos(9, 0)), InitialPosition::Earliest);
    assert_eq!(all.len(), 8, "beyond the end counts the initial position");
    assert_eq!(read_from(None, InitialPosition::Latest), []);
}

#[test]
fn a_reader_is_never_saved_and_its_acks_work() {
    let mut world = World::new();
    world.publish_many(3);
    world.subscribe(1, reader(1, Some(Position::EARLIEST)));
    world.flow(1, 1, 2);
    assert_eq!(world.got_entries(1), [0, 1]);
    world.ack_with(1, 1, Some(5), AckKind::Cumulative, at(1), None);
    let done = SessionLetter::AckDone {
        request_id: 5,
        consumer_id: 1,
        refusal: None,
    };
    assert_eq!(world.heard_by(1), [done]);
    assert_eq!(world.topic.stats().subscriptions[0].backlog_entries, 1);
    world.advance(60_000);
    assert_eq!((world.log.saves, world.log.cursors.len()), (0, 0));
}

#[test]
fn a_reader_vanishes_with_its_last_consumer() {
    let mut world = World::new();
    world.publish_many(1);
    let mut add = reader(1, Some(Position::EARLIEST));
    add.subscription_type = Shared;
    world.subscribe(1, add.clone());
    add.consumer_id = 2;
    world.subscribe(1, add);
    world.leave(1, 1);
    assert_eq!(world.topic.stats().subscriptions.len(), 1);
    world.leave(1, 2);
    assert_eq!(world.topic.stats().subscriptions.len(), 0);
    // It comes back where it says, not where it was.
    world.subscribe(1, reader(1, Some(at(0))));
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [0]);
}

#[test]
fn a_name_is_of_one_kind() {
    let mut world = World::new();
    world.consumer(1, 1, Shared);
    world.heard();
    let mut add = reader(2, None);
    add.subscription = "sub".to_owned();
    world.subscribe(2, add.clone());
    let heard = world.heard_by(2);
    assert_eq!(code(&heard[0]), Some(RefusalCode::NotAllowedError));
    assert_eq!(
        text(&heard[0]),
        "Durable subscription with the same name already exists."
    );
    add.subscription = "reader".to_owned();
    world.subscribe(2, add.clone());
    world.heard();
    add.durable = true;
    world.subscribe(3, add);
    let heard = world.heard_by(3);
    assert_eq!(code(&heard[0]), Some(RefusalCode::NotAllowedError));
    assert_eq!(
        text(&heard[0]),
        "NonDurable subscription with the same name already exists."
    );
}

#[test]
fn a_reader_needs_no_leave_to_make_subscriptions_and_holds_nothing_back() {
    let mut world = World::with(|settings| settings.auto_create_subscriptions = false);
    world.publish_many(3);
    world.subscribe(1, reader(1, Some(Position::EARLIEST)));
    world.flow(1, 1, 1);
    assert_eq!(world.got_entries(1), [0]);

    let mut world = World::new();
    world.log.entries_per_ledger = 2;
    world.publish_many(5);
    world.subscribe(1, reader(1, Some(Position::EARLIEST)));
    world.consumer(2, 1, Exclusive);
    world.ack_with(
        2,
        1,
        Some(1),
        AckKind::Cumulative,
        Position::new(2, 1),
        None,
    );
    assert_eq!(world.log.trims.last(), Some(&Position::new(2, 1)));
    world.reply(letters::LogReply::Trimmed {
        first: Position::new(3, 0),
    });
    world.flow(1, 1, 10);
    let got = world.got(1);
    assert_eq!(
        got[0].position,
        Position::new(3, 0),
        "what is trimmed is passed over"
    );
}

#[test]
fn a_topic_with_readers_only_sleeps_when_they_leave() {
    let mut world = World::new();
    world.subscribe(1, reader(1, None));
    world.leave(1, 1);
    world.advance(60_000);
    assert_eq!(world.asleep, 1);
    assert!(!world.log.is_open);
}

#[test]
fn a_start_by_time_seeks_before_the_consumer_is_let_in() {
    let mut world = World::new();
    world.publish_at(&[10, 20, 30, 40_000, 50_000]);
    world.wall_ms = 60_000;
    let mut add = reader(1, None);
    add.start_rollback_seconds = Some(25);
    world.subscribe(1, add);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [3, 4]);
    // A durable one, too, and again whenever a client says so.
    let mut add = subscribe(1, Exclusive);
    add.start_rollback_seconds = Some(15);
    world.subscribe(2, add.clone());
    world.flow(2, 1, 10);
    assert_eq!(world.got_entries(2), [4]);
    world.leave(2, 1);
    add.start_rollback_seconds = Some(100);
    world.prompt_log = false;
    world.subscribe(2, add);
    world.heard();
    world.answer_all();
    let heard = world.heard_by(2);
    assert!(matches!(heard[0], SessionLetter::Subscribed { .. }));
    world.flow(2, 1, 10);
    world.answer_all();
    assert_eq!(world.got_entries(2), [0, 1, 2, 3, 4]);
}

#[test]
fn a_start_by_time_that_cannot_be_found_lets_its_consumer_in_all_the_same() {
    let mut world = World::new();
    world.publish_at(&[10, 20]);
    world.wall_ms = 60_000;
    world.log.reads_to_fail = 1;
    let mut add = reader(1, Some(Position::LATEST));
    add.start_rollback_seconds = Some(100);
    world.subscribe(1, add);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), []);
    world.publish(900, 1, 2);
    assert_eq!(world.got_entries(1), [2]);
}

#[test]
fn a_new_subscription_at_the_first_entry_takes_back_what_was_given_up() {
    let mut world = World::new();
    world.log.entries_per_ledger = 2;
    world.publish_many(5);
    world.consumer(1, 1, Exclusive);
    world.ack_with(
        1,
        1,
        Some(1),
        AckKind::Cumulative,
        Position::new(2, 1),
        None,
    );
    let mut add = subscribe(1, Exclusive);
    add.subscription = "late".to_owned();
    world.subscribe(2, add);
    assert_eq!(
        world.log.trims[1..],
        [Position::new(2, 1), Position::new(1, -1)]
    );
    assert!(!matches!(world.asked()[..], [LogRequest::Trim { .. }]));
}
