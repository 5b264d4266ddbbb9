//! What a session tells a topic.

use crate::{SchemaAsk, TopicTask};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use vocabulary::{AckSet, ConsumerId, Position, ProducerId, RequestId, SessionId, TopicName};

/// A letter to a topic, with both addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToTopic {
    /// Who it is for; the desk of its shard knows the topic, or wakes it.
    pub topic: TopicName,
    /// Who wrote it, and gets the answers.
    pub session: SessionId,
    /// What it says.
    pub letter: TopicLetter,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TopicLetter {
    /// PARTITIONED_METADATA or LOOKUP asked whether this topic exists and how many partitions it has.
    /// Answer: `TopicFound` or `TopicRefused`.
    FindTopic {
        /// Echoed.
        request_id: RequestId,
        /// False: a topic that does not exist is refused with TopicNotFound instead of being promised.
        may_create: bool,
    },
    /// A producer or consumer with a schema is about to come: the topic is opened, or made. Answer: `Prepared`.
    Prepare {
        /// Echoed.
        request_id: RequestId,
        /// False: a topic that does not exist is refused with TopicNotFound.
        may_create: bool,
    },
    /// A question to the registry of schemas, which lives beside the topics of its shard; the letter's topic is what
    /// [`crate::schema_home`] says. Answer: `Schema`.
    Schema {
        /// Echoed.
        request_id: RequestId,
        /// What is asked.
        ask: SchemaAsk,
    },
    /// The topic is to end: nobody new is let in, everybody is told to go, what it holds is deleted. Answer: `TopicDeleted`
    /// or `TopicRefused`.
    DeleteTopic {
        /// Echoed.
        request_id: RequestId,
        /// Also if it has producers or consumers.
        force: bool,
    },
    /// Somebody who looks after the topic wants something done. Answer: `TaskDone`, where the task's text says nothing else.
    DoTask {
        /// Echoed.
        request_id: RequestId,
        /// What.
        task: Box<TopicTask>,
    },
    /// PRODUCER came. Answer: `ProducerReady` or `ProducerRefused`.
    AddProducer(Box<AddProducer>),
    /// SEND came, its checksum verified (or added) and its metadata readable. Answers, in order of the
    /// SENDs of this producer: `Stored` or `NotStored`; none if the producer was closed meanwhile.
    Publish(Publish),
    /// SENDs of this producer were dropped before they came here, because the connection had too many messages of
    /// non-persistent topics under way: to be counted. Said before its next `Publish`. No answer.
    PublishesDropped {
        /// Whose.
        producer_id: ProducerId,
        /// Messages in them.
        messages: u64,
    },
    /// CLOSE_PRODUCER came. Answer: `ProducerLeft`, after all its outstanding publishes are answered.
    CloseProducer {
        /// Echoed.
        request_id: RequestId,
        /// Whom.
        producer_id: ProducerId,
    },
    /// SUBSCRIBE came. Answer: `Subscribed` or `SubscribeRefused`.
    AddConsumer(Box<AddConsumer>),
    /// FLOW came: so many more messages may be sent (at least 1; checked by the session).
    Flow {
        /// To whom.
        consumer_id: ConsumerId,
        /// How many messages (not entries).
        permits: u32,
    },
    /// The connection has taken `bytes` of what was delivered to this consumer. A topic never has more
    /// than [`UNWRITTEN_BYTES_MAX`] (or one entry) on its way to a consumer, so a reader that never
    /// drains its socket costs a bounded amount.
    Written {
        /// Whose deliveries.
        consumer_id: ConsumerId,
        /// Sum of entry bytes of deliveries that were written out.
        bytes: u64,
    },
    /// ACK came. Answer `AckDone` if there is a request id, after the acks are on disk.
    Ack {
        /// By whom.
        consumer_id: ConsumerId,
        /// Present: the client waits for an ACK_RESPONSE.
        request_id: Option<RequestId>,
        /// Individual or cumulative.
        kind: AckKind,
        /// What. Exactly one for a cumulative ack (checked by the session).
        ids: Vec<AckId>,
    },
    /// REDELIVER_UNACKNOWLEDGED_MESSAGES came.
    Redeliver {
        /// By whom.
        consumer_id: ConsumerId,
        /// Which; empty: all that this consumer holds.
        positions: Vec<Position>,
        /// The consumer's new epoch, if it said one (Exclusive and Failover).
        epoch: Option<u64>,
    },
    /// CLOSE_CONSUMER came. Answer: `ConsumerLeft`.
    CloseConsumer {
        /// Echoed.
        request_id: RequestId,
        /// Whom.
        consumer_id: ConsumerId,
    },
    /// UNSUBSCRIBE came. Answer: `Unsubscribed`, after the subscription is deleted for good, or `RequestRefused`.
    Unsubscribe {
        /// Echoed.
        request_id: RequestId,
        /// Who asks; gone with the subscription.
        consumer_id: ConsumerId,
        /// Also if others are connected: they are thrown out.
        force: bool,
    },
    /// SEEK came. Answer: `SeekDone`, after the new position is on disk and after the `CloseConsumer` of whom it
    /// disconnects, or `RequestRefused`.
    Seek {
        /// Echoed.
        request_id: RequestId,
        /// Who asks.
        consumer_id: ConsumerId,
        /// Where to.
        target: SeekTarget,
    },
    /// GET_LAST_MESSAGE_ID came. Answer: `LastMessageId` or `RequestRefused`.
    GetLastMessageId {
        /// Echoed.
        request_id: RequestId,
        /// Who asks.
        consumer_id: ConsumerId,
    },
    /// CONSUMER_STATS came. Answer: `ConsumerStats` or `RequestRefused`.
    ReadConsumerStats {
        /// Echoed.
        request_id: RequestId,
        /// Of whom.
        consumer_id: ConsumerId,
    },
    /// The connection of an older producer or consumer answered the probe `AreYouThere`.
    StillHere {
        /// Echoed from the probe.
        token: u64,
    },
    /// The connection is gone, with all its producers and consumers; no answer can be delivered.
    SessionGone,
}

