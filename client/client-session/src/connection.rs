//! The connection: handshake, keepalive, its loss and its return.

use crate::backoff::Backoff;
use crate::client::{Client, Turn};
use crate::face::{ClientEffect, ClientError, ClientEvent};
use crate::requests::{Handle, Request};
use pulsar_wire::frame::{DEFAULT_MAX_MESSAGE_SIZE, Frame};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{CommandConnect, CommandConnected, CommandPing, CommandPong};
use vocabulary::Moment;

/// The protocol version this client speaks.
const PROTOCOL_VERSION: i32 = 21;

#[derive(Debug)]
pub(crate) struct Connection {
    link: Link,
    backoff: Backoff,
    pub max_message_size: u32,
}

#[derive(Debug, Clone, Copy)]
enum Link {
    Down,
    /// CONNECT is sent.
    Greeting {
        next_tick: Moment,
    },
    Up {
        next_tick: Moment,
        unanswered: bool,
    },
}

impl Default for Connection {
    fn default() -> Connection {
        Connection {
            link: Link::Down,
            backoff: Backoff::default(),
            max_message_size: DEFAULT_MAX_MESSAGE_SIZE,
        }
    }
}

impl Connection {
    pub fn is_up(&self) -> bool {
        matches!(self.link, Link::Up { .. })
    }

    pub fn next_tick(&self) -> Option<Moment> {
        match self.link {
            Link::Down => None,
            Link::Greeting { next_tick } | Link::Up { next_tick, .. } => Some(next_tick),
        }
    }
}

impl Client {
    pub(crate) fn connected(&mut self, turn: &mut Turn<'_>) {
        let next_tick = turn.now.moment.after(self.settings.keepalive_interval);
        self.connection.link = Link::Greeting { next_tick };
        turn.send(Cmd::Connect(CommandConnect {
            client_version: Some(self.settings.client_version.clone()),
            protocol_version: Some(PROTOCOL_VERSION),
            ..Default::default()
        }));
    }

    pub(crate) fn frame_arrived(&mut self, turn: &mut Turn<'_>, frame: Frame) {
        let Some(command) = frame.command.cmd else {
            return self.hang_up(turn, "the broker sent a command without body");
        };
        match &mut self.connection.link {
            // Read before the connection was closed.
            Link::Down => {}
            Link::Greeting { .. } => self.greeted(turn, command),
            Link::Up { unanswered, .. } => {
                *unanswered = false;
                self.command_came(turn, command, frame.payload.unwrap_or_default());
            }
        }
    }

    fn greeted(&mut self, turn: &mut Turn<'_>, command: Cmd) {
        match command {
            Cmd::Connected(connected) => self.ready(turn, &connected),
            Cmd::Error(error) => {
                let text = format!("the broker refused the connection: {}", error.message());
                self.hang_up(turn, text);
            }
            other => {
                let name = other.command_type().as_str_name();
                self.hang_up(turn, format!("the broker answered CONNECT with {name}"));
            }
        }
    }

    fn ready(&mut self, turn: &mut Turn<'_>, connected: &CommandConnected) {
        let next_tick = turn.now.moment.after(self.settings.keepalive_interval);
        self.connection.link = Link::Up {
            next_tick,
            unanswered: false,
        };
        self.connection.backoff.reset();
        if let Some(size) = connected
            .max_message_size
            .and_then(|size| u32::try_from(size).ok())
            .filter(|size| *size > 0)
        {
            self.connection.max_message_size = size;
        }
        turn.tell(ClientEvent::Ready {
            server_version: connected.server_version().to_owned(),
        });
        self.open_what_is_due(turn);
    }

