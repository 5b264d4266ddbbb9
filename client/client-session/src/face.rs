//! What a client is told, and what it says.

use crate::received::Received;
use bytes::Bytes;
use pulsar_wire::frame::{Frame, FrameError};
use pulsar_wire::proto::command_subscribe::{InitialPosition, SubType};
use pulsar_wire::proto::{BaseCommand, ServerError};
use std::time::Duration;
use vocabulary::{ConsumerId, Moment, Position, ProducerId};

/// What happened.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a box per frame costs more than moving one does"
)]
pub enum ClientInput {
    /// A connection is open.
    Connected,
    /// The broker sent a frame.
    FrameArrived(Frame),
    /// The broker sent something that is no frame.
    FrameRefused(FrameError),
    /// The moment of the last `WakeAt` has come, or any other: early calls do nothing.
    TimeCame,
    /// The connection is gone, or could not be opened.
    PeerGone,
    /// The application wants something.
    Ask(ClientAsk),
}

/// What the application wants. Ids of producers and consumers are its choice, unique within the client while in use.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientAsk {
    /// Answer: `ProducerCreated` or `ProducerFailed`.
    CreateProducer(CreateProducer),
    /// Sends one message, or several as one batch. Answer: `Sent` or `SendFailed`. May be asked before the
    /// producer is created.
    Send {
        /// By whom.
        producer_id: ProducerId,
        /// Echoed in the answer.
        token: u64,
        /// What: exactly one, unless it is a batch.
        messages: Vec<OutMessage>,
        /// Whether to send a batch (of one, maybe).
        batch: bool,
    },
    /// Answer: `Subscribed` or `SubscribeFailed`.
    Subscribe(Subscribe),
    /// The application has taken messages off its queue. Only for consumers that asked to say so themselves.
    Took {
        /// Whose messages.
        consumer_id: ConsumerId,
        /// Of which incarnation (see `Received`); what belongs to an earlier one is void.
        incarnation: u64,
        /// Sum of their permits.
        permits: u32,
    },
    /// Messages are done.
    Ack {
        /// By whom.
        consumer_id: ConsumerId,
        /// Which.
        ack: Ack,
        /// Present: answer `AckConfirmed` with this token, when the broker has the ack on disk.
        receipt: Option<u64>,
    },
    /// Send these entries, or all unacked ones if none is named, once more.
    Redeliver {
        /// To whom.
        consumer_id: ConsumerId,
        /// Which.
        positions: Vec<Position>,
    },
    /// Answer: `ProducerClosed`, after all its sends are confirmed or failed.
    CloseProducer(ProducerId),
    /// Answer: `ConsumerClosed`.
    CloseConsumer(ConsumerId),
}

/// A producer to be.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateProducer {
    /// The application's number for it.
    pub producer_id: ProducerId,
    /// Its topic, not partitioned (or one partition).
    pub topic: String,
    /// Its name; `None`: the broker makes one.
    pub name: Option<String>,
}

/// A consumer to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscribe {
    /// The application's number for it.
    pub consumer_id: ConsumerId,
    /// Its topic, not partitioned (or one partition).
    pub topic: String,
    /// The subscription's name.
    pub subscription: String,
    /// How messages are shared out.
    pub subscription_type: SubType,
    /// Where to begin if the subscription is new.
    pub initial_position: InitialPosition,
    /// Messages that may be on their way or untaken; at least 1.
    pub queue_size: u32,
    /// Its own name, which orders Failover.
    pub name: String,
    /// False: a message counts as taken when its event is said. True: when the application says `Took`.
    pub says_took: bool,
}

/// A message to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutMessage {
    /// Its content.
    pub payload: Bytes,
    /// The application's own pairs.
    pub properties: Vec<(String, String)>,
    /// The partition key.
    pub key: Option<String>,
}

/// Which messages are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ack {
    /// These.
    Individual(Vec<MessageId>),
    /// All up to and including this one.
    Cumulative(MessageId),
}

