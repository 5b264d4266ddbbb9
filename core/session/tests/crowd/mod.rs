//! A client that does anything, a session, and topics that answer when they are told to.

mod topic;

use bytes::Bytes;
use letters::{SessionLetter, TopicLetter};
use pulsar_wire::frame::Frame;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::*;
use session::{AllowAll, Session, SessionEffect, SessionInput, SessionSettings, WrittenFrames};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use topic::{Topic, delivery, entry};
use vocabulary::{Moment, Now, SessionId, TopicName};

/// What happens next. Numbers are chosen so that everything collides with everything.
#[derive(Clone, Debug)]
pub enum Step {
    Producer {
        id: u64,
        topic: usize,
    },
    Send {
        id: u64,
        damaged: bool,
    },
    CloseProducer(u64),
    Subscribe {
        id: u64,
        topic: usize,
    },
    Flow(u64),
    Ack {
        id: u64,
        receipt: bool,
    },
    Redeliver(u64),
    CloseConsumer(u64),
    Unsubscribe(u64),
    Seek(u64),
    LastMessageId(u64),
    ConsumerStats(u64),
    Lookup(usize),
    Partitions(usize),
    ListTopics,
    Ping,
    TopicAnswers {
        topic: usize,
        well: bool,
    },
    TopicClosesProducer {
        topic: usize,
        id: u64,
        drops_first: bool,
    },
    TopicClosesConsumer {
        topic: usize,
        id: u64,
    },
    TopicDelivers {
        topic: usize,
        id: u64,
    },
    TopicProbes(usize),
    Written,
    Wait(u64),
}

pub struct Crowd {
    session: Session,
    topics: BTreeMap<TopicName, Topic>,
    names: Vec<TopicName>,
    now: Now,
    wakes: Moment,
    last_request: u64,
    last_sequence: u64,
    /// Requests, and how many answers each had.
    answers: BTreeMap<u64, u32>,
    /// Producers the client believes open, and what it sent and has no answer for.
    open: BTreeMap<u64, VecDeque<u64>>,
    /// Producers the client asked for and did not close since, by request.
    opening: BTreeMap<u64, u64>,
    written: WrittenFrames,
    pub paused: bool,
    closed: bool,
}

impl Crowd {
    pub fn new() -> Crowd {
        let settings = SessionSettings {
            pending_publishes_max: 5,
            pending_requests_max: 5,
            unwritten_answer_bytes_max: 500,
            ..SessionSettings::advertising("pulsar://localhost:6650".to_owned(), None)
        };
        let names: Vec<_> = ["a", "b"]
            .map(|name| TopicName::parse(name).expect("a name"))
            .into();
        let now = Now::at_millis(0);
        let session = Session::new(
            SessionId(1),
            Arc::new(settings),
            Arc::new(AllowAll),
            String::new(),
            now,
        );
        let mut crowd = Crowd {
            wakes: session.wakes_at(),
            session,
            topics: names
                .iter()
                .map(|name| (name.clone(), Topic::default()))
                .collect(),
            names,
            now,
            last_request: 0,
            last_sequence: 0,
            answers: BTreeMap::new(),
            open: BTreeMap::new(),
            opening: BTreeMap::new(),
            written: WrittenFrames::new(),
            paused: false,
            closed: false,
        };
        let connect = CommandConnect {
            client_version: Some("x".to_owned()),
            protocol_version: Some(21),
            ..Default::default()
        };
        crowd.send(Cmd::Connect(connect), None);
        crowd
    }

    pub fn closed(&self) -> bool {
        self.closed
    }

    pub fn of_session(&self) -> (usize, usize) {
        self.session.handle_counts()
    }

    pub fn of_topics(&self) -> (usize, usize) {
        let producers = self
            .topics
            .values()
            .map(|topic| topic.producers.len())
            .sum();
        (
            producers,
            self.topics
                .values()
                .map(|topic| topic.consumers.len())
                .sum(),
        )
    }

