//! What a session is told, and what it says.

use bytes::Bytes;
use letters::{SessionLetter, ToTopic, TopicsQuestion};
use pulsar_wire::frame::{Frame, FrameError};
use pulsar_wire::proto::BaseCommand;
use smallvec::SmallVec;
use std::time::Duration;
use thiserror::Error;
use vocabulary::{ConsumerId, Moment};

/// What happened.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a box per frame costs more than moving one does"
)]
pub enum SessionInput {
    /// The peer sent a frame.
    FrameArrived(Frame),
    /// The peer sent something that is no frame.
    FrameRefused(FrameError),
    /// A topic wrote.
    LetterCame(SessionLetter),
    /// The connection has taken frames that were handed over by `SendFrame`.
    FramesWritten(WrittenFrames),
    /// The moment of the last `WakeAt` has come, or any other: early calls do nothing.
    TimeCame,
    /// The connection is closed or broken; nothing can be sent any more.
    PeerGone,
    /// The broker goes down: the session takes leave of its topics, tells the client to look elsewhere,
    /// and says `Close` when all is answered. Whoever is in a hurry drops the connection earlier.
    ShutdownBegan,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a box per frame costs more than moving one does"
)]
pub enum SessionEffect {
    /// Write a frame. Frames are written in the order of these effects.
    SendFrame(OutFrame),
    /// Hand a letter to the desk of its topic's shard.
    WriteLetter(ToTopic),
    /// Ask the directory. There are never more of them unanswered than requests may be.
    AskDirectory(TopicsQuestion),
    /// A watch that began with a question to the directory ends. So do all of this session's when it is gone.
    EndWatch {
        /// Which.
        watcher_id: u64,
    },
    /// Call `handle` with `TimeCame` at this moment. A later `WakeAt` replaces an earlier one.
    WakeAt(Moment),
    /// Stop reading from the connection: the peer has to wait. Frames read already may still be handed in.
    PauseReading,
    /// Read again.
    ResumeReading,
    /// Write what was handed over so far, then close the connection. Nothing follows; letters to the
    /// session may be dropped from here on.
    Close {
        /// Why, for the log.
        reason: CloseReason,
    },
}

/// A frame to write.
#[derive(Clone, Debug, PartialEq)]
pub struct OutFrame {
    /// Its command, whole (`BaseCommand::validate` agrees).
    pub command: BaseCommand,
    /// The entry that follows the command; present exactly for MESSAGE.
    pub payload: Option<Bytes>,
    /// To be handed back by `FramesWritten` when the connection has taken the frame.
    pub token: WriteToken,
}

/// What a written frame settles. Whoever writes frames keeps it beside the frame and needs to know nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteToken {
    /// Bytes of an answer; bytes of the entry if a consumer is named.
    pub(crate) bytes: u64,
    /// The consumer an entry was delivered to, and the session's number of that consumer (ids are used again).
    pub(crate) delivered_to: Option<(ConsumerId, u64)>,
}

/// Tokens of frames that were written, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenFrames {
    pub(crate) answer_bytes: u64,
    pub(crate) delivered: SmallVec<[(ConsumerId, u64, u64); 2]>,
}

impl WrittenFrames {
    /// Nothing written yet.
    pub fn new() -> WrittenFrames {
        WrittenFrames::default()
    }

    /// Adds a frame's token; each token once.
    pub fn add(&mut self, token: WriteToken) {
        let Some((consumer, incarnation)) = token.delivered_to else {
            self.answer_bytes += token.bytes;
            return;
        };
        match self.delivered.last_mut() {
            Some((last, number, bytes)) if *last == consumer && *number == incarnation => {
                *bytes += token.bytes;
            }
            _ => self.delivered.push((consumer, incarnation, token.bytes)),
        }
    }

    /// True if no frame was added.
    pub fn is_empty(&self) -> bool {
        self.answer_bytes == 0 && self.delivered.is_empty()
    }
}

/// Why a session closes its connection.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CloseReason {
    /// What came is no frame, or no whole command.
    #[error("{0}")]
    FrameRefused(FrameError),
    /// Only CONNECT may come first.
    #[error("the client sent {0} before CONNECT")]
    NotConnected(&'static str),
    /// CONNECT may come only once.
    #[error("the client sent CONNECT a second time")]
    SecondConnect,
    /// CONNECT was refused; the client was told why.
    #[error("CONNECT was refused: {0}")]
    ConnectRefused(String),
    /// No CONNECT within the keepalive interval.
    #[error("no CONNECT came within {0:?} of the connection's opening")]
    ConnectDeadline(Duration),
    /// PING was not answered, and nothing else came.
    #[error("the client sent nothing for {0:?} after a PING")]
    KeepaliveMissed(Duration),
    /// Another connection wants a place this one holds, and the peer did not answer the PING for it.
    #[error(
        "the client did not answer within {0:?} whether it is alive, while another wants its place"
    )]
    ProbeMissed(Duration),
    /// A command only brokers send.
    #[error("the client sent {0}, which only brokers send")]
    BrokerCommand(&'static str),
    /// SEND of a producer that does not exist, or does not exist yet.
    #[error("SEND of producer {0}, which is not open on this connection")]
    SendOfUnknownProducer(u64),
    /// The client does not understand CLOSE_PRODUCER or CLOSE_CONSUMER.
    #[error("{0} left its topic, and this client cannot be told otherwise")]
    CannotBeTold(&'static str),
    /// The broker goes down.
    #[error("the broker is shutting down")]
    Shutdown,
}
