//! SEEK: by id and by time.

use super::world::{World, at, bits, code, entry, subscribe, text};
use letters::SubscriptionType::{Exclusive, Failover, Shared};
use letters::{
    AckKind, InitialPosition, LogRequest, RefusalCode, SeekTarget, SessionLetter, TopicLetter,
};
use vocabulary::Position;

fn id(position: Position) -> SeekTarget {
    SeekTarget::Id(position, None)
}

fn close() -> SessionLetter {
    SessionLetter::CloseConsumer { consumer_id: 1 }
}

fn done() -> SessionLetter {
    SessionLetter::SeekDone {
        request_id: 7,
        consumer_id: 1,
    }
}

/// Without deliveries.
fn said(world: &mut World, session: u64) -> Vec<SessionLetter> {
    let mut letters = world.heard_by(session);
    letters.retain(|letter| !matches!(letter, SessionLetter::Deliver { .. }));
    letters
}

/// Five entries, all delivered and acknowledged on disk.
fn finished() -> World {
    let mut world = World::new();
    world.publish_many(5);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    world.ack_with(1, 1, Some(1), AckKind::Cumulative, at(4), None);
    world.heard();
    world
}

#[test]
fn the_named_entry_is_the_next_one_and_the_consumer_is_closed_before_success() {
    let mut world = finished();
    world.seek(1, id(at(2)));
    assert_eq!(world.heard_by(1), [close(), done()]);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [2, 3, 4]);
}

#[test]
fn ids_that_are_none_mean_the_nearest() {
    for (target, entries) in [
        (Position::EARLIEST, vec![0, 1, 2, 3, 4]),
        (Position::LATEST, vec![]),
        (Position::new(0, 3), vec![0, 1, 2, 3, 4]),
        (at(99), vec![]),
        (Position::new(7, 0), vec![]),
    ] {
        let mut world = finished();
        world.seek(1, id(target));
        world.consumer(1, 1, Exclusive);
        world.flow(1, 1, 10);
        assert_eq!(world.got_entries(1), entries, "{target}");
    }
}

#[test]
fn inside_a_batch_the_messages_before_stay_acknowledged() {
    let mut world = World::new();
    world.producer(900, 1, None);
    world.publish_entry(900, 1, 0, entry(0, 4));
    world.publish_entry(900, 1, 1, entry(1, 4));
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    world.heard();
    world.seek(1, SeekTarget::Id(at(1), Some(bits(&[2, 3]))));
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    let got = world.got(1);
    assert_eq!((got.len(), got[0].position, got[0].permits), (1, at(1), 2));
    assert_eq!(got[0].ack_set, Some(bits(&[2, 3])));
    // Also after a crash.
    world.crash();
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got(1)[0].ack_set, Some(bits(&[2, 3])));
}

#[test]
fn success_waits_for_the_disk_and_so_does_whoever_subscribes() {
    let mut world = finished();
    world.prompt_log = false;
    world.seek(1, id(at(2)));
    assert_eq!(world.heard_by(1), [close()]);
    world.consumer(1, 1, Exclusive);
    world.consumer(2, 1, Exclusive);
    assert_eq!(world.heard(), []);
    world.answer_all();
    let heard = world.heard_by(1);
    assert_eq!(heard[0], done());
    assert!(matches!(heard[1], SessionLetter::Subscribed { .. }));
}

#[test]
fn a_crash_in_between_leaves_the_old_position_or_the_new_one() {
    for stored in [false, true] {
        let mut world = finished();
        world.prompt_log = false;
        world.seek(1, id(at(2)));
        if stored {
            world.answer(0);
        }
        world.crash();
        world.prompt_log = true;
        world.consumer(1, 1, Exclusive);
        world.flow(1, 1, 10);
        let expected = if stored { vec![2, 3, 4] } else { vec![] };
        assert_eq!(world.got_entries(1), expected);
    }
}

#[test]
fn a_seek_that_cannot_be_stored_changes_nothing() {
    let mut world = finished();
    world.log.saves_to_fail = 1;
    world.seek(1, id(at(2)));
    let heard = world.heard_by(1);
    assert_eq!(heard[0], close());
    assert_eq!(code(&heard[1]), Some(RefusalCode::UnknownError));
    let said = text(&heard[1]);
    assert!(
        said.starts_with("Error when resetting subscription: unable to persist"),
        "{said}"
    );
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), []);
    world.advance(20_000);
    world.crash();
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), []);
}

