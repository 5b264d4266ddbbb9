//! Acks, their receipts, and what survives.

use super::world::{World, at, bits, code, entry, subscribe};
use letters::AckKind::{Cumulative, Individual};
use letters::SubscriptionType::{Exclusive, Shared};
use letters::{LogRequest, RefusalCode, SessionLetter};
use vocabulary::Position;

const NOTHING: [i64; 0] = [];

fn done(request_id: u64) -> SessionLetter {
    SessionLetter::AckDone {
        request_id,
        consumer_id: 1,
        refusal: None,
    }
}

fn consumer(entries: u64, kind: letters::SubscriptionType) -> World {
    let mut world = World::new();
    world.publish_many(entries);
    world.consumer(1, 1, kind);
    world.flow(1, 1, 100);
    world.heard();
    world
}

#[test]
fn a_receipt_comes_after_the_record_is_on_disk_and_acks_meanwhile_share_the_next() {
    let mut world = consumer(5, Shared);
    world.prompt_log = false;
    world.ack_with(1, 1, Some(1), Individual, at(0), None);
    assert!(
        matches!(world.asked()[..], [LogRequest::SaveCursor { .. }]),
        "at once, since somebody waits"
    );
    world.ack_with(1, 1, Some(2), Individual, at(1), None);
    world.ack_with(1, 1, Some(3), Individual, at(2), None);
    assert_eq!(world.asked().len(), 1, "one record at a time");
    assert_eq!(world.heard(), []);
    world.answer(0);
    assert_eq!(world.heard(), [(1, done(1))]);
    assert_eq!(
        world
            .asked()
            .iter()
            .filter(|asked| matches!(asked, LogRequest::SaveCursor { .. }))
            .count(),
        1
    );
    world.answer_all();
    assert_eq!(world.heard(), [(1, done(2)), (1, done(3))]);
}

#[test]
fn an_ack_that_nobody_waits_for_is_on_disk_within_half_a_second() {
    let mut world = consumer(3, Shared);
    world.ack(1, 1, &[at(0)]);
    world.advance(300);
    world.ack(1, 1, &[at(1)]);
    assert_eq!(world.log.saves, 0);
    world.advance(200);
    assert_eq!(world.log.saves, 1);
    world.crash();
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 100);
    assert_eq!(world.got_entries(1), [2]);
}

#[test]
fn acks_of_what_is_acknowledged_or_was_never_there_succeed() {
    let mut world = consumer(1, Shared);
    world.ack_with(1, 1, Some(1), Individual, at(0), None);
    world.ack_with(1, 1, Some(2), Individual, at(0), None);
    world.ack_with(1, 1, Some(3), Individual, at(99), None);
    world.ack_with(1, 1, Some(4), Individual, Position::new(-1, -1), None);
    assert_eq!(
        world.heard(),
        [(1, done(1)), (1, done(2)), (1, done(3)), (1, done(4))]
    );
    assert_eq!(world.log.saves, 1);
    assert_eq!(world.topic.stats().subscriptions[0].acks_ignored, 1);
}

#[test]
fn a_repeated_ack_waits_for_the_record_that_holds_the_first() {
    let mut world = consumer(1, Shared);
    world.prompt_log = false;
    world.ack_with(1, 1, Some(1), Individual, at(0), None);
    world.ack_with(1, 1, Some(2), Individual, at(0), None);
    assert_eq!(world.heard(), []);
    world.answer_all();
    assert_eq!(world.heard(), [(1, done(1)), (1, done(2))]);
    assert_eq!(world.log.saves, 1);
}

#[test]
fn an_unknown_consumer_is_told_so() {
    let mut world = consumer(1, Shared);
    world.ack_with(7, 1, Some(1), Individual, at(0), None);
    assert_eq!(
        code(&world.heard_by(7)[0]),
        Some(RefusalCode::ConsumerNotFound)
    );
}

