//! The house's side of connections: bytes to frames to sessions, and back.

use super::{House, Want};
use bytes::{Bytes, BytesMut};
use letters::{SessionLetter, ToSession};
use pulsar_wire::frame::{decode_frame, encode_command, encode_payload_header, max_frame_size};
use session::{
    AllowAll, OutFrame, Session, SessionEffect, SessionInput, WriteToken, WrittenFrames,
};
use shard::ShardInput;
use std::collections::VecDeque;
use std::sync::Arc;
use vocabulary::{Now, SessionId};

/// A connection's session and what lies around it.
pub(super) struct Visit {
    session: Session,
    inbound: BytesMut,
    outbox: VecDeque<(Bytes, WriteToken)>,
    written: WrittenFrames,
    mailbox: Vec<SessionLetter>,
    reading_paused: bool,
    closing: bool,
}

impl House {
    /// A connection was opened.
    pub fn connection_opened(&mut self, id: SessionId, now: Now) {
        let settings = Arc::clone(&self.session_settings);
        let session = Session::new(
            id,
            settings,
            Arc::new(AllowAll),
            format!("client-{}", id.0),
            now,
        );
        self.wants.push(Want::SessionWake(id, session.wakes_at()));
        let visit = Visit {
            session,
            inbound: BytesMut::new(),
            outbox: VecDeque::new(),
            written: WrittenFrames::new(),
            mailbox: Vec::new(),
            reading_paused: false,
            closing: false,
        };
        self.visits.insert(id, visit);
    }

    /// Bytes came from a client.
    pub fn bytes_came(&mut self, id: SessionId, bytes: &[u8], now: Now) {
        if let Some(visit) = self.visits.get_mut(&id) {
            visit.inbound.extend_from_slice(bytes);
            self.decode(id, now);
        }
    }

    /// A client's end of the connection is gone.
    pub fn peer_gone(&mut self, id: SessionId, now: Now) {
        self.tell_session(id, SessionInput::PeerGone, now);
        self.visits.remove(&id);
    }

    /// The process is told to stop: sessions take leave of their topics and clients.
    pub fn take_leave(&mut self, now: Now) {
        let ids: Vec<SessionId> = self.visits.keys().copied().collect();
        ids.into_iter()
            .for_each(|id| self.tell_session(id, SessionInput::ShutdownBegan, now));
    }

    /// Letters of desks are handed to their session.
    pub fn letters_came(&mut self, id: SessionId, now: Now) {
        let Some(visit) = self.visits.get_mut(&id) else {
            return;
        };
        for letter in std::mem::take(&mut visit.mailbox) {
            self.tell_session(id, SessionInput::LetterCame(letter), now);
        }
        self.decode(id, now);
    }

    /// A moment that a session asked for.
    pub fn time_came(&mut self, id: SessionId, now: Now) {
        self.tell_session(id, SessionInput::TimeCame, now);
        self.decode(id, now);
    }

    /// Connections with something to write.
    pub fn writers(&self) -> Vec<SessionId> {
        self.visits
            .iter()
            .filter(|(_, visit)| !visit.outbox.is_empty())
            .map(|(id, _)| *id)
            .collect()
    }

    /// The next frame to write; its bytes are on their way from now on.
    pub fn take_frame(&mut self, id: SessionId) -> Option<Bytes> {
        let visit = self.visits.get_mut(&id)?;
        let (bytes, token) = visit.outbox.pop_front()?;
        visit.written.add(token);
        Some(bytes)
    }

    /// Tells the session what was written since the last call.
    pub fn frames_written(&mut self, id: SessionId, now: Now) {
        let Some(visit) = self.visits.get_mut(&id) else {
            return;
        };
        let written = std::mem::take(&mut visit.written);
        if !written.is_empty() {
            self.tell_session(id, SessionInput::FramesWritten(written), now);
            self.decode(id, now);
        }
    }

    pub(super) fn post(&mut self, letter: ToSession) {
        // A letter to a session that is gone is dropped.
        let Some(visit) = self.visits.get_mut(&letter.session) else {
            return;
        };
        if visit.mailbox.is_empty() {
            self.wants.push(Want::Letters(letter.session));
        }
        visit.mailbox.push(letter.letter);
    }

    fn decode(&mut self, id: SessionId, now: Now) {
        let frame_bytes_max = max_frame_size(self.session_settings.max_message_size);
        while let Some(visit) = self.visits.get_mut(&id)
            && !visit.reading_paused
            && !visit.closing
        {
            let input = match decode_frame(&mut visit.inbound, frame_bytes_max) {
                Ok(Some(frame)) => SessionInput::FrameArrived(frame),
                Ok(None) => return,
                Err(error) => SessionInput::FrameRefused(error),
            };
            self.tell_session(id, input, now);
        }
    }

    fn tell_session(&mut self, id: SessionId, input: SessionInput, now: Now) {
        let Some(visit) = self.visits.get_mut(&id) else {
            return;
        };
        if visit.closing {
            return;
        }
        let mut effects = Vec::new();
        visit.session.handle(now, input, &mut effects);
        let mut letters = Vec::new();
        for effect in effects {
            match effect {
                SessionEffect::SendFrame(frame) => {
                    let token = frame.token;
                    visit.outbox.push_back((encode(&frame), token));
                }
                SessionEffect::WriteLetter(letter) => letters.push(letter),
                // No seat of the city asks for lists.
                SessionEffect::AskDirectory(_) | SessionEffect::EndWatch { .. } => {}
                SessionEffect::WakeAt(moment) => self.wants.push(Want::SessionWake(id, moment)),
                SessionEffect::PauseReading => visit.reading_paused = true,
                SessionEffect::ResumeReading => visit.reading_paused = false,
                SessionEffect::Close { reason } => {
                    visit.closing = true;
                    self.wants.push(Want::Close(id, reason.to_string()));
                }
            }
        }
        for letter in letters {
            let desk = self.desk_of(&letter.topic);
            self.tell_desk(desk, ShardInput::Letter(letter));
        }
    }
}

fn encode(frame: &OutFrame) -> Bytes {
    let mut bytes = BytesMut::new();
    match &frame.payload {
        None => encode_command(&frame.command, &mut bytes),
        Some(payload) => {
            encode_payload_header(&frame.command, payload.len(), &mut bytes);
            bytes.extend_from_slice(payload);
        }
    }
    bytes.freeze()
}
