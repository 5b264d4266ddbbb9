//! Producers come, publish, and go.

use super::world::{World, add_producer, at, code, entry, text};
use letters::{LogRequest, RefusalCode, SessionLetter, SubscriptionType, TopicLetter};

fn ready(producer_id: u64, name: &str) -> SessionLetter {
    SessionLetter::ProducerReady {
        request_id: 1000 + producer_id,
        producer_id,
        name: name.to_owned(),
        last_sequence_id: -1,
        topic_epoch: None,
        ready: true,
    }
}

fn stored(producer_id: u64, sequence_id: u64, entry: i64) -> SessionLetter {
    SessionLetter::Stored {
        producer_id,
        sequence_id,
        highest_sequence_id: None,
        position: at(entry),
    }
}

fn close(world: &mut World, session: u64, producer_id: u64, request_id: u64) {
    world.tell(
        session,
        TopicLetter::CloseProducer {
            request_id,
            producer_id,
        },
    );
}

const DROPPED: SessionLetter = SessionLetter::Dropped { producer_id: 1 };
const CLOSED: SessionLetter = SessionLetter::CloseProducer { producer_id: 1 };

#[test]
fn producers_without_a_name_get_names_of_their_own() {
    let mut world = World::new();
    world.producer(1, 1, None);
    world.producer(2, 1, Some(""));
    assert_eq!(
        world.heard(),
        [
            (1, ready(1, "standalone-7-0")),
            (2, ready(1, "standalone-7-1"))
        ]
    );
}

#[test]
fn a_generated_name_steps_aside_for_one_that_a_user_chose() {
    let mut world = World::new();
    world.producer(1, 1, Some("standalone-7-0"));
    world.producer(1, 2, None);
    assert_eq!(world.heard()[1], (1, ready(2, "standalone-7-1")));
}

#[test]
fn receipts_come_in_order_and_only_after_the_log_has_answered() {
    let mut world = World::new();
    world.producer(1, 1, Some("a"));
    world.heard();
    world.prompt_log = false;
    world.publish(1, 1, 10);
    world.publish(1, 1, 11);
    assert_eq!(world.heard(), []);
    assert_eq!(
        world.topic.stats().pending_bytes,
        2 * entry(0, 1).len() as u64
    );
    world.answer(0);
    assert_eq!(world.heard(), [(1, stored(1, 10, 0))]);
    world.answer(0);
    assert_eq!(world.heard(), [(1, stored(1, 11, 1))]);
    assert_eq!(world.topic.stats().pending_bytes, 0);
    assert_eq!(world.topic.stats().producers[0].messages_in, 2);
}

#[test]
fn what_an_unknown_producer_sends_is_dropped() {
    let mut world = World::new();
    world.publish(1, 1, 0);
    assert_eq!(world.heard(), [(1, DROPPED)]);
    assert!(world.log.entries.is_empty());
}

#[test]
fn the_same_producer_again_is_greeted_again() {
    let mut world = World::new();
    world.producer(1, 1, Some("a"));
    world.producer(1, 1, Some("a"));
    assert_eq!(world.heard(), [(1, ready(1, "a")), (1, ready(1, "a"))]);
    assert_eq!(world.topic.stats().producers.len(), 1);
}

#[test]
fn a_higher_epoch_of_the_same_producer_is_kept() {
    let mut world = World::new();
    world.producer(1, 1, Some("a"));
    let mut add = add_producer(1);
    add.name = Some("a".to_owned());
    add.epoch = 4;
    world.tell(1, TopicLetter::AddProducer(Box::new(add)));
    assert_eq!(world.heard()[1], (1, ready(1, "a")));
    assert_eq!(world.topic.stats().producers[0].epoch, 4);
}

#[test]
fn a_second_request_while_the_first_waits_is_told_to_wait() {
    let mut world = World::new();
    world.prompt_log = false;
    world.producer(1, 1, Some("a"));
    world.producer(1, 1, Some("a"));
    let heard = world.heard();
    assert_eq!(heard.len(), 1);
    assert_eq!(code(&heard[0].1), Some(RefusalCode::ServiceNotReady));
    world.answer_all();
    assert_eq!(world.heard(), [(1, ready(1, "a"))]);
}