#[test]
fn cumulative_acks_reach_back_and_are_refused_for_shared() {
    let mut world = consumer(4, Exclusive);
    world.ack_with(1, 1, Some(1), Cumulative, at(2), None);
    assert_eq!(world.heard(), [(1, done(1))]);
    assert_eq!(world.topic.stats().subscriptions[0].mark, at(2));
    let mut world = consumer(4, Shared);
    world.ack_with(1, 1, None, Cumulative, at(2), None);
    assert_eq!(world.heard(), []);
    world.ack_with(1, 1, Some(1), Cumulative, at(2), None);
    assert_eq!(
        code(&world.heard()[0].1),
        Some(RefusalCode::NotAllowedError)
    );
    assert_eq!(world.topic.stats().subscriptions[0].mark, at(-1));
}

#[test]
fn a_cumulative_ack_within_a_batch_leaves_the_rest_of_it() {
    let mut world = consumer(1, Exclusive);
    world.publish_entry(900, 1, 1, entry(1, 4));
    world.ack_with(1, 1, Some(1), Cumulative, at(1), Some(bits(&[2, 3])));
    assert_eq!(world.topic.stats().subscriptions[0].mark, at(0));
    world.crash();
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    let got = world.got(1);
    assert_eq!(
        (got.len(), got[0].permits, got[0].ack_set.clone()),
        (1, 2, Some(bits(&[2, 3])))
    );
}

#[test]
fn a_confirmed_ack_survives_and_holes_stay_holes() {
    let mut world = consumer(5, Shared);
    world.ack_with(1, 1, Some(1), Individual, at(1), None);
    world.ack_with(1, 1, Some(2), Individual, at(3), None);
    world.crash();
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 100);
    assert_eq!(world.got_entries(1), [0, 2, 4]);
}

#[test]
fn a_failed_record_is_told_to_who_waited_and_tried_again_whole() {
    let mut world = consumer(3, Shared);
    world.log.saves_to_fail = 1;
    world.ack_with(1, 1, Some(1), Individual, at(0), None);
    assert_eq!(
        code(&world.heard()[0].1),
        Some(RefusalCode::PersistenceError)
    );
    world.ack_with(1, 1, Some(2), Individual, at(1), None);
    assert_eq!(world.heard(), [], "it waits for the next attempt");
    assert_eq!(world.log.saves, 1);
    world.prompt_log = false;
    world.advance(500);
    let snapshot = |request: &&LogRequest| {
        matches!(
            request,
            LogRequest::SaveCursor {
                record: letters::log::CursorRecord::Snapshot(_),
                ..
            }
        )
    };
    assert!(world.asked().iter().any(snapshot), "{:?}", world.asked());
    world.answer_all();
    assert_eq!(world.heard(), [(1, done(2))]);
    world.advance(600_000);
    assert_eq!(world.log.saves, 2);
}

#[test]
fn attempts_grow_rarer() {
    let mut world = consumer(1, Shared);
    world.log.saves_to_fail = u32::MAX;
    world.ack(1, 1, &[at(0)]);
    world.advance(500 + 500 + 1000 + 2000);
    assert_eq!(world.log.saves, 4);
    world.advance(60_000);
    assert!(world.log.saves < 12, "{}", world.log.saves);
}

#[test]
fn waiting_acks_are_bounded() {
    let mut world = World::with(|settings| settings.ack_waiters_max = 1);
    world.publish_many(3);
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 10);
    world.prompt_log = false;
    for request_id in 0..3 {
        world.ack_with(
            1,
            1,
            Some(request_id),
            Individual,
            at(request_id as i64),
            None,
        );
    }
    let codes: Vec<_> = world.heard_by(1).iter().filter_map(code).collect();
    assert_eq!(codes, [RefusalCode::TooManyRequests]);
    world.answer_all();
    assert_eq!(
        world.topic.stats().subscriptions[0].mark,
        at(2),
        "the ack counts all the same"
    );
}

