//! Shared: turns, levels, replay, limits.

use super::world::{World, at, bits, chunk_entry, entry, subscribe};
use letters::AckKind;
use letters::SubscriptionType::Shared;
use letters::TopicLetter;

const NOTHING: [i64; 0] = [];

fn two_consumers(entries: u64) -> World {
    two_consumers_where(entries, false)
}

fn two_consumers_where(entries: u64, skip_unreadable_entries: bool) -> World {
    let mut world = World::with(|settings| {
        settings.round_robin_entries_max = 2;
        settings.skip_unreadable_entries = skip_unreadable_entries;
    });
    world.publish_many(entries);
    world.consumer(1, 1, Shared);
    world.consumer(2, 1, Shared);
    world.heard();
    world
}

fn counts(world: &mut World, session: u64) -> Vec<(i64, u32)> {
    world
        .got(session)
        .iter()
        .map(|delivery| (delivery.position.entry, delivery.redelivery_count))
        .collect()
}

#[test]
fn consumers_take_turns() {
    let mut world = two_consumers(0);
    world.flow(1, 1, 100);
    world.flow(2, 1, 100);
    for sequence_id in 0..8 {
        world.publish(900, 1, sequence_id);
    }
    assert_eq!(world.got_entries(1), [0, 2, 4, 6]);
    assert_eq!(world.got_entries(2), [1, 3, 5, 7]);
}

#[test]
fn a_turn_is_some_entries_of_what_was_read_at_once() {
    let mut world = two_consumers(8);
    world.flow(2, 1, 2);
    assert_eq!(world.got_entries(2), [0, 1]);
    world.flow(2, 1, 0);
    world.flow(1, 1, 4);
    assert_eq!(world.got_entries(1), [2, 3, 4, 5]);
}

#[test]
fn a_worse_level_gets_something_only_when_the_better_has_no_permits() {
    let mut world = two_consumers(0);
    let mut add = subscribe(1, Shared);
    add.priority_level = 1;
    world.subscribe(3, add);
    world.flow(3, 1, 100);
    world.flow(2, 1, 1);
    for sequence_id in 0..3 {
        world.publish(900, 1, sequence_id);
    }
    assert_eq!(world.got_entries(2), [0]);
    assert_eq!(world.got_entries(3), [1, 2]);
    world.flow(1, 1, 1);
    world.publish(900, 1, 3);
    assert_eq!(world.got_entries(1), [3]);
}

#[test]
fn what_a_leaving_consumer_held_goes_to_the_others_uncounted() {
    let mut world = two_consumers(4);
    world.flow(1, 1, 4);
    world.flow(2, 1, 100);
    assert_eq!(world.got_entries(1), [0, 1, 2, 3]);
    world.ack(1, 1, &[at(2)]);
    world.tell(1, TopicLetter::SessionGone);
    assert_eq!(counts(&mut world, 2), [(0, 0), (1, 0), (3, 0)]);
    assert_eq!(world.topic.stats().subscriptions[0].unacked_messages, 3);
}

#[test]
fn named_entries_are_replayed_and_counted_if_this_consumer_holds_them() {
    let mut world = two_consumers(4);
    world.flow(1, 1, 2);
    world.flow(2, 1, 2);
    world.heard();
    world.redeliver(1, 1, &[at(1), at(2)], None);
    world.flow(2, 1, 10);
    assert_eq!(counts(&mut world, 2), [(1, 1)]);
    world.redeliver(2, 1, &[at(1)], None);
    assert_eq!(counts(&mut world, 2), [(1, 2)]);
    world.ack(2, 1, &[at(1)]);
    world.redeliver(2, 1, &[at(1)], None);
    assert_eq!(counts(&mut world, 2), [], "acknowledged is acknowledged");
}

#[test]
fn asking_for_everything_replays_what_this_consumer_holds() {
    let mut world = two_consumers(4);
    world.flow(1, 1, 2);
    world.flow(2, 1, 2);
    world.heard();
    world.redeliver(1, 1, &[], None);
    assert_eq!(world.heard(), [], "nobody has permits");
    world.flow(1, 1, 10);
    assert_eq!(counts(&mut world, 1), [(0, 1), (1, 1)]);
    assert_eq!(world.got_entries(2), NOTHING);
}

#[test]
fn replays_go_before_what_is_new() {
    let mut world = two_consumers(3);
    world.flow(1, 1, 1);
    world.redeliver(1, 1, &[], None);
    world.heard();
    world.flow(1, 1, 2);
    assert_eq!(world.got_entries(1), [0, 1]);
}

#[test]
fn an_ack_may_come_from_another_consumer_of_the_subscription() {
    let mut world = two_consumers(1);
    world.flow(1, 1, 1);
    world.ack(2, 1, &[at(0)]);
    let stats = world.topic.stats();
    assert_eq!(stats.subscriptions[0].unacked_messages, 0);
    assert_eq!(stats.subscriptions[0].backlog_entries, 0);
    world.tell(1, TopicLetter::SessionGone);
    world.flow(2, 1, 10);
    assert_eq!(world.got_entries(2), NOTHING);
}