fn clash(world: &mut World) -> u64 {
    world.producer(1, 1, Some("a"));
    world.heard();
    world.producer(2, 1, Some("a"));
    match &world.heard()[..] {
        [(1, SessionLetter::AreYouThere { topic, token })] => {
            assert_eq!(topic, world.topic.name());
            *token
        }
        other => panic!("expected a probe, got {other:?}"),
    }
}

#[test]
fn a_name_that_is_taken_by_somebody_alive_is_refused() {
    let mut world = World::new();
    let token = clash(&mut world);
    world.tell(3, TopicLetter::StillHere { token });
    assert_eq!(world.heard(), [], "only the one who was asked can answer");
    world.tell(1, TopicLetter::StillHere { token });
    let heard = world.heard();
    assert_eq!(heard.len(), 1);
    assert_eq!(code(&heard[0].1), Some(RefusalCode::ProducerBusy));
    assert_eq!(
        text(&heard[0].1),
        "Producer with name 'a' is already connected to topic 'persistent://public/default/t'"
    );
}

#[test]
fn a_name_that_is_taken_by_somebody_dead_is_given_away() {
    let mut world = World::new();
    clash(&mut world);
    world.producer(3, 1, Some("a"));
    assert_eq!(world.heard(), [], "one probe is enough");
    world.tell(1, TopicLetter::SessionGone);
    let heard = world.heard();
    assert_eq!(heard[0], (2, ready(1, "a")), "who came first has it");
    assert!(
        matches!(heard[1], (2, SessionLetter::AreYouThere { .. })),
        "and is asked for the next"
    );
}

#[test]
fn a_name_that_is_given_up_meanwhile_is_free() {
    let mut world = World::new();
    let token = clash(&mut world);
    close(&mut world, 1, 1, 9);
    assert_eq!(
        world.heard(),
        [
            (
                1,
                SessionLetter::ProducerLeft {
                    request_id: 9,
                    producer_id: 1
                }
            ),
            (2, ready(1, "a"))
        ]
    );
    world.tell(1, TopicLetter::StillHere { token });
    assert_eq!(world.heard(), []);
}

#[test]
fn a_name_taken_on_the_same_connection_needs_no_probe() {
    let mut world = World::new();
    world.producer(1, 1, Some("a"));
    world.producer(1, 2, Some("a"));
    assert_eq!(code(&world.heard()[1].1), Some(RefusalCode::ProducerBusy));
}

#[test]
fn a_producer_leaves_after_its_last_publish_is_answered() {
    let mut world = World::new();
    world.producer(1, 1, Some("a"));
    world.heard();
    world.prompt_log = false;
    world.publish(1, 1, 0);
    close(&mut world, 1, 1, 9);
    assert_eq!(world.heard(), []);
    world.publish(1, 1, 1);
    assert_eq!(
        world.heard(),
        [(1, DROPPED)],
        "it said that it had finished"
    );
    world.answer_all();
    assert_eq!(
        world.heard(),
        [
            (1, stored(1, 0, 0)),
            (
                1,
                SessionLetter::ProducerLeft {
                    request_id: 9,
                    producer_id: 1
                }
            )
        ]
    );
    close(&mut world, 1, 1, 10);
    assert_eq!(
        world.heard(),
        [(
            1,
            SessionLetter::ProducerLeft {
                request_id: 10,
                producer_id: 1
            }
        )]
    );
}

#[test]
fn a_producer_closed_while_it_waits_is_not_created() {
    let mut world = World::new();
    world.prompt_log = false;
    world.producer(1, 1, Some("a"));
    close(&mut world, 1, 1, 9);
    let heard = world.heard();
    assert_eq!(code(&heard[0].1), Some(RefusalCode::ServiceNotReady));
    assert_eq!(
        heard[1],
        (
            1,
            SessionLetter::ProducerLeft {
                request_id: 9,
                producer_id: 1
            }
        )
    );
    world.answer_all();
    assert_eq!(world.heard(), []);
    assert!(world.topic.stats().producers.is_empty());
}

