//! Topics that keep nothing.

use super::world::{World, add_producer, code, subscribe, text};
use letters::{
    AccessMode, AckKind, LogRequest, RefusalCode, SeekTarget, SessionLetter, SubscriptionType,
    TopicLetter,
};
use vocabulary::Position;

const NOWHERE: Position = Position {
    ledger: 0,
    entry: 0,
};

fn world() -> World {
    World::named("non-persistent://public/default/t", |_| {})
}

/// How many entries each of these sessions was delivered since last asked.
fn got<const N: usize>(world: &mut World, sessions: [u64; N]) -> [usize; N] {
    sessions.map(|session| {
        let deliveries = world.got(session);
        assert!(
            deliveries
                .iter()
                .all(|delivery| delivery.position == NOWHERE)
        );
        deliveries.len()
    })
}

#[test]
fn opening_asks_for_the_namespace_and_for_nothing_else() {
    let mut world = world();
    world.prompt_log = false;
    world.producer(1, 1, Some("a"));
    assert!(matches!(world.asked()[..], [LogRequest::Find { .. }]));
    world.answer(0);
    assert!(matches!(
        world.heard()[..],
        [(1, SessionLetter::ProducerReady { .. })]
    ));
    world.tell(1, TopicLetter::SessionGone);
    world.advance(61_000);
    assert_eq!(world.asleep, 1);
    assert!(world.asked().is_empty());
}

#[test]
fn a_missing_namespace_and_creation_that_is_off_refuse() {
    let mut world = world();
    world.log.facts.namespace_exists = false;
    world.producer(1, 1, Some("a"));
    let heard = world.heard();
    assert_eq!(code(&heard[0].1), Some(RefusalCode::TopicNotFound));
    assert!(
        text(&heard[0].1).contains("Namespace public/default"),
        "{heard:?}"
    );
    let mut world = World::named("non-persistent://public/default/t", |settings| {
        settings.auto_create_topics = false;
    });
    world.producer(1, 1, Some("a"));
    assert_eq!(code(&world.heard()[0].1), Some(RefusalCode::TopicNotFound));
}

#[test]
fn a_receipt_comes_at_once_and_names_no_place() {
    let mut world = world();
    world.producer(1, 1, Some("a"));
    world.heard();
    world.prompt_log = false;
    world.publish(1, 1, 7);
    let receipt = SessionLetter::Stored {
        producer_id: 1,
        sequence_id: 7,
        highest_sequence_id: None,
        position: NOWHERE,
    };
    assert_eq!(world.heard(), [(1, receipt)]);
    assert!(world.asked().is_empty());
    assert_eq!(world.topic.stats().producers[0].messages_in, 1);
}

#[test]
fn each_subscription_gets_what_it_can_take_and_drops_the_rest() {
    let mut world = world();
    world.producer(9, 1, Some("a"));
    world.publish(9, 1, 0);
    for session in 1..3 {
        world.consumer(session, 1, SubscriptionType::Shared);
        world.flow(session, 1, 2);
    }
    let mut other = subscribe(1, SubscriptionType::Exclusive);
    other.subscription = "other".to_owned();
    world.subscribe(3, other);
    world.flow(3, 1, 1);
    for sequence_id in 1..7 {
        world.publish(9, 1, sequence_id);
    }
    // Nothing from before they came, nothing beyond their permits, and nothing comes later.
    assert_eq!(got(&mut world, [1, 2, 3]), [2, 2, 1]);
    world.flow(1, 1, 10);
    assert_eq!(got(&mut world, [1, 2, 3]), [0, 0, 0]);
    let stats = world.topic.stats();
    let dropped: Vec<u64> = stats
        .subscriptions
        .iter()
        .map(|found| found.messages_dropped)
        .collect();
    assert_eq!(dropped, [5, 2]);
    assert_eq!(stats.messages_dropped, 7);
    assert!(
        stats
            .subscriptions
            .iter()
            .all(|found| found.unacked_messages == 0)
    );
    world.publish(9, 1, 7);
    assert_eq!(got(&mut world, [1, 2, 3]), [1, 0, 0]);
}

#[test]
fn shared_consumers_take_turns() {
    let mut world = world();
    world.producer(9, 1, Some("a"));
    for session in 1..4 {
        world.consumer(session, 1, SubscriptionType::Shared);
        world.flow(session, 1, 100);
    }
    for sequence_id in 0..6 {
        world.publish(9, 1, sequence_id);
    }
    assert_eq!(got(&mut world, [1, 2, 3]), [2, 2, 2]);
}