#[test]
fn a_record_under_way_is_waited_for() {
    let mut world = finished();
    world.seek(1, id(at(1)));
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    world.heard();
    world.prompt_log = false;
    world.ack_with(1, 1, Some(8), AckKind::Cumulative, at(3), None);
    world.seek(1, id(at(0)));
    assert_eq!(world.asked().len(), 1, "one record at a time");
    world.answer_all();
    let heard = said(&mut world, 1);
    assert!(matches!(heard[0], SessionLetter::CloseConsumer { .. }));
    assert!(matches!(
        heard[1],
        SessionLetter::AckDone { refusal: None, .. }
    ));
    assert_eq!(heard[2], done());
    world.crash();
    world.prompt_log = true;
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [0, 1, 2, 3, 4]);
}

#[test]
fn everybody_of_a_shared_subscription_goes_and_what_they_held_is_forgotten() {
    let mut world = World::new();
    world.publish_many(6);
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 2);
    world.consumer(2, 1, Shared);
    world.flow(2, 1, 2);
    world.redeliver(1, 1, &[], None);
    world.heard();
    world.seek(1, id(at(3)));
    assert_eq!(said(&mut world, 1), [close(), done()]);
    assert_eq!(said(&mut world, 2), [close()]);
    world.consumer(2, 1, Shared);
    world.flow(2, 1, 10);
    let got = world.got(2);
    assert_eq!(got.len(), 3);
    assert!(got.iter().all(|delivery| delivery.redelivery_count == 0));
    assert_eq!(got[0].position, at(3));
}

#[test]
fn of_failover_the_active_one_goes_and_the_next_goes_on_from_there() {
    let mut world = World::new();
    world.publish_many(4);
    for session in [1, 2] {
        let mut add = subscribe(1, Failover);
        add.priority_level = session as i32;
        world.subscribe(session, add);
        world.flow(session, 1, 10);
    }
    world.ack_with(1, 1, Some(1), AckKind::Cumulative, at(3), None);
    world.heard();
    // Also if the one that stands by asks.
    world.seek(2, id(at(2)));
    assert_eq!(said(&mut world, 1), [close()]);
    assert_eq!(said(&mut world, 2), [done()]);
    world.advance(1000);
    assert_eq!(world.got_entries(2), [2, 3]);
}

#[test]
fn while_the_cursor_is_moved_acks_do_not_count() {
    let mut world = World::new();
    world.publish_many(4);
    for session in [1, 2] {
        let mut add = subscribe(1, Failover);
        add.priority_level = session as i32;
        world.subscribe(session, add);
    }
    world.prompt_log = false;
    world.seek(1, id(at(2)));
    world.heard();
    world.ack_with(2, 1, Some(3), AckKind::Cumulative, at(3), None);
    let heard = world.heard_by(2);
    assert_eq!(code(&heard[0]), Some(RefusalCode::UnknownError));
    world.prompt_log = true;
    world.answer_all();
    world.flow(2, 1, 10);
    world.advance(1000);
    assert_eq!(world.got_entries(2), [2, 3]);
}

#[test]
fn a_second_seek_meanwhile_is_refused() {
    let mut world = World::new();
    world.publish_at(&[10, 20, 30]);
    world.consumer(1, 1, Shared);
    world.consumer(2, 1, Shared);
    world.prompt_log = false;
    world.heard();
    world.seek(1, SeekTarget::Time(20));
    world.seek(2, id(at(0)));
    let heard = world.heard_by(2);
    assert_eq!(code(&heard[0]), Some(RefusalCode::UnknownError));
    assert_eq!(
        text(&heard[0]),
        "Error when resetting subscription: Failed to fence subscription"
    );
    world.seek(2, SeekTarget::Time(1));
    assert_eq!(
        text(&world.heard_by(2)[0]),
        "Reset subscription to publish time error: Failed to fence subscription"
    );
    world.answer_all();
    assert_eq!(said(&mut world, 1), [close(), done()]);
    world.seek(1, id(at(0)));
    assert_eq!(
        code(&world.heard_by(1)[0]),
        Some(RefusalCode::MetadataError)
    );
}