/// A message's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId {
    /// Its entry.
    pub position: Position,
    /// Its number within the batch, and the batch's size, if the entry is a batch that was taken apart.
    pub batch: Option<(u32, u32)>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a box per frame costs more than moving one does"
)]
pub enum ClientEffect {
    /// Write a frame, after those before it.
    SendFrame(ClientFrame),
    /// Tell the application.
    Event(ClientEvent),
    /// Call `handle` with `TimeCame` at this moment. A later `WakeAt` replaces an earlier one.
    WakeAt(Moment),
    /// Write what was handed over so far, then close the connection. `Reconnect` follows; `PeerGone` is not to be
    /// told for it, nor anything else that still comes from it.
    Close {
        /// Why, for the log.
        reason: String,
    },
    /// Open another connection so much later, and tell `Connected`, or `PeerGone` if that failed.
    Reconnect {
        /// How long to wait.
        after: Duration,
    },
}

/// A frame to write.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientFrame {
    /// Its command, whole.
    pub command: BaseCommand,
    /// The entry that follows; present exactly for SEND.
    pub payload: Option<Bytes>,
}

/// What the application learns.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// The broker accepted the connection. Again after each reconnect.
    Ready {
        /// What the broker calls itself.
        server_version: String,
    },
    /// The connection is gone; producers and consumers come back by themselves.
    Disconnected,
    /// A producer is open for the first time.
    ProducerCreated {
        /// Which.
        producer_id: ProducerId,
        /// Its name.
        name: String,
        /// The highest sequence id the broker knows of it, -1 if none.
        last_sequence_id: i64,
    },
    /// A producer is open once more, and has sent its unconfirmed messages again.
    ProducerReopened {
        /// Which.
        producer_id: ProducerId,
    },
    /// A producer will not be opened (again); its sends have failed.
    ProducerFailed {
        /// Which.
        producer_id: ProducerId,
        /// Why.
        error: ClientError,
    },
    /// A producer is closed, as was asked.
    ProducerClosed {
        /// Which.
        producer_id: ProducerId,
    },
    /// A send is on the broker's disk.
    Sent {
        /// By whom.
        producer_id: ProducerId,
        /// As asked.
        token: u64,
        /// The sequence id of its (first) message.
        sequence_id: u64,
        /// Where it lies; (-1, -1) if the broker had it already.
        position: Position,
    },
    /// A send has failed and will not be tried again.
    SendFailed {
        /// By whom.
        producer_id: ProducerId,
        /// As asked.
        token: u64,
        /// Why.
        error: ClientError,
    },
    /// A consumer is open. Again after each reconnect, with the next incarnation.
    Subscribed {
        /// Which.
        consumer_id: ConsumerId,
        /// Counts from 1.
        incarnation: u64,
    },
    /// A consumer will not be opened (again).
    SubscribeFailed {
        /// Which.
        consumer_id: ConsumerId,
        /// Why.
        error: ClientError,
    },
    /// A consumer is closed, as was asked.
    ConsumerClosed {
        /// Which.
        consumer_id: ConsumerId,
    },
    /// A message came.
    Message(Box<Received>),
    /// An entry came that cannot be read, wholly or from some message on. Its permits were returned.
    Unreadable {
        /// To whom.
        consumer_id: ConsumerId,
        /// Where it lies.
        position: Position,
        /// What is wrong with it.
        problem: String,
    },
    /// An ack with a receipt is done.
    AckConfirmed {
        /// By whom.
        consumer_id: ConsumerId,
        /// As asked.
        token: u64,
        /// Why not, if not.
        error: Option<ClientError>,
    },
    /// The consumer became, or did not become, the active one.
    ActiveConsumerChanged {
        /// Which.
        consumer_id: ConsumerId,
        /// Whether it is the active one now.
        is_active: bool,
    },
    /// The topic was terminated and everything is delivered.
    ReachedEndOfTopic {
        /// To whom.
        consumer_id: ConsumerId,
    },
}

/// Why something did not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ClientError {
    /// The broker's code, if it was the broker's no.
    pub code: Option<ServerError>,
    /// What happened, to what.
    pub message: String,
}

impl ClientError {
    pub(crate) fn here(message: impl Into<String>) -> ClientError {
        ClientError {
            code: None,
            message: message.into(),
        }
    }

    /// Codes from the future count as unknown errors.
    pub(crate) fn of_broker(code: i32, message: &str) -> ClientError {
        let code = ServerError::try_from(code).unwrap_or(ServerError::UnknownError);
        ClientError {
            code: Some(code),
            message: message.to_owned(),
        }
    }
}