#[test]
fn an_entry_acknowledged_while_it_waits_for_replay_is_not_delivered_again() {
    let mut world = two_consumers(2);
    world.flow(1, 1, 2);
    world.heard();
    world.redeliver(1, 1, &[], None);
    world.ack(1, 1, &[at(0)]);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [1]);
}

#[test]
fn a_consumer_that_holds_too_much_waits_until_half_is_acknowledged_and_its_permits_with_it() {
    let mut world = World::with(|settings| settings.unacked_per_consumer_max = 4);
    world.publish_many(8);
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 4);
    assert_eq!(world.got_entries(1), [0, 1, 2, 3]);
    world.flow(1, 1, 3);
    let stats = world.topic.stats().subscriptions[0].consumers[0].clone();
    assert_eq!(
        (
            stats.permits,
            stats.parked_permits,
            stats.blocked_on_unacked
        ),
        (0, 3, true)
    );
    world.ack(1, 1, &[at(0)]);
    assert_eq!(world.got_entries(1), NOTHING);
    world.ack(1, 1, &[at(1)]);
    assert_eq!(world.got_entries(1), [4, 5], "it reaches the limit again");
}

#[test]
fn asking_for_redelivery_unblocks() {
    let mut world = World::with(|settings| settings.unacked_per_consumer_max = 2);
    world.publish_many(2);
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 2);
    world.flow(1, 1, 2);
    world.heard();
    world.redeliver(1, 1, &[], None);
    assert_eq!(counts(&mut world, 1), [(0, 1), (1, 1)]);
}

#[test]
fn a_subscription_that_holds_too_much_delivers_only_replays_until_half_is_acknowledged() {
    let mut world = World::with(|settings| settings.unacked_per_subscription_max = 4);
    world.publish_many(8);
    world.consumer(1, 1, Shared);
    world.consumer(2, 1, Shared);
    world.flow(1, 1, 4);
    world.flow(2, 1, 10);
    assert_eq!(world.got_entries(2), NOTHING);
    assert!(world.topic.stats().subscriptions[0].blocked_on_unacked);
    world.redeliver(1, 1, &[at(3)], None);
    assert_eq!(world.got_entries(2), [3]);
    world.ack(1, 1, &[at(0), at(1)]);
    assert_eq!(world.got_entries(2), NOTHING, "half is not below half");
    world.ack(1, 1, &[at(2)]);
    assert_eq!(world.got_entries(2), [4, 5, 6]);
}

#[test]
fn part_of_a_batch_acknowledged_frees_that_part() {
    let mut world = two_consumers(0);
    world.publish_entry(900, 1, 0, entry(0, 10));
    world.flow(1, 1, 10);
    let unacked = |world: &World| world.topic.stats().subscriptions[0].unacked_messages;
    assert_eq!(unacked(&world), 10);
    world.ack_with(
        1,
        1,
        None,
        AckKind::Individual,
        at(0),
        Some(bits(&[0, 1, 2])),
    );
    assert_eq!(unacked(&world), 3);
    world.ack_with(
        1,
        1,
        None,
        AckKind::Individual,
        at(0),
        Some(bits(&[1, 2, 3])),
    );
    assert_eq!(unacked(&world), 2, "an ack is never taken back");
    world.redeliver(1, 1, &[], None);
    world.heard();
    world.flow(2, 1, 10);
    let got = world.got(2);
    assert_eq!(
        (got[0].permits, got[0].ack_set.clone()),
        (2, Some(bits(&[1, 2])))
    );
    world.ack_with(2, 1, None, AckKind::Individual, at(0), Some(bits(&[])));
    assert_eq!(unacked(&world), 0);
    assert_eq!(world.topic.stats().subscriptions[0].backlog_entries, 0);
}

#[test]
fn a_damaged_replay_is_given_up_but_not_acknowledged() {
    let mut world = two_consumers(2);
    world.flow(1, 1, 2);
    world.log.damaged = [at(0)].into();
    world.redeliver(1, 1, &[], None);
    world.heard();
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [1]);
    assert_eq!(world.topic.stats().subscriptions[0].backlog_entries, 2);
    assert_eq!(world.topic.find_stalled(), None);
}

#[test]
fn where_unreadable_entries_are_skipped_a_damaged_replay_is_acknowledged() {
    let mut world = two_consumers_where(2, true);
    world.flow(1, 1, 2);
    world.log.damaged = [at(0)].into();
    world.redeliver(1, 1, &[], None);
    world.heard();
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [1]);
    let stats = world.topic.stats();
    assert_eq!(stats.subscriptions[0].backlog_entries, 1);
    assert_eq!(stats.subscriptions[0].acked_by_broker, 1);
    assert_eq!(world.topic.find_stalled(), None);
}