/// What is delivered after a seek to a time.
fn after_time(times: &[u64], time: u64) -> Vec<i64> {
    let mut world = World::new();
    world.publish_at(times);
    let mut latest = subscribe(1, Exclusive);
    latest.initial_position = InitialPosition::Latest;
    world.subscribe(1, latest);
    world.seek(1, SeekTarget::Time(time));
    assert!(world.heard_by(1).contains(&done()));
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 100);
    world.got_entries(1)
}

#[test]
fn a_time_begins_at_the_first_entry_that_is_not_older() {
    let times = [10, 20, 20, 20, 30, 40, 50];
    assert_eq!(after_time(&times, 0), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(after_time(&times, 10), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(after_time(&times, 11), [1, 2, 3, 4, 5, 6]);
    assert_eq!(after_time(&times, 20), [1, 2, 3, 4, 5, 6]);
    assert_eq!(after_time(&times, 25), [4, 5, 6]);
    assert_eq!(after_time(&times, 50), [6]);
    assert_eq!(after_time(&times, 51), [] as [i64; 0]);
    assert_eq!(after_time(&[], 7), [] as [i64; 0]);
    assert_eq!(after_time(&[10], 7), [0]);
}

#[test]
fn a_time_is_found_with_few_reads_and_across_ledgers() {
    for wanted in [0u64, 1, 499, 500, 777, 999] {
        let mut world = World::new();
        world.log.entries_per_ledger = 7;
        world.publish_at(&(0..1000).map(|n| n * 10).collect::<Vec<u64>>());
        let mut latest = subscribe(1, Exclusive);
        latest.initial_position = InitialPosition::Latest;
        world.subscribe(1, latest);
        world.prompt_log = false;
        world.seek(1, SeekTarget::Time(wanted * 10));
        let mut reads = 0;
        while matches!(world.asked()[..], [LogRequest::ReadAt { .. }]) {
            reads += 1;
            world.answer(0);
        }
        assert!(reads <= 13, "{reads} reads");
        world.answer_all();
        assert_eq!(
            world.topic.stats().subscriptions[0].backlog_entries,
            1000 - wanted
        );
    }
}

#[test]
fn entries_that_cannot_be_read_do_not_stop_the_search() {
    let times: Vec<u64> = (0..100).collect();
    for damaged in [0..50, 40..60, 49..51, 90..100, 0..100, 50..100] {
        let mut world = World::new();
        world.publish_at(&times);
        world.log.damaged = damaged.clone().map(at).collect();
        let mut latest = subscribe(1, Exclusive);
        latest.initial_position = InitialPosition::Latest;
        world.subscribe(1, latest);
        world.seek(1, SeekTarget::Time(50));
        world.consumer(1, 1, Exclusive);
        world.flow(1, 1, 1000);
        let readable: Vec<i64> = (50..100).filter(|n| !damaged.contains(n)).collect();
        let got = world.got_entries(1);
        assert!(got.ends_with(&readable), "{damaged:?}: {got:?}");
    }
}

#[test]
fn a_search_that_fails_lets_everybody_go_on() {
    let mut world = World::new();
    world.publish_at(&[10, 20, 30]);
    world.consumer(1, 1, Exclusive);
    world.heard();
    world.log.reads_to_fail = 1;
    world.seek(1, SeekTarget::Time(20));
    let heard = world.heard_by(1);
    assert_eq!(
        text(&heard[0]),
        "Reset subscription to publish time error: storage failed: the disk is gone"
    );
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [0, 1, 2]);
}

#[test]
fn a_seek_back_holds_what_was_given_up_and_not_trimmed_yet() {
    let mut world = World::new();
    world.log.entries_per_ledger = 2;
    world.publish_many(6);
    world.consumer(1, 1, Exclusive);
    world.ack_with(
        1,
        1,
        Some(1),
        AckKind::Cumulative,
        Position::new(2, 1),
        None,
    );
    assert_eq!(world.log.trims.last(), Some(&Position::new(2, 1)));
    world.prompt_log = false;
    world.seek(1, id(Position::new(1, 1)));
    world.answer(0);
    assert!(
        world.log.trims.ends_with(&[Position::new(1, 0)])
            || world.asked().iter().any(
                |asked| matches!(asked, LogRequest::Trim { up_to } if *up_to == Position::new(1, 0))
            ),
        "before the new position is on disk"
    );
}

/// Everything up to 1:1 is given up; the record under way moves no mark, as it is of an ack ahead of it.
fn seeks_back_behind_a_record(saves_to_fail: u32) -> World {
    let mut world = World::new();
    world.log.entries_per_ledger = 2;
    world.publish_many(6);
    world.consumer(1, 1, Exclusive);
    let given_up = Position::new(1, 1);
    world.ack_with(1, 1, Some(1), AckKind::Cumulative, given_up, None);
    assert_eq!(world.log.trims.last(), Some(&given_up));
    world.prompt_log = false;
    let ahead = Position::new(2, 1);
    world.ack_with(1, 1, Some(2), AckKind::Individual, ahead, None);
    world.log.saves_to_fail = saves_to_fail;
    world.seek(1, id(Position::new(1, 0)));
    assert_eq!(world.asked().len(), 1, "only the record of the ack");
    world.answer_all();
    world
}

#[test]
fn a_seek_back_that_waits_for_a_record_holds_what_was_given_up_too() {
    for saves_to_fail in [0, 1] {
        let mut world = seeks_back_behind_a_record(saves_to_fail);
        assert!(world.heard_by(1).contains(&done()));
        assert_eq!(world.log.trims.last(), Some(&Position::new(1, -1)));
    }
}

#[test]
fn what_is_trimmed_meanwhile_is_passed_over() {
    let mut world = World::new();
    world.log.entries_per_ledger = 2;
    world.publish_many(6);
    world.consumer(1, 1, Exclusive);
    world.prompt_log = false;
    world.seek(1, id(Position::new(1, 0)));
    world.reply(letters::LogReply::Trimmed {
        first: Position::new(2, 0),
    });
    world.prompt_log = true;
    world.answer_all();
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got(1)[0].position, Position::new(2, 0));
}

