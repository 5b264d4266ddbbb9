use crate::{Shard, ShardAnswer, ShardAsk, ShardInput, ShardOutputs, ShardSettings};
use bookie::{Bookie, LocalLedgerStore};
use bytes::Bytes;
use disk_log::LogSettings;
use letters::{
    AccessMode, AckId, AckKind, AddConsumer, AddProducer, InitialPosition, Publish, SessionLetter,
    SubscriptionType, ToSession, ToTopic, TopicLetter,
};
use metadata_store::memory::MemoryStore;
use metadata_store::{Expect, KeyKind, MetadataRequest};
use pulsar_wire::proto::MessageMetadata;
use sim_world::{SimDice, SimDisk};
use std::sync::Arc;
use topic::{NameSource, TopicSettings};
use vocabulary::{Now, SessionId, TopicName};

/// A shard with its disks, in one thread.
struct House {
    shard: Shard,
    disk: SimDisk,
    bookie: Bookie,
    metadata: MemoryStore,
    dice: SimDice,
    millis: u64,
    inputs: Vec<ShardInput>,
}

fn shard() -> Shard {
    let settings = ShardSettings {
        topic: Arc::new(TopicSettings::default()),
        names: Arc::new(NameSource::new("test-1", 0, 1)),
        log: topic_log::Settings::default(),
    };
    Shard::new(settings, LocalLedgerStore::new("here:3181"))
}

impl House {
    fn new() -> House {
        let disk = SimDisk::new();
        let mut settings = LogSettings::new("", [7; 16]);
        settings.segment_bytes = 64 * 1024;
        let mut metadata = MemoryStore::well_behaved();
        metadata.submit(vec![MetadataRequest::Put {
            ticket: 0,
            path: "/admin/policies/public/default".to_owned(),
            value: Bytes::from_static(b"{}"),
            expect: Expect::Absent,
            kind: KeyKind::Persistent,
        }]);
        let mut dice = SimDice::new(1);
        metadata.turn(&mut dice);
        House {
            shard: shard(),
            bookie: Bookie::open(Arc::new(disk.clone()), settings).unwrap(),
            disk,
            metadata,
            dice,
            millis: 0,
            inputs: Vec::new(),
        }
    }

    /// Forgets what was in memory, keeps what is on disk.
    fn restart(&mut self) {
        let mut settings = LogSettings::new("", [7; 16]);
        settings.segment_bytes = 64 * 1024;
        self.shard = shard();
        self.bookie = Bookie::open(Arc::new(self.disk.clone()), settings).unwrap();
    }

    fn tell(&mut self, letter: TopicLetter) -> Vec<SessionLetter> {
        let topic = TopicName::parse("t").unwrap();
        self.inputs.push(ShardInput::Letter(ToTopic {
            topic,
            session: SessionId(1),
            letter,
        }));
        self.settle().0
    }

    /// Turns until nobody has anything to say.
    fn settle(&mut self) -> (Vec<SessionLetter>, Vec<ShardAnswer>) {
        let mut letters: Vec<ToSession> = Vec::new();
        let mut answers = Vec::new();
        loop {
            let mut outputs = ShardOutputs::default();
            self.millis += 1;
            self.shard
                .turn(Now::at_millis(self.millis), &mut self.inputs, &mut outputs);
            letters.append(&mut outputs.letters);
            answers.append(&mut outputs.answers);
            self.inputs.extend(
                self.bookie
                    .turn(outputs.bookie)
                    .into_iter()
                    .map(ShardInput::Bookie),
            );
            self.metadata.submit(outputs.metadata);
            self.inputs.extend(
                self.metadata
                    .turn(&mut self.dice)
                    .into_iter()
                    .map(ShardInput::Metadata),
            );
            if self.inputs.is_empty() {
                return (letters.into_iter().map(|to| to.letter).collect(), answers);
            }
        }
    }