    /// Requests without exactly one answer; of a closed connection, those with more than one.
    pub fn unanswered(&self) -> Vec<u64> {
        let wrong = self
            .answers
            .iter()
            .filter(|(_, count)| **count != 1 && !(self.closed && **count == 0));
        wrong.map(|(id, _)| *id).collect()
    }

    /// Lets the topics answer everything, and the connection take everything.
    pub fn settle(&mut self) {
        while !self.closed && self.topics.values().any(|topic| !topic.inbox.is_empty()) {
            for topic in 0..self.names.len() {
                self.take(Step::TopicAnswers { topic, well: true });
            }
        }
        self.take(Step::Written);
        // What a closed session told its topics is done, too.
        for topic in 0..self.names.len() {
            while self
                .topic(topic)
                .is_some_and(|topic| !topic.inbox.is_empty())
            {
                self.take(Step::TopicAnswers { topic, well: true });
            }
        }
    }

    pub fn shut_down(&mut self) {
        self.tell(SessionInput::ShutdownBegan);
    }

    fn topic(&mut self, index: usize) -> Option<&mut Topic> {
        self.topics.get_mut(&self.names[index])
    }

    fn request(&mut self) -> Option<u64> {
        self.last_request += 1;
        if !self.closed {
            self.answers.insert(self.last_request, 0);
        }
        Some(self.last_request)
    }

    fn send(&mut self, command: Cmd, payload: Option<Bytes>) {
        let frame = Frame {
            command: BaseCommand::new(command),
            payload,
        };
        self.tell(SessionInput::FrameArrived(frame));
    }

