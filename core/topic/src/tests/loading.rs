//! The log is opened when somebody comes, and closed when nobody is left.

use super::world::{World, at, code, subscribe};
use letters::{
    LogError, LogReply, LogRequest, RefusalCode, SessionLetter, SubscriptionType, TopicLetter,
};

#[test]
fn newcomers_wait_for_the_log_and_are_admitted_in_order() {
    let mut world = World::new();
    world.prompt_log = false;
    world.producer(1, 1, None);
    world.producer(2, 1, None);
    assert!(
        matches!(world.asked()[..], [LogRequest::Open { create: true }]),
        "opened once"
    );
    world.answer_all();
    let heard: Vec<u64> = world.heard().iter().map(|(session, _)| *session).collect();
    assert_eq!(heard, [1, 2]);
}

#[test]
fn a_topic_that_cannot_be_opened_refuses_everybody_and_sleeps() {
    let no_namespace = LogError::NoSuchNamespace("public/default".to_owned());
    for (error, expected) in [
        (no_namespace, RefusalCode::TopicNotFound),
        (
            LogError::Fenced("t".to_owned()),
            RefusalCode::ServiceNotReady,
        ),
        (
            LogError::Timeout("t".to_owned()),
            RefusalCode::ServiceNotReady,
        ),
        (LogError::Io("t".to_owned()), RefusalCode::PersistenceError),
    ] {
        let mut world = World::new();
        world.log.open_error = Some(error);
        world.producer(1, 1, None);
        world.consumer(2, 1, SubscriptionType::Shared);
        let heard = world.heard();
        assert_eq!(heard.len(), 2);
        assert!(
            heard
                .iter()
                .all(|(_, letter)| code(letter) == Some(expected)),
            "{heard:?}"
        );
        assert!(world.asleep > 0);
    }
}

#[test]
fn a_consumer_that_does_not_force_creation_creates_nothing() {
    let mut world = World::new();
    let mut add = subscribe(1, SubscriptionType::Shared);
    add.force_topic_creation = false;
    world.prompt_log = false;
    world.subscribe(1, add);
    assert!(matches!(
        world.asked()[..],
        [LogRequest::Open { create: false }]
    ));
    world.producer(2, 1, None);
    world.answer(0);
    assert_eq!(
        code(&world.heard_by(1)[0]),
        Some(RefusalCode::TopicNotFound)
    );
    assert!(
        matches!(world.asked()[..], [LogRequest::Open { create: true }]),
        "a producer came meanwhile"
    );
    world.answer_all();
    assert!(matches!(
        world.heard_by(2)[..],
        [SessionLetter::ProducerReady { .. }]
    ));
    let mut world = World::with(|settings| settings.auto_create_topics = false);
    world.producer(1, 1, None);
    assert_eq!(
        code(&world.heard_by(1)[0]),
        Some(RefusalCode::TopicNotFound)
    );
}

#[test]
fn a_topic_that_nobody_uses_saves_its_cursors_closes_its_log_and_sleeps() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, SubscriptionType::Shared);
    world.flow(1, 1, 10);
    world.prompt_log = false;
    world.ack(1, 1, &[at(0)]);
    world.tell(1, TopicLetter::SessionGone);
    world.tell(900, TopicLetter::SessionGone);
    world.advance(499);
    assert!(world.asked().is_empty());
    world.advance(1);
    assert!(
        matches!(world.asked()[..], [LogRequest::SaveCursor { .. }]),
        "within the second"
    );
    world.advance(59_499);
    world.answer_all();
    assert!(world.log.is_open);
    world.advance(1);
    assert!(matches!(world.asked()[..], [LogRequest::Close]));
    assert_eq!(world.asleep, 0);
    world.answer_all();
    assert_eq!(world.asleep, 1);
}

#[test]
fn what_is_unsaved_is_saved_before_the_log_is_closed() {
    let mut world =
        World::with(|settings| settings.ack_save_delay = std::time::Duration::from_secs(1000));
    world.publish_many(1);
    world.consumer(1, 1, SubscriptionType::Shared);
    world.flow(1, 1, 10);
    world.ack(1, 1, &[at(0)]);
    world.tell(1, TopicLetter::SessionGone);
    world.tell(900, TopicLetter::SessionGone);
    world.prompt_log = false;
    world.advance(60_000);
    assert!(matches!(world.asked()[..], [LogRequest::SaveCursor { .. }]));
    world.answer_all();
    assert_eq!(world.asleep, 1);
    world.crash();
    world.prompt_log = true;
    world.consumer(1, 1, SubscriptionType::Shared);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [] as [i64; 0]);
}

