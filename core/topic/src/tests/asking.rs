//! What consumers ask: to end their subscription, for the last message, how they fare.

use super::world::{World, at, code, entry, marker, subscribe, text};
use letters::SubscriptionType::{Exclusive, Failover, Shared};
use letters::{AckKind, LogRequest, RefusalCode, SessionLetter, TopicLetter};
use vocabulary::Position;

fn unsubscribed() -> SessionLetter {
    SessionLetter::Unsubscribed {
        request_id: 7,
        consumer_id: 1,
    }
}

#[test]
fn a_subscription_is_gone_when_its_deletion_is_on_disk() {
    let mut world = World::new();
    world.publish_many(3);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 1);
    world.heard();
    world.prompt_log = false;
    world.unsubscribe(1, false);
    assert!(matches!(
        world.asked()[..],
        [LogRequest::DeleteCursor { .. }]
    ));
    world.flow(1, 1, 5);
    assert_eq!(world.asked().len(), 1, "nothing is read meanwhile");
    assert_eq!(world.heard(), [], "nothing is delivered meanwhile");
    // Who comes meanwhile waits, and gets a new subscription.
    world.consumer(2, 1, Shared);
    assert_eq!(world.heard(), []);
    world.answer(0);
    assert_eq!(world.heard(), [(1, unsubscribed())]);
    world.answer_all();
    assert!(matches!(
        world.heard()[..],
        [(2, SessionLetter::Subscribed { .. })]
    ));
    world.tell(
        1,
        TopicLetter::Flow {
            consumer_id: 1,
            permits: 5,
        },
    );
    world.flow(2, 1, 10);
    world.answer_all();
    assert_eq!(world.got_entries(2), [0, 1, 2]);
    assert_eq!(world.heard_by(1), []);
}

#[test]
fn a_crash_before_that_leaves_it_there() {
    let mut world = World::new();
    world.publish_many(3);
    world.consumer(1, 1, Exclusive);
    world.ack_with(1, 1, Some(1), AckKind::Cumulative, at(1), None);
    world.prompt_log = false;
    world.unsubscribe(1, false);
    world.crash();
    world.prompt_log = true;
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    assert_eq!(world.got_entries(1), [2]);
}

#[test]
fn only_who_is_alone_may_unless_it_insists() {
    for kind in [Shared, Failover] {
        let mut world = World::new();
        world.publish_many(1);
        world.consumer(1, 1, kind);
        world.consumer(2, 1, kind);
        world.heard();
        world.unsubscribe(1, false);
        let heard = world.heard_by(1);
        assert_eq!(code(&heard[0]), Some(RefusalCode::MetadataError));
        assert_eq!(
            text(&heard[0]),
            "Unconnected or shared consumer attempting to unsubscribe"
        );
        world.unsubscribe(1, true);
        assert_eq!(world.heard_by(1), [unsubscribed()]);
        let close = SessionLetter::CloseConsumer { consumer_id: 1 };
        assert_eq!(world.heard_by(2), [close]);
        assert_eq!(world.log.cursors.len(), 0);
    }
}

#[test]
fn who_does_not_sit_here_is_told_so() {
    let mut world = World::new();
    world.consumer(1, 1, Shared);
    world.unsubscribe(2, true);
    let heard = world.heard_by(2);
    assert_eq!(code(&heard[0]), Some(RefusalCode::MetadataError));
    assert_eq!(text(&heard[0]), "Consumer not found");
}

#[test]
fn a_deletion_that_fails_leaves_everything_as_it_was() {
    let mut world = World::new();
    world.publish_many(3);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 1);
    world.heard();
    world.log.deletes_to_fail = 1;
    world.unsubscribe(1, false);
    let heard = world.heard_by(1);
    assert_eq!(code(&heard[0]), Some(RefusalCode::UnknownError));
    world.flow(1, 1, 5);
    assert_eq!(world.got_entries(1), [1, 2]);
    world.ack_with(1, 1, Some(1), AckKind::Cumulative, at(2), None);
    assert!(matches!(
        world.heard_by(1)[..],
        [SessionLetter::AckDone { refusal: None, .. }]
    ));
    world.unsubscribe(1, false);
    assert_eq!(world.heard_by(1), [unsubscribed()]);
}