#[test]
fn a_failed_append_sends_all_producers_away_until_the_log_has_answered_everything() {
    let mut world = World::new();
    world.producer(1, 1, Some("a"));
    world.producer(2, 1, Some("b"));
    world.heard();
    world.prompt_log = false;
    world.publish(1, 1, 0);
    world.publish(2, 1, 0);
    world.publish(1, 1, 1);
    world.log.appends_to_fail = 3;
    world.answer(0);
    assert_eq!(world.heard_by(1), [DROPPED, DROPPED, CLOSED]);
    assert_eq!(world.heard_by(2), [DROPPED, CLOSED]);
    world.publish(1, 1, 2);
    assert_eq!(world.heard_by(1), [DROPPED]);
    world.producer(1, 2, Some("a"));
    assert_eq!(world.heard(), [], "it waits");
    world.answer(0);
    assert_eq!(world.heard(), []);
    world.answer(0);
    assert_eq!(world.heard(), [(1, ready(2, "a"))]);
    world.publish(1, 2, 0);
    world.answer_all();
    assert_eq!(world.heard(), [(1, stored(2, 0, 0))]);
    assert_eq!(world.topic.stats().publish_failures, 3);
    assert_eq!(world.reports.len(), 1, "once, not per entry");
}

#[test]
fn what_a_lost_connection_published_is_stored_and_told_to_nobody() {
    let mut world = World::new();
    world.producer(1, 1, Some("a"));
    world.heard();
    world.prompt_log = false;
    world.publish(1, 1, 0);
    world.tell(1, TopicLetter::SessionGone);
    world.answer_all();
    assert_eq!(world.heard(), []);
    assert_eq!(world.log.entries.len(), 1);
}

#[test]
fn the_initial_subscription_is_there_before_the_producer() {
    let mut world = World::new();
    world.publish_many(2);
    world.prompt_log = false;
    let mut add = add_producer(1);
    add.initial_subscription = Some("sub".to_owned());
    world.tell(1, TopicLetter::AddProducer(Box::new(add.clone())));
    assert_eq!(world.heard(), []);
    assert!(matches!(
        world.asked()[..],
        [LogRequest::CreateCursor { .. }]
    ));
    world.answer_all();
    assert!(matches!(
        world.heard()[..],
        [(1, SessionLetter::ProducerReady { .. })]
    ));
    world.prompt_log = true;
    world.consumer(2, 1, SubscriptionType::Shared);
    world.flow(2, 1, 10);
    assert_eq!(world.got_entries(2), [0, 1], "from the first entry");
    add.initial_subscription = Some("pulsar.dedup".to_owned());
    add.producer_id = 2;
    world.tell(1, TopicLetter::AddProducer(Box::new(add)));
    assert_eq!(code(&world.heard_by(1)[0]), Some(RefusalCode::ProducerBusy));
}

#[test]
fn producers_and_newcomers_are_bounded() {
    let mut world = World::with(|settings| settings.producers_max = 1);
    world.producer(1, 1, None);
    world.producer(1, 2, None);
    assert_eq!(code(&world.heard()[1].1), Some(RefusalCode::ProducerBusy));
    let mut world = World::with(|settings| settings.newcomers_max = 1);
    world.prompt_log = false;
    world.producer(1, 1, None);
    world.producer(1, 2, None);
    assert_eq!(
        code(&world.heard()[0].1),
        Some(RefusalCode::ServiceNotReady)
    );
}

#[test]
fn an_initial_subscription_is_not_created_where_that_is_switched_off() {
    let mut world = World::with(|settings| settings.auto_create_subscriptions = false);
    let mut add = add_producer(1);
    add.initial_subscription = Some("sub".to_owned());
    world.tell(1, TopicLetter::AddProducer(Box::new(add)));
    assert_eq!(
        code(&world.heard_by(1)[0]),
        Some(RefusalCode::NotAllowedError)
    );
    assert!(world.log.cursors.is_empty());
}

#[test]
fn who_waits_for_the_name_of_a_producer_that_was_thrown_out_is_not_forgotten() {
    let mut world = World::new();
    clash(&mut world);
    world.log.appends_to_fail = 1;
    world.publish(1, 1, 0);
    world.heard();
    world.tell(1, TopicLetter::SessionGone);
    assert_eq!(world.heard(), [(2, ready(1, "a"))]);
}
