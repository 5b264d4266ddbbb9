//! Bytes from a socket, and the frames in them.

use bytes::BytesMut;
use pulsar_wire::frame::{Frame, FrameError, decode_frame, expect_small_command, missing_bytes};
use std::io;
use tokio::net::TcpStream;

/// Room for one read of a quiet connection, bytes.
const READ_BYTES_MIN: usize = 4 * 1024;

/// Room for one read of a busy connection, bytes.
const READ_BYTES_MAX: usize = 128 * 1024;

/// The largest frame of a client that has not been let in yet, bytes: CONNECT with credentials of some length. A
/// command can take 45 times its size in memory once decoded; nobody gets that much who has not introduced himself.
const STRANGER_FRAME_BYTES_MAX: u32 = 64 * 1024;

/// The largest command of a client, bytes; entries do not count. Clients send acks in lists of a thousand, of at most
/// 200 bytes each; the largest commands are schemas. Once decoded, a hostile command is 45 times as large.
const COMMAND_BYTES_MAX: u32 = 1024 * 1024;

/// The read side of a connection. Frames are slices of its buffer.
pub struct Inbound {
    buffer: BytesMut,
    connected_frame_bytes_max: u32,
    frame_bytes_max: u32,
    read_bytes: usize,
}

/// What a read found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// So many bytes.
    Some(usize),
    /// Nothing at the moment.
    None,
    /// The peer has closed its side.
    End,
}

impl Inbound {
    /// An empty one that refuses frames beyond that size, and before the client was let in, beyond a small one.
    pub fn new(connected_frame_bytes_max: u32) -> Inbound {
        Inbound {
            buffer: BytesMut::new(),
            connected_frame_bytes_max,
            frame_bytes_max: connected_frame_bytes_max.min(STRANGER_FRAME_BYTES_MAX),
            read_bytes: READ_BYTES_MIN,
        }
    }

    /// Reads once.
    pub fn read(&mut self, socket: &TcpStream) -> io::Result<Read> {
        let room = self.room_wanted();
        self.buffer.reserve(room);
        match socket.try_read_buf(&mut self.buffer) {
            Ok(0) => Ok(Read::End),
            Ok(count) => {
                self.adapt(count);
                Ok(Read::Some(count))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.give_back();
                Ok(Read::None)
            }
            Err(error) => Err(error),
        }
    }

    /// The next frame that is there as a whole.
    pub fn next_frame(&mut self, connected: bool) -> Result<Option<Frame>, FrameError> {
        if connected {
            self.frame_bytes_max = self.connected_frame_bytes_max;
        }
        expect_small_command(&self.buffer, COMMAND_BYTES_MAX)?;
        decode_frame(&mut self.buffer, self.frame_bytes_max)
    }

    /// What the frame under way still needs, but no more than twice what has come of it: who claims a large frame must
    /// send it before it costs memory.
    fn room_wanted(&self) -> usize {
        let missing = missing_bytes(&self.buffer, self.frame_bytes_max).unwrap_or(0);
        missing
            .min(self.buffer.len().saturating_mul(2))
            .max(self.read_bytes)
    }

    /// A connection that fills its buffer gets a larger one.
    fn adapt(&mut self, count: usize) {
        if count >= self.read_bytes {
            self.read_bytes = (self.read_bytes * 2).min(READ_BYTES_MAX);
        } else if count < self.read_bytes / 4 {
            self.read_bytes = (self.read_bytes / 2).max(READ_BYTES_MIN);
        }
    }

    /// A connection on which nothing comes keeps no buffer.
    fn give_back(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }
}
