//! Consumers come and go; subscriptions are made.

use super::world::{World, at, code, subscribe, text};
use letters::SubscriptionType::{Exclusive, Failover, KeyShared, Shared};
use letters::{
    AddConsumer, AddProducer, InitialPosition, LogRequest, RefusalCode, SessionLetter, TopicLetter,
};

fn subscribed(consumer_id: u64) -> SessionLetter {
    SessionLetter::Subscribed {
        request_id: 2000 + consumer_id,
        consumer_id,
    }
}

fn refused(
    world: &mut World,
    change: impl FnOnce(&mut AddConsumer),
) -> (Option<RefusalCode>, String) {
    let mut add = subscribe(1, Shared);
    change(&mut add);
    world.subscribe(1, add);
    let heard = world.heard_by(1);
    (code(&heard[0]), text(&heard[0]).to_owned())
}

#[test]
fn a_new_subscription_is_on_disk_before_its_consumer_is_told() {
    let mut world = World::new();
    world.publish_many(1);
    world.prompt_log = false;
    world.consumer(1, 1, Shared);
    world.consumer(2, 1, Shared);
    assert!(
        matches!(world.asked()[..], [LogRequest::CreateCursor { .. }]),
        "asked once, though two came"
    );
    assert_eq!(world.heard(), []);
    world.answer_all();
    assert_eq!(world.heard(), [(1, subscribed(1)), (2, subscribed(1))]);
}

#[test]
fn a_subscription_that_cannot_be_stored_is_refused_and_may_be_tried_again() {
    let mut world = World::new();
    world.publish_many(1);
    world.log.saves_to_fail = 1;
    world.consumer(1, 1, Shared);
    assert_eq!(
        code(&world.heard_by(1)[0]),
        Some(RefusalCode::PersistenceError)
    );
    world.consumer(1, 1, Shared);
    assert_eq!(world.heard_by(1), [subscribed(1)]);
}

#[test]
fn earliest_begins_at_the_first_entry_and_latest_after_the_last() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, Shared);
    let mut latest = subscribe(1, Shared);
    latest.subscription = "late".to_owned();
    latest.initial_position = InitialPosition::Latest;
    world.subscribe(2, latest);
    world.flow(1, 1, 10);
    world.flow(2, 1, 10);
    world.publish(900, 1, 2);
    assert_eq!(world.got_entries(1), [0, 1, 2]);
    assert_eq!(world.got_entries(2), [2]);
}

#[test]
fn an_existing_subscription_stays_where_it_is() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, Shared);
    world.leave(1, 1);
    let mut latest = subscribe(1, Shared);
    latest.initial_position = InitialPosition::Latest;
    world.subscribe(1, latest);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [0, 1]);
}

#[test]
fn the_same_consumer_again_is_greeted_again_or_told_to_wait() {
    let mut world = World::new();
    world.prompt_log = false;
    world.consumer(1, 1, Shared);
    world.consumer(1, 1, Shared);
    assert_eq!(
        code(&world.heard()[0].1),
        Some(RefusalCode::ServiceNotReady)
    );
    world.answer_all();
    world.consumer(1, 1, Shared);
    assert_eq!(world.heard(), [(1, subscribed(1)), (1, subscribed(1))]);
}

#[test]
fn another_type_is_refused_while_somebody_is_connected_and_taken_on_when_nobody_is() {
    let mut world = World::new();
    world.publish_many(1);
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 10);
    world.heard();
    world.consumer(2, 1, Failover);
    let heard = world.heard_by(2);
    assert_eq!(code(&heard[0]), Some(RefusalCode::ConsumerBusy));
    assert_eq!(text(&heard[0]), "Subscription is of different type");
    world.leave(1, 1);
    world.consumer(2, 1, Failover);
    world.flow(2, 1, 10);
    assert_eq!(world.got_entries(2), [0]);
}

#[test]
fn an_exclusive_place_is_given_away_only_if_its_holder_is_dead() {
    let mut world = World::new();
    world.consumer(1, 1, Exclusive);
    world.heard();
    world.consumer(2, 1, Exclusive);
    let [(1, SessionLetter::AreYouThere { token, .. })] = world.heard()[..] else {
        panic!("no probe")
    };
    world.tell(1, TopicLetter::StillHere { token });
    let heard = world.heard_by(2);
    assert_eq!(code(&heard[0]), Some(RefusalCode::ConsumerBusy));
    assert_eq!(text(&heard[0]), "Exclusive consumer is already connected");
    world.consumer(2, 1, Exclusive);
    world.tell(1, TopicLetter::SessionGone);
    assert_eq!(world.heard_by(2)[0], subscribed(1));
}

