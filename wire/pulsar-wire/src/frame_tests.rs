use super::*;
use crate::proto;
use crate::validate::MissingField;

const LIMIT: u32 = 1000;

fn refused(bytes: &[u8]) -> FrameError {
    decode_frame(&mut BytesMut::from(bytes), LIMIT).unwrap_err()
}

/// A frame around these bytes of a command, and what follows it.
fn framed(command: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_u32((4 + command.len() + payload.len()) as u32);
    out.put_u32(command.len() as u32);
    out.put_slice(command);
    out.put_slice(payload);
    out
}

fn encoded(command: BaseCommand) -> Vec<u8> {
    command.encode_to_vec()
}

fn ping() -> BaseCommand {
    BaseCommand::new(Cmd::Ping(proto::CommandPing {}))
}

fn send() -> BaseCommand {
    BaseCommand::new(Cmd::Send(proto::CommandSend {
        producer_id: Some(1),
        sequence_id: Some(2),
        ..Default::default()
    }))
}

#[test]
fn a_frame_at_the_limit_passes_and_one_beyond_is_refused_at_four_bytes() {
    let mut at_limit = framed(&encoded(send()), &[]);
    let payload = LIMIT as usize - (at_limit.len() - 4);
    at_limit = framed(&encoded(send()), &vec![1; payload]);
    assert_eq!(at_limit[..4], LIMIT.to_be_bytes());
    let mut buffer = BytesMut::from(&at_limit[..]);
    assert!(decode_frame(&mut buffer, LIMIT).unwrap().is_some());
    let beyond = (LIMIT + 1).to_be_bytes();
    assert_eq!(
        refused(&beyond),
        FrameError::TooLarge {
            total: LIMIT + 1,
            limit: LIMIT
        }
    );
}

#[test]
fn waiting_for_a_large_frame_sets_nothing_aside() {
    let mut buffer = BytesMut::from(&LIMIT.to_be_bytes()[..]);
    assert_eq!(decode_frame(&mut buffer, LIMIT), Ok(None));
    assert!(buffer.capacity() < LIMIT as usize);
    assert_eq!(missing_bytes(&buffer, LIMIT), Some(LIMIT as usize));
    assert_eq!(missing_bytes(&buffer, LIMIT - 1), None);
    assert_eq!(missing_bytes(&buffer[..3], LIMIT), None);
}

#[test]
fn lengths_that_do_not_fit_are_refused_before_the_rest_arrives() {
    assert_eq!(refused(&[0, 0, 0, 3]), FrameError::TooShort { total: 3 });
    let beyond = FrameError::CommandBeyondFrame {
        command_length: 7,
        total: 10,
    };
    assert_eq!(refused(&[0, 0, 0, 10, 0, 0, 0, 7]), beyond);
    let most = FrameError::CommandBeyondFrame {
        command_length: u32::MAX,
        total: 10,
    };
    assert_eq!(refused(&[0, 0, 0, 10, 255, 255, 255, 255]), most);
}

