//! Failover: who is active, and when it may begin.

use super::world::{World, at, subscribe};
use letters::SessionLetter;
use letters::SubscriptionType::Failover;
use letters::TopicLetter;

const NOTHING: [i64; 0] = [];

fn join(world: &mut World, session: u64, name: &str, priority_level: i32) {
    let mut add = subscribe(1, Failover);
    add.name = name.to_owned();
    add.priority_level = priority_level;
    world.subscribe(session, add);
    world.flow(session, 1, 100);
}

/// Sessions that were told, with what.
fn told(world: &mut World) -> Vec<(u64, bool)> {
    let of = |(session, letter)| match letter {
        SessionLetter::ActiveConsumerChanged { is_active, .. } => Some((session, is_active)),
        _ => None,
    };
    world.heard().into_iter().filter_map(of).collect()
}

fn partition(index: u32) -> World {
    let mut world = World::named(
        &format!("persistent://public/default/t-partition-{index}"),
        |_| {},
    );
    world.publish_many(2);
    world
}

#[test]
fn the_first_consumer_is_active_at_once() {
    let mut world = partition(0);
    join(&mut world, 1, "a", 0);
    assert_eq!(world.topic.stats().subscriptions[0].active.unwrap().0.0, 1);
    assert_eq!(world.got_entries(1), [0, 1]);
}

#[test]
fn one_that_does_not_become_active_is_told_at_once_and_gets_nothing() {
    let mut world = partition(0);
    join(&mut world, 1, "a", 0);
    world.heard();
    join(&mut world, 2, "b", 0);
    assert_eq!(told(&mut world), [(2, false)]);
    world.advance(5000);
    world.publish(900, 1, 2);
    assert_eq!(world.got_entries(1), [2]);
    assert_eq!(world.got_entries(2), NOTHING);
}

#[test]
fn one_that_sorts_first_takes_over_after_the_delay_and_after_the_mark() {
    let mut world = partition(0);
    join(&mut world, 1, "b", 0);
    assert_eq!(world.got_entries(1), [0, 1]);
    join(&mut world, 2, "a", 0);
    assert_eq!(told(&mut world), []);
    world.publish(900, 1, 2);
    world.ack(1, 1, &[at(0)]);
    world.advance(999);
    assert_eq!(world.heard_by(1), []);
    assert_eq!(world.heard_by(2), []);
    world.advance(1);
    assert_eq!(
        world.got_entries(2),
        [1, 2],
        "acks that came during the delay count"
    );
    assert_eq!(told(&mut world), [(1, false)]);
}

#[test]
fn when_the_active_one_leaves_the_next_takes_over() {
    let mut world = partition(0);
    join(&mut world, 1, "a", 0);
    join(&mut world, 2, "b", 0);
    world.heard();
    world.tell(1, TopicLetter::SessionGone);
    world.advance(1000);
    let told_and_given = world.heard_by(2);
    assert_eq!(
        told_and_given[0],
        SessionLetter::ActiveConsumerChanged {
            consumer_id: 1,
            is_active: true
        }
    );
    assert_eq!(super::world::deliveries(told_and_given).len(), 2);
}

#[test]
fn better_levels_go_first() {
    let mut world = partition(0);
    join(&mut world, 1, "a", 1);
    join(&mut world, 2, "z", 0);
    world.advance(1000);
    assert_eq!(world.topic.stats().subscriptions[0].active.unwrap().0.0, 2);
}

#[test]
fn partitions_spread_over_the_consumers_in_order_of_their_names() {
    for (index, active) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
        let mut world = partition(index);
        join(&mut world, 3, "c", 0);
        join(&mut world, 1, "a", 0);
        join(&mut world, 2, "b", 0);
        join(&mut world, 4, "a", 9);
        assert_eq!(
            world.topic.stats().subscriptions[0].active.unwrap().0.0,
            active,
            "partition {index}"
        );
    }
}

#[test]
fn a_topic_without_partitions_asks_the_ring() {
    let mut world = World::new();
    for (session, name) in [(1, "a"), (2, "b"), (3, "c")] {
        join(&mut world, session, name, 0);
    }
    // The naive ring: every point in a sorted map, later puts overwrite.
    let mut ring = std::collections::BTreeMap::new();
    for (session, name) in [(1, "a"), (2, "b"), (3, "c")] {
        for point in 0..100 {
            ring.insert(
                vocabulary::hash::murmur3_32(format!("{name}{point}").as_bytes()),
                session,
            );
        }
    }
    let target = vocabulary::hash::murmur3_32(world.topic.name().as_str().as_bytes());
    let expected = *ring
        .range(target..)
        .next()
        .or(ring.iter().next())
        .unwrap()
        .1;
    assert_eq!(
        world.topic.stats().subscriptions[0].active.unwrap().0.0,
        expected
    );
}

#[test]
fn the_old_active_one_gets_nothing_more_from_the_moment_of_the_change() {
    let mut world = partition(0);
    join(&mut world, 1, "b", 0);
    world.heard();
    join(&mut world, 2, "a", 0);
    world.publish(900, 1, 2);
    world.flow(1, 1, 10);
    world.redeliver(1, 1, &[], None);
    assert_eq!(world.got_entries(1), NOTHING);
}
