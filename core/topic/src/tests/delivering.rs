//! Permits, prices, credit, reads: what a consumer gets, and when.

use super::world::{World, at, bits, entry, marker, sized_entry, subscribe};
use letters::SubscriptionType::{Exclusive, Failover, Shared};
use letters::to_topic::UNWRITTEN_BYTES_MAX;
use letters::{AckKind, LogRequest, SessionLetter, TopicLetter};
use vocabulary::Position;

const NOTHING: [i64; 0] = [];

fn permits(world: &World) -> i64 {
    world.topic.stats().subscriptions[0].consumers[0].permits
}

#[test]
fn nothing_is_read_without_permits_and_no_more_than_they_allow() {
    let mut world = World::new();
    world.publish_many(5);
    world.consumer(1, 1, Exclusive);
    world.prompt_log = false;
    assert!(world.asked().is_empty());
    world.flow(1, 1, 2);
    assert!(
        matches!(world.asked()[..], [LogRequest::Read { from, until, entries_max: 2, .. }] if *from == at(0) && *until == at(4))
    );
    world.answer_all();
    assert_eq!(world.got_entries(1), [0, 1]);
    assert_eq!(permits(&world), 0);
}

#[test]
fn what_is_stored_later_is_delivered_at_once() {
    let mut world = World::new();
    world.publish_many(0);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 2);
    for sequence_id in 0..3 {
        world.publish(900, 1, sequence_id);
    }
    assert_eq!(world.got_entries(1), [0, 1]);
    world.flow(1, 1, 1);
    assert_eq!(world.got_entries(1), [2]);
}

#[test]
fn a_batch_costs_its_messages_and_may_overdraw_by_one_batch() {
    let mut world = World::new();
    world.publish_many(0);
    world.publish_entry(900, 1, 0, entry(0, 10));
    world.publish_entry(900, 1, 10, entry(10, 10));
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 3);
    let got = world.got(1);
    assert_eq!((got.len(), got[0].permits), (1, 10));
    assert_eq!(permits(&world), -7);
    world.flow(1, 1, 7);
    assert!(world.got(1).is_empty());
    world.flow(1, 1, 1);
    assert_eq!(world.got(1)[0].permits, 10);
}

#[test]
fn a_batch_acknowledged_in_part_costs_what_is_left_everywhere() {
    for kind in [Exclusive, Shared] {
        let mut world = World::new();
        world.publish_many(0);
        world.publish_entry(900, 1, 0, entry(0, 10));
        world.consumer(1, 1, kind);
        world.flow(1, 1, 10);
        world.ack_with(
            1,
            1,
            None,
            AckKind::Individual,
            at(0),
            Some(bits(&[1, 2, 3])),
        );
        world.leave(1, 1);
        world.got(1);
        world.consumer(1, 2, kind);
        world.flow(1, 2, 10);
        let got = world.got(1);
        assert_eq!(got[0].permits, 3);
        assert_eq!(got[0].ack_set, Some(bits(&[1, 2, 3])));
        assert_eq!(permits(&world), 7);
        assert_eq!(
            world.topic.stats().subscriptions[0].unacked_messages,
            if kind == Shared { 3 } else { 0 }
        );
        assert_eq!(
            world.topic.stats().subscriptions[0].consumers[0].messages_out,
            3
        );
    }
}

#[test]
fn markers_are_acknowledged_by_us_at_no_permit() {
    let mut world = World::new();
    world.publish_many(0);
    world.publish_entry(900, 1, 0, marker());
    world.publish(900, 1, 1);
    world.publish_entry(900, 1, 2, marker());
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [1]);
    assert_eq!(permits(&world), 9);
    world.ack(1, 1, &[at(1)]);
    assert_eq!(world.topic.stats().subscriptions[0].backlog_entries, 0);
}

#[test]
fn what_cannot_be_read_is_delivered_for_one_permit() {
    let mut world = World::new();
    world.publish_many(0);
    world.publish_entry(900, 1, 0, bytes::Bytes::from_static(b"nonsense"));
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got(1)[0].permits, 1);
}

