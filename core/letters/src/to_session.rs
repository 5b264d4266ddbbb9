//! What a topic tells a session.

use crate::{Refusal, SchemaFound, SubscriptionType, TaskResult};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use vocabulary::{
    AckSet, ConsumerId, Position, ProducerId, RequestId, SessionId, TopicName, WallTime,
};

/// A letter to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToSession {
    /// Who it is for. A letter to a session that is gone is dropped.
    pub session: SessionId,
    /// What it says.
    pub letter: SessionLetter,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SessionLetter {
    /// The topic exists, or may be created on use.
    TopicFound {
        /// Echoed.
        request_id: RequestId,
        /// Number of partitions, 0: not partitioned.
        partitions: u32,
    },
    /// It does not, or cannot be known.
    TopicRefused {
        /// Echoed.
        request_id: RequestId,
        /// Why.
        refusal: Refusal,
    },
    /// The topic is open, or cannot be.
    Prepared {
        /// Echoed.
        request_id: RequestId,
        /// Whether nobody has settled what its messages are: no producer, no consumer (those that take any schema do
        /// not count), no entry.
        is_blank: Result<bool, Refusal>,
    },
    /// What the registry of schemas says; `None`: there is no such version.
    Schema {
        /// Echoed.
        request_id: RequestId,
        /// The version asked for, or the one that an equal schema has.
        result: Result<Option<SchemaFound>, Refusal>,
    },
    /// All versions of a topic's schema that count, oldest first.
    Schemas {
        /// Echoed.
        request_id: RequestId,
        /// Empty: there is none.
        result: Result<Vec<SchemaFound>, Refusal>,
    },
    /// The topic is gone, with all that it held.
    TopicDeleted {
        /// Echoed.
        request_id: RequestId,
    },
    /// A [`crate::TopicTask`] was done, or refused.
    TaskDone {
        /// Echoed.
        request_id: RequestId,
        /// What came of it.
        result: Result<TaskResult, Refusal>,
    },
    /// The producer is in (or, with `ready` false, waits to be).
    ProducerReady {
        /// Echoed.
        request_id: RequestId,
        /// Whom.
        producer_id: ProducerId,
        /// Its name, given or generated.
        name: String,
        /// Highest sequence id known for that name, -1 if none is kept.
        last_sequence_id: i64,
        /// The exclusive epoch, if the topic has one.
        topic_epoch: Option<u64>,
        /// False: it waits for exclusive access and a second such letter will come.
        ready: bool,
    },
    /// The producer is not in.
    ProducerRefused {
        /// Echoed.
        request_id: RequestId,
        /// Whom.
        producer_id: ProducerId,
        /// Why.
        refusal: Refusal,
    },
    /// An entry is on disk: send the receipt.
    Stored {
        /// Whose.
        producer_id: ProducerId,
        /// As sent.
        sequence_id: u64,
        /// As sent.
        highest_sequence_id: Option<u64>,
        /// Where it lies.
        position: Position,
    },
    /// An entry is not stored, and the client must be told.
    NotStored {
        /// Whose.
        producer_id: ProducerId,
        /// As sent.
        sequence_id: u64,
        /// As sent.
        highest_sequence_id: Option<u64>,
        /// Why.
        refusal: Refusal,
    },
    /// An entry is neither confirmed nor refused: its producer is gone from the topic (`CloseProducer`
    /// follows, or came before). Only counts as no longer pending.
    Dropped {
        /// Whose.
        producer_id: ProducerId,
    },
    /// The producer left as it asked.
    ProducerLeft {
        /// Echoed.
        request_id: RequestId,
        /// Whom.
        producer_id: ProducerId,
    },
    /// The topic throws the producer out: the client shall look the topic up again.
    CloseProducer {
        /// Whom.
        producer_id: ProducerId,
    },
    /// The consumer is in.
    Subscribed {
        /// Echoed.
        request_id: RequestId,
        /// Whom.
        consumer_id: ConsumerId,
    },
    /// The consumer is not in.
    SubscribeRefused {
        /// Echoed.
        request_id: RequestId,
        /// Whom.
        consumer_id: ConsumerId,
        /// Why.
        refusal: Refusal,
    },
    /// Entries for a consumer, in order.
    Deliver {
        /// Whom.
        consumer_id: ConsumerId,
        /// What.
        deliveries: Vec<Delivery>,
    },
    /// The consumer became, or did not become, the active one (Exclusive and Failover).
    ActiveConsumerChanged {
        /// Whom.
        consumer_id: ConsumerId,
        /// Whether it is the active one now.
        is_active: bool,
    },
    /// The acks are on disk, or were refused.
    AckDone {
        /// Echoed.
        request_id: RequestId,
        /// By whom.
        consumer_id: ConsumerId,
        /// Why not, if not.
        refusal: Option<Refusal>,
    },
    /// The consumer left as it asked.
    ConsumerLeft {
        /// Echoed.
        request_id: RequestId,
        /// Whom.
        consumer_id: ConsumerId,
    },
    /// The topic throws the consumer out: the client shall look the topic up again.
    CloseConsumer {
        /// Whom.
        consumer_id: ConsumerId,
    },
    /// The subscription is deleted, and its consumer with it.
    Unsubscribed {
        /// Echoed.
        request_id: RequestId,
        /// Who asked.
        consumer_id: ConsumerId,
    },
    /// The subscription is where SEEK wanted it, also after a power cut.
    SeekDone {
        /// Echoed.
        request_id: RequestId,
        /// Who asked.
        consumer_id: ConsumerId,
    },
    /// The last message that can be delivered.
    LastMessageId {
        /// Echoed.
        request_id: RequestId,
        /// Who asked.
        consumer_id: ConsumerId,
        /// Its entry; (-1, -1) if there is none.
        position: Position,
        /// Its index, if the entry is a batch.
        batch_index: Option<u32>,
        /// The asker's subscription has acknowledged everything up to here.
        mark: Position,
    },
    /// How a consumer fares.
    ConsumerStats(Box<ConsumerReport>),
    /// UNSUBSCRIBE, SEEK, GET_LAST_MESSAGE_ID or CONSUMER_STATS was refused.
    RequestRefused {
        /// Echoed.
        request_id: RequestId,
        /// Why.
        refusal: Refusal,
    },
    /// The topics of a namespace, sorted, as a [`crate::TopicsQuestion`] asked for them.
    TopicsListed {
        /// Of the question.
        request_id: RequestId,
        /// Full names; or why not.
        result: Result<Vec<String>, Refusal>,
    },
    /// A watched list of topics is another one now. Never before the `TopicsListed` with which the watch began.
    TopicsChanged {
        /// Whose watch.
        watcher_id: u64,
        /// New in the list, sorted.
        created: Vec<String>,
        /// No longer in it, sorted.
        deleted: Vec<String>,
        /// Of the whole list.
        hash: String,
    },
    /// Somebody wants the place of one of this session's producers or consumers: is the peer alive?
    /// Ping it; on any sign of life answer `StillHere`, on none within the probe time close the connection.
    AreYouThere {
        /// Which topic asks.
        topic: TopicName,
        /// To be echoed.
        token: u64,
    },
}