    pub fn take(&mut self, step: Step) {
        match step {
            Step::Producer { id, topic } => {
                let request_id = self.request();
                self.opening.insert(self.last_request, id);
                let command = CommandProducer {
                    topic: Some(self.names[topic].to_string()),
                    producer_id: Some(id),
                    request_id,
                    ..Default::default()
                };
                self.send(Cmd::Producer(command), None);
            }
            Step::Send { id, damaged } => self.publish(id, damaged),
            Step::CloseProducer(id) => {
                self.open.remove(&id);
                self.opening.retain(|_, opening| *opening != id);
                let request_id = self.request();
                let command = CommandCloseProducer {
                    producer_id: Some(id),
                    request_id,
                    ..Default::default()
                };
                self.send(Cmd::CloseProducer(command), None);
            }
            Step::Subscribe { id, topic } => {
                let command = CommandSubscribe {
                    topic: Some(self.names[topic].to_string()),
                    subscription: Some("s".to_owned()),
                    sub_type: Some(command_subscribe::SubType::Shared as i32),
                    consumer_id: Some(id),
                    request_id: self.request(),
                    ..Default::default()
                };
                self.send(Cmd::Subscribe(command), None);
            }
            Step::Flow(id) => {
                self.send(
                    Cmd::Flow(CommandFlow {
                        consumer_id: Some(id),
                        message_permits: Some(1),
                    }),
                    None,
                );
            }
            Step::Ack { id, receipt } => {
                let command = CommandAck {
                    consumer_id: Some(id),
                    ack_type: Some(command_ack::AckType::Individual as i32),
                    request_id: if receipt { self.request() } else { None },
                    ..Default::default()
                };
                self.send(Cmd::Ack(command), None);
            }
            Step::Redeliver(id) => {
                let command = CommandRedeliverUnacknowledgedMessages {
                    consumer_id: Some(id),
                    ..Default::default()
                };
                self.send(Cmd::RedeliverUnacknowledgedMessages(command), None);
            }
            Step::CloseConsumer(id) => {
                let request_id = self.request();
                let command = CommandCloseConsumer {
                    consumer_id: Some(id),
                    request_id,
                    ..Default::default()
                };
                self.send(Cmd::CloseConsumer(command), None);
            }
            Step::Unsubscribe(id) => {
                let request_id = self.request();
                let command = CommandUnsubscribe {
                    consumer_id: Some(id),
                    request_id,
                    force: None,
                };
                self.send(Cmd::Unsubscribe(command), None);
            }
            Step::Seek(id) => {
                let request_id = self.request();
                let command = CommandSeek {
                    consumer_id: Some(id),
                    request_id,
                    message_publish_time: Some(1),
                    ..Default::default()
                };
                self.send(Cmd::Seek(command), None);
            }
            Step::LastMessageId(id) => {
                let request_id = self.request();
                let command = CommandGetLastMessageId {
                    consumer_id: Some(id),
                    request_id,
                };
                self.send(Cmd::GetLastMessageId(command), None);
            }
            Step::ConsumerStats(id) => {
                let request_id = self.request();
                let command = CommandConsumerStats {
                    consumer_id: Some(id),
                    request_id,
                };
                self.send(Cmd::ConsumerStats(command), None);
            }
            Step::Lookup(topic) => {
                let (topic, request_id) = (Some(self.names[topic].to_string()), self.request());
                self.send(
                    Cmd::LookupTopic(CommandLookupTopic {
                        topic,
                        request_id,
                        ..Default::default()
                    }),
                    None,
                );
            }
            Step::Partitions(topic) => {
                let (topic, request_id) = (Some(self.names[topic].to_string()), self.request());
                let command = CommandPartitionedTopicMetadata {
                    topic,
                    request_id,
                    ..Default::default()
                };
                self.send(Cmd::PartitionMetadata(command), None);
            }
            Step::ListTopics => {
                let request_id = self.request();
                let command = CommandGetTopicsOfNamespace {
                    namespace: Some("public/default".to_owned()),
                    request_id,
                    ..Default::default()
                };
                self.send(Cmd::GetTopicsOfNamespace(command), None);
            }
            Step::Ping => self.send(Cmd::Ping(CommandPing {}), None),
            Step::TopicAnswers { topic, well } => self.answer(topic, well),
            Step::TopicClosesProducer {
                topic,
                id,
                drops_first,
            } => self.close_producer(topic, id, drops_first),
            Step::TopicClosesConsumer { topic, id } => {
                if self
                    .topic(topic)
                    .is_some_and(|topic| topic.consumers.remove(&id))
                {
                    self.tell(SessionInput::LetterCame(SessionLetter::CloseConsumer {
                        consumer_id: id,
                    }));
                }
            }
            Step::TopicDelivers { topic, id } => {
                if self
                    .topic(topic)
                    .is_some_and(|topic| topic.consumers.contains(&id))
                {
                    let letter = SessionLetter::Deliver {
                        consumer_id: id,
                        deliveries: vec![delivery(topic)],
                    };
                    self.tell(SessionInput::LetterCame(letter));
                }
            }
            Step::TopicProbes(topic) => {
                let topic = self.names[topic].clone();
                self.tell(SessionInput::LetterCame(SessionLetter::AreYouThere {
                    topic,
                    token: 1,
                }));
            }
            Step::Written => {
                let written = std::mem::take(&mut self.written);
                self.tell(SessionInput::FramesWritten(written));
            }
            Step::Wait(millis) => {
                self.now = Now::at_millis(self.now.wall.0 + millis);
                if self.wakes <= self.now.moment {
                    self.tell(SessionInput::TimeCame);
                }
            }
        }
    }

    /// A topic drops what it has of a producer before or after it throws it out.
    fn close_producer(&mut self, index: usize, id: u64, drops_first: bool) {
        let Some(topic) = self
            .topic(index)
            .filter(|topic| topic.producers.contains(&id))
        else {
            return;
        };
        topic.producers.remove(&id);
        let mut dropped = 0;
        if drops_first {
            let before = topic.inbox.len();
            topic.inbox.retain(|letter| !matches!(letter, TopicLetter::Publish(publish) if publish.producer_id == id));
            dropped = before - topic.inbox.len();
        }
        for _ in 0..dropped {
            self.tell(SessionInput::LetterCame(SessionLetter::Dropped {
                producer_id: id,
            }));
        }
        self.tell(SessionInput::LetterCame(SessionLetter::CloseProducer {
            producer_id: id,
        }));
    }

