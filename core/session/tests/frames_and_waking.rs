//! What is no whole frame ends the session, and the session is woken when something is due.

use bytes::BytesMut;
use letters::SessionLetter;
use pulsar_wire::Message;
use pulsar_wire::frame::{Frame, decode_frame};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{
    BaseCommand, CommandConnect, CommandFlow, CommandPing, CommandPong, CommandProducer,
};
use pulsar_wire::proto::{CommandSubscribe, command_subscribe};
use session::{AllowAll, CloseReason, Session, SessionEffect, SessionInput, SessionSettings};
use std::sync::Arc;
use vocabulary::{Moment, Now, SessionId, TopicName};

fn session() -> Session {
    let settings = SessionSettings::advertising("pulsar://localhost:6650".to_owned(), None);
    let (settings, gate) = (Arc::new(settings), Arc::new(AllowAll));
    Session::new(
        SessionId(1),
        settings,
        gate,
        "client:1".to_owned(),
        Now::at_millis(0),
    )
}

fn connect() -> Cmd {
    let client_version = Some("x".to_owned());
    Cmd::Connect(CommandConnect {
        client_version,
        protocol_version: Some(21),
        ..Default::default()
    })
}

fn tell(session: &mut Session, millis: u64, input: SessionInput) -> Vec<SessionEffect> {
    let mut effects = Vec::new();
    session.handle(Now::at_millis(millis), input, &mut effects);
    effects
}

fn frame(command: Cmd) -> SessionInput {
    SessionInput::FrameArrived(Frame {
        command: BaseCommand::new(command),
        payload: None,
    })
}

/// The bytes of a command as a peer might send it, whole or not.
fn from_peer(command: &BaseCommand) -> SessionInput {
    let mut bytes = BytesMut::new();
    let length = command.encoded_len() as u32;
    bytes.extend_from_slice(&(length + 4).to_be_bytes());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&command.encode_to_vec());
    match decode_frame(&mut bytes, 1_000_000) {
        Ok(frame) => SessionInput::FrameArrived(frame.expect("whole")),
        Err(error) => SessionInput::FrameRefused(error),
    }
}

fn closes(effects: &[SessionEffect]) -> bool {
    matches!(
        effects.last(),
        Some(SessionEffect::Close {
            reason: CloseReason::FrameRefused(_)
        })
    )
}

#[test]
fn each_required_field_that_is_missing_ends_the_connection() {
    let producer = CommandProducer {
        topic: Some("t".to_owned()),
        producer_id: Some(1),
        request_id: Some(1),
        ..Default::default()
    };
    let subscribe = CommandSubscribe {
        topic: Some("t".to_owned()),
        subscription: Some("s".to_owned()),
        sub_type: Some(command_subscribe::SubType::Shared as i32),
        consumer_id: Some(1),
        request_id: Some(1),
        ..Default::default()
    };
    let flow = CommandFlow {
        consumer_id: Some(1),
        message_permits: Some(1),
    };
    let lame: Vec<Cmd> = vec![
        Cmd::Producer(CommandProducer {
            topic: None,
            ..producer.clone()
        }),
        Cmd::Producer(CommandProducer {
            producer_id: None,
            ..producer.clone()
        }),
        Cmd::Producer(CommandProducer {
            request_id: None,
            ..producer.clone()
        }),
        Cmd::Subscribe(CommandSubscribe {
            topic: None,
            ..subscribe.clone()
        }),
        Cmd::Subscribe(CommandSubscribe {
            subscription: None,
            ..subscribe.clone()
        }),
        Cmd::Subscribe(CommandSubscribe {
            sub_type: None,
            ..subscribe.clone()
        }),
        // A number its enum does not have counts as absent.
        Cmd::Subscribe(CommandSubscribe {
            sub_type: Some(99),
            ..subscribe.clone()
        }),
        Cmd::Subscribe(CommandSubscribe {
            consumer_id: None,
            ..subscribe.clone()
        }),
        Cmd::Subscribe(CommandSubscribe {
            request_id: None,
            ..subscribe.clone()
        }),
        Cmd::Flow(CommandFlow {
            consumer_id: None,
            ..flow
        }),
        Cmd::Flow(CommandFlow {
            message_permits: None,
            ..flow
        }),
    ];
    for command in lame {
        let mut session = session();
        tell(&mut session, 0, frame(connect()));
        let effects = tell(
            &mut session,
            1,
            from_peer(&BaseCommand::new(command.clone())),
        );
        assert!(closes(&effects), "{command:?}: {effects:?}");
        assert!(
            tell(&mut session, 2, frame(Cmd::Ping(CommandPing {}))).is_empty(),
            "nothing follows Close"
        );
    }
    for command in [
        Cmd::Producer(producer),
        Cmd::Subscribe(subscribe),
        Cmd::Flow(flow),
    ] {
        let mut session = session();
        tell(&mut session, 0, frame(connect()));
        assert!(!closes(&tell(
            &mut session,
            1,
            from_peer(&BaseCommand::new(command))
        )));
    }
}

#[test]
fn a_connect_without_client_version_ends_the_connection() {
    let command = BaseCommand::new(Cmd::Connect(CommandConnect::default()));
    assert!(closes(&tell(&mut session(), 0, from_peer(&command))));
}

fn wakes(effects: &[SessionEffect]) -> Option<Moment> {
    effects.iter().rev().find_map(|effect| match effect {
        SessionEffect::WakeAt(moment) => Some(*moment),
        _ => None,
    })
}

#[test]
fn the_session_says_when_it_must_be_woken() {
    let mut session = session();
    let seconds = |seconds: u64| Moment(seconds * 1_000_000_000);
    assert_eq!(session.wakes_at(), seconds(30));
    let effects = tell(&mut session, 1_000, frame(connect()));
    assert_eq!(wakes(&effects), Some(seconds(30)));
    // Said once.
    assert_eq!(
        wakes(&tell(&mut session, 2_000, frame(Cmd::Ping(CommandPing {})))),
        None
    );
    let effects = tell(&mut session, 30_000, SessionInput::TimeCame);
    assert_eq!(wakes(&effects), Some(seconds(60)));
    // A probe is due sooner, until it is answered.
    let topic = TopicName::parse("t").expect("a name");
    let probe = SessionInput::LetterCame(SessionLetter::AreYouThere { topic, token: 1 });
    assert_eq!(wakes(&tell(&mut session, 40_000, probe)), Some(seconds(45)));
    let effects = tell(&mut session, 41_000, frame(Cmd::Pong(CommandPong {})));
    assert_eq!(wakes(&effects), Some(seconds(60)));
    // Early calls do nothing.
    assert!(tell(&mut session, 59_999, SessionInput::TimeCame).is_empty());
}

#[test]
fn what_no_answer_tells_is_counted() {
    let mut session = session();
    tell(&mut session, 0, frame(connect()));
    tell(
        &mut session,
        0,
        frame(Cmd::Flow(CommandFlow {
            consumer_id: Some(1),
            message_permits: Some(1),
        })),
    );
    let letter = SessionLetter::CloseConsumer { consumer_id: 5 };
    tell(&mut session, 0, SessionInput::LetterCame(letter));
    let counters = session.counters();
    assert_eq!(
        (counters.requests_ignored, counters.letters_dropped),
        (1, 1)
    );
}
