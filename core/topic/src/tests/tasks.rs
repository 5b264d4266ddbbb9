//! Tasks: what is done to subscriptions and the topic by somebody who is neither producer nor consumer.

use super::world::{World, at, subscribe};
use letters::SubscriptionType::{Exclusive, Shared};
use letters::{
    Expiry, RefusalCode, SeekTarget, SessionLetter, TaskResult, TopicLetter, TopicTask, Which,
};
use vocabulary::Position;

/// Who gives the tasks.
const CLERK: u64 = 8;

fn give(world: &mut World, task: TopicTask) {
    let task = Box::new(task);
    let request_id = 5;
    world.tell(CLERK, TopicLetter::DoTask { request_id, task });
}

/// What came of the one task that was given.
fn outcome(world: &mut World) -> Result<TaskResult, RefusalCode> {
    world.answer_all();
    let mut heard = world.heard_by(CLERK);
    assert_eq!(heard.len(), 1, "{heard:?}");
    match heard.remove(0) {
        SessionLetter::TaskDone {
            request_id: 5,
            result,
        } => result.map_err(|refusal| refusal.code),
        SessionLetter::Unsubscribed { request_id: 5, .. }
        | SessionLetter::SeekDone { request_id: 5, .. } => Ok(TaskResult::Done),
        SessionLetter::AckDone {
            request_id: 5,
            refusal,
            ..
        } => refusal.map_or(Ok(TaskResult::Done), |refusal| Err(refusal.code)),
        SessionLetter::RequestRefused {
            request_id: 5,
            refusal,
        } => Err(refusal.code),
        other => panic!("{other:?}"),
    }
}

fn done(world: &mut World, task: TopicTask) {
    give(world, task);
    assert_eq!(outcome(world), Ok(TaskResult::Done));
}

fn make(subscription: &str, start: Position) -> TopicTask {
    TopicTask::Subscribe {
        subscription: subscription.to_owned(),
        start: SeekTarget::Id(start, None),
        properties: vec![("k".to_owned(), "v".to_owned())],
        is_replicated: true,
    }
}

fn skip(entries: Option<u64>) -> TopicTask {
    TopicTask::Skip {
        subscription: "sub".to_owned(),
        entries,
    }
}

fn next(world: &mut World, n: u64) -> Option<i64> {
    let subscription = "sub".to_owned();
    give(world, TopicTask::Read(Which::Unacked { subscription, n }));
    match outcome(world) {
        Ok(TaskResult::Entry(entry)) => entry.map(|entry| entry.position.entry),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_subscription_is_made_where_it_shall_begin_and_lasts() {
    let mut world = World::new();
    world.publish_many(5);
    done(&mut world, make("sub", at(2)));
    give(&mut world, make("sub", at(0)));
    assert_eq!(outcome(&mut world), Ok(TaskResult::NotDone));
    world.crash();
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    world.answer_all();
    assert_eq!(world.got_entries(1), [2, 3, 4]);
    let subscription = "sub".to_owned();
    give(&mut world, TopicTask::Properties { subscription });
    let kept = TaskResult::Properties {
        properties: vec![("k".to_owned(), "v".to_owned())],
        is_replicated: true,
    };
    assert_eq!(outcome(&mut world), Ok(kept));
}

#[test]
fn it_begins_at_the_ends_too_and_names_of_brokers_are_refused() {
    for (start, first) in [
        (Position::EARLIEST, Some(0)),
        (Position::LATEST, None),
        (Position::new(77, 0), None),
    ] {
        let mut world = World::new();
        world.publish_many(2);
        done(&mut world, make("sub", start));
        assert_eq!(next(&mut world, 1), first);
    }
    let mut world = World::new();
    give(&mut world, make("pulsar.dedup", Position::LATEST));
    assert_eq!(outcome(&mut world), Err(RefusalCode::NotAllowedError));
}

#[test]
fn a_topic_that_is_not_there_is_made_for_a_subscription_only() {
    let mut world = World::new();
    give(&mut world, TopicTask::Open);
    assert_eq!(outcome(&mut world), Err(RefusalCode::TopicNotFound));
    assert!(!world.log.facts.exists);
    done(&mut world, make("sub", Position::LATEST));
    assert!(world.log.facts.exists);
    done(&mut world, TopicTask::Open);
}

#[test]
fn one_that_is_not_stored_is_not_there() {
    let mut world = World::new();
    world.publish_many(1);
    world.log.saves_to_fail = 1;
    give(&mut world, make("sub", at(0)));
    assert_eq!(outcome(&mut world), Err(RefusalCode::PersistenceError));
    give(&mut world, skip(None));
    assert_eq!(outcome(&mut world), Err(RefusalCode::SubscriptionNotFound));
}

#[test]
fn skipping_counts_what_is_not_acknowledged_and_is_on_disk_when_it_is_done() {
    let mut world = World::new();
    world.publish_many(6);
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 6);
    world.ack(1, 1, &[at(1), at(3)]);
    world.leave(1, 1);
    world.answer_all();
    world.heard();
    assert_eq!(next(&mut world, 2), Some(2));
    assert_eq!(next(&mut world, 4), Some(5));
    assert_eq!(next(&mut world, 5), None);
    assert_eq!(next(&mut world, 0), None);
    done(&mut world, skip(Some(2)));
    world.crash();
    assert_eq!(next(&mut world, 1), Some(4));
    done(&mut world, skip(Some(0)));
    assert_eq!(next(&mut world, 1), Some(4));
    done(&mut world, skip(None));
    assert_eq!(next(&mut world, 1), None);
}

#[test]
fn what_consumers_hold_is_taken_from_them_and_never_comes_again() {
    let mut world = World::with(|settings| settings.unacked_per_consumer_max = 4);
    world.publish_many(6);
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 100);
    assert_eq!(world.got_entries(1), [0, 1, 2, 3]);
    done(&mut world, skip(Some(4)));
    // Freed, it gets what was kept from it.
    assert_eq!(world.got_entries(1), [4, 5]);
    world.redeliver(1, 1, &[], None);
    world.answer_all();
    assert_eq!(world.got_entries(1), [4, 5]);
}

