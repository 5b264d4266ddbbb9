//! Frames on their way into a socket: headers are gathered in one buffer, entries stay where they are, and one vectored
//! write takes as much of it as the socket has room for.

use bytes::{Buf, Bytes, BytesMut};
use pulsar_wire::frame::{encode_command, encode_payload_header};
use session::{OutFrame, WriteToken, WrittenFrames};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use tokio::net::TcpStream;

/// Pieces of one write; Linux takes up to 1024.
const SLICES_MAX: usize = 64;

/// Entries up to this size are copied behind their header: that is cheaper than a piece of their own.
const COPIED_BYTES_MAX: usize = 512;

/// Header buffers are cut at this size, so that a written part can be given back.
const HEADER_BYTES: usize = 16 * 1024;

/// Frames that the socket has not taken yet. How many there can be is bounded by the session (answers) and the topics
/// (deliveries), which learn from [`WrittenFrames`] when there is room again.
#[derive(Default)]
pub struct Outbox {
    gathered: BytesMut,
    pieces: VecDeque<Bytes>,
    tokens: VecDeque<(u64, WriteToken)>,
    queued_bytes: u64,
    written_bytes: u64,
}

impl Outbox {
    /// Adds a frame behind the others.
    pub fn push(&mut self, frame: OutFrame) {
        let before = self.gathered.len();
        match frame.payload {
            None => {
                encode_command(&frame.command, &mut self.gathered);
                self.queued_bytes += (self.gathered.len() - before) as u64;
            }
            Some(payload) => {
                encode_payload_header(&frame.command, payload.len(), &mut self.gathered);
                self.queued_bytes += (self.gathered.len() - before + payload.len()) as u64;
                if payload.len() <= COPIED_BYTES_MAX {
                    self.gathered.extend_from_slice(&payload);
                } else {
                    self.cut();
                    self.pieces.push_back(payload);
                }
            }
        }
        if self.gathered.len() >= HEADER_BYTES {
            self.cut();
        }
        self.tokens.push_back((self.queued_bytes, frame.token));
    }

    /// True when the socket has taken everything.
    pub fn is_empty(&self) -> bool {
        self.written_bytes == self.queued_bytes
    }

    /// Bytes that the socket has taken since the beginning.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Writes until the socket has no more room or nothing is left; tokens of frames written whole are added to `written`.
    pub fn write(&mut self, socket: &TcpStream, written: &mut WrittenFrames) -> io::Result<()> {
        self.cut();
        while !self.pieces.is_empty() {
            let taken = {
                let mut slices = [IoSlice::new(&[]); SLICES_MAX];
                let mut count = 0;
                for (slice, piece) in slices.iter_mut().zip(&self.pieces) {
                    *slice = IoSlice::new(piece);
                    count += 1;
                }
                let filled = slices.get(..count).unwrap_or_default();
                match socket.try_write_vectored(filled) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(taken) => taken,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            };
            self.advance(taken);
        }
        self.settle(written);
        Ok(())
    }

    fn cut(&mut self) {
        if !self.gathered.is_empty() {
            self.pieces.push_back(self.gathered.split().freeze());
        }
    }

    fn advance(&mut self, taken: usize) {
        self.written_bytes += taken as u64;
        let mut left = taken;
        while left > 0 {
            let Some(first) = self.pieces.front_mut() else {
                break;
            };
            if first.len() > left {
                first.advance(left);
                break;
            }
            left -= first.len();
            self.pieces.pop_front();
        }
    }

    fn settle(&mut self, written: &mut WrittenFrames) {
        while let Some((_, token)) = self
            .tokens
            .pop_front_if(|(end, _)| *end <= self.written_bytes)
        {
            written.add(token);
        }
    }
}