#[test]
fn a_log_that_cannot_save_is_closed_after_one_more_try() {
    let mut world = World::new();
    world.publish_many(1);
    world.consumer(1, 1, SubscriptionType::Shared);
    world.flow(1, 1, 10);
    world.ack(1, 1, &[at(0)]);
    world.log.saves_to_fail = u32::MAX;
    world.shut_down();
    world.advance(20_000);
    assert!(world.asleep > 0);
}

#[test]
fn who_comes_while_the_log_is_closing_gets_it_opened_again() {
    let mut world = World::new();
    world.publish_many(1);
    world.tell(900, TopicLetter::SessionGone);
    world.prompt_log = false;
    world.advance(60_000);
    assert!(matches!(world.asked()[..], [LogRequest::Close]));
    world.producer(1, 1, None);
    assert_eq!(world.heard(), []);
    world.answer_all();
    assert!(matches!(
        world.heard()[..],
        [(1, SessionLetter::ProducerReady { .. })]
    ));
    assert_eq!(world.asleep, 0);
}

#[test]
fn who_comes_in_time_keeps_the_topic_awake() {
    let mut world = World::new();
    world.publish_many(1);
    world.tell(900, TopicLetter::SessionGone);
    world.advance(59_000);
    world.producer(1, 1, None);
    world.advance(600_000);
    assert!(world.log.is_open);
    assert_eq!(world.asleep, 0);
}

#[test]
fn a_lost_log_sends_everybody_away() {
    let mut world = World::new();
    world.producer(1, 1, None);
    world.consumer(2, 1, SubscriptionType::Shared);
    world.flow(2, 1, 10);
    world.prompt_log = false;
    world.publish(1, 1, 0);
    world.answer(0);
    world.answer(0);
    world.ack_with(2, 1, Some(8), letters::AckKind::Individual, at(0), None);
    world.publish(1, 1, 1);
    world.heard();
    let late: Vec<LogRequest> = world.log.requests.drain(..).collect();
    world.reply(LogReply::Lost {
        error: LogError::Fenced("t".to_owned()),
    });
    assert_eq!(
        world.heard_by(1),
        [
            SessionLetter::Dropped { producer_id: 1 },
            SessionLetter::CloseProducer { producer_id: 1 }
        ]
    );
    let heard = world.heard_by(2);
    assert_eq!(heard[0], SessionLetter::CloseConsumer { consumer_id: 1 });
    assert_eq!(
        code(&heard[1]),
        Some(RefusalCode::ServiceNotReady),
        "the ack has no receipt"
    );
    assert_eq!(world.asleep, 1);
    // A late answer is nobody's.
    for request in late {
        if let LogRequest::Append { ticket, .. } = request {
            world.reply(LogReply::Stored {
                ticket,
                position: at(1),
            });
        }
    }
    world.log.is_open = false;
    world.log.cursors.clear();
    world.consumer(2, 1, SubscriptionType::Shared);
    world.answer(0);
    world.heard();
    let error = Err(LogError::Io("late".to_owned()));
    world.reply(LogReply::CursorSaved {
        ticket: 1,
        name: "sub".to_owned(),
        result: error,
    });
    assert_eq!(
        world.heard(),
        [],
        "nor does it harm a new subscription of that name"
    );
    world.prompt_log = true;
    world.producer(1, 2, None);
    assert!(
        matches!(world.heard_by(1)[..], [SessionLetter::ProducerReady { .. }]),
        "it can be opened again"
    );
}