#[test]
fn acks_and_records_under_way_are_waited_for_and_answered() {
    let mut world = World::new();
    world.publish_many(3);
    world.consumer(1, 1, Exclusive);
    world.flow(1, 1, 10);
    world.heard();
    world.prompt_log = false;
    world.ack_with(1, 1, Some(4), AckKind::Cumulative, at(0), None);
    world.unsubscribe(1, false);
    world.ack_with(1, 1, Some(5), AckKind::Cumulative, at(1), None);
    assert_eq!(world.asked().len(), 1);
    world.answer_all();
    let heard = world.heard_by(1);
    let acked = |at: usize, id| matches!(heard[at], SessionLetter::AckDone { request_id, refusal: None, .. } if request_id == id);
    assert!(acked(0, 4) && acked(1, 5));
    assert_eq!(heard[2], unsubscribed());
    world.advance(1000);
}

#[test]
fn who_hangs_up_meanwhile_has_its_way() {
    let mut world = World::new();
    world.publish_many(1);
    world.consumer(1, 1, Exclusive);
    world.prompt_log = false;
    world.unsubscribe(1, false);
    world.tell(1, TopicLetter::SessionGone);
    world.answer_all();
    assert_eq!(world.topic.stats().subscriptions.len(), 0);
    assert_eq!(world.log.cursors.len(), 0);
}

#[test]
fn a_deleted_subscription_holds_nothing_back() {
    let mut world = World::new();
    world.log.entries_per_ledger = 2;
    world.publish_many(5);
    world.consumer(1, 1, Exclusive);
    let mut other = subscribe(1, Exclusive);
    other.subscription = "other".to_owned();
    world.subscribe(2, other);
    world.ack_with(
        2,
        1,
        Some(1),
        AckKind::Cumulative,
        Position::new(2, 1),
        None,
    );
    world.log.trims.clear();
    world.unsubscribe(1, false);
    assert_eq!(world.log.trims, [Position::new(2, 1)]);
}

#[test]
fn a_reader_unsubscribes_without_the_disk() {
    let mut world = World::new();
    let mut add = subscribe(1, Exclusive);
    add.durable = false;
    world.subscribe(1, add);
    world.heard();
    world.prompt_log = false;
    world.unsubscribe(1, false);
    assert_eq!(world.heard(), [(1, unsubscribed())]);
    assert_eq!(world.asked().len(), 0);
}

#[test]
fn a_seek_under_way_ends_first() {
    let mut world = World::new();
    world.publish_at(&[10, 20, 30]);
    world.consumer(1, 1, Exclusive);
    world.heard();
    world.prompt_log = false;
    world.seek(1, letters::SeekTarget::Time(20));
    world.unsubscribe(1, false);
    world.answer_all();
    let heard = world.heard_by(1);
    assert!(matches!(
        heard[..],
        [
            SessionLetter::CloseConsumer { .. },
            SessionLetter::SeekDone { .. },
            SessionLetter::Unsubscribed { .. }
        ]
    ));
}

fn last(position: Position, batch_index: Option<u32>, mark: Position) -> SessionLetter {
    SessionLetter::LastMessageId {
        request_id: 7,
        consumer_id: 1,
        position,
        batch_index,
        mark,
    }
}

fn ask_last(world: &mut World) {
    let letter = TopicLetter::GetLastMessageId {
        request_id: 7,
        consumer_id: 1,
    };
    world.tell(1, letter);
}

#[test]
fn the_last_message_is_the_last_of_a_batch_and_comes_with_the_mark() {
    let mut world = World::new();
    world.consumer(1, 1, Exclusive);
    world.heard();
    ask_last(&mut world);
    assert_eq!(
        world.heard(),
        [(1, last(Position::EARLIEST, None, Position::EARLIEST))]
    );
    world.publish_many(2);
    ask_last(&mut world);
    assert_eq!(world.heard(), [(1, last(at(1), None, at(-1)))]);
    world.publish_entry(900, 1, 2, entry(2, 4));
    world.ack_with(1, 1, Some(1), AckKind::Cumulative, at(0), None);
    world.heard();
    ask_last(&mut world);
    assert_eq!(world.heard(), [(1, last(at(2), Some(3), at(0)))]);
    world.unsubscribe(1, false);
    world.heard();
    ask_last(&mut world);
    assert_eq!(code(&world.heard()[0].1), Some(RefusalCode::MetadataError));
}