    fn publish(&mut self, id: u64, damaged: bool) {
        let Some(unanswered) = self.open.get_mut(&id) else {
            return;
        };
        self.last_sequence += 1;
        unanswered.push_back(self.last_sequence);
        let mut entry = entry().to_vec();
        if damaged {
            entry[5] ^= 1;
        }
        let sequence_id = Some(self.last_sequence);
        let command = CommandSend {
            producer_id: Some(id),
            sequence_id,
            ..Default::default()
        };
        self.send(Cmd::Send(command), Some(entry.into()));
    }

    fn answer(&mut self, index: usize, well: bool) {
        let answer = self.topic(index).and_then(|topic| topic.answer(well));
        if let Some(answer) = answer {
            self.tell(SessionInput::LetterCame(answer));
        }
    }

    fn tell(&mut self, input: SessionInput) {
        let mut effects = Vec::new();
        let mut lists = Vec::new();
        self.session.handle(self.now, input, &mut effects);
        for effect in effects {
            assert!(!self.closed, "after Close came {effect:?}");
            match effect {
                SessionEffect::SendFrame(out) => {
                    self.written.add(out.token);
                    self.hear(out.command.validate().expect("a whole command"));
                }
                SessionEffect::WriteLetter(letter) => {
                    self.topics
                        .get_mut(&letter.topic)
                        .expect("a topic")
                        .inbox
                        .push_back(letter.letter);
                }
                SessionEffect::AskDirectory(question) => lists.push(question.request_id),
                SessionEffect::EndWatch { .. } => {}
                SessionEffect::WakeAt(moment) => self.wakes = moment,
                SessionEffect::PauseReading => assert!(!std::mem::replace(&mut self.paused, true)),
                SessionEffect::ResumeReading => assert!(std::mem::replace(&mut self.paused, false)),
                SessionEffect::Close { .. } => self.closed = true,
            }
        }
        for request_id in lists
            .into_iter()
            .filter(|_| !self.closed)
            .collect::<Vec<_>>()
        {
            let result = Ok(Vec::new());
            self.tell(SessionInput::LetterCame(SessionLetter::TopicsListed {
                request_id,
                result,
            }));
        }
    }

    fn hear(&mut self, command: &Cmd) {
        let request_id = match command {
            Cmd::ProducerSuccess(success) => success.request_id,
            Cmd::Success(success) => success.request_id,
            Cmd::Error(error) => error.request_id,
            Cmd::GetTopicsOfNamespaceResponse(topics) => topics.request_id,
            Cmd::LookupTopicResponse(response) => response.request_id,
            Cmd::PartitionMetadataResponse(response) => response.request_id,
            Cmd::AckResponse(response) => response.request_id,
            Cmd::GetLastMessageIdResponse(response) => response.request_id,
            Cmd::ConsumerStatsResponse(response) => response.request_id,
            Cmd::SendReceipt(receipt) => {
                return self.confirm(receipt.producer_id(), receipt.sequence_id());
            }
            Cmd::SendError(error) => return self.confirm(error.producer_id(), error.sequence_id()),
            Cmd::CloseProducer(close) => {
                self.open.remove(&close.producer_id());
                return;
            }
            _ => return,
        };
        let request_id = request_id.expect("a request id");
        *self
            .answers
            .get_mut(&request_id)
            .expect("an answer to a request") += 1;
        let opened = self.opening.remove(&request_id);
        if let (Cmd::ProducerSuccess(_), Some(id)) = (command, opened) {
            self.open.entry(id).or_default();
        }
    }

    fn confirm(&mut self, producer_id: u64, sequence_id: u64) {
        if let Some(unanswered) = self.open.get_mut(&producer_id) {
            assert_eq!(
                unanswered.pop_front(),
                Some(sequence_id),
                "answers come in the order of the SENDs"
            );
        }
    }
}