#[test]
fn damaged_entries_stop_nobody_stay_unacknowledged_and_are_tried_again_by_the_next_consumer() {
    for kind in [Exclusive, Shared] {
        let mut world = World::new();
        world.publish_many(3);
        world.log.damaged = [at(1), at(2)].into();
        world.consumer(1, 1, kind);
        world.flow(1, 1, 10);
        world.publish(900, 1, 3);
        assert_eq!(world.got_entries(1), [0, 3]);
        assert_eq!(world.reports.len(), 2, "{:?}", world.reports);
        world.ack(1, 1, &[at(0), at(3)]);
        assert_eq!(world.topic.stats().subscriptions[0].backlog_entries, 2);
        world.leave(1, 1);
        world.log.damaged.clear();
        world.consumer(1, 1, kind);
        world.flow(1, 1, 10);
        assert_eq!(world.got_entries(1), [1, 2]);
        assert_eq!(world.topic.stats().subscriptions[0].damaged_entries_met, 2);
    }
}

#[test]
fn where_unreadable_entries_are_skipped_they_hold_the_mark_no_longer() {
    for kind in [Exclusive, Shared] {
        let mut world = World::with(|settings| settings.skip_unreadable_entries = true);
        world.publish_many(6);
        world.log.damaged = [at(1), at(2), at(4)].into();
        world.consumer(1, 1, kind);
        world.flow(1, 1, 10);
        assert_eq!(world.got_entries(1), [0, 3, 5]);
        assert_eq!(world.reports.len(), 2, "{:?}", world.reports);
        assert!(
            world.reports[0].contains("1:1 to 1:2"),
            "{:?}",
            world.reports
        );
        world.ack(1, 1, &[at(0), at(3), at(5)]);
        assert_eq!(world.topic.stats().subscriptions[0].backlog_entries, 0);
    }
}

#[test]
fn a_slow_connection_has_a_bounded_number_of_bytes_on_its_way() {
    let mut world = World::new();
    world.publish_many(0);
    for sequence_id in 0..5 {
        world.publish_entry(900, 1, sequence_id, sized_entry(sequence_id, 1, 400 * 1024));
    }
    world.consumer(1, 1, Exclusive);
    world.prompt_writers = false;
    world.flow(1, 1, 10);
    let got = world.got(1);
    assert_eq!(got.len(), 2);
    let bytes = got[0].entry.len() as u64;
    assert_eq!(
        world.topic.stats().subscriptions[0].consumers[0].unwritten_bytes,
        2 * bytes
    );
    world.tell(
        1,
        TopicLetter::Written {
            consumer_id: 1,
            bytes,
        },
    );
    assert_eq!(world.got_entries(1), [2]);
    world.tell(
        1,
        TopicLetter::Written {
            consumer_id: 1,
            bytes: 2 * bytes,
        },
    );
    assert_eq!(world.got_entries(1), [3, 4]);
}

#[test]
fn an_entry_larger_than_the_credit_goes_alone() {
    let mut world = World::new();
    world.publish_many(0);
    for sequence_id in 0..2 {
        world.publish_entry(
            900,
            1,
            sequence_id,
            sized_entry(sequence_id, 1, UNWRITTEN_BYTES_MAX as usize + 5),
        );
    }
    world.consumer(1, 1, Exclusive);
    world.prompt_writers = false;
    world.flow(1, 1, 10);
    let got = world.got(1);
    assert_eq!(got.len(), 1);
    world.tell(
        1,
        TopicLetter::Written {
            consumer_id: 1,
            bytes: got[0].entry.len() as u64,
        },
    );
    assert_eq!(world.got_entries(1), [1]);
}

#[test]
fn nothing_beyond_the_position_that_may_be_read_is_read() {
    let mut world = World::new();
    world.publish_many(3);
    world.topic.max_read_position = at(1);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [0, 1]);
    assert_eq!(world.topic.find_stalled(), None);
    world.topic.max_read_position = Position::LATEST;
    assert!(world.topic.find_stalled().is_some());
    world.flow(1, 1, 1);
    assert_eq!(world.got_entries(1), [2]);
}

#[test]
fn a_failed_read_is_tried_again_later_and_later() {
    let mut world = World::new();
    world.publish_many(1);
    world.consumer(1, 1, Exclusive);
    world.log.reads_to_fail = 2;
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), NOTHING);
    world.advance(99);
    assert_eq!(world.log.reads_to_fail, 1, "not before its time");
    world.advance(1);
    assert_eq!(world.log.reads_to_fail, 0);
    world.advance(200);
    assert_eq!(world.got_entries(1), [0]);
    assert_eq!(world.reports.len(), 1, "once");
}

#[test]
fn entries_of_several_ledgers_come_in_order() {
    let mut world = World::new();
    world.log.entries_per_ledger = 2;
    world.publish_many(5);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    let got: Vec<Position> = world
        .got(1)
        .iter()
        .map(|delivery| delivery.position)
        .collect();
    let expected: Vec<Position> = world.log.entries.keys().copied().collect();
    assert_eq!(got, expected);
    assert_eq!(got.len(), 5);
}

