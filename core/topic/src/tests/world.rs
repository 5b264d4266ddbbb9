//! A topic, its log, and whoever talks to it; short words for the transcripts.

use super::log::MemoryLog;
use crate::{NameSource, Topic, TopicEffect, TopicInput, TopicSettings};
use bytes::Bytes;
use letters::{
    AccessMode, AckId, AckKind, AddConsumer, AddProducer, Delivery, InitialPosition, LogReply,
    LogRequest, Publish, RefusalCode, SeekTarget, SessionLetter, SubscriptionType, TopicLetter,
};
use pulsar_wire::entry::encode_entry;
use pulsar_wire::proto::MessageMetadata;
use std::collections::VecDeque;
use std::sync::Arc;
use vocabulary::{AckSet, Moment, Now, Position, SessionId, TopicName, WallTime};

pub struct World {
    pub topic: Topic,
    pub log: MemoryLog,
    pub now: Moment,
    pub said: Vec<(u64, SessionLetter)>,
    pub wake_at: Option<Moment>,
    pub asleep: u32,
    pub reports: Vec<String>,
    /// The log answers at once.
    pub prompt_log: bool,
    /// Connections take at once what is delivered.
    pub prompt_writers: bool,
    pub settings: Arc<TopicSettings>,
    /// What the wall clock shows, milliseconds since 1970.
    pub wall_ms: u64,
    inbox: VecDeque<TopicInput>,
    names: Arc<NameSource>,
    name: TopicName,
}