    fn producer(&mut self) {
        let add = AddProducer {
            request_id: 1,
            producer_id: 1,
            name: None,
            user_provided_name: false,
            epoch: 0,
            access_mode: AccessMode::Shared,
            topic_epoch: None,
            encrypted: false,
            metadata: vec![],
            initial_subscription: None,
            client_version: String::new(),
            address: String::new(),
        };
        let said = self.tell(TopicLetter::AddProducer(Box::new(add)));
        assert!(
            matches!(
                &said[..],
                [SessionLetter::ProducerReady { ready: true, .. }]
            ),
            "{said:?}"
        );
    }

    fn consumer(&mut self) -> Vec<SessionLetter> {
        let add = AddConsumer {
            request_id: 2,
            consumer_id: 2,
            subscription: "sub".to_owned(),
            subscription_type: SubscriptionType::Shared,
            name: "c".to_owned(),
            priority_level: 0,
            durable: true,
            initial_position: InitialPosition::Earliest,
            start: None,
            start_rollback_seconds: None,
            force_topic_creation: true,
            epoch: None,
            metadata: vec![],
            read_compacted: false,
            takes_any_schema: false,
            client_version: String::new(),
            address: String::new(),
        };
        let mut said = self.tell(TopicLetter::AddConsumer(Box::new(add)));
        said.extend(self.tell(TopicLetter::Flow {
            consumer_id: 2,
            permits: 100,
        }));
        said
    }

    fn publish(&mut self, sequence_id: u64) -> Vec<SessionLetter> {
        let metadata = MessageMetadata {
            producer_name: Some("p".to_owned()),
            sequence_id: Some(sequence_id),
            publish_time: Some(1),
            ..Default::default()
        };
        let entry =
            pulsar_wire::entry::encode_entry(&metadata, format!("m{sequence_id}").as_bytes());
        self.tell(TopicLetter::Publish(Publish {
            producer_id: 1,
            sequence_id,
            highest_sequence_id: None,
            messages: 1,
            entry,
        }))
    }
}

fn delivered(said: &[SessionLetter]) -> Vec<letters::Delivery> {
    said.iter()
        .filter_map(|letter| match letter {
            SessionLetter::Deliver { deliveries, .. } => Some(deliveries.clone()),
            _ => None,
        })
        .flatten()
        .collect()
}

#[test]
fn a_message_walks_through_the_whole_shard_and_stays_over_a_restart() {
    let mut house = House::new();
    house.producer();
    house.consumer();
    let said = house.publish(0);
    assert!(
        matches!(said[..], [SessionLetter::Stored { sequence_id: 0, .. }, ..]),
        "{said:?}"
    );
    let got = delivered(&said);
    assert_eq!(got.len(), 1, "{said:?}");
    house.publish(1);
    let ack = |at: vocabulary::Position| TopicLetter::Ack {
        consumer_id: 2,
        request_id: Some(9),
        kind: AckKind::Individual,
        ids: vec![AckId {
            position: at,
            remaining: None,
        }],
    };
    let said = house.tell(ack(got[0].position));
    assert!(
        matches!(said[..], [SessionLetter::AckDone { refusal: None, .. }]),
        "{said:?}"
    );
    house.restart();
    let again = delivered(&house.consumer());
    assert_eq!(
        again.len(),
        1,
        "the acknowledged message must not come again, the other one must"
    );
    assert_eq!(again[0].position, got[0].position.after());
    assert_eq!(again[0].permits, 1);
}

#[test]
fn a_shard_tells_its_figures_and_falls_asleep_at_shutdown() {
    let mut house = House::new();
    house.producer();
    house.publish(0);
    house
        .inputs
        .push(ShardInput::Ask(ShardAsk::Figures { id: 5 }));
    house.inputs.push(ShardInput::Ask(ShardAsk::Ping { id: 6 }));
    let (_, answers) = house.settle();
    assert!(
        matches!(&answers[..], [ShardAnswer::Figures { id: 5, topics, .. }, ShardAnswer::Here { id: 6 }]
            if topics.len() == 1 && topics[0].topic.local() == "t"),
        "{answers:?}"
    );
    house.inputs.push(ShardInput::Ask(ShardAsk::Shutdown));
    let (letters, _) = house.settle();
    assert!(
        matches!(
            letters[..],
            [SessionLetter::CloseProducer { producer_id: 1 }]
        ),
        "{letters:?}"
    );
    assert!(house.shard.is_idle());
}