#[test]
fn the_log_is_told_what_the_slowest_subscription_no_longer_needs() {
    let mut world = consumer(4, Shared);
    let mut add = subscribe(2, Shared);
    add.subscription = "other".to_owned();
    world.subscribe(1, add);
    world.flow(1, 2, 100);
    world.ack_with(1, 1, Some(1), Individual, at(0), None);
    world.ack_with(1, 1, Some(2), Individual, at(1), None);
    assert_eq!(world.log.trims, [at(-1)], "what was before may go");
    world.log.trims.clear();
    world.ack_with(1, 2, Some(3), Individual, at(2), None);
    assert!(world.log.trims.is_empty(), "the mark did not move");
    world.ack_with(1, 2, Some(4), Individual, at(0), None);
    assert_eq!(world.log.trims, [at(0)]);
    world.ack(1, 1, &[at(2)]);
    world.ack(1, 2, &[at(1)]);
    assert_eq!(world.log.trims, [at(0)], "not before it is on disk");
    world.advance(500);
    assert_eq!(world.log.trims, [at(0), at(1), at(2)]);
}

#[test]
fn ledgers_that_are_gone_are_forgotten() {
    let mut world = consumer(0, Shared);
    world.log.entries_per_ledger = 2;
    for sequence_id in 0..4 {
        world.publish(900, 1, sequence_id);
    }
    world.ack(1, 1, &[at(0), at(1)]);
    world.log.entries.retain(|position, _| position.ledger > 1);
    world.reply(letters::LogReply::Trimmed {
        first: Position::new(2, 0),
    });
    world.heard();
    world.redeliver(1, 1, &[], None);
    assert_eq!(world.got_entries(1), [0, 1]);
    world.ack(1, 1, &[at(0)]);
    assert_eq!(world.got_entries(1), NOTHING);
}

#[test]
fn an_ack_set_larger_than_any_batch_is_refused() {
    let mut world = consumer(1, Shared);
    let huge = vocabulary::AckSet::from_wire(&vec![-1; 20_000]);
    world.ack_with(1, 1, Some(1), Individual, at(0), Some(huge.clone()));
    assert_eq!(
        code(&world.heard()[0].1),
        Some(RefusalCode::NotAllowedError)
    );
    let mut world = consumer(1, Exclusive);
    world.ack_with(1, 1, Some(1), Cumulative, at(0), Some(huge));
    assert_eq!(
        code(&world.heard()[0].1),
        Some(RefusalCode::NotAllowedError)
    );
}

#[test]
fn what_was_acknowledged_while_a_record_was_on_its_way_is_not_on_disk_with_it() {
    let mut world = consumer(2, Shared);
    world.prompt_log = false;
    world.ack_with(1, 1, Some(1), Individual, at(0), None);
    world.ack(1, 1, &[at(1)]);
    world.answer(0);
    assert_eq!(world.topic.stats().subscriptions[0].durable_mark, at(0));
    assert!(matches!(world.asked()[..], [LogRequest::Trim { up_to }] if *up_to == at(0)));
}

#[test]
fn being_woken_early_loses_no_moment() {
    let mut world = consumer(1, Shared);
    world.ack(1, 1, &[at(0)]);
    let due = world.wake_at.take();
    assert!(due.is_some());
    world.input(crate::TopicInput::TimeCame);
    assert_eq!(world.wake_at, due);
}

#[test]
fn where_batch_index_acks_are_off_a_partial_ack_waits_for_the_whole_entry() {
    let mut world = World::with(|settings| settings.batch_index_acks = false);
    world.publish_many(3);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 100);
    world.heard();
    world.ack_with(1, 1, Some(1), Individual, at(0), Some(bits(&[0])));
    assert_eq!(world.topic.stats().subscriptions[0].backlog_entries, 3);
    world.ack_with(1, 1, Some(2), Cumulative, at(2), Some(bits(&[0])));
    assert_eq!(
        world.topic.stats().subscriptions[0].backlog_entries,
        1,
        "up to the entry before"
    );
    world.ack_with(1, 1, Some(3), Individual, at(2), Some(bits(&[])));
    assert_eq!(
        world.topic.stats().subscriptions[0].backlog_entries,
        0,
        "nothing of it remains"
    );
}
