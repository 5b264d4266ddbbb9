//! Frames written by an independent implementation: each decodes to the command built here by hand, and that command
//! encodes to the same bytes.

use bytes::{Bytes, BytesMut};
use pulsar_wire::entry::{self, EntryHeaders};
use pulsar_wire::frame::{self, Frame};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{self, BaseCommand, ServerError};

const MAX_FRAME_SIZE: u32 = 1 << 20;

fn golden(name: &str) -> Bytes {
    let table = include_str!("golden/golden-frames.tsv");
    let row = table
        .lines()
        .find(|line| line.split('\t').next() == Some(name));
    let hex = row
        .and_then(|row| row.split('\t').nth(2))
        .unwrap_or_else(|| panic!("no golden frame {name}"));
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect()
}

fn decode(bytes: &Bytes) -> Frame {
    let mut buffer = BytesMut::from(&bytes[..]);
    let frame = frame::decode_frame(&mut buffer, MAX_FRAME_SIZE)
        .unwrap()
        .expect("a whole frame");
    assert!(buffer.is_empty());
    frame
}

fn encode(command: &BaseCommand, payload: Option<&Bytes>) -> BytesMut {
    let mut out = BytesMut::new();
    match payload {
        None => frame::encode_command(command, &mut out),
        Some(payload) => {
            frame::encode_payload_header(command, payload.len(), &mut out);
            out.extend_from_slice(payload);
        }
    }
    out
}

fn check(name: &str, expected: Cmd) -> Option<Bytes> {
    let bytes = golden(name);
    let frame = decode(&bytes);
    let expected = BaseCommand::new(expected);
    assert_eq!(frame.command, expected, "{name}");
    assert_eq!(encode(&expected, frame.payload.as_ref()), bytes, "{name}");
    frame.payload
}

fn check_simple(name: &str, expected: Cmd) {
    assert_eq!(check(name, expected), None);
}

#[test]
fn simple_frames() {
    check_simple("PING", Cmd::Ping(proto::CommandPing {}));
    check_simple("PONG", Cmd::Pong(proto::CommandPong {}));
    check_simple(
        "CONNECT_MIN",
        Cmd::Connect(proto::CommandConnect {
            client_version: Some("x".into()),
            auth_method_name: Some("none".into()),
            protocol_version: Some(21),
            ..Default::default()
        }),
    );
    check_simple(
        "CONNECTED_4X",
        Cmd::Connected(proto::CommandConnected {
            server_version: Some("y".into()),
            protocol_version: Some(21),
            max_message_size: Some(5_242_880),
            feature_flags: Some(proto::FeatureFlags {
                supports_topic_watchers: Some(true),
                supports_get_partitioned_metadata_without_auto_creation: Some(true),
                supports_repl_dedup_by_lid_and_eid: Some(true),
                supports_topic_watcher_reconcile: Some(true),
                ..Default::default()
            }),
        }),
    );
    check_simple(
        "FLOW_1000",
        Cmd::Flow(proto::CommandFlow {
            consumer_id: Some(0),
            message_permits: Some(1000),
        }),
    );
    check_simple(
        "ERROR_HANDSHAKE",
        Cmd::Error(proto::CommandError {
            request_id: Some(u64::MAX),
            error: Some(ServerError::AuthenticationError as i32),
            message: Some("Failed to authenticate".into()),
        }),
    );
    check_simple(
        "CLOSE_CONSUMER_PUSH",
        Cmd::CloseConsumer(proto::CommandCloseConsumer {
            consumer_id: Some(3),
            request_id: Some(u64::MAX),
            ..Default::default()
        }),
    );
    check_simple(
        "SEND_RECEIPT_DUP",
        Cmd::SendReceipt(proto::CommandSendReceipt {
            producer_id: Some(1),
            sequence_id: Some(5),
            message_id: Some(proto::MessageIdData {
                ledger_id: Some(u64::MAX),
                entry_id: Some(u64::MAX),
                ..Default::default()
            }),
            highest_sequence_id: Some(6),
        }),
    );
}

fn message(redelivery_count: Option<u32>, ack_set: Vec<i64>, message_permits: Option<u32>) -> Cmd {
    Cmd::Message(proto::CommandMessage {
        consumer_id: Some(0),
        message_id: Some(proto::MessageIdData {
            ledger_id: Some(7),
            entry_id: Some(1),
            partition: Some(-1),
            ..Default::default()
        }),
        redelivery_count,
        ack_set,
        message_permits,
        ..Default::default()
    })
}

fn check_payload(name: &str, command: Cmd) -> Bytes {
    let entry = check(name, command).expect("SEND and MESSAGE carry a payload");
    let headers = EntryHeaders::parse(&entry).unwrap();
    assert!(headers.checksum.is_some(), "{name}");
    assert_eq!(headers.verify_checksum(), Ok(()), "{name}");
    entry
}

#[test]
fn payload_frames() {
    let single = check_payload(
        "SEND_SINGLE",
        Cmd::Send(proto::CommandSend {
            producer_id: Some(1),
            sequence_id: Some(0),
            ..Default::default()
        }),
    );
    let batch = check_payload(
        "SEND_BATCH2",
        Cmd::Send(proto::CommandSend {
            producer_id: Some(1),
            sequence_id: Some(5),
            num_messages: Some(2),
            highest_sequence_id: Some(6),
            ..Default::default()
        }),
    );
    assert_eq!(
        check_payload("MESSAGE_SINGLE", message(None, vec![], None)),
        single
    );
    assert_eq!(
        check_payload("MESSAGE_BATCH_PARTIAL", message(Some(1), vec![2], None)),
        batch
    );
    assert_eq!(
        check_payload("MESSAGE_PIP491_P2", message(None, vec![], Some(2))),
        batch
    );
    let with_prefix = check_payload("MESSAGE_BEM", message(None, vec![], None));
    assert!(
        EntryHeaders::parse(&with_prefix)
            .unwrap()
            .broker_entry_metadata
            .is_some()
    );
    assert_eq!(
        entry::strip_broker_entry_metadata(&with_prefix).unwrap(),
        single
    );
}
