//! A client in the city: the project's own client, and the application above it that sends, receives, acknowledges,
//! changes its mind, leaves and comes back.

mod acking;
mod consuming;
mod producing;

use crate::counts::Counts;
use crate::history::History;
use crate::plan::{Plan, SeatPlan};
use crate::violation::Violation;
use bytes::{Bytes, BytesMut};
use client_session::{
    Client, ClientAsk, ClientEffect, ClientEvent, ClientFrame, ClientInput, ClientSettings,
};
use consuming::ConsumerAtWork;
use producing::ProducerAtWork;
use pulsar_wire::frame::{decode_frame, encode_command, encode_payload_header};
use std::time::Duration;
use vocabulary::{Moment, Now};
use world::Dice;

/// What a client wants of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatWant {
    /// Send these bytes.
    Send(Bytes),
    /// Wake it then.
    WakeAt(Moment),
    /// Close the connection.
    Close(String),
    /// Open a connection after so long.
    Connect(Duration),
}

/// What happens around a client when it is told something.
pub struct Surroundings<'a> {
    /// Both clocks.
    pub now: Now,
    /// Chance.
    pub dice: &'a mut dyn Dice,
    /// What everybody did and saw.
    pub history: &'a mut History,
    /// How often what happened.
    pub counts: &'a mut Counts,
    /// Everything is to come to an end: no more mischief, everything is acknowledged.
    pub calm: bool,
    /// Lines for the transcript.
    pub lines: &'a mut Vec<String>,
}

/// One client.
pub struct Seat {
    client: Client,
    inbound: BytesMut,
    producers: Vec<ProducerAtWork>,
    consumers: Vec<ConsumerAtWork>,
    wants: Vec<SeatWant>,
    /// In which life of the house its connection was opened.
    life: u32,
}

impl Seat {
    /// A client without a connection, and all that it will do.
    #[must_use]
    pub fn new(plan: &Plan, seat: &SeatPlan, number: usize) -> Seat {
        let settings = ClientSettings {
            // Differs, so that not all come back at the same time.
            backoff_initial: Duration::from_millis(10 + 7 * number as u64),
            backoff_max: Duration::from_millis(800),
            operation_timeout: Duration::from_secs(5),
            ..ClientSettings::default()
        };
        let topic_name = |topic: usize| {
            plan.topics
                .get(topic)
                .map_or_else(String::new, ToString::to_string)
        };
        let producers = seat
            .producers
            .iter()
            .map(|plan| ProducerAtWork::new(plan.clone(), topic_name(plan.topic)));
        let consumers = seat
            .consumers
            .iter()
            .map(|plan| ConsumerAtWork::new(plan.clone(), topic_name(plan.subscription.topic)));
        Seat {
            client: Client::new(settings),
            inbound: BytesMut::new(),
            producers: producers.collect(),
            consumers: consumers.collect(),
            wants: Vec::new(),
            life: 0,
        }
    }

    /// What it wants since the last call.
    pub fn take_wants(&mut self) -> Vec<SeatWant> {
        std::mem::take(&mut self.wants)
    }

    /// Tells the client that its application is there: what it asks for is done once there is a connection.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn begin(&mut self, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        for producer in 0..self.producers.len() {
            let ask = self.producers[producer].create();
            self.ask(ask, around)?;
        }
        for consumer in 0..self.consumers.len() {
            let ask = self.consumers[consumer].subscribe();
            self.ask(ask, around)?;
        }
        Ok(())
    }

    /// A connection is open, in this life of the house.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn connected(&mut self, life: u32, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        self.life = life;
        self.inbound.clear();
        self.tell(ClientInput::Connected, around)
    }

    /// The connection is gone, or could not be opened.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn disconnected(&mut self, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        self.tell(ClientInput::PeerGone, around)
    }

    /// Bytes came.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn bytes_came(
        &mut self,
        bytes: &[u8],
        around: &mut Surroundings<'_>,
    ) -> Result<(), Violation> {
        self.inbound.extend_from_slice(bytes);
        loop {
            match decode_frame(&mut self.inbound, self.client.max_frame_size()) {
                Ok(Some(frame)) => self.tell(ClientInput::FrameArrived(frame), around)?,
                Ok(None) => return Ok(()),
                Err(error) => {
                    return Err(Violation::new(
                        "protocol",
                        format!("the house sent no frame: {error}"),
                    ));
                }
            }
        }
    }

    /// A moment that it asked for.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn time_came(&mut self, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        self.tell(ClientInput::TimeCame, around)
    }

    /// The application does a little of its work.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn act(&mut self, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        self.produce(around)?;
        self.work_on_held(around)
    }

    /// Whether its producers have nothing unconfirmed and its consumers nothing unacknowledged.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.producers.iter().all(ProducerAtWork::is_done)
            && self.consumers.iter().all(ConsumerAtWork::is_done)
    }

    /// What is not done, for a report.
    #[must_use]
    pub fn undone(&self) -> String {
        let producers = self.producers.iter().map(ToString::to_string);
        let consumers = self.consumers.iter().map(ToString::to_string);
        producers.chain(consumers).collect::<Vec<_>>().join("; ")
    }

    fn ask(&mut self, ask: ClientAsk, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        self.tell(ClientInput::Ask(ask), around)
    }

    fn tell(&mut self, input: ClientInput, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        let mut effects = Vec::new();
        self.client.handle(around.now, input, &mut effects);
        let mut outbound = BytesMut::new();
        let mut events = Vec::new();
        for effect in effects {
            match effect {
                ClientEffect::SendFrame(frame) => encode(&frame, &mut outbound),
                ClientEffect::Event(event) => events.push(event),
                ClientEffect::WakeAt(moment) => self.wants.push(SeatWant::WakeAt(moment)),
                ClientEffect::Close { reason } => {
                    self.send(&mut outbound);
                    self.wants.push(SeatWant::Close(reason));
                }
                ClientEffect::Reconnect { after } => self.wants.push(SeatWant::Connect(after)),
            }
        }
        self.send(&mut outbound);
        events
            .into_iter()
            .try_for_each(|event| self.happened(event, around))
    }

    fn send(&mut self, outbound: &mut BytesMut) {
        if !outbound.is_empty() {
            self.wants.push(SeatWant::Send(outbound.split().freeze()));
        }
    }

    fn happened(
        &mut self,
        event: ClientEvent,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Violation> {
        match event {
            ClientEvent::Ready { .. } | ClientEvent::Disconnected => Ok(()),
            ClientEvent::ProducerCreated { .. }
            | ClientEvent::ProducerReopened { .. }
            | ClientEvent::ProducerFailed { .. }
            | ClientEvent::ProducerClosed { .. }
            | ClientEvent::Sent { .. }
            | ClientEvent::SendFailed { .. } => self.producer_event(event, around),
            other => self.consumer_event(other, around),
        }
    }
}

fn encode(frame: &ClientFrame, into: &mut BytesMut) {
    match &frame.payload {
        None => encode_command(&frame.command, into),
        Some(payload) => {
            encode_payload_header(&frame.command, payload.len(), into);
            into.extend_from_slice(payload);
        }
    }
}
