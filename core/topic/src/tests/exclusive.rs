//! Producers that want a topic for themselves.

use super::world::{World, add_producer, code, text};
use letters::AccessMode::{self, Exclusive, ExclusiveWithFencing, Shared, WaitForExclusive};
use letters::{LogError, LogReply, LogRequest, RefusalCode, SessionLetter, TopicLetter};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// Producer 1 of a session asks to come in.
fn ask(world: &mut World, session: u64, mode: AccessMode, epoch: Option<u64>) {
    ask_as(world, session, mode, epoch, &format!("p{session}"));
}

fn ask_as(world: &mut World, session: u64, mode: AccessMode, epoch: Option<u64>, name: &str) {
    let mut add = add_producer(1);
    add.name = Some(name.to_owned());
    add.access_mode = mode;
    add.topic_epoch = epoch;
    world.tell(session, TopicLetter::AddProducer(Box::new(add)));
}

fn close(world: &mut World, session: u64) {
    let (request_id, producer_id) = (7, 1);
    world.tell(
        session,
        TopicLetter::CloseProducer {
            request_id,
            producer_id,
        },
    );
}

/// What was said, in short: `1:ready 0`, `2:waits`, `3:ProducerBusy`.
fn said(world: &mut World) -> Vec<String> {
    let short = |(session, letter): &(u64, SessionLetter)| {
        let what = match letter {
            SessionLetter::ProducerReady {
                ready: false,
                topic_epoch: None,
                ..
            } => "waits".to_owned(),
            SessionLetter::ProducerReady {
                topic_epoch,
                ready: true,
                ..
            } => match topic_epoch {
                Some(epoch) => format!("ready {epoch}"),
                None => "ready".to_owned(),
            },
            SessionLetter::ProducerLeft { .. } => "left".to_owned(),
            SessionLetter::CloseProducer { .. } => "closed".to_owned(),
            SessionLetter::Dropped { .. } => "dropped".to_owned(),
            SessionLetter::AreYouThere { .. } => "there?".to_owned(),
            letter => format!("{:?}", code(letter).expect("a refusal")),
        };
        format!("{session}:{what}")
    };
    world.heard().iter().map(short).collect()
}

/// The text of the one refusal that was said.
fn refused(world: &mut World) -> String {
    let heard = world.heard();
    assert_eq!(heard.len(), 1, "{heard:?}");
    text(&heard[0].1).to_owned()
}

#[test]
fn the_epoch_is_on_disk_before_anybody_hears_of_it() {
    let mut world = World::new();
    world.prompt_log = false;
    ask(&mut world, 1, Exclusive, None);
    world.answer(0);
    assert!(matches!(
        world.asked()[..],
        [LogRequest::SetProperty { key, value, .. }] if key == "pulsar.topic.epoch" && value == "0"
    ));
    assert!(said(&mut world).is_empty());
    world.answer(0);
    assert_eq!(said(&mut world), ["1:ready 0"]);
    assert_eq!(world.topic.stats().producers[0].access_mode, Exclusive);
}

#[test]
fn each_grant_counts_the_epoch_up_also_after_a_restart() {
    let mut world = World::new();
    ask(&mut world, 1, Exclusive, None);
    close(&mut world, 1);
    ask(&mut world, 2, WaitForExclusive, None);
    assert_eq!(said(&mut world), ["1:ready 0", "1:left", "2:ready 1"]);
    world.crash();
    ask(&mut world, 3, ExclusiveWithFencing, None);
    assert_eq!(said(&mut world), ["3:ready 2"]);
}

#[test]
fn a_shared_producer_is_told_the_epoch_of_the_last_exclusive_one() {
    let mut world = World::new();
    ask(&mut world, 1, Shared, None);
    close(&mut world, 1);
    ask(&mut world, 1, Exclusive, None);
    close(&mut world, 1);
    ask(&mut world, 2, Shared, None);
    assert_eq!(
        said(&mut world),
        ["1:ready", "1:left", "1:ready 0", "1:left", "2:ready 0"]
    );
}