#[test]
fn the_first_consumer_after_none_begins_after_the_mark() {
    let mut world = two_consumers(4);
    world.flow(1, 1, 4);
    world.ack(1, 1, &[at(0), at(2)]);
    world.redeliver(1, 1, &[at(3)], None);
    world.tell(1, TopicLetter::SessionGone);
    world.tell(2, TopicLetter::SessionGone);
    world.consumer(3, 1, Shared);
    world.flow(3, 1, 10);
    assert_eq!(
        counts(&mut world, 3),
        [(1, 0), (3, 1)],
        "what was counted stays counted"
    );
}

/// Two messages of three chunks each, the chunks of both mixed.
fn publish_chunks(world: &mut World) {
    for chunk_id in 0..3 {
        for uuid in ["m", "n"] {
            world.publish_entry(900, 1, 0, chunk_entry(uuid, chunk_id, 3));
        }
    }
}

#[test]
fn all_chunks_of_a_message_go_to_one_consumer() {
    let mut world = World::with(|settings| settings.round_robin_entries_max = 1);
    world.publish_many(0);
    world.consumer(1, 1, Shared);
    world.consumer(2, 1, Shared);
    world.flow(1, 1, 100);
    world.flow(2, 1, 100);
    publish_chunks(&mut world);
    assert_eq!(world.got_entries(1), [0, 2, 4]);
    assert_eq!(world.got_entries(2), [1, 3, 5]);
}

#[test]
fn a_chunk_waits_for_its_consumer_and_holds_up_nobody_else() {
    let mut world = two_consumers(0);
    world.flow(1, 1, 1);
    world.publish_entry(900, 1, 0, chunk_entry("m", 0, 3));
    world.flow(2, 1, 100);
    world.publish_entry(900, 1, 0, chunk_entry("m", 1, 3));
    world.publish_entry(900, 1, 0, chunk_entry("m", 2, 3));
    world.publish(900, 1, 1);
    assert_eq!(world.got_entries(1), [0]);
    assert_eq!(world.got_entries(2), [3]);
    world.flow(1, 1, 1);
    assert_eq!(world.got_entries(1), [1]);
    world.flow(1, 1, 1);
    assert_eq!(counts(&mut world, 1), [(2, 0)]);
    assert_eq!(world.topic.find_stalled(), None);
}

#[test]
fn chunks_of_a_consumer_that_left_go_to_one_other() {
    let mut world = two_consumers(0);
    world.flow(1, 1, 1);
    world.publish_entry(900, 1, 0, chunk_entry("m", 0, 3));
    world.flow(2, 1, 100);
    world.publish_entry(900, 1, 0, chunk_entry("m", 1, 3));
    world.publish_entry(900, 1, 0, chunk_entry("m", 2, 3));
    assert_eq!(world.got_entries(2), NOTHING);
    world.tell(1, TopicLetter::SessionGone);
    assert_eq!(world.got_entries(2), [0, 1, 2]);
}

#[test]
fn consumers_of_one_lost_connection_are_given_nothing_of_each_other() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, Shared);
    world.consumer(1, 2, Shared);
    world.flow(1, 1, 2);
    world.flow(1, 2, 10);
    world.heard();
    world.tell(1, TopicLetter::SessionGone);
    assert_eq!(world.heard(), []);
    assert!(world.asked().is_empty());
}

#[test]
fn epochs_mean_nothing_here() {
    let mut world = World::new();
    world.publish_many(1);
    let mut add = subscribe(1, Shared);
    add.epoch = Some(0);
    world.subscribe(1, add);
    world.flow(1, 1, 1);
    assert_eq!(world.got(1)[0].epoch, None);
}

#[test]
fn the_better_level_takes_turns_while_the_worse_looks_on() {
    let mut world = two_consumers(0);
    let mut add = subscribe(1, Shared);
    add.priority_level = 1;
    world.subscribe(3, add);
    for session in 1..=3 {
        world.flow(session, 1, 100);
    }
    for sequence_id in 0..4 {
        world.publish(900, 1, sequence_id);
    }
    assert_eq!(world.got_entries(1), [0, 2]);
    assert_eq!(world.got_entries(2), [1, 3]);
    assert_eq!(world.got_entries(3), NOTHING);
}

#[test]
fn what_is_acknowledged_leaves_nothing_behind() {
    let mut world = two_consumers(0);
    world.flow(1, 1, 1);
    world.publish_entry(900, 1, 0, chunk_entry("m", 0, 2));
    world.publish_entry(900, 1, 0, chunk_entry("m", 1, 2));
    world.flow(2, 1, 1);
    world.redeliver(1, 1, &[at(0)], None);
    world.heard();
    world.ack(2, 1, &[at(0), at(1)]);
    assert_eq!(world.topic.stats().subscriptions[0].replay_entries, 0);
    assert_eq!(world.topic.subscriptions["sub"].replay.count(at(0)), 0);
}
