//! Whatever a broker sends, the client does not panic, its frames are whole, and it gives back no permit twice.

use bytes::Bytes;
use client_session::{
    Ack, Client, ClientAsk, ClientEffect, ClientInput, ClientSettings, CreateProducer,
    InitialPosition, MessageId, OutMessage, SubType, Subscribe,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use pulsar_wire::entry::encode_entry;
use pulsar_wire::frame::Frame;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::*;
use vocabulary::{Moment, Now, Position};

#[derive(Clone, Debug)]
enum Step {
    Connected,
    /// The oldest command without an answer gets the one it hopes for.
    Answer,
    PeerGone,
    Wait(u64),
    Ask(u8),
    /// Which, in answer to the how-manieth request from the last, and a number.
    Frame(u8, u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Connected),
        30 => Just(Step::Answer),
        1 => Just(Step::PeerGone),
        2 => (1u64..40_000).prop_map(Step::Wait),
        8 => (0u8..8).prop_map(Step::Ask),
        20 => (1u8..18, 0u64..3, 0u64..3).prop_map(|(kind, back, number)| Step::Frame(kind, back, number)),
    ]
}

fn ask(which: u8) -> ClientAsk {
    let id = MessageId {
        position: Position::new(1, 1),
        batch: Some((1, 3)),
    };
    match which {
        0 => ClientAsk::CreateProducer(CreateProducer {
            producer_id: 1,
            topic: "t".to_owned(),
            name: None,
        }),
        1 => ClientAsk::Subscribe(Subscribe {
            consumer_id: 1,
            topic: "t".to_owned(),
            subscription: "s".to_owned(),
            subscription_type: SubType::Failover,
            initial_position: InitialPosition::Latest,
            queue_size: 4,
            name: String::new(),
            says_took: true,
        }),
        2 => ClientAsk::Send {
            producer_id: 1,
            token: 1,
            messages: vec![OutMessage::default(); 2],
            batch: true,
        },
        3 => ClientAsk::Ack {
            consumer_id: 1,
            ack: Ack::Individual(vec![id]),
            receipt: Some(1),
        },
        4 => ClientAsk::Ack {
            consumer_id: 1,
            ack: Ack::Cumulative(id),
            receipt: None,
        },
        5 => ClientAsk::Redeliver {
            consumer_id: 1,
            positions: vec![],
        },
        6 => ClientAsk::CloseProducer(1),
        _ => ClientAsk::CloseConsumer(1),
    }
}

fn frame(kind: u8, request: u64, number: u64) -> Frame {
    let request_id = Some(request);
    let message_id = Some(MessageIdData {
        ledger_id: Some(1),
        entry_id: Some(number),
        ..Default::default()
    });
    let error = Some([6, 22, 5][number as usize]);
    let text = Some("no".to_owned());
    let command = match kind {
        0 => Cmd::Connected(CommandConnected {
            server_version: text,
            ..Default::default()
        }),
        1 => Cmd::Error(CommandError {
            request_id,
            error,
            message: text,
        }),
        2 => Cmd::Success(CommandSuccess {
            request_id,
            schema: None,
        }),
        3 | 4 => Cmd::ProducerSuccess(CommandProducerSuccess {
            request_id,
            producer_name: text,
            producer_ready: Some(number > 0),
            ..Default::default()
        }),
        5 | 6 => Cmd::PartitionMetadataResponse(CommandPartitionedTopicMetadataResponse {
            request_id,
            partitions: Some(0),
            response: Some(i32::from(number == 2)),
            ..Default::default()
        }),
        7 | 8 => Cmd::LookupTopicResponse(CommandLookupTopicResponse {
            request_id,
            response: Some(1),
            ..Default::default()
        }),
        9 => Cmd::SendReceipt(CommandSendReceipt {
            producer_id: Some(1),
            sequence_id: Some(2 * number),
            message_id,
            ..Default::default()
        }),
        10 => Cmd::SendError(CommandSendError {
            producer_id: Some(1),
            sequence_id: Some(2 * number + 1),
            error,
            message: text,
        }),
        11 => Cmd::AckResponse(CommandAckResponse {
            consumer_id: Some(1),
            request_id,
            ..Default::default()
        }),
        12 => Cmd::CloseProducer(CommandCloseProducer {
            producer_id: Some(1),
            request_id,
            ..Default::default()
        }),
        13 => Cmd::CloseConsumer(CommandCloseConsumer {
            consumer_id: Some(1),
            request_id,
            ..Default::default()
        }),
        14 => Cmd::Ping(CommandPing {}),
        15 => Cmd::Pong(CommandPong {}),
        _ => {
            let message = CommandMessage {
                consumer_id: Some(1),
                message_id,
                consumer_epoch: Some(number),
                message_permits: Some(1 + number as u32 % 2),
                ..Default::default()
            };
            return Frame {
                command: BaseCommand::new(Cmd::Message(message)),
                payload: Some(entry()),
            };
        }
    };
    Frame {
        command: BaseCommand::new(command),
        payload: None,
    }
}