#[test]
fn a_reader_seeks_in_memory_and_is_waited_for() {
    let mut world = World::new();
    world.publish_many(4);
    let mut add = subscribe(1, Exclusive);
    add.durable = false;
    add.start = Some((Position::LATEST, None));
    world.subscribe(1, add.clone());
    world.heard();
    world.seek(1, id(at(2)));
    assert_eq!(world.heard_by(1), [close(), done()]);
    assert_eq!(world.log.saves, 0);
    // Its start is where it began once; the subscription is where it sought.
    world.advance(59_000);
    world.subscribe(1, add);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [2, 3]);
    world.seek(1, id(at(0)));
    world.subscribe(3, subscribe_other());
    world.advance(60_000);
    assert_eq!(
        world.topic.stats().subscriptions.len(),
        1,
        "nobody came back"
    );
}

fn subscribe_other() -> letters::AddConsumer {
    let mut add = subscribe(1, Exclusive);
    add.subscription = "other".to_owned();
    add
}

#[test]
fn who_leaves_during_a_search_is_answered() {
    let mut world = World::new();
    world.publish_at(&[10, 20, 30]);
    let mut add = subscribe(1, Exclusive);
    add.durable = false;
    world.subscribe(1, add);
    world.prompt_log = false;
    world.seek(1, SeekTarget::Time(20));
    world.heard();
    world.leave(1, 1);
    let heard = world.heard_by(1);
    assert!(
        heard
            .iter()
            .any(|letter| code(letter) == Some(RefusalCode::UnknownError))
    );
    world.answer_all();
    assert_eq!(world.topic.stats().subscriptions.len(), 0);
}

#[test]
fn a_log_that_is_lost_meanwhile_refuses_the_seek() {
    let mut world = finished();
    world.prompt_log = false;
    world.seek(1, id(at(2)));
    let error = letters::LogError::Fenced("t".to_owned());
    world.reply(letters::LogReply::Lost { error });
    let heard = world.heard_by(1);
    assert_eq!(heard[0], close());
    assert_eq!(code(&heard[1]), Some(RefusalCode::UnknownError));
    world.tell(1, TopicLetter::SessionGone);
}