#[test]
fn what_waits_to_be_delivered_again_is_skipped_too() {
    let mut world = World::new();
    world.publish_many(3);
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 3);
    world.redeliver(1, 1, &[], None);
    done(&mut world, skip(Some(2)));
    assert_eq!(world.topic.stats().subscriptions[0].replay_entries, 1);
    world.heard();
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [2]);
}

#[test]
fn what_is_too_old_is_acknowledged() {
    let mut world = World::new();
    world.publish_at(&[1_000, 2_000, 3_000, 9_000]);
    done(&mut world, make("sub", at(0)));
    let expire = |seconds| TopicTask::Expire {
        subscription: "sub".to_owned(),
        until: Expiry::OlderThanSeconds(seconds),
    };
    world.wall_ms = 10_000;
    done(&mut world, expire(1_000));
    assert_eq!(next(&mut world, 1), Some(0));
    done(&mut world, expire(8));
    assert_eq!(next(&mut world, 1), Some(1));
    done(
        &mut world,
        TopicTask::Expire {
            subscription: "sub".to_owned(),
            until: Expiry::To(at(2)),
        },
    );
    assert_eq!(next(&mut world, 1), Some(3));
    done(&mut world, expire(0));
    give(&mut world, expire(0));
    assert_eq!(outcome(&mut world), Ok(TaskResult::NotDone));
}