fn request_of(command: &Cmd) -> Option<u64> {
    match command {
        Cmd::PartitionMetadata(ask) => ask.request_id,
        Cmd::LookupTopic(ask) => ask.request_id,
        Cmd::Producer(ask) => ask.request_id,
        Cmd::Subscribe(ask) => ask.request_id,
        Cmd::CloseProducer(ask) => ask.request_id,
        Cmd::CloseConsumer(ask) => ask.request_id,
        Cmd::Ack(ask) => ask.request_id,
        _ => None,
    }
}

fn answer_to(command: &Cmd) -> Option<Cmd> {
    Some(match command {
        Cmd::Connect(_) => frame(0, 0, 0).command.cmd?,
        Cmd::PartitionMetadata(ask) => frame(5, ask.request_id(), 0).command.cmd?,
        Cmd::LookupTopic(ask) => frame(7, ask.request_id(), 0).command.cmd?,
        Cmd::Producer(ask) => frame(3, ask.request_id(), 1).command.cmd?,
        Cmd::Subscribe(ask) => frame(2, ask.request_id(), 0).command.cmd?,
        Cmd::CloseProducer(ask) => frame(2, ask.request_id(), 0).command.cmd?,
        Cmd::CloseConsumer(ask) => frame(2, ask.request_id(), 0).command.cmd?,
        Cmd::Ack(ask) => frame(11, ask.request_id?, 0).command.cmd?,
        Cmd::Send(send) => Cmd::SendReceipt(CommandSendReceipt {
            producer_id: send.producer_id,
            sequence_id: send.sequence_id,
            ..Default::default()
        }),
        Cmd::Ping(_) => Cmd::Pong(CommandPong {}),
        _ => return None,
    })
}

fn entry() -> Bytes {
    let metadata = MessageMetadata {
        producer_name: Some("p".to_owned()),
        sequence_id: Some(0),
        publish_time: Some(1),
        ..Default::default()
    };
    encode_entry(&metadata, b"hello")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(491),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_client_keeps_its_head(steps in proptest::collection::vec(step(), 1..200)) {
        let mut client = Client::new(ClientSettings { pending_sends_max: 3, ..ClientSettings::default() });
        let mut now = Now::at_millis(0);
        let mut wake = Moment(u64::MAX);
        // Of the consumer's present incarnation: granted, and taken off by what came.
        let (mut granted, mut came) = (0u64, 0u64);
        let mut last_request = 0u64;
        let mut is_connected = false;
        let mut asked = std::collections::VecDeque::new();
        for step in steps {
            let input = match step {
                Step::Connected if is_connected => continue,
                Step::Connected => {
                    is_connected = true;
                    asked.clear();
                    ClientInput::Connected
                }
                Step::Answer => match asked.pop_front().and_then(|command| answer_to(&command)) {
                    Some(command) => {
                        let command = BaseCommand::new(command);
                        ClientInput::FrameArrived(Frame { command, payload: None })
                    }
                    None => continue,
                },
                Step::PeerGone => ClientInput::PeerGone,
                Step::Wait(millis) => {
                    now = Now::at_millis(now.wall.0 + millis);
                    if wake > now.moment {
                        continue;
                    }
                    ClientInput::TimeCame
                }
                Step::Ask(which) => ClientInput::Ask(ask(which)),
                Step::Frame(kind, back, number) => {
                    if kind >= 16 {
                        came += 1 + number % 2;
                    }
                    ClientInput::FrameArrived(frame(kind, last_request.saturating_sub(back), number))
                }
            };
            let mut effects = Vec::new();
            client.handle(now, input, &mut effects);
            for effect in effects {
                match effect {
                    ClientEffect::SendFrame(frame) => {
                        let command = frame.command.validate().expect("a whole command");
                        asked.push_back(command.clone());
                        last_request = request_of(command).unwrap_or(last_request);
                        match command {
                            Cmd::Subscribe(_) => (granted, came) = (0, 0),
                            Cmd::Flow(flow) => granted += u64::from(flow.message_permits()),
                            _ => {}
                        }
                        prop_assert_eq!(matches!(command, Cmd::Send(_)), frame.payload.is_some());
                    }
                    ClientEffect::WakeAt(moment) => wake = moment,
                    ClientEffect::Event(_) | ClientEffect::Close { .. } => {}
                    ClientEffect::Reconnect { .. } => is_connected = false,
                }
            }
            prop_assert!(granted <= 4 + came, "granted {granted} of a queue of 4, and {came} came");
            prop_assert!(client.pending_sends() <= 3);
        }
    }
}
