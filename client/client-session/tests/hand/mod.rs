//! A client whose broker is played by hand.

use bytes::Bytes;
use client_session::{
    Client, ClientAsk, ClientEffect, ClientEvent, ClientFrame, ClientInput, ClientSettings,
    CreateProducer, InitialPosition, OutMessage, SubType, Subscribe,
};
use pulsar_wire::batch::BatchBuilder;
use pulsar_wire::entry::encode_entry;
use pulsar_wire::frame::Frame;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::*;
use std::time::Duration;
use vocabulary::Now;

/// A client, and what it said last.
pub struct Hand {
    pub client: Client,
    pub now: Now,
    pub sent: Vec<ClientFrame>,
    pub events: Vec<ClientEvent>,
    pub reconnects: Vec<Duration>,
    pub closes: Vec<String>,
}

impl Hand {
    pub fn with(settings: ClientSettings) -> Hand {
        Hand {
            client: Client::new(settings),
            now: Now::at_millis(0),
            sent: vec![],
            events: vec![],
            reconnects: vec![],
            closes: vec![],
        }
    }

    /// With a producer 1 and a consumer 1 of type Failover and a queue of 4.
    pub fn open() -> Hand {
        let mut hand = Hand::with(ClientSettings::default());
        hand.tell(ClientInput::Connected);
        hand.hear(connected());
        hand.ask(ClientAsk::CreateProducer(CreateProducer {
            producer_id: 1,
            topic: "t".to_owned(),
            name: None,
        }));
        hand.found(0);
        hand.hear(producer_success(hand.last_request()));
        hand.ask(subscribe());
        hand.found(0);
        hand.hear(success(hand.last_request()));
        hand.clear();
        hand
    }

    pub fn tell(&mut self, input: ClientInput) {
        let mut effects = vec![];
        self.client.handle(self.now, input, &mut effects);
        for effect in effects {
            match effect {
                ClientEffect::SendFrame(frame) => self.sent.push(frame),
                ClientEffect::Event(event) => self.events.push(event),
                ClientEffect::Reconnect { after } => self.reconnects.push(after),
                ClientEffect::Close { reason } => self.closes.push(reason),
                ClientEffect::WakeAt(_) => {}
            }
        }
    }

    pub fn ask(&mut self, ask: ClientAsk) {
        self.tell(ClientInput::Ask(ask));
    }

    pub fn hear(&mut self, command: Cmd) {
        let command = BaseCommand::new(command);
        self.tell(ClientInput::FrameArrived(Frame {
            command,
            payload: None,
        }));
    }

    pub fn hear_message(&mut self, message: CommandMessage, entry: Bytes) {
        let command = BaseCommand::new(Cmd::Message(message));
        self.tell(ClientInput::FrameArrived(Frame {
            command,
            payload: Some(entry),
        }));
    }

    pub fn wait(&mut self, millis: u64) {
        self.now = Now::at_millis(self.now.wall.0 + millis);
        self.tell(ClientInput::TimeCame);
    }

    /// Answers PARTITIONED_METADATA and LOOKUP.
    pub fn found(&mut self, partitions: u32) {
        self.hear(Cmd::PartitionMetadataResponse(
            CommandPartitionedTopicMetadataResponse {
                request_id: Some(self.last_request()),
                response: Some(0),
                partitions: Some(partitions),
                ..Default::default()
            },
        ));
        if partitions == 0 {
            self.hear(lookup_response(self.last_request(), 1));
        }
    }

    pub fn last(&self) -> &Cmd {
        self.sent
            .last()
            .and_then(|frame| frame.command.cmd.as_ref())
            .expect("a command")
    }

    pub fn last_request(&self) -> u64 {
        match self.last() {
            Cmd::PartitionMetadata(ask) => ask.request_id(),
            Cmd::LookupTopic(ask) => ask.request_id(),
            Cmd::Producer(ask) => ask.request_id(),
            Cmd::Subscribe(ask) => ask.request_id(),
            Cmd::CloseProducer(ask) => ask.request_id(),
            Cmd::CloseConsumer(ask) => ask.request_id(),
            other => panic!("{other:?} is no request"),
        }
    }

    pub fn clear(&mut self) {
        self.sent.clear();
        self.events.clear();
    }

    pub fn send(&mut self, token: u64) {
        let messages = vec![OutMessage::default()];
        self.ask(ClientAsk::Send {
            producer_id: 1,
            token,
            messages,
            batch: false,
        });
    }
}

pub fn connected() -> Cmd {
    Cmd::Connected(CommandConnected {
        server_version: Some("x".to_owned()),
        ..Default::default()
    })
}

pub fn producer_success(request_id: u64) -> Cmd {
    let (request_id, producer_name) = (Some(request_id), Some("p".to_owned()));
    Cmd::ProducerSuccess(CommandProducerSuccess {
        request_id,
        producer_name,
        ..Default::default()
    })
}

pub fn success(request_id: u64) -> Cmd {
    Cmd::Success(CommandSuccess {
        request_id: Some(request_id),
        schema: None,
    })
}

pub fn lookup_response(request_id: u64, response: i32) -> Cmd {
    let broker_service_url = Some("pulsar://other:6650".to_owned());
    Cmd::LookupTopicResponse(CommandLookupTopicResponse {
        request_id: Some(request_id),
        response: Some(response),
        broker_service_url,
        ..Default::default()
    })
}

pub fn receipt(sequence_id: u64) -> Cmd {
    Cmd::SendReceipt(CommandSendReceipt {
        producer_id: Some(1),
        sequence_id: Some(sequence_id),
        ..Default::default()
    })
}

pub fn send_error(sequence_id: u64, error: ServerError) -> Cmd {
    Cmd::SendError(CommandSendError {
        producer_id: Some(1),
        sequence_id: Some(sequence_id),
        error: Some(error as i32),
        message: Some("no".to_owned()),
    })
}

pub fn subscribe() -> ClientAsk {
    ClientAsk::Subscribe(Subscribe {
        consumer_id: 1,
        topic: "t".to_owned(),
        subscription: "s".to_owned(),
        subscription_type: SubType::Failover,
        initial_position: InitialPosition::Latest,
        queue_size: 4,
        name: "c".to_owned(),
        says_took: false,
    })
}

pub fn message(permits: u32, epoch: u64) -> CommandMessage {
    CommandMessage {
        consumer_id: Some(1),
        message_id: Some(MessageIdData {
            ledger_id: Some(3),
            entry_id: Some(4),
            ..Default::default()
        }),
        consumer_epoch: Some(epoch),
        message_permits: Some(permits),
        ..Default::default()
    }
}

pub fn entry(batch: &[&str]) -> Bytes {
    let mut builder = BatchBuilder::new();
    for payload in batch {
        builder.push(SingleMessageMetadata::default(), payload.as_bytes());
    }
    let metadata = MessageMetadata {
        producer_name: Some("p".to_owned()),
        sequence_id: Some(0),
        publish_time: Some(1),
        num_messages_in_batch: Some(batch.len() as i32),
        ..Default::default()
    };
    encode_entry(&metadata, &builder.finish())
}