#[test]
fn failover_changes_over_without_waiting() {
    let mut world = world();
    world.producer(9, 1, Some("a"));
    for session in 1..3 {
        let mut add = subscribe(1, SubscriptionType::Failover);
        add.priority_level = session as i32;
        world.subscribe(session, add);
        world.flow(session, 1, 10);
    }
    world.publish(9, 1, 0);
    assert_eq!(got(&mut world, [1, 2]), [1, 0]);
    world.leave(1, 1);
    world.publish(9, 1, 1);
    assert_eq!(got(&mut world, [2]), [1]);
}

#[test]
fn a_subscription_lives_as_long_as_its_consumers() {
    let mut world = world();
    world.consumer(1, 1, SubscriptionType::Exclusive);
    assert!(matches!(
        world.heard()[0],
        (1, SessionLetter::Subscribed { .. })
    ));
    world.consumer(2, 1, SubscriptionType::Shared);
    assert_eq!(code(&world.heard_by(2)[0]), Some(RefusalCode::ConsumerBusy));
    world.leave(1, 1);
    assert!(world.topic.stats().subscriptions.is_empty());
    world.consumer(2, 1, SubscriptionType::Shared);
    assert!(matches!(
        world.heard_by(2)[0],
        SessionLetter::Subscribed { .. }
    ));
}

#[test]
fn acks_seeks_and_redelivery_have_no_effect() {
    let mut world = world();
    world.producer(9, 1, Some("a"));
    world.consumer(1, 1, SubscriptionType::Shared);
    world.flow(1, 1, 10);
    world.publish(9, 1, 0);
    world.heard();
    world.ack(1, 1, &[NOWHERE]);
    world.ack_with(1, 1, Some(5), AckKind::Cumulative, NOWHERE, None);
    world.redeliver(1, 1, &[], Some(3));
    let (request_id, consumer_id) = (6, 1);
    let target = SeekTarget::Time(0);
    world.tell(
        1,
        TopicLetter::Seek {
            request_id,
            consumer_id,
            target,
        },
    );
    assert_eq!(
        world.heard(),
        [
            (
                1,
                SessionLetter::AckDone {
                    request_id: 5,
                    consumer_id,
                    refusal: None
                }
            ),
            (
                1,
                SessionLetter::SeekDone {
                    request_id,
                    consumer_id
                }
            ),
        ]
    );
    world.tell(
        1,
        TopicLetter::GetLastMessageId {
            request_id,
            consumer_id,
        },
    );
    let heard = world.heard();
    let (_, SessionLetter::RequestRefused { refusal, .. }) = &heard[0] else {
        panic!("{heard:?}");
    };
    assert_eq!(refusal.code, RefusalCode::UnknownError);
}

#[test]
fn exclusive_producers_count_epochs_in_memory() {
    let mut world = world();
    for epoch in 0..2 {
        let mut add = add_producer(1);
        add.access_mode = AccessMode::Exclusive;
        add.initial_subscription = Some("s".to_owned());
        world.tell(1, TopicLetter::AddProducer(Box::new(add)));
        let heard = world.heard();
        assert!(
            matches!(heard[0].1, SessionLetter::ProducerReady { topic_epoch: Some(given), .. } if given == epoch),
            "{heard:?}"
        );
        world.tell(1, TopicLetter::SessionGone);
    }
    assert!(world.log.properties.is_empty());
    assert!(world.topic.stats().subscriptions.is_empty());
}

#[test]
fn what_its_domain_is_not_served_for_is_refused() {
    for (name, persistent) in [("persistent", true), ("non-persistent", false)] {
        let mut world = World::named(&format!("{name}://public/default/t"), |settings| {
            settings.serve_persistent = !persistent;
            settings.serve_non_persistent = persistent;
        });
        world.producer(1, 1, Some("a"));
        world.consumer(1, 1, SubscriptionType::Shared);
        let letter = TopicLetter::Prepare {
            request_id: 9,
            may_create: true,
        };
        world.tell(1, letter);
        let heard = world.heard();
        assert_eq!(heard.len(), 3);
        assert_eq!(code(&heard[0].1), Some(RefusalCode::NotAllowedError));
        assert_eq!(code(&heard[1].1), Some(RefusalCode::NotAllowedError));
        let SessionLetter::Prepared { is_blank, .. } = &heard[2].1 else {
            panic!("{heard:?}");
        };
        let code = is_blank.as_ref().map_err(|refusal| refusal.code);
        assert_eq!(code, Err(RefusalCode::NotAllowedError));
    }
}

