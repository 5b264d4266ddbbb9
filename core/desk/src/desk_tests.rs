use crate::alarm::Alarm;
use crate::recording::{self, Recorder, RecordingError};
use crate::{Desk, DeskEffect, DeskInput};
use letters::{AddProducer, LogReply, LogRequest, SessionLetter, ToTopic, TopicLetter};
use std::sync::Arc;
use topic::{NameSource, TopicSettings};
use vocabulary::{Moment, Now, SessionId, TopicName};

fn desk() -> Desk {
    Desk::new(
        Arc::new(TopicSettings::default()),
        Arc::new(NameSource::new("test-1", 0, 1)),
    )
}

fn name(text: &str) -> TopicName {
    TopicName::parse(text).unwrap()
}

fn letter(topic: &str, letter: TopicLetter) -> DeskInput {
    DeskInput::LetterCame(ToTopic {
        topic: name(topic),
        session: SessionId(1),
        letter,
    })
}

fn add_producer(topic: &str) -> DeskInput {
    let add = AddProducer {
        request_id: 7,
        producer_id: 1,
        name: None,
        user_provided_name: false,
        epoch: 0,
        access_mode: letters::AccessMode::Shared,
        topic_epoch: None,
        encrypted: false,
        metadata: vec![],
        initial_subscription: None,
        client_version: "test".to_owned(),
        address: "here".to_owned(),
    };
    letter(topic, TopicLetter::AddProducer(Box::new(add)))
}

fn opened(topic: &str) -> DeskInput {
    let reply = LogReply::Opened {
        extent: vec![],
        cursors: vec![],
        properties: vec![],
    };
    DeskInput::LogAnswered {
        topic: name(topic),
        reply,
    }
}

#[test]
fn a_letter_wakes_its_topic_and_a_farewell_wakes_nobody() {
    let mut desk = desk();
    let mut effects = Vec::new();
    desk.handle(
        Now::at_millis(0),
        letter("a", TopicLetter::SessionGone),
        &mut effects,
    );
    assert!(desk.is_idle() && effects.is_empty());
    desk.handle(Now::at_millis(0), add_producer("a"), &mut effects);
    assert_eq!(
        effects,
        [DeskEffect::Log {
            topic: name("a"),
            request: LogRequest::Open { create: true }
        }]
    );
    effects.clear();
    desk.handle(Now::at_millis(1), opened("a"), &mut effects);
    assert!(
        effects.iter().any(|effect| matches!(effect, DeskEffect::Letter(to)
            if matches!(&to.letter, SessionLetter::ProducerReady { name, .. } if name == "test-1-0"))),
        "{effects:?}"
    );
}

#[test]
fn the_same_inputs_give_the_same_effects() {
    let inputs = vec![
        (Now::at_millis(1), add_producer("a")),
        (Now::at_millis(2), add_producer("b")),
        (Now::at_millis(3), opened("b")),
        (Now::at_millis(4), opened("a")),
        (Now::at_millis(5), letter("a", TopicLetter::SessionGone)),
        (Now::at_millis(90_000), DeskInput::TimeCame),
        (Now::at_millis(90_001), DeskInput::ShutdownBegan),
    ];
    let mut recorder = Recorder::default();
    let mut first = desk();
    let mut said = Vec::new();
    for (now, input) in inputs.clone() {
        recorder.record(now, &input).unwrap();
        first.handle(now, input, &mut said);
    }
    let bytes = recorder.take();
    let read_back = recording::read(&bytes).unwrap();
    assert_eq!(read_back, inputs);
    assert_eq!(recording::replay(&mut desk(), read_back), said);
    assert!(!said.is_empty());
}

#[test]
fn bytes_that_are_no_recording_are_refused_by_name() {
    assert_eq!(recording::read(b"nonsense"), Err(RecordingError::Magic));
    assert_eq!(
        recording::read(b"HDR1\x05\0\0\0ab"),
        Err(RecordingError::CutOff(4))
    );
    assert!(matches!(
        recording::read(b"HDR1\x02\0\0\0\xff\xff"),
        Err(RecordingError::Damaged(4, _))
    ));
}

#[test]
fn at_shutdown_newcomers_get_an_answer_and_sleeping_topics_stay_asleep() {
    let mut desk = desk();
    let mut effects = Vec::new();
    desk.handle(Now::at_millis(0), DeskInput::ShutdownBegan, &mut effects);
    desk.handle(Now::at_millis(0), add_producer("a"), &mut effects);
    assert!(matches!(&effects[..], [DeskEffect::Letter(to)]
        if matches!(to.letter, SessionLetter::ProducerRefused { request_id: 7, .. })));
    assert!(desk.is_idle());
}

#[test]
fn an_alarm_keeps_the_last_wish_and_rings_in_order() {
    let mut alarm = Alarm::default();
    let (a, b) = (name("a"), name("b"));
    alarm.set(&a, Moment(10));
    alarm.set(&a, Moment(50));
    alarm.set(&b, Moment(40));
    alarm.set(&b, Moment(20));
    assert_eq!(alarm.next(), Some(Moment(20)));
    assert_eq!(alarm.take_due(Moment(49)), std::slice::from_ref(&b));
    assert_eq!(alarm.take_due(Moment(50)), std::slice::from_ref(&a));
    assert_eq!(alarm.next(), None);
    alarm.set(&a, Moment(1));
    alarm.forget(&a);
    assert!(alarm.take_due(Moment(99)).is_empty());
}