/// A consumer as CONSUMER_STATS shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsumerReport {
    /// Echoed.
    pub request_id: RequestId,
    /// Whom.
    pub consumer_id: ConsumerId,
    /// Its name.
    pub name: String,
    /// How its subscription is shared.
    pub subscription_type: SubscriptionType,
    /// Messages per second, averaged since it connected.
    pub messages_out_rate: f64,
    /// Bytes per second, averaged since it connected.
    pub bytes_out_rate: f64,
    /// Entries per second that were asked for again, averaged since it connected.
    pub redelivered_rate: f64,
    /// Messages per second whose acks it sent, averaged since it connected.
    pub acks_rate: f64,
    /// Messages it may still get; negative by up to a batch.
    pub permits: i64,
    /// Messages it holds unacknowledged (Shared only).
    pub unacked_messages: u64,
    /// It holds too many.
    pub blocked_on_unacked: bool,
    /// Entries that its subscription has not acknowledged.
    pub backlog_entries: u64,
    /// The peer's network address as text.
    pub address: String,
    /// When it connected.
    pub connected_since: WallTime,
}

/// One entry on its way to a consumer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Where it lies.
    pub position: Position,
    /// How often it was asked for again.
    pub redelivery_count: u32,
    /// Which messages of the batch are still to be delivered; `None`: all.
    pub ack_set: Option<AckSet>,
    /// What this delivery costs (PIP-491's P), settled once: on the wire, off the balance and in every total.
    pub permits: u32,
    /// The consumer's epoch (Exclusive and Failover, if the consumer has one).
    pub epoch: Option<u64>,
    /// The entry as stored.
    pub entry: Bytes,
}