#[test]
fn it_is_there_while_it_is_used() {
    let find = |world: &mut World| {
        let (request_id, may_create) = (5, false);
        let letter = TopicLetter::FindTopic {
            request_id,
            may_create,
        };
        world.tell(7, letter);
        code(&world.heard_by(7).remove(0))
    };
    let mut world = world();
    assert_eq!(find(&mut world), Some(RefusalCode::TopicNotFound));
    world.consumer(1, 1, SubscriptionType::Shared);
    world.heard();
    assert_eq!(find(&mut world), None);
    world.leave(1, 1);
    assert_eq!(find(&mut world), Some(RefusalCode::TopicNotFound));
    world.producer(1, 1, Some("a"));
    assert!(world.topic.passes_now());
    // Persistent topics exist by what is stored of them.
    let mut kept = World::new();
    kept.producer(1, 1, Some("a"));
    assert!(!kept.topic.passes_now());
}

#[test]
fn what_a_connection_dropped_is_counted() {
    let mut world = world();
    world.producer(1, 1, Some("a"));
    let (producer_id, messages) = (1, 3);
    let letter = TopicLetter::PublishesDropped {
        producer_id,
        messages,
    };
    world.tell(1, letter.clone());
    world.tell(2, letter);
    let stats = world.topic.stats();
    assert_eq!(stats.producers[0].messages_dropped, 3);
    assert_eq!(stats.messages_dropped, 0);
}

#[test]
fn compacted_reading_is_for_persistent_topics() {
    let mut world = world();
    let mut add = subscribe(1, SubscriptionType::Exclusive);
    add.read_compacted = true;
    world.subscribe(1, add);
    let heard = world.heard();
    assert_eq!(code(&heard[0].1), Some(RefusalCode::NotAllowedError));
    assert!(text(&heard[0].1).contains("only valid on persistent"));
}

#[test]
fn a_subscription_ends_by_unsubscribing() {
    let mut world = world();
    world.consumer(1, 1, SubscriptionType::Shared);
    world.consumer(2, 1, SubscriptionType::Shared);
    world.heard();
    let unsubscribe = |world: &mut World, session| {
        let letter = TopicLetter::Unsubscribe {
            request_id: 4,
            consumer_id: 1,
            force: false,
        };
        world.tell(session, letter);
        world.heard_by(session).remove(0)
    };
    let refused = unsubscribe(&mut world, 1);
    assert_eq!(code(&refused), Some(RefusalCode::MetadataError));
    world.leave(2, 1);
    world.heard();
    assert!(matches!(
        unsubscribe(&mut world, 1),
        SessionLetter::Unsubscribed { .. }
    ));
    assert!(world.topic.stats().subscriptions.is_empty());
    assert!(world.asked().is_empty());
}

#[test]
fn it_is_deleted_by_everybody_leaving() {
    let mut world = world();
    world.producer(1, 1, Some("a"));
    world.consumer(2, 1, SubscriptionType::Shared);
    world.heard();
    let delete = |world: &mut World, force| {
        let letter = TopicLetter::DeleteTopic {
            request_id: 3,
            force,
        };
        world.tell(9, letter);
        world.heard()
    };
    let refused = delete(&mut world, false);
    assert_eq!(code(&refused[0].1), Some(RefusalCode::NotAllowedError));
    assert_eq!(
        delete(&mut world, true),
        [
            (1, SessionLetter::CloseProducer { producer_id: 1 }),
            (2, SessionLetter::CloseConsumer { consumer_id: 1 }),
            (9, SessionLetter::TopicDeleted { request_id: 3 }),
        ]
    );
    assert!(world.asked().is_empty());
    let missing = delete(&mut world, true);
    assert_eq!(code(&missing[0].1), Some(RefusalCode::TopicNotFound));
}

#[test]
fn it_can_be_shut_down() {
    let mut world = world();
    world.producer(9, 1, Some("a"));
    world.consumer(1, 1, SubscriptionType::Shared);
    world.heard();
    world.shut_down();
    assert_eq!(
        world.heard(),
        [
            (1, SessionLetter::CloseConsumer { consumer_id: 1 }),
            (9, SessionLetter::CloseProducer { producer_id: 1 }),
        ]
    );
    assert_eq!(world.asleep, 1);
}