#[test]
fn markers_and_unreadable_entries_at_the_end_are_passed_over_in_few_reads() {
    let mut world = World::new();
    world.log.entries_per_ledger = 7;
    world.publish_many(10);
    for sequence_id in 10..300 {
        world.publish_entry(900, 1, sequence_id, marker());
    }
    world.consumer(1, 1, Exclusive);
    let damaged = Position::new(2, 2);
    world.log.damaged.insert(damaged);
    world.heard();
    world.prompt_log = false;
    ask_last(&mut world);
    let mut reads = 0;
    while !world.asked().is_empty() {
        world.answer(0);
        reads += 1;
    }
    assert_eq!(reads, 4);
    assert!(matches!(
        world.heard()[..],
        [(1, SessionLetter::LastMessageId { position, .. })] if position == Position::new(2, 1)
    ));
    // What is known is not read again.
    world.publish_entry(900, 1, 300, marker());
    world.answer_all();
    world.heard();
    ask_last(&mut world);
    world.answer(0);
    assert_eq!(world.asked().len(), 0);
    assert!(matches!(
        world.heard()[..],
        [(1, SessionLetter::LastMessageId { position, .. })] if position == Position::new(2, 1)
    ));
    ask_last(&mut world);
    assert_eq!(world.heard().len(), 1);
}

#[test]
fn an_answer_knows_everything_stored_before_the_question() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, Exclusive);
    world.heard();
    world.prompt_log = false;
    ask_last(&mut world);
    world.publish(900, 1, 2);
    world.answer(1);
    world.heard();
    ask_last(&mut world);
    world.answer_all();
    let heard = world.heard_by(1);
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[1], last(at(2), None, at(-1)));
}

#[test]
fn a_read_that_fails_is_told_and_tried_anew_with_the_next_question() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, Exclusive);
    world.heard();
    world.log.reads_to_fail = 1;
    ask_last(&mut world);
    let heard = world.heard_by(1);
    assert_eq!(code(&heard[0]), Some(RefusalCode::MetadataError));
    assert_eq!(
        text(&heard[0]),
        "Failed to get batch size for entry storage failed: the disk is gone"
    );
    ask_last(&mut world);
    assert_eq!(world.heard_by(1), [last(at(1), None, at(-1))]);
}

#[test]
fn a_topic_whose_entries_are_trimmed_has_no_last_message() {
    let mut world = World::new();
    world.publish_many(2);
    world.consumer(1, 1, Exclusive);
    ask_last(&mut world);
    world.reply(letters::LogReply::Trimmed {
        first: Position::new(5, 0),
    });
    world.heard();
    ask_last(&mut world);
    let heard = world.heard_by(1);
    assert!(matches!(
        heard[..],
        [SessionLetter::LastMessageId {
            position: Position::EARLIEST,
            ..
        }]
    ));
}

#[test]
fn a_consumer_is_told_how_it_fares() {
    let mut world = World::new();
    world.publish_many(6);
    world.wall_ms = 100_000;
    world.consumer(1, 1, Shared);
    world.flow(1, 1, 4);
    world.ack(1, 1, &[at(0)]);
    world.heard();
    world.wall_ms = 102_000;
    let letter = TopicLetter::ReadConsumerStats {
        request_id: 7,
        consumer_id: 1,
    };
    world.tell(1, letter.clone());
    let heard = world.heard_by(1);
    let [SessionLetter::ConsumerStats(report)] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!(
        (report.request_id, report.consumer_id, report.name.as_str()),
        (7, 1, "c1")
    );
    assert_eq!(
        (
            report.permits,
            report.unacked_messages,
            report.backlog_entries
        ),
        (0, 3, 5)
    );
    assert_eq!((report.messages_out_rate, report.acks_rate), (2.0, 0.5));
    assert_eq!(
        (report.subscription_type, report.connected_since.0),
        (Shared, 100_000)
    );
    world.tell(2, letter);
    let heard = world.heard_by(2);
    assert_eq!(code(&heard[0]), Some(RefusalCode::ConsumerNotFound));
    assert_eq!(text(&heard[0]), "Consumer 1 not found");
}