impl World {
    pub fn new() -> World {
        World::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut TopicSettings)) -> World {
        World::named("persistent://public/default/t", change)
    }

    pub fn named(name: &str, change: impl FnOnce(&mut TopicSettings)) -> World {
        let mut settings = TopicSettings::default();
        change(&mut settings);
        let settings = Arc::new(settings);
        let names = Arc::new(NameSource::new("standalone-7", 0, 1));
        let name = TopicName::parse(name).unwrap();
        World {
            topic: Topic::new(name.clone(), settings.clone(), names.clone()),
            log: MemoryLog::new(),
            now: Moment(1),
            said: Vec::new(),
            wake_at: None,
            asleep: 0,
            reports: Vec::new(),
            prompt_log: true,
            prompt_writers: true,
            settings,
            wall_ms: 0,
            inbox: VecDeque::new(),
            names,
            name,
        }
    }

    /// The process dies and starts again on the same log.
    pub fn crash(&mut self) {
        self.log.crash();
        self.topic = Topic::new(self.name.clone(), self.settings.clone(), self.names.clone());
        self.said.clear();
        self.wake_at = None;
    }

    pub fn now(&self) -> Now {
        Now {
            moment: self.now,
            wall: WallTime(self.wall_ms),
        }
    }

    pub fn input(&mut self, input: TopicInput) {
        self.inbox.push_back(input);
        self.run();
    }

    /// Everything that follows without anybody's doing: letters on their way, prompt answers.
    fn run(&mut self) {
        loop {
            if let Some(input) = self.inbox.pop_front() {
                let mut effects = Vec::new();
                let now = self.now();
                self.topic.handle(now, input, &mut effects);
                self.apply(effects);
            } else if self.prompt_log && !self.log.requests.is_empty() {
                self.take_answer(0);
            } else {
                return;
            }
        }
    }

    fn apply(&mut self, effects: Vec<TopicEffect>) {
        self.topic.check();
        for effect in effects {
            match effect {
                TopicEffect::Letter(to) => {
                    if let SessionLetter::Deliver {
                        consumer_id,
                        deliveries,
                    } = &to.letter
                        && self.prompt_writers
                    {
                        let bytes = deliveries
                            .iter()
                            .map(|delivery| delivery.entry.len() as u64)
                            .sum();
                        let letter = TopicLetter::Written {
                            consumer_id: *consumer_id,
                            bytes,
                        };
                        self.inbox.push_back(TopicInput::Letter {
                            session: to.session,
                            letter,
                        });
                    }
                    self.said.push((to.session.0, to.letter));
                }
                TopicEffect::Log(request) => self.log.requests.push_back(request),
                TopicEffect::WakeAt(at) => self.wake_at = Some(at),
                TopicEffect::Asleep => self.asleep += 1,
                TopicEffect::Report { text } => self.reports.push(text),
            }
        }
    }

    pub fn shut_down(&mut self) {
        let mut effects = Vec::new();
        let now = self.now();
        self.topic.begin_shutdown(now, &mut effects);
        self.apply(effects);
        self.run();
    }

    /// The log answers one request.
    pub fn answer(&mut self, index: usize) {
        self.take_answer(index);
        self.run();
    }

    fn take_answer(&mut self, index: usize) {
        if let Some(reply) = self.log.answer(index) {
            self.inbox.push_back(TopicInput::Log(reply));
        }
    }

    /// The log answers everything, and what follows from that.
    pub fn answer_all(&mut self) {
        while !self.log.requests.is_empty() {
            self.answer(0);
        }
    }

    pub fn reply(&mut self, reply: LogReply) {
        self.input(TopicInput::Log(reply));
    }

    /// Lets time pass, with everything that falls due.
    pub fn advance(&mut self, millis: u64) {
        let end = Moment(self.now.0 + millis * 1_000_000);
        let mut turns = 0;
        while let Some(at) = self.wake_at.filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.wake_at = None;
            self.input(TopicInput::TimeCame);
            turns += 1;
            assert!(turns < 10_000, "the topic wants to be woken all the time");
        }
        self.now = end;
    }

    pub fn tell(&mut self, session: u64, letter: TopicLetter) {
        self.input(TopicInput::Letter {
            session: SessionId(session),
            letter,
        });
    }

    pub fn heard(&mut self) -> Vec<(u64, SessionLetter)> {
        std::mem::take(&mut self.said)
    }

    /// What one session heard since last asked.
    pub fn heard_by(&mut self, session: u64) -> Vec<SessionLetter> {
        let (own, others) = std::mem::take(&mut self.said)
            .into_iter()
            .partition(|(to, _)| *to == session);
        self.said = others;
        let own: Vec<(u64, SessionLetter)> = own;
        own.into_iter().map(|(_, letter)| letter).collect()
    }

    pub fn asked(&self) -> Vec<&LogRequest> {
        self.log.requests.iter().collect()
    }

    // ---- producers

    pub fn producer(&mut self, session: u64, producer_id: u64, name: Option<&str>) {
        let mut add = add_producer(producer_id);
        add.name = name.map(str::to_owned);
        self.tell(session, TopicLetter::AddProducer(Box::new(add)));
    }

    pub fn publish(&mut self, session: u64, producer_id: u64, sequence_id: u64) {
        self.publish_entry(session, producer_id, sequence_id, entry(sequence_id, 1));
    }

    pub fn publish_entry(
        &mut self,
        session: u64,
        producer_id: u64,
        sequence_id: u64,
        entry: Bytes,
    ) {
        let publish = Publish {
            producer_id,
            sequence_id,
            highest_sequence_id: None,
            messages: 1,
            entry,
        };
        self.tell(session, TopicLetter::Publish(publish));
    }

    /// A producer that has published this many entries; what it heard is forgotten.
    pub fn publish_many(&mut self, count: u64) {
        self.producer(900, 1, None);
        for sequence_id in 0..count {
            self.publish(900, 1, sequence_id);
        }
        self.said.clear();
    }

    /// A producer that has published an entry at each of these times, milliseconds since 1970.
    pub fn publish_at(&mut self, times: &[u64]) {
        self.producer(900, 1, None);
        for (sequence_id, time) in (0..).zip(times) {
            let metadata = MessageMetadata {
                publish_time: Some(*time),
                ..metadata(sequence_id)
            };
            self.publish_entry(900, 1, sequence_id, encode_entry(&metadata, b"x"));
        }
        self.said.clear();
    }

    // ---- consumers

    pub fn consumer(&mut self, session: u64, consumer_id: u64, kind: SubscriptionType) {
        self.subscribe(session, subscribe(consumer_id, kind));
    }

    pub fn subscribe(&mut self, session: u64, add: AddConsumer) {
        self.tell(session, TopicLetter::AddConsumer(Box::new(add)));
    }

    pub fn flow(&mut self, session: u64, consumer_id: u64, permits: u32) {
        self.tell(
            session,
            TopicLetter::Flow {
                consumer_id,
                permits,
            },
        );
    }

    pub fn ack(&mut self, session: u64, consumer_id: u64, positions: &[Position]) {
        let ids = positions
            .iter()
            .map(|position| AckId {
                position: *position,
                remaining: None,
            })
            .collect();
        self.tell(
            session,
            TopicLetter::Ack {
                consumer_id,
                request_id: None,
                kind: AckKind::Individual,
                ids,
            },
        );
    }

    pub fn ack_with(
        &mut self,
        session: u64,
        consumer_id: u64,
        request_id: Option<u64>,
        kind: AckKind,
        position: Position,
        remaining: Option<AckSet>,
    ) {
        let ids = vec![AckId {
            position,
            remaining,
        }];
        self.tell(
            session,
            TopicLetter::Ack {
                consumer_id,
                request_id,
                kind,
                ids,
            },
        );
    }

    pub fn redeliver(
        &mut self,
        session: u64,
        consumer_id: u64,
        positions: &[Position],
        epoch: Option<u64>,
    ) {
        let positions = positions.to_vec();
        self.tell(
            session,
            TopicLetter::Redeliver {
                consumer_id,
                positions,
                epoch,
            },
        );
    }

    pub fn leave(&mut self, session: u64, consumer_id: u64) {
        self.tell(
            session,
            TopicLetter::CloseConsumer {
                request_id: 77,
                consumer_id,
            },
        );
    }

    pub fn seek(&mut self, session: u64, target: SeekTarget) {
        self.tell(
            session,
            TopicLetter::Seek {
                request_id: 7,
                consumer_id: 1,
                target,
            },
        );
    }

    pub fn unsubscribe(&mut self, session: u64, force: bool) {
        self.tell(
            session,
            TopicLetter::Unsubscribe {
                request_id: 7,
                consumer_id: 1,
                force,
            },
        );
    }

    /// What one session was delivered since last asked; its other letters are forgotten.
    pub fn got(&mut self, session: u64) -> Vec<Delivery> {
        deliveries(self.heard_by(session))
    }

    /// The entry numbers of what one session was delivered.
    pub fn got_entries(&mut self, session: u64) -> Vec<i64> {
        self.got(session)
            .iter()
            .map(|delivery| delivery.position.entry)
            .collect()
    }
}

