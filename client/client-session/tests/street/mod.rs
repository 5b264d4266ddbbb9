//! A client, its session, and one topic, joined by queues: no socket, no clock.

mod topic;

use client_session::{Client, ClientAsk, ClientEffect, ClientEvent, ClientInput, ClientSettings};
use letters::SessionLetter;
use pulsar_wire::frame::{decode_frame, encode_command, encode_payload_header};
use pulsar_wire::proto::BaseCommand;
use session::{AllowAll, Session, SessionEffect, SessionInput, SessionSettings, WrittenFrames};
use std::collections::VecDeque;
use std::sync::Arc;
use topic::Topic;
use vocabulary::{Moment, Now, SessionId};

pub struct Street {
    client: Client,
    session: Option<Session>,
    pub topic: Topic,
    now: Now,
    sessions: u64,
    events: Vec<ClientEvent>,
    wakes: [Option<Moment>; 2],
    wire_cut: bool,
    /// Connections closed by either side.
    pub closes: u32,
    todo: VecDeque<Todo>,
}

enum Todo {
    Client(ClientInput),
    Session(SessionInput),
}

impl Street {
    pub fn new() -> Street {
        Street {
            client: Client::new(ClientSettings::default()),
            session: None,
            topic: Topic::default(),
            now: Now::at_millis(0),
            sessions: 0,
            events: Vec::new(),
            wakes: [None, None],
            wire_cut: false,
            closes: 0,
            todo: VecDeque::new(),
        }
    }

    pub fn connected() -> Street {
        let mut street = Street::new();
        street.connect();
        street
    }

    pub fn connect(&mut self) {
        self.sessions += 1;
        let settings = SessionSettings::advertising("pulsar://localhost:6650".to_owned(), None);
        let (id, address) = (SessionId(self.sessions), "client:1".to_owned());
        self.session = Some(Session::new(
            id,
            Arc::new(settings),
            Arc::new(AllowAll),
            address,
            self.now,
        ));
        self.do_all(Todo::Client(ClientInput::Connected));
    }

    pub fn lose_connection(&mut self) {
        self.do_all(Todo::Session(SessionInput::PeerGone));
        self.session = None;
        self.do_all(Todo::Client(ClientInput::PeerGone));
    }

    pub fn cut_the_wire(&mut self) {
        self.wire_cut = true;
    }

    pub fn ask(&mut self, ask: ClientAsk) {
        self.do_all(Todo::Client(ClientInput::Ask(ask)));
    }

    pub fn take_events(&mut self) -> Vec<ClientEvent> {
        std::mem::take(&mut self.events)
    }

    pub fn session_handles(&self) -> (usize, usize) {
        self.session.as_ref().map_or((0, 0), Session::handle_counts)
    }

    pub fn throw_everybody_out(&mut self) {
        for letter in self.topic.throw_everybody_out() {
            self.do_all(Todo::Session(SessionInput::LetterCame(letter)));
        }
    }

    pub fn pass_millis(&mut self, millis: u64) {
        self.now = Now::at_millis(self.now.wall.0 + millis);
        let due = |wake: Option<Moment>| wake.is_some_and(|wake| wake <= self.now.moment);
        if due(self.wakes[0]) {
            self.do_all(Todo::Client(ClientInput::TimeCame));
        }
        if self.wakes[1].is_some_and(|wake| wake <= self.now.moment) {
            self.do_all(Todo::Session(SessionInput::TimeCame));
        }
    }

    fn do_all(&mut self, first: Todo) {
        self.todo.push_back(first);
        while let Some(next) = self.todo.pop_front() {
            match next {
                Todo::Client(input) => self.tell_client(input),
                Todo::Session(input) => self.tell_session(input),
            }
        }
    }

    fn tell_client(&mut self, input: ClientInput) {
        let mut effects = Vec::new();
        self.client.handle(self.now, input, &mut effects);
        for effect in effects {
            match effect {
                ClientEffect::SendFrame(frame) if !self.wire_cut => {
                    let frame = over_the_wire(&frame.command, frame.payload.as_deref());
                    self.todo
                        .push_back(Todo::Session(SessionInput::FrameArrived(frame)));
                }
                ClientEffect::SendFrame(_) | ClientEffect::Reconnect { .. } => {}
                ClientEffect::Event(event) => self.events.push(event),
                ClientEffect::WakeAt(moment) => self.wakes[0] = Some(moment),
                ClientEffect::Close { .. } => self.closes += 1,
            }
        }
    }

    fn tell_session(&mut self, input: SessionInput) {
        let Some(session) = &mut self.session else {
            return;
        };
        let mut effects = Vec::new();
        session.handle(self.now, input, &mut effects);
        let mut written = WrittenFrames::new();
        let mut letters: Vec<SessionLetter> = Vec::new();
        for effect in effects {
            match effect {
                SessionEffect::SendFrame(out) => {
                    written.add(out.token);
                    if !self.wire_cut {
                        let frame = over_the_wire(&out.command, out.payload.as_deref());
                        self.todo
                            .push_back(Todo::Client(ClientInput::FrameArrived(frame)));
                    }
                }
                SessionEffect::WriteLetter(letter) => letters.extend(self.topic.take(letter)),
                SessionEffect::WakeAt(moment) => self.wakes[1] = Some(moment),
                SessionEffect::Close { .. } => self.closes += 1,
                SessionEffect::PauseReading
                | SessionEffect::ResumeReading
                | SessionEffect::AskDirectory(_)
                | SessionEffect::EndWatch { .. } => {}
            }
        }
        if !written.is_empty() {
            self.todo
                .push_back(Todo::Session(SessionInput::FramesWritten(written)));
        }
        for letter in letters {
            self.todo
                .push_back(Todo::Session(SessionInput::LetterCame(letter)));
        }
    }
}

/// Through bytes, as on a real connection.
fn over_the_wire(command: &BaseCommand, payload: Option<&[u8]>) -> pulsar_wire::frame::Frame {
    let mut bytes = bytes::BytesMut::new();
    match payload {
        None => encode_command(command, &mut bytes),
        Some(payload) => {
            encode_payload_header(command, payload.len(), &mut bytes);
            bytes.extend_from_slice(payload);
        }
    }
    decode_frame(&mut bytes, u32::MAX)
        .expect("a frame")
        .expect("whole")
}
