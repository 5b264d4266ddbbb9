//! A connection is a stream: where it is cut must not matter, and no bytes make the decoder panic.

use bytes::{Bytes, BytesMut};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use pulsar_wire::frame::{Frame, FrameError, decode_frame, encode_command, encode_payload_header};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{self, BaseCommand, MessageIdData};

const LIMIT: u32 = 4096;

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn message_id() -> impl Strategy<Value = MessageIdData> {
    (
        any::<u64>(),
        any::<u64>(),
        option::of(any::<i32>()),
        vec(any::<i64>(), 0..3),
    )
        .prop_map(|(ledger_id, entry_id, partition, ack_set)| MessageIdData {
            ledger_id: Some(ledger_id),
            entry_id: Some(entry_id),
            partition,
            ack_set,
            ..Default::default()
        })
}

fn simple() -> impl Strategy<Value = Cmd> {
    prop_oneof![
        Just(Cmd::Ping(proto::CommandPing {})),
        (any::<u64>(), any::<u32>()).prop_map(|(consumer_id, permits)| {
            Cmd::Flow(proto::CommandFlow {
                consumer_id: Some(consumer_id),
                message_permits: Some(permits),
            })
        }),
        (
            any::<u64>(),
            0..2,
            vec(message_id(), 0..4),
            option::of(any::<u64>())
        )
            .prop_map(|(consumer_id, ack_type, message_id, request_id)| {
                Cmd::Ack(proto::CommandAck {
                    consumer_id: Some(consumer_id),
                    ack_type: Some(ack_type),
                    message_id,
                    request_id,
                    ..Default::default()
                })
            }),
        (any::<u64>(), any::<i32>(), "\\PC{0,20}").prop_map(|(request_id, error, message)| {
            Cmd::Error(proto::CommandError {
                request_id: Some(request_id),
                error: Some(error),
                message: Some(message),
            })
        }),
        option::of(vec(any::<u8>(), 0..30)).prop_map(|auth_data| {
            Cmd::Connect(proto::CommandConnect {
                client_version: Some("a client".into()),
                auth_data: auth_data.map(Bytes::from),
                ..Default::default()
            })
        }),
    ]
}

fn with_payload() -> impl Strategy<Value = Cmd> {
    prop_oneof![
        (any::<u64>(), any::<u64>(), option::of(any::<i32>())).prop_map(
            |(producer_id, sequence_id, num_messages)| Cmd::Send(proto::CommandSend {
                producer_id: Some(producer_id),
                sequence_id: Some(sequence_id),
                num_messages,
                ..Default::default()
            })
        ),
        (any::<u64>(), message_id(), option::of(any::<u32>())).prop_map(
            |(consumer_id, message_id, message_permits)| Cmd::Message(proto::CommandMessage {
                consumer_id: Some(consumer_id),
                message_id: Some(message_id),
                message_permits,
                ..Default::default()
            })
        ),
    ]
}

fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        simple().prop_map(|cmd| Frame {
            command: BaseCommand::new(cmd),
            payload: None
        }),
        (with_payload(), vec(any::<u8>(), 1..200)).prop_map(|(cmd, payload)| Frame {
            command: BaseCommand::new(cmd),
            payload: Some(payload.into()),
        }),
    ]
}

fn encode(frames: &[Frame]) -> Vec<u8> {
    let mut out = BytesMut::new();
    for frame in frames {
        match &frame.payload {
            None => encode_command(&frame.command, &mut out),
            Some(payload) => {
                encode_payload_header(&frame.command, payload.len(), &mut out);
                out.extend_from_slice(payload);
            }
        }
    }
    out.to_vec()
}

/// What comes out of a connection that delivers these pieces.
fn decode<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Frame>, Result<usize, FrameError>) {
    let (mut frames, mut buffer) = (Vec::new(), BytesMut::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match decode_frame(&mut buffer, LIMIT) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Err(error)),
            }
        }
    }
    (frames, Ok(buffer.len()))
}

fn cut(bytes: &[u8], cuts: Vec<Index>) -> Vec<&[u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_encoded_is_decoded_wherever_the_stream_is_cut(
        frames in vec(frame(), 0..6),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        let bytes = encode(&frames);
        prop_assert_eq!(decode([&bytes[..]]), (frames.clone(), Ok(0)));
        prop_assert_eq!(decode(cut(&bytes, cuts)), (frames.clone(), Ok(0)));
        prop_assert_eq!(decode(bytes.chunks(1)), (frames, Ok(0)));
    }

    #[test]
    fn damaged_streams_end_the_same_wherever_they_are_cut(
        frames in vec(frame(), 1..4),
        changes in vec((any::<Index>(), any::<u8>()), 1..4),
        cuts in vec(any::<Index>(), 0..12),
    ) {
        let mut bytes = encode(&frames);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let whole = decode([&bytes[..]]);
        prop_assert_eq!(&decode(cut(&bytes, cuts)), &whole);
        prop_assert_eq!(&decode(bytes.chunks(1)), &whole);
    }

    #[test]
    fn any_bytes_are_refused_or_waited_on(bytes in vec(any::<u8>(), 0..100), small_total in 0u8..80) {
        decode([&bytes[..]]).1.ok();
        // The same behind a length that is no obstacle.
        let mut framed = vec![0, 0, 0, small_total, 0, 0, 0, small_total.saturating_sub(4)];
        framed.extend_from_slice(&bytes);
        decode([&framed[..]]).1.ok();
    }
}