pub fn deliveries(letters: Vec<SessionLetter>) -> Vec<Delivery> {
    let of = |letter| match letter {
        SessionLetter::Deliver { deliveries, .. } => deliveries,
        _ => Vec::new(),
    };
    letters.into_iter().flat_map(of).collect()
}

/// The code of the refusal in a letter.
pub fn code(letter: &SessionLetter) -> Option<RefusalCode> {
    match letter {
        SessionLetter::ProducerRefused { refusal, .. }
        | SessionLetter::RequestRefused { refusal, .. }
        | SessionLetter::SubscribeRefused { refusal, .. }
        | SessionLetter::TopicRefused { refusal, .. }
        | SessionLetter::AckDone {
            refusal: Some(refusal),
            ..
        } => Some(refusal.code),
        _ => None,
    }
}

/// The text of the refusal in a letter.
pub fn text(letter: &SessionLetter) -> &str {
    match letter {
        SessionLetter::ProducerRefused { refusal, .. }
        | SessionLetter::RequestRefused { refusal, .. }
        | SessionLetter::SubscribeRefused { refusal, .. }
        | SessionLetter::TopicRefused { refusal, .. }
        | SessionLetter::AckDone {
            refusal: Some(refusal),
            ..
        } => &refusal.message,
        _ => "",
    }
}

pub fn at(entry: i64) -> Position {
    Position::new(1, entry)
}

/// The set with these messages still to be delivered.
pub fn bits(indexes: &[u32]) -> AckSet {
    let mut word = 0;
    for index in indexes {
        word |= 1i64 << index;
    }
    AckSet::from_wire(&[word])
}

fn metadata(sequence_id: u64) -> MessageMetadata {
    MessageMetadata {
        producer_name: Some("p".to_owned()),
        sequence_id: Some(sequence_id),
        publish_time: Some(1),
        ..MessageMetadata::default()
    }
}

/// An entry of so many messages (a batch if more than one).
pub fn entry(sequence_id: u64, messages: i32) -> Bytes {
    sized_entry(sequence_id, messages, 3)
}

pub fn sized_entry(sequence_id: u64, messages: i32, bytes: usize) -> Bytes {
    let num_messages_in_batch = (messages > 1).then_some(messages);
    encode_entry(
        &MessageMetadata {
            num_messages_in_batch,
            ..metadata(sequence_id)
        },
        &vec![b'x'; bytes],
    )
}

/// One chunk of a large message.
pub fn chunk_entry(uuid: &str, chunk_id: i32, chunks: i32) -> Bytes {
    let metadata = MessageMetadata {
        uuid: Some(uuid.to_owned()),
        chunk_id: Some(chunk_id),
        num_chunks_from_msg: Some(chunks),
        ..metadata(0)
    };
    encode_entry(&metadata, b"chunk")
}

/// An entry for servers only.
pub fn marker() -> Bytes {
    encode_entry(
        &MessageMetadata {
            marker_type: Some(21),
            ..metadata(0)
        },
        b"",
    )
}

pub fn add_producer(producer_id: u64) -> AddProducer {
    AddProducer {
        request_id: 1000 + producer_id,
        producer_id,
        name: None,
        user_provided_name: false,
        epoch: 0,
        access_mode: AccessMode::Shared,
        topic_epoch: None,
        encrypted: false,
        metadata: Vec::new(),
        initial_subscription: None,
        client_version: String::new(),
        address: String::new(),
    }
}

pub fn subscribe(consumer_id: u64, kind: SubscriptionType) -> AddConsumer {
    AddConsumer {
        request_id: 2000 + consumer_id,
        consumer_id,
        subscription: "sub".to_owned(),
        subscription_type: kind,
        name: format!("c{consumer_id}"),
        priority_level: 0,
        durable: true,
        initial_position: InitialPosition::Earliest,
        start: None,
        start_rollback_seconds: None,
        force_topic_creation: true,
        epoch: None,
        metadata: Vec::new(),
        read_compacted: false,
        takes_any_schema: false,
        client_version: String::new(),
        address: String::new(),
    }
}