#[test]
fn nobody_comes_in_beside_an_exclusive_one() {
    let mut world = World::new();
    ask(&mut world, 1, Exclusive, None);
    said(&mut world);
    ask(&mut world, 2, Shared, None);
    assert_eq!(
        refused(&mut world),
        "Topic has an existing exclusive producer: p1"
    );
    ask(&mut world, 2, Exclusive, None);
    assert_eq!(
        refused(&mut world),
        "Topic has an existing exclusive producer: p1"
    );
    ask(&mut world, 2, Shared, None);
    ask(&mut world, 3, Exclusive, None);
    assert_eq!(said(&mut world), ["2:ProducerBusy", "3:ProducerFenced"]);
}

#[test]
fn nobody_comes_in_while_the_epoch_is_on_its_way() {
    let mut world = World::new();
    ask(&mut world, 9, Shared, None);
    close(&mut world, 9);
    said(&mut world);
    world.prompt_log = false;
    ask(&mut world, 1, Exclusive, None);
    ask(&mut world, 2, Shared, None);
    ask(&mut world, 3, Exclusive, None);
    ask(&mut world, 4, WaitForExclusive, None);
    ask(&mut world, 1, Exclusive, None);
    assert_eq!(
        said(&mut world),
        [
            "2:ProducerBusy",
            "3:ProducerFenced",
            "4:waits",
            "1:ServiceNotReady"
        ]
    );
    world.answer_all();
    assert_eq!(said(&mut world), ["1:ready 0"]);
}

#[test]
fn shared_producers_keep_an_exclusive_one_out() {
    let mut world = World::new();
    ask(&mut world, 1, Shared, None);
    said(&mut world);
    ask(&mut world, 2, Exclusive, None);
    let heard = world.heard();
    assert_eq!(code(&heard[0].1), Some(RefusalCode::ProducerFenced));
    assert_eq!(text(&heard[0].1), "Topic has existing shared producers");
}

#[test]
fn those_who_wait_get_it_in_the_order_they_came() {
    let mut world = World::new();
    ask(&mut world, 1, Shared, None);
    ask(&mut world, 2, Shared, None);
    for session in 3..6 {
        ask(&mut world, session, WaitForExclusive, None);
    }
    // Nobody new comes in before them.
    ask(&mut world, 6, Shared, None);
    ask(&mut world, 7, Exclusive, None);
    assert_eq!(
        said(&mut world)[2..],
        [
            "3:waits",
            "4:waits",
            "5:waits",
            "6:ProducerBusy",
            "7:ProducerFenced"
        ]
    );
    close(&mut world, 1);
    assert_eq!(said(&mut world), ["1:left"]);
    // One that waits may leave, and may fall silent for good.
    close(&mut world, 4);
    assert_eq!(said(&mut world), ["4:ServiceNotReady", "4:left"]);
    close(&mut world, 2);
    assert_eq!(said(&mut world), ["2:left", "3:ready 0"]);
    world.tell(3, TopicLetter::SessionGone);
    assert_eq!(said(&mut world), ["5:ready 1"]);
}

