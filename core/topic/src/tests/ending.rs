//! A topic is deleted: only when nobody uses it, or by force; and then with everything.

use super::world::{World, at, code, subscribe};
use letters::{
    LogError, LogReply, LogRequest, RefusalCode, SessionLetter, SubscriptionType, TopicLetter,
};

/// Who deletes.
const JANITOR: u64 = 9;

fn delete(world: &mut World, force: bool) {
    let request_id = 7;
    world.tell(JANITOR, TopicLetter::DeleteTopic { request_id, force });
}

fn heard_at_last(world: &mut World) -> SessionLetter {
    world.answer_all();
    let mut heard = world.heard_by(JANITOR);
    assert_eq!(heard.len(), 1, "{heard:?}");
    heard.remove(0)
}

#[test]
fn who_uses_it_keeps_it_unless_by_force() {
    let mut world = World::new();
    world.producer(1, 1, None);
    world.consumer(2, 1, SubscriptionType::Exclusive);
    world.publish(1, 1, 0);
    world.answer_all();
    world.heard();
    delete(&mut world, false);
    assert_eq!(
        code(&heard_at_last(&mut world)),
        Some(RefusalCode::NotAllowedError)
    );
    assert!(world.log.facts.exists);

    delete(&mut world, true);
    world.answer_all();
    assert_eq!(
        world.heard_by(1),
        [SessionLetter::CloseProducer { producer_id: 1 }]
    );
    assert_eq!(
        world.heard_by(2),
        [SessionLetter::CloseConsumer { consumer_id: 1 }]
    );
    let deleted = SessionLetter::TopicDeleted { request_id: 7 };
    assert_eq!(heard_at_last(&mut world), deleted);
    assert!(!world.log.facts.exists && world.log.entries.is_empty());
}

#[test]
fn one_that_sleeps_is_opened_to_be_deleted_and_never_made() {
    let mut world = World::new();
    world.log.facts.exists = true;
    delete(&mut world, false);
    assert_eq!(
        heard_at_last(&mut world),
        SessionLetter::TopicDeleted { request_id: 7 }
    );
    assert!(!world.log.facts.exists);
    delete(&mut world, true);
    let missing = heard_at_last(&mut world);
    assert_eq!(code(&missing), Some(RefusalCode::TopicNotFound));
    assert!(!world.log.facts.exists);
}

#[test]
fn subscriptions_without_consumers_go_with_it() {
    let mut world = World::new();
    world.consumer(1, 1, SubscriptionType::Shared);
    world.leave(1, 1);
    world.answer_all();
    world.heard();
    delete(&mut world, false);
    let deleted = SessionLetter::TopicDeleted { request_id: 7 };
    assert_eq!(heard_at_last(&mut world), deleted);
    assert!(world.log.cursors.is_empty());
}

#[test]
fn who_comes_meanwhile_is_told_to_try_again_and_then_gets_a_new_one() {
    let mut world = World::new();
    world.producer(1, 1, None);
    world.publish(1, 1, 0);
    world.answer_all();
    world.heard();
    world.prompt_log = false;
    delete(&mut world, true);
    assert!(matches!(world.asked()[..], [LogRequest::Delete]));
    world.producer(2, 1, None);
    world.subscribe(3, subscribe(1, SubscriptionType::Shared));
    for session in [2, 3] {
        let heard = world.heard_by(session);
        assert_eq!(code(&heard[0]), Some(RefusalCode::ServiceNotReady));
    }
    delete(&mut world, true);
    let second = world.heard_by(JANITOR);
    assert_eq!(code(&second[0]), Some(RefusalCode::ServiceNotReady));
    assert_eq!(
        heard_at_last(&mut world),
        SessionLetter::TopicDeleted { request_id: 7 }
    );
    world.producer(2, 1, None);
    world.answer_all();
    assert!(matches!(
        world.heard_by(2)[..],
        [SessionLetter::ProducerReady { .. }]
    ));
    assert!(!world.log.entries.contains_key(&at(0)), "a new, empty one");
}

#[test]
fn publishes_under_way_are_neither_confirmed_nor_kept() {
    let mut world = World::new();
    world.producer(1, 1, None);
    world.answer_all();
    world.heard();
    world.prompt_log = false;
    world.publish(1, 1, 0);
    delete(&mut world, true);
    world.answer_all();
    let stored = |letter: &SessionLetter| matches!(letter, SessionLetter::Stored { .. });
    assert!(!world.heard_by(1).iter().any(stored));
    assert!(world.log.entries.is_empty());
}

#[test]
fn what_the_log_cannot_delete_is_told_and_the_topic_goes_on() {
    let mut world = World::new();
    world.producer(1, 1, None);
    world.answer_all();
    world.heard();
    world.log.deletes_to_fail = 1;
    delete(&mut world, true);
    let failed = heard_at_last(&mut world);
    assert_eq!(code(&failed), Some(RefusalCode::PersistenceError));
    world.prompt_log = false;
    delete(&mut world, true);
    world.reply(LogReply::Lost {
        error: LogError::Fenced("t".to_owned()),
    });
    let lost = world.heard_by(JANITOR);
    assert_eq!(code(&lost[0]), Some(RefusalCode::PersistenceError));
}