#[test]
fn undecodable_commands_are_refused() {
    let error = refused(&framed(&[0xff, 0xff], &[]));
    assert!(
        matches!(
            error,
            FrameError::Undecodable {
                command_length: 2,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn an_absent_type_is_a_missing_field() {
    let missing = InvalidCommand::from(MissingField {
        message: "BaseCommand",
        field: "type",
    });
    assert_eq!(refused(&framed(&[], &[])), FrameError::Invalid(missing));
    let body_only = &encoded(ping())[2..];
    assert_eq!(
        refused(&framed(body_only, &[])),
        FrameError::Invalid(missing)
    );
}

#[test]
fn unknown_types_are_refused_by_number() {
    for number in [1, 41, 69, 82, -1] {
        let command = BaseCommand {
            r#type: number,
            ..ping()
        };
        let expected = FrameError::Invalid(InvalidCommand::UnknownType(number));
        assert_eq!(refused(&framed(&encoded(command), &[])), expected);
    }
}

#[test]
fn the_body_must_be_there_and_belong_to_the_type() {
    let bare = BaseCommand {
        cmd: None,
        ..ping()
    };
    let expected = InvalidCommand::MissingBody(Type::Ping);
    assert_eq!(
        refused(&framed(&encoded(bare), &[])),
        FrameError::Invalid(expected)
    );
    let swapped = BaseCommand {
        r#type: Type::Pong as i32,
        ..ping()
    };
    let expected = InvalidCommand::MismatchedBody {
        announced: Type::Pong,
        carried: Type::Ping,
    };
    assert_eq!(
        refused(&framed(&encoded(swapped), &[])),
        FrameError::Invalid(expected)
    );
}

#[test]
fn of_several_bodies_the_last_counts() {
    let mut two = encoded(ping());
    two.extend_from_slice(&encoded(BaseCommand::new(Cmd::Pong(proto::CommandPong {})))[2..]);
    let expected = InvalidCommand::MismatchedBody {
        announced: Type::Ping,
        carried: Type::Pong,
    };
    assert_eq!(refused(&framed(&two, &[])), FrameError::Invalid(expected));
}

#[test]
fn a_required_enum_with_an_unknown_number_is_missing_and_an_error_code_is_not() {
    let ack = |ack_type| {
        BaseCommand::new(Cmd::Ack(proto::CommandAck {
            consumer_id: Some(1),
            ack_type: Some(ack_type),
            ..Default::default()
        }))
    };
    assert!(ack(1).validate().is_ok());
    let missing = MissingField {
        message: "CommandAck",
        field: "ack_type",
    };
    assert_eq!(ack(2).validate(), Err(missing.into()));
    let error = BaseCommand::new(Cmd::Error(proto::CommandError {
        request_id: Some(1),
        error: Some(9999),
        message: Some("of a later version".into()),
    }));
    assert!(error.validate().is_ok());
}

#[test]
fn payloads_follow_send_and_message_and_nothing_else() {
    let expected = FrameError::UnexpectedPayload {
        command: Type::Ping,
        payload_length: 3,
    };
    assert_eq!(refused(&framed(&encoded(ping()), b"abc")), expected);
    let expected = FrameError::MissingPayload {
        command: Type::Send,
    };
    assert_eq!(refused(&framed(&encoded(send()), b"")), expected);
}

#[test]
fn the_payload_shares_the_read_buffer() {
    let bytes = framed(&encoded(send()), b"payload");
    let mut buffer = BytesMut::from(&bytes[..]);
    let start = buffer.as_ptr();
    let frame = decode_frame(&mut buffer, LIMIT).unwrap().unwrap();
    let payload = frame.payload.unwrap();
    assert_eq!(payload, "payload");
    assert_eq!(payload.as_ptr() as usize - start as usize, bytes.len() - 7);
}

#[test]
fn errors_say_what_was_wrong() {
    assert_eq!(
        refused(&framed(
            &encoded(BaseCommand::new(Cmd::Flow(proto::CommandFlow::default()))),
            &[]
        ))
        .to_string(),
        "command refused: required field `consumer_id` of CommandFlow is missing"
    );
}

#[test]
#[should_panic = "required field `producer_id` of CommandSend is missing"]
fn a_command_that_is_not_whole_is_never_sent() {
    let command = BaseCommand::new(Cmd::Send(proto::CommandSend::default()));
    encode_payload_header(&command, 10, &mut BytesMut::new());
}

#[test]
#[should_panic = "payload and Send do not fit"]
fn a_send_is_never_sent_without_its_entry() {
    encode_command(&send(), &mut BytesMut::new());
}

#[test]
fn limits_leave_room_for_the_headers_and_do_not_overflow() {
    assert_eq!(max_frame_size(DEFAULT_MAX_MESSAGE_SIZE), 5_253_120);
    assert_eq!(max_frame_size(u32::MAX), u32::MAX);
}