/// Bytes of entries that may be on their way to one consumer's socket at a time.
pub const UNWRITTEN_BYTES_MAX: u64 = 1024 * 1024;

/// Who may publish beside whom (Pulsar's `ProducerAccessMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessMode {
    /// Anybody may publish.
    Shared,
    /// Only one; a second is refused.
    Exclusive,
    /// Only one; others wait their turn.
    WaitForExclusive,
    /// Only one; a newcomer throws the old one out.
    ExclusiveWithFencing,
}

/// PRODUCER, as far as a topic cares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AddProducer {
    /// Echoed.
    pub request_id: RequestId,
    /// Unique in its session.
    pub producer_id: ProducerId,
    /// The name asked for; `None`: the broker makes one.
    pub name: Option<String>,
    /// Whether a user chose the name (false also on a reconnect with a generated one).
    pub user_provided_name: bool,
    /// Counts the (re)connects of this producer.
    pub epoch: u64,
    /// Who may publish beside it.
    pub access_mode: AccessMode,
    /// The exclusive epoch it held before, if it says one.
    pub topic_epoch: Option<u64>,
    /// Whether the client says it encrypts.
    pub encrypted: bool,
    /// The client's own key-value pairs, for statistics.
    pub metadata: Vec<(String, String)>,
    /// A subscription to make at the earliest position before the producer is let in.
    pub initial_subscription: Option<String>,
    /// Protocol version of the client and its name, for statistics.
    pub client_version: String,
    /// The peer's network address as text, for statistics.
    pub address: String,
}

/// SEND, as far as a topic cares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Publish {
    /// Of which producer.
    pub producer_id: ProducerId,
    /// The (lowest) sequence id, echoed in the receipt.
    pub sequence_id: u64,
    /// The highest sequence id of a batch, only if the client sent one >= the lowest.
    pub highest_sequence_id: Option<u64>,
    /// How many messages the entry counts for (at least 1).
    pub messages: u32,
    /// The entry as it is stored and delivered: checksum section, metadata, payload.
    pub entry: Bytes,
}

/// How messages of a subscription are shared out (Pulsar's `SubType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubscriptionType {
    /// One consumer.
    Exclusive,
    /// Each message to one of many.
    Shared,
    /// One active consumer, others stand by.
    Failover,
    /// Each key to one of many.
    KeyShared,
}

/// Where a new subscription begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InitialPosition {
    /// After the last message.
    Latest,
    /// At the first message still there.
    Earliest,
}

/// SUBSCRIBE, as far as a topic cares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AddConsumer {
    /// Echoed.
    pub request_id: RequestId,
    /// Unique in its session.
    pub consumer_id: ConsumerId,
    /// The subscription's name.
    pub subscription: String,
    /// How it is shared.
    pub subscription_type: SubscriptionType,
    /// The consumer's own name ("" if it has none); orders Failover.
    pub name: String,
    /// 0 is best.
    pub priority_level: i32,
    /// False for readers: no state is kept.
    pub durable: bool,
    /// Where to begin if the subscription is new.
    pub initial_position: InitialPosition,
    /// Where a non-durable subscription begins: the named entry is read again.
    pub start: Option<(Position, Option<AckSet>)>,
    /// The subscription, new or not, first seeks to the messages of the last so many seconds.
    pub start_rollback_seconds: Option<u64>,
    /// Whether a missing topic may be created.
    pub force_topic_creation: bool,
    /// The consumer's epoch, if it sent one (Exclusive and Failover).
    pub epoch: Option<u64>,
    /// The client's own key-value pairs, for statistics.
    pub metadata: Vec<(String, String)>,
    /// Whether it asked for the compacted view.
    pub read_compacted: bool,
    /// It takes whatever schema the topic has (AUTO_CONSUME), so it does not settle which one that is.
    pub takes_any_schema: bool,
    /// Protocol version of the client and its name, for statistics.
    pub client_version: String,
    /// The peer's network address as text, for statistics.
    pub address: String,
}

/// Where SEEK goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeekTarget {
    /// The named entry is the next one delivered, of a batch the messages in the set. A position that does not exist
    /// (any more) stands for the next one that does; `Position::EARLIEST` and `LATEST` mean what they say.
    Id(Position, Option<AckSet>),
    /// The first entry published at or after this time, milliseconds since 1970 by the clocks of its producers.
    Time(u64),
}

/// How far an ack reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AckKind {
    /// Just the ids named.
    Individual,
    /// Everything up to and including the one id named.
    Cumulative,
}

/// What is acked: an entry, or part of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AckId {
    /// The entry.
    pub position: Position,
    /// Present: the messages of the batch that remain unacked after this ack.
    pub remaining: Option<AckSet>,
}