    fn command_came(&mut self, turn: &mut Turn<'_>, command: Cmd, entry: bytes::Bytes) {
        match command {
            Cmd::Ping(_) => turn.send(Cmd::Pong(CommandPong {})),
            Cmd::Pong(_) => {}
            Cmd::PartitionMetadataResponse(response) => self.partitions_found(turn, &response),
            Cmd::LookupTopicResponse(response) => self.looked_up(turn, &response),
            Cmd::ProducerSuccess(success) => self.producer_opened(turn, &success),
            Cmd::Success(success) => self.succeeded(turn, success.request_id()),
            Cmd::Error(error) => {
                let refusal =
                    ClientError::of_broker(error.error.unwrap_or_default(), error.message());
                self.refused(turn, error.request_id(), refusal);
            }
            Cmd::SendReceipt(receipt) => self.receipt_came(turn, &receipt),
            Cmd::SendError(error) => self.send_error_came(turn, &error),
            Cmd::Message(message) => self.message_came(turn, &message, &entry),
            Cmd::AckResponse(response) => self.ack_answered(turn, &response),
            Cmd::CloseProducer(close) => self.detached(turn, Handle::Producer(close.producer_id())),
            Cmd::CloseConsumer(close) => self.detached(turn, Handle::Consumer(close.consumer_id())),
            Cmd::ActiveConsumerChange(change) => {
                let (consumer_id, is_active) = (change.consumer_id(), change.is_active());
                turn.tell(ClientEvent::ActiveConsumerChanged {
                    consumer_id,
                    is_active,
                });
            }
            Cmd::ReachedEndOfTopic(end) => {
                turn.tell(ClientEvent::ReachedEndOfTopic {
                    consumer_id: end.consumer_id(),
                });
            }
            // CLOSE follows it.
            Cmd::TopicMigrated(_) => {}
            other => {
                let name = other.command_type().as_str_name();
                self.hang_up(
                    turn,
                    format!("the broker sent {name}, which this client did not ask for"),
                );
            }
        }
    }

    pub(crate) fn keepalive(&mut self, turn: &mut Turn<'_>) {
        let now = turn.now.moment;
        let interval = self.settings.keepalive_interval;
        match &mut self.connection.link {
            Link::Greeting { next_tick } if *next_tick <= now => {
                self.hang_up(
                    turn,
                    format!("the broker did not answer CONNECT within {interval:?}"),
                );
            }
            Link::Up {
                next_tick,
                unanswered,
            } if *next_tick <= now => {
                if *unanswered {
                    return self.hang_up(
                        turn,
                        format!("the broker sent nothing for {interval:?} after a PING"),
                    );
                }
                *unanswered = true;
                *next_tick = now.after(interval);
                turn.send(Cmd::Ping(CommandPing {}));
            }
            Link::Down | Link::Greeting { .. } | Link::Up { .. } => {}
        }
    }

    /// Closes the connection from our side; another is opened in its place.
    pub(crate) fn hang_up(&mut self, turn: &mut Turn<'_>, reason: impl Into<String>) {
        if matches!(self.connection.link, Link::Down) {
            return;
        }
        turn.effects.push(ClientEffect::Close {
            reason: reason.into(),
        });
        self.peer_gone(turn);
    }

    pub(crate) fn peer_gone(&mut self, turn: &mut Turn<'_>) {
        let was_up = self.connection.is_up();
        self.connection.link = Link::Down;
        if was_up {
            turn.tell(ClientEvent::Disconnected);
        }
        for request in self.requests.take_all() {
            match request {
                Request::Ack { consumer_id, token } => {
                    let error = Some(ClientError::here(
                        "The connection was lost before the ack was confirmed",
                    ));
                    turn.tell(ClientEvent::AckConfirmed {
                        consumer_id,
                        token,
                        error,
                    });
                }
                Request::Close(handle) => self.closed(turn, handle),
                Request::Partitions(_)
                | Request::Lookup(_)
                | Request::Open(_)
                | Request::OpenLater(_)
                | Request::Reopen(_) => {}
            }
        }
        self.all_detached();
        let after = self.connection.backoff.next(&self.settings);
        turn.effects.push(ClientEffect::Reconnect { after });
    }
}