#[test]
fn entries_are_found_by_place_and_by_time() {
    let mut world = World::new();
    world.publish_at(&[1_000, 2_000, 3_000]);
    let mut entry = |which| {
        give(&mut world, TopicTask::Read(which));
        match outcome(&mut world) {
            Ok(TaskResult::Entry(entry)) => entry.map(|entry| entry.position.entry),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(entry(Which::At(at(1))), Some(1));
    assert_eq!(entry(Which::At(at(3))), None);
    assert_eq!(entry(Which::FromFirst(1)), Some(0));
    assert_eq!(entry(Which::FromFirst(99)), Some(2));
    assert_eq!(entry(Which::FromLast(1)), Some(2));
    assert_eq!(entry(Which::FromLast(3)), Some(0));
    assert_eq!(entry(Which::FromLast(4)), None);
    for (time_ms, first) in [(0, 0), (1_001, 1), (3_000, 2), (3_001, 3)] {
        give(&mut world, TopicTask::FindTime { time_ms });
        assert_eq!(outcome(&mut world), Ok(TaskResult::Position(at(first))));
    }
    give(&mut world, TopicTask::LastMessage);
    world.answer_all();
    let heard = world.heard_by(CLERK);
    assert!(
        matches!(heard[..], [SessionLetter::LastMessageId { position, .. }] if position == at(2)),
        "{heard:?}"
    );
}

#[test]
fn who_peeks_into_a_subscription_that_is_not_there_makes_it() {
    let mut world = World::new();
    world.publish_many(2);
    assert_eq!(next(&mut world, 1), Some(0));
    world.crash();
    assert_eq!(next(&mut world, 2), Some(1));
    let mut world = World::with(|settings| settings.auto_create_subscriptions = false);
    world.publish_many(2);
    let subscription = "sub".to_owned();
    give(
        &mut world,
        TopicTask::Read(Which::Unacked { subscription, n: 1 }),
    );
    assert_eq!(outcome(&mut world), Err(RefusalCode::SubscriptionNotFound));
}

#[test]
fn a_subscription_with_consumers_ends_by_force_only() {
    let mut world = World::new();
    world.publish_many(1);
    world.consumer(1, 1, Exclusive);
    world.answer_all();
    world.heard();
    let end = |force| TopicTask::Unsubscribe {
        subscription: "sub".to_owned(),
        force,
    };
    give(&mut world, end(false));
    assert_eq!(outcome(&mut world), Err(RefusalCode::ConsumerBusy));
    done(&mut world, end(true));
    assert_eq!(
        world.heard_by(1),
        [SessionLetter::CloseConsumer { consumer_id: 1 }]
    );
    assert!(world.log.cursors.is_empty());
    give(&mut world, end(true));
    assert_eq!(outcome(&mut world), Err(RefusalCode::SubscriptionNotFound));
}

#[test]
fn a_seek_by_task_is_a_seek() {
    let mut world = World::new();
    world.publish_many(3);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    world.ack(1, 1, &[at(0), at(1), at(2)]);
    world.answer_all();
    world.heard();
    let target = SeekTarget::Id(at(1), None);
    let subscription = "sub".to_owned();
    done(
        &mut world,
        TopicTask::Seek {
            subscription,
            target,
        },
    );
    assert_eq!(
        world.heard_by(1),
        [SessionLetter::CloseConsumer { consumer_id: 1 }]
    );
    assert_eq!(next(&mut world, 1), Some(1));
}

#[test]
fn properties_are_replaced_and_kept() {
    let mut world = World::new();
    world.publish_many(1);
    done(&mut world, make("sub", at(0)));
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    };
    let properties = pairs(&[("a", "1"), ("b", "2")]);
    let subscription = || "sub".to_owned();
    done(
        &mut world,
        TopicTask::SetProperties {
            subscription: subscription(),
            properties: properties.clone(),
        },
    );
    done(
        &mut world,
        TopicTask::SetReplicated {
            subscription: subscription(),
            is_replicated: false,
        },
    );
    world.crash();
    give(
        &mut world,
        TopicTask::Properties {
            subscription: subscription(),
        },
    );
    let kept = TaskResult::Properties {
        properties,
        is_replicated: false,
    };
    assert_eq!(outcome(&mut world), Ok(kept));
}

#[test]
fn an_unloaded_topic_has_told_everybody_saved_everything_and_closed_its_log() {
    let mut world = World::new();
    world.producer(1, 1, None);
    world.publish(1, 1, 0);
    world.subscribe(2, subscribe(1, Shared));
    world.flow(2, 1, 10);
    world.answer_all();
    world.ack(2, 1, &[at(0)]);
    world.heard();
    world.prompt_log = false;
    give(&mut world, TopicTask::Unload);
    assert_eq!(
        world.heard_by(1),
        [SessionLetter::CloseProducer { producer_id: 1 }]
    );
    assert_eq!(
        world.heard_by(2),
        [SessionLetter::CloseConsumer { consumer_id: 1 }]
    );
    // Who comes back at once waits for the end, and is let in after it.
    world.producer(1, 2, None);
    assert_eq!(world.heard_by(1), []);
    assert_eq!(outcome(&mut world), Ok(TaskResult::Done));
    assert!(matches!(
        world.heard_by(1)[..],
        [SessionLetter::ProducerReady { .. }]
    ));
    assert_eq!(next(&mut world, 1), None);
}

#[test]
fn a_log_that_is_lost_answers_what_tasks_wait_for() {
    let mut world = World::new();
    world.publish_many(1);
    world.prompt_log = false;
    give(&mut world, TopicTask::Read(Which::FromFirst(1)));
    let error = letters::LogError::Fenced("t".to_owned());
    world.reply(letters::LogReply::Lost { error });
    let heard = world.heard_by(CLERK);
    assert!(
        matches!(
            &heard[..],
            [SessionLetter::RequestRefused { request_id: 5, .. }]
        ),
        "{heard:?}"
    );
}
