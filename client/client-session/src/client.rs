//! The client itself: what it holds, and how an input finds its rule.

use crate::connection::Connection;
use crate::consumer::Consumer;
use crate::face::{ClientAsk, ClientEffect, ClientEvent, ClientFrame, ClientInput};
use crate::producer::Producer;
use crate::requests::{Handle, Request, Requests};
use crate::settings::ClientSettings;
use bytes::Bytes;
use pulsar_wire::frame::max_frame_size;
use pulsar_wire::proto::BaseCommand;
use pulsar_wire::proto::base_command::Cmd;
use std::collections::BTreeMap;
use vocabulary::{ConsumerId, Moment, Now, ProducerId, RequestId};

/// One client on one connection. It is made without a connection: `Connected` begins one.
pub struct Client {
    pub(crate) settings: ClientSettings,
    pub(crate) connection: Connection,
    pub(crate) requests: Requests,
    pub(crate) producers: BTreeMap<ProducerId, Producer>,
    pub(crate) consumers: BTreeMap<ConsumerId, Consumer>,
    woken_at: Option<Moment>,
}

/// One call of `handle`: the time it happens at and where its effects go.
pub(crate) struct Turn<'a> {
    pub now: Now,
    pub effects: &'a mut Vec<ClientEffect>,
}

impl Turn<'_> {
    pub fn tell(&mut self, event: ClientEvent) {
        self.effects.push(ClientEffect::Event(event));
    }

    pub fn send(&mut self, command: Cmd) {
        let frame = ClientFrame {
            command: BaseCommand::new(command),
            payload: None,
        };
        self.effects.push(ClientEffect::SendFrame(frame));
    }

    pub fn send_entry(&mut self, command: Cmd, entry: Bytes) {
        let frame = ClientFrame {
            command: BaseCommand::new(command),
            payload: Some(entry),
        };
        self.effects.push(ClientEffect::SendFrame(frame));
    }
}

impl Client {
    /// A client without a connection.
    pub fn new(settings: ClientSettings) -> Client {
        Client {
            settings,
            connection: Connection::default(),
            requests: Requests::default(),
            producers: BTreeMap::new(),
            consumers: BTreeMap::new(),
            woken_at: None,
        }
    }

    /// Tells the client what happened; what is to be done about it is pushed to `effects`.
    pub fn handle(&mut self, now: Now, input: ClientInput, effects: &mut Vec<ClientEffect>) {
        let turn = &mut Turn { now, effects };
        match input {
            ClientInput::Connected => self.connected(turn),
            ClientInput::FrameArrived(frame) => self.frame_arrived(turn, frame),
            ClientInput::FrameRefused(error) => self.hang_up(turn, error.to_string()),
            ClientInput::TimeCame => self.time_came(turn),
            ClientInput::PeerGone => self.peer_gone(turn),
            ClientInput::Ask(ask) => self.asked(turn, ask),
        }
        self.settle(turn);
    }

    /// Limit of the frames to be read (see `pulsar_wire::frame::decode_frame`), as the broker last said.
    pub fn max_frame_size(&self) -> u32 {
        max_frame_size(self.connection.max_message_size)
    }

    /// Sends that are not confirmed, of all producers.
    pub fn pending_sends(&self) -> usize {
        self.producers.values().map(Producer::pending).sum()
    }

    fn asked(&mut self, turn: &mut Turn<'_>, ask: ClientAsk) {
        match ask {
            ClientAsk::CreateProducer(ask) => self.create_producer(turn, ask),
            ClientAsk::Send {
                producer_id,
                token,
                messages,
                batch,
            } => {
                self.send_asked(turn, producer_id, token, messages, batch);
            }
            ClientAsk::Subscribe(ask) => self.subscribe(turn, ask),
            ClientAsk::Took {
                consumer_id,
                incarnation,
                permits,
            } => {
                self.took(turn, consumer_id, incarnation, permits);
            }
            ClientAsk::Ack {
                consumer_id,
                ack,
                receipt,
            } => self.ack(turn, consumer_id, ack, receipt),
            ClientAsk::Redeliver {
                consumer_id,
                positions,
            } => self.redeliver(turn, consumer_id, &positions),
            ClientAsk::CloseProducer(id) => self.close(turn, Handle::Producer(id)),
            ClientAsk::CloseConsumer(id) => self.close(turn, Handle::Consumer(id)),
        }
    }

    pub(crate) fn request(&mut self, turn: &Turn<'_>, request: Request) -> RequestId {
        self.requests
            .add(request, turn.now.moment, self.settings.operation_timeout)
    }

    fn time_came(&mut self, turn: &mut Turn<'_>) {
        self.keepalive(turn);
        for (id, request) in self.requests.take_overdue(turn.now.moment) {
            self.overdue(turn, id, request);
        }
        self.open_what_is_due(turn);
    }

    fn settle(&mut self, turn: &mut Turn<'_>) {
        let deadlines = [
            self.connection.next_tick(),
            self.requests.next_deadline(),
            self.next_opening(),
        ];
        let next = deadlines.into_iter().flatten().min();
        if let Some(next) = next
            && self.woken_at != Some(next)
        {
            turn.effects.push(ClientEffect::WakeAt(next));
        }
        self.woken_at = next;
    }
}