#[test]
fn at_shutdown_clients_are_told_receipts_given_and_cursors_saved() {
    let mut world = World::new();
    world.publish_many(1);
    world.producer(1, 1, None);
    world.producer(2, 1, None);
    world.consumer(3, 1, SubscriptionType::Shared);
    world.flow(3, 1, 10);
    world.ack(3, 1, &[at(0)]);
    world.prompt_log = false;
    world.publish(1, 1, 0);
    world.heard();
    world.shut_down();
    assert_eq!(
        world.heard_by(2),
        [SessionLetter::CloseProducer { producer_id: 1 }]
    );
    assert_eq!(
        world.heard_by(3),
        [SessionLetter::CloseConsumer { consumer_id: 1 }]
    );
    assert_eq!(world.heard_by(1), [], "its publish is under way");
    world.publish(1, 1, 1);
    assert_eq!(
        world.heard_by(1),
        [SessionLetter::Dropped { producer_id: 1 }]
    );
    assert!(
        !world
            .asked()
            .iter()
            .any(|request| matches!(request, LogRequest::Close))
    );
    world.answer_all();
    assert!(matches!(
        world.heard_by(1)[..],
        [
            SessionLetter::Stored { sequence_id: 0, .. },
            SessionLetter::CloseProducer { producer_id: 1 }
        ]
    ));
    assert!(!world.log.is_open);
    assert_eq!(world.asleep, 1);
    world.producer(4, 1, None);
    assert_eq!(
        code(&world.heard_by(4)[0]),
        Some(RefusalCode::ServiceNotReady)
    );
}

#[test]
fn shutdown_of_a_topic_that_is_opening_refuses_who_waits_and_closes() {
    let mut world = World::new();
    world.prompt_log = false;
    world.producer(1, 1, None);
    world.shut_down();
    assert_eq!(
        code(&world.heard_by(1)[0]),
        Some(RefusalCode::ServiceNotReady)
    );
    world.answer_all();
    assert_eq!(world.asleep, 1);
    assert!(!world.log.is_open);
}

#[test]
fn a_damaged_cursor_begins_again_and_is_saved_whole() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, SubscriptionType::Shared);
    let cursor = world.log.cursors.get_mut("sub").unwrap();
    let whole = cursor.snapshot.clone();
    cursor.snapshot = whole.slice(..whole.len() - 1);
    world.crash();
    world.consumer(1, 1, SubscriptionType::Shared);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [0, 1]);
    assert!(
        world.reports[0].contains("begins again at the first entry"),
        "{:?}",
        world.reports
    );
    world.advance(1000);
    assert!(world.log.cursors["sub"].snapshot.len() >= whole.len());
}

#[test]
fn a_cursor_whose_newest_records_are_lost_begins_at_what_is_left_and_is_saved_whole() {
    for remembered in [true, false] {
        let mut world = World::new();
        world.publish_many(2);
        world.consumer(1, 1, SubscriptionType::Shared);
        let cursor = world.log.cursors.get_mut("sub").unwrap();
        cursor.lost = Some("the disk ate it".to_owned());
        cursor.deltas.clear();
        if !remembered {
            cursor.snapshot.clear();
        }
        world.crash();
        world.consumer(1, 1, SubscriptionType::Shared);
        world.flow(1, 1, 10);
        assert_eq!(world.got_entries(1), [0, 1]);
        let report = &world.reports[0];
        assert!(
            report.contains("lost") && report.contains("the disk ate it"),
            "{report}"
        );
        assert!(report.contains("'sub'"), "{report}");
        world.log.cursors.get_mut("sub").unwrap().snapshot.clear();
        world.advance(1000);
        assert!(
            !world.log.cursors["sub"].snapshot.is_empty(),
            "a snapshot is saved"
        );
    }
}

#[test]
fn a_cursor_of_a_newer_version_is_left_alone() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, SubscriptionType::Shared);
    world.log.cursors.get_mut("sub").unwrap().snapshot = bytes::Bytes::from_static(&[250, 0, 0]);
    world.crash();
    world.consumer(1, 1, SubscriptionType::Shared);
    assert_eq!(
        code(&world.heard_by(1)[0]),
        Some(RefusalCode::PersistenceError)
    );
    assert_eq!(world.log.cursors["sub"].snapshot[0], 250);
    assert!(world.asleep > 0 && !world.log.is_open);
}

#[test]
fn a_late_answer_to_an_earlier_topic_of_that_name_is_nobodys() {
    let mut world = World::new();
    world.producer(1, 1, None);
    world.prompt_log = false;
    world.publish(1, 1, 0);
    let [LogRequest::Append { ticket, .. }] = world.asked()[..] else {
        panic!("no append")
    };
    let ticket = *ticket;
    world.crash();
    world.prompt_log = true;
    world.producer(1, 1, None);
    world.prompt_log = false;
    world.publish(1, 1, 0);
    world.heard();
    world.reply(LogReply::Stored {
        ticket,
        position: at(0),
    });
    assert_eq!(world.heard(), []);
    world.answer_all();
    assert!(matches!(
        world.heard()[..],
        [(1, SessionLetter::Stored { .. })]
    ));
}