#[test]
fn an_exclusive_place_that_is_given_up_meanwhile_is_free() {
    let mut world = World::new();
    world.consumer(1, 1, Exclusive);
    world.consumer(2, 1, Exclusive);
    world.leave(1, 1);
    assert_eq!(world.heard_by(2)[0], subscribed(1));
    world.consumer(2, 2, Exclusive);
    assert_eq!(
        code(&world.heard_by(2)[0]),
        Some(RefusalCode::ConsumerBusy),
        "on one connection no probe is needed"
    );
}

#[test]
fn what_is_not_served_yet_is_refused_by_name() {
    let mut world = World::new();
    let (code, text) = refused(&mut world, |add| add.subscription_type = KeyShared);
    assert_eq!(
        (code, text.as_str()),
        (
            Some(RefusalCode::NotAllowedError),
            "Key_Shared is not served yet"
        )
    );
    assert_eq!(
        refused(&mut world, |add| add.read_compacted = true).0,
        Some(RefusalCode::NotAllowedError)
    );
}

#[test]
fn reserved_and_empty_names_are_refused() {
    let mut world = World::new();
    for name in [
        "",
        "__compaction",
        "pulsar.dedup",
        "pulsar.repl.other",
        "__pending_ack_state",
        "transaction.subscription",
    ] {
        let (code, _) = refused(&mut world, |add| add.subscription = name.to_owned());
        assert_eq!(code, Some(RefusalCode::ProducerBusy), "{name}");
    }
    assert!(world.log.cursors.is_empty());
}

#[test]
fn limits_are_kept() {
    let mut world = World::with(|settings| settings.consumers_max = 1);
    world.consumer(2, 1, Shared);
    assert_eq!(
        refused(&mut world, |_| {}).0,
        Some(RefusalCode::ConsumerBusy)
    );
    let mut world = World::with(|settings| settings.consumers_per_subscription_max = 1);
    world.consumer(2, 1, Shared);
    assert_eq!(
        refused(&mut world, |_| {}).0,
        Some(RefusalCode::ConsumerBusy)
    );
    let mut world = World::with(|settings| settings.subscriptions_max = 1);
    world.consumer(2, 1, Shared);
    let (code, _) = refused(&mut world, |add| add.subscription = "other".to_owned());
    assert_eq!(code, Some(RefusalCode::NotAllowedError));
    let mut world = World::with(|settings| settings.auto_create_subscriptions = false);
    assert_eq!(
        refused(&mut world, |_| {}).0,
        Some(RefusalCode::SubscriptionNotFound)
    );
}

#[test]
fn closing_is_answered_for_unknown_and_waiting_consumers_too() {
    let mut world = World::new();
    let left = SessionLetter::ConsumerLeft {
        request_id: 77,
        consumer_id: 1,
    };
    world.leave(1, 1);
    assert_eq!(world.heard(), [(1, left.clone())]);
    world.prompt_log = false;
    world.consumer(1, 1, Shared);
    world.leave(1, 1);
    let heard = world.heard();
    assert_eq!(code(&heard[0].1), Some(RefusalCode::ServiceNotReady));
    assert_eq!(heard[1], (1, left));
    world.answer_all();
    assert_eq!(world.heard(), []);
}

#[test]
fn a_connection_takes_its_consumers_and_newcomers_with_it() {
    let mut world = World::new();
    world.consumer(1, 1, Shared);
    world.consumer(1, 2, Shared);
    world.prompt_log = false;
    let mut add = subscribe(3, Shared);
    add.subscription = "other".to_owned();
    world.subscribe(1, add);
    world.heard();
    world.tell(1, TopicLetter::SessionGone);
    world.answer_all();
    assert_eq!(world.heard(), []);
    let stats = world.topic.stats();
    assert!(
        stats
            .subscriptions
            .iter()
            .all(|subscription| subscription.consumers.is_empty())
    );
    assert_eq!(stats.subscriptions.len(), 2);
}

#[test]
fn a_producer_waits_for_a_subscription_that_a_consumer_is_making() {
    let mut world = World::new();
    world.publish_many(1);
    world.prompt_log = false;
    world.consumer(1, 1, Shared);
    let add = AddProducer {
        initial_subscription: Some("sub".to_owned()),
        ..super::world::add_producer(1)
    };
    world.tell(2, TopicLetter::AddProducer(Box::new(add)));
    assert_eq!(world.asked().len(), 1);
    world.answer_all();
    assert_eq!(world.heard().len(), 2);
    assert_eq!(world.topic.stats().subscriptions[0].mark, at(-1));
}