#[test]
fn one_that_waits_without_a_name_is_given_one_at_once() {
    let mut world = World::new();
    ask(&mut world, 1, Shared, None);
    world.heard();
    ask_as(&mut world, 2, WaitForExclusive, None, "");
    close(&mut world, 1);
    let names: Vec<String> = world
        .heard_by(2)
        .into_iter()
        .filter_map(|letter| match letter {
            SessionLetter::ProducerReady { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["standalone-7-0", "standalone-7-0"]);
}

#[test]
fn who_fences_throws_out_those_there_and_those_who_wait() {
    let mut world = World::new();
    ask(&mut world, 1, Exclusive, None);
    ask(&mut world, 2, WaitForExclusive, None);
    said(&mut world);
    world.prompt_log = false;
    world.publish(1, 1, 0);
    ask(&mut world, 3, ExclusiveWithFencing, None);
    let heard = world.heard();
    assert_eq!(text(&heard[0].1), "Fenced out");
    world.said = heard;
    assert_eq!(
        said(&mut world),
        ["2:ProducerFenced", "1:dropped", "1:closed"]
    );
    world.answer_all();
    assert_eq!(said(&mut world), ["3:ready 1"]);
    // The one thrown out comes back with what it held.
    ask(&mut world, 1, Exclusive, Some(0));
    let now = "Topic epoch has already moved. Current epoch: 1, Producer epoch: 0";
    assert_eq!(refused(&mut world), now);
}

#[test]
fn who_was_fenced_does_not_throw_out_anybody() {
    let mut world = World::new();
    ask(&mut world, 1, ExclusiveWithFencing, None);
    ask(&mut world, 2, ExclusiveWithFencing, None);
    ask(&mut world, 1, ExclusiveWithFencing, Some(0));
    assert_eq!(
        said(&mut world),
        ["1:ready 0", "1:closed", "2:ready 1", "1:ProducerFenced"]
    );
    world.publish(2, 1, 0);
    assert!(matches!(
        world.heard()[..],
        [(2, SessionLetter::Stored { .. })]
    ));
}

#[test]
fn who_fences_while_another_is_let_in_takes_its_place() {
    let mut world = World::new();
    ask(&mut world, 9, Shared, None);
    close(&mut world, 9);
    said(&mut world);
    world.prompt_log = false;
    ask(&mut world, 1, Exclusive, None);
    ask(&mut world, 2, ExclusiveWithFencing, None);
    assert_eq!(said(&mut world), ["1:ProducerFenced"]);
    world.answer(0);
    assert!(
        said(&mut world).is_empty(),
        "the answer to a promise that was taken back"
    );
    world.answer(0);
    assert_eq!(said(&mut world), ["2:ready 1"]);
}

#[test]
fn who_comes_back_with_the_epoch_it_held_keeps_it() {
    let mut world = World::new();
    ask(&mut world, 1, Exclusive, None);
    world.tell(1, TopicLetter::SessionGone);
    ask(&mut world, 2, Exclusive, Some(0));
    world.tell(2, TopicLetter::SessionGone);
    ask(&mut world, 3, WaitForExclusive, Some(5));
    world.tell(3, TopicLetter::SessionGone);
    ask(&mut world, 4, Exclusive, Some(4));
    assert_eq!(
        said(&mut world),
        ["1:ready 0", "2:ready 0", "3:ready 5", "4:ProducerFenced"]
    );
    world.crash();
    ask(&mut world, 4, Exclusive, Some(4));
    assert_eq!(said(&mut world), ["4:ProducerFenced"]);
}

#[test]
fn the_old_connection_of_one_that_comes_back_is_asked_whether_it_lives() {
    let mut world = World::new();
    ask_as(&mut world, 1, Exclusive, None, "p");
    ask_as(&mut world, 2, Exclusive, Some(0), "p");
    assert_eq!(said(&mut world), ["1:ready 0", "1:there?"]);
    world.tell(1, TopicLetter::SessionGone);
    assert_eq!(said(&mut world), ["2:ready 0"]);
    ask_as(&mut world, 3, Exclusive, Some(0), "p");
    let SessionLetter::AreYouThere { token, .. } = world.heard()[0].1 else {
        panic!("the holder is asked");
    };
    world.tell(2, TopicLetter::StillHere { token });
    assert_eq!(said(&mut world), ["3:ProducerFenced"]);
}

#[test]
fn an_epoch_that_cannot_be_stored_refuses_and_the_next_one_tries() {
    let mut world = World::new();
    ask(&mut world, 1, Shared, None);
    ask(&mut world, 2, WaitForExclusive, None);
    ask(&mut world, 3, WaitForExclusive, None);
    said(&mut world);
    world.log.saves_to_fail = 1;
    close(&mut world, 1);
    assert_eq!(
        said(&mut world),
        ["1:left", "2:PersistenceError", "3:ready 0"]
    );
    assert_eq!(world.reports.len(), 1);
}

#[test]
fn one_that_leaves_while_the_epoch_is_on_its_way_makes_room() {
    for gone in [true, false] {
        let mut world = World::new();
        ask(&mut world, 9, Shared, None);
        close(&mut world, 9);
        said(&mut world);
        world.prompt_log = false;
        ask(&mut world, 1, Exclusive, None);
        ask(&mut world, 2, WaitForExclusive, None);
        match gone {
            true => world.tell(1, TopicLetter::SessionGone),
            false => close(&mut world, 1),
        }
        said(&mut world);
        world.answer_all();
        assert_eq!(said(&mut world), ["2:ready 1"]);
    }
}

#[test]
fn a_failed_append_costs_the_holder_its_place_and_the_next_gets_it_when_all_are_answered() {
    let mut world = World::new();
    ask(&mut world, 1, Exclusive, None);
    ask(&mut world, 2, WaitForExclusive, None);
    said(&mut world);
    world.prompt_log = false;
    world.log.appends_to_fail = 2;
    world.publish(1, 1, 0);
    world.publish(1, 1, 1);
    world.answer(0);
    assert_eq!(said(&mut world), ["1:dropped", "1:dropped", "1:closed"]);
    world.answer_all();
    assert_eq!(said(&mut world), ["2:ready 1"]);
}

#[test]
fn an_epoch_stored_among_failed_appends_counts_when_they_are_answered() {
    let mut world = World::new();
    ask(&mut world, 1, Shared, None);
    said(&mut world);
    world.prompt_log = false;
    world.log.appends_to_fail = 2;
    world.publish(1, 1, 0);
    world.publish(1, 1, 1);
    ask(&mut world, 2, ExclusiveWithFencing, None);
    world.answer(0);
    // The property is answered before the second append.
    world.answer(1);
    assert_eq!(said(&mut world), ["1:dropped", "1:dropped", "1:closed"]);
    world.answer(0);
    assert_eq!(said(&mut world), ["2:ready 0"]);
}

#[test]
fn a_lost_log_and_a_shutdown_refuse_those_who_wait_or_were_promised() {
    for shut_down in [true, false] {
        let mut world = World::new();
        ask(&mut world, 9, Shared, None);
        close(&mut world, 9);
        said(&mut world);
        world.prompt_log = false;
        ask(&mut world, 1, Exclusive, None);
        ask(&mut world, 2, WaitForExclusive, None);
        said(&mut world);
        match shut_down {
            true => world.shut_down(),
            false => {
                world.log.requests.clear();
                let error = LogError::Fenced("t".to_owned());
                world.reply(LogReply::Lost { error });
            }
        }
        assert_eq!(said(&mut world), ["2:ServiceNotReady", "1:ServiceNotReady"]);
        world.prompt_log = true;
        world.answer_all();
        assert_eq!(world.asleep, 1);
    }
}

#[test]
fn an_epoch_that_is_no_number_keeps_the_topic_closed() {
    let mut world = World::new();
    let key = "pulsar.topic.epoch".to_owned();
    world.log.properties.insert(key, "many".to_owned());
    ask(&mut world, 1, Shared, None);
    let heard = world.heard();
    assert_eq!(code(&heard[0].1), Some(RefusalCode::PersistenceError));
    assert!(text(&heard[0].1).contains("pulsar.topic.epoch is 'many'"));
}

fn config() -> Config {
    Config {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(5),
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    /// Nobody is beside an exclusive one, and nobody waits for nobody: the topic asserts that after every input. Epochs
    /// never go back.
    #[test]
    fn access_is_never_given_twice(steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..80)) {
        let mut world = World::new();
        let mut epochs: Vec<u64> = Vec::new();
        for (what, who, how) in steps {
            world.prompt_log = how % 3 > 0;
            let session = 1 + u64::from(who % 5);
            match what % 10 {
                0 => world.tell(session, TopicLetter::SessionGone),
                1..3 => close(&mut world, session),
                3 => {
                    world.log.appends_to_fail = u32::from(how & 1);
                    world.log.saves_to_fail = u32::from(how >> 1 & 1);
                    world.publish(session, 1, 0);
                }
                4 => world.answer_all(),
                _ => {
                    let modes = [Shared, Exclusive, WaitForExclusive, ExclusiveWithFencing];
                    ask(&mut world, session, modes[usize::from(how % 4)], None);
                }
            }
            epochs.extend(epochs_said(&mut world));
        }
        world.prompt_log = true;
        (world.log.appends_to_fail, world.log.saves_to_fail) = (0, 0);
        world.answer_all();
        for session in 1..6 {
            world.tell(session, TopicLetter::SessionGone);
        }
        epochs.extend(epochs_said(&mut world));
        ask(&mut world, 9, Exclusive, None);
        let last = epochs_said(&mut world);
        prop_assert_eq!(last.len(), 1, "whatever was before, a free topic can be had");
        epochs.extend(last);
        prop_assert!(epochs.is_sorted(), "epochs go back: {:?}", epochs);
    }
}

fn epochs_said(world: &mut World) -> Vec<u64> {
    let of = |(_, letter)| match letter {
        SessionLetter::ProducerReady {
            topic_epoch,
            ready: true,
            ..
        } => topic_epoch,
        _ => None,
    };
    world.heard().into_iter().filter_map(of).collect()
}