#[test]
fn redelivery_begins_again_after_the_mark_with_the_epoch_told() {
    for kind in [Exclusive, Failover] {
        let mut world = World::new();
        world.publish_many(4);
        let mut add = subscribe(1, kind);
        add.epoch = Some(0);
        world.subscribe(1, add);
        world.flow(1, 1, 4);
        assert!(
            world
                .got(1)
                .iter()
                .all(|delivery| delivery.epoch == Some(0))
        );
        world.ack(1, 1, &[at(0), at(2)]);
        world.redeliver(1, 1, &[], Some(1));
        assert_eq!(world.got_entries(1), NOTHING, "no permits are given back");
        world.flow(1, 1, 4);
        let got = world.got(1);
        assert_eq!(
            got.iter()
                .map(|delivery| delivery.position.entry)
                .collect::<Vec<_>>(),
            [1, 3]
        );
        assert!(
            got.iter()
                .all(|delivery| delivery.epoch == Some(1) && delivery.redelivery_count == 0)
        );
        world.redeliver(1, 1, &[], Some(0));
        world.flow(1, 1, 4);
        assert_eq!(
            world.got_entries(1),
            NOTHING,
            "a stale request changes nothing"
        );
        world.redeliver(1, 1, &[at(1)], None);
        assert_eq!(world.got_entries(1), [1, 3], "named or not");
    }
}

#[test]
fn a_read_that_is_overtaken_by_redelivery_is_thrown_away() {
    let mut world = World::new();
    world.publish_many(3);
    world.consumer(1, 1, Exclusive);
    world.prompt_log = false;
    world.flow(1, 1, 10);
    for _ in 0..5 {
        world.redeliver(1, 1, &[], None);
    }
    assert_eq!(world.asked().len(), 1, "one read at a time, however often");
    world.answer(0);
    assert_eq!(world.got_entries(1), NOTHING);
    world.answer_all();
    assert_eq!(world.got_entries(1), [0, 1, 2]);
}

#[test]
fn an_exclusive_consumer_is_told_that_it_is_active_after_it_is_subscribed() {
    let mut world = World::new();
    world.consumer(1, 1, Exclusive);
    assert!(matches!(
        world.heard_by(1)[..],
        [
            SessionLetter::Subscribed { .. },
            SessionLetter::ActiveConsumerChanged {
                consumer_id: 1,
                is_active: true
            }
        ]
    ));
}

#[test]
fn what_was_not_acknowledged_comes_again_to_the_next_consumer() {
    let mut world = World::new();
    world.publish_many(3);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    world.ack(1, 1, &[at(1)]);
    world.tell(1, TopicLetter::SessionGone);
    world.consumer(2, 1, Exclusive);
    world.flow(2, 1, 10);
    assert_eq!(world.got_entries(2), [0, 2]);
}

#[test]
fn letters_of_unknown_consumers_are_ignored() {
    let mut world = World::new();
    world.publish_many(1);
    world.flow(1, 1, 10);
    world.redeliver(1, 1, &[], None);
    world.tell(
        1,
        TopicLetter::Written {
            consumer_id: 1,
            bytes: 5,
        },
    );
    world.ack(1, 1, &[at(0)]);
    assert_eq!(world.heard(), []);
}

#[test]
fn a_log_that_says_more_than_it_was_asked_is_not_believed() {
    let mut world = World::new();
    world.publish_many(3);
    world.topic.max_read_position = at(1);
    world.consumer(1, 1, Exclusive);
    world.prompt_log = false;
    world.flow(1, 1, 10);
    let [LogRequest::Read { ticket, .. }] = world.asked()[..] else {
        panic!("no read")
    };
    let ticket = *ticket;
    world.log.requests.clear();
    let stored = |(position, body): (&Position, &bytes::Bytes)| letters::StoredEntry {
        position: *position,
        body: body.clone(),
    };
    let entries = world.log.entries.iter().map(stored).collect();
    world.reply(letters::LogReply::Read {
        ticket,
        result: Ok(entries),
        damaged: Vec::new(),
    });
    assert_eq!(world.got_entries(1), [0, 1]);
    world.topic.max_read_position = Position::LATEST;
    world.prompt_log = true;
    world.flow(1, 1, 1);
    assert_eq!(world.got_entries(1), [2]);
}
