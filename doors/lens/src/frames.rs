//! One direction of a connection, cut into frames. Every byte comes out again, whatever it is.

use bytes::{BufMut, Bytes, BytesMut};
use pulsar_wire::frame::{Frame, decode_frame, max_frame_size};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Room for one read, bytes.
const READ_BYTES: usize = 64 * 1024;

/// The largest `maxMessageSize` that a broker is believed, bytes. A larger frame passes undecoded.
const MAX_MESSAGE_SIZE: u32 = 128 * 1024 * 1024;

/// Something that came.
#[derive(Debug, PartialEq)]
pub enum Heard {
    /// A frame, and its bytes.
    Frame(Box<Frame>, Bytes),
    /// Bytes that are no frame. From here on nothing of this direction is understood.
    Bytes(Bytes),
}

/// The reader of one direction.
pub struct Frames<R> {
    source: R,
    buffer: BytesMut,
    is_lost: bool,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub fn of(source: R) -> Frames<R> {
        Frames {
            source,
            buffer: BytesMut::new(),
            is_lost: false,
        }
    }

    /// What comes next; `None`: the peer has closed. Not finished, it may be called again: nothing is lost.
    pub async fn next(&mut self) -> std::io::Result<Option<Heard>> {
        loop {
            if let Some(heard) = self.take() {
                return Ok(Some(heard));
            }
            self.buffer.reserve(READ_BYTES);
            if self.source.read_buf(&mut self.buffer).await? == 0 {
                let rest = self.buffer.split().freeze();
                return Ok((!rest.is_empty()).then_some(Heard::Bytes(rest)));
            }
        }
    }

    fn take(&mut self) -> Option<Heard> {
        let length = match self.buffer.first_chunk::<4>() {
            Some(length) if !self.is_lost => u32::from_be_bytes(*length),
            _ => return self.take_lost(),
        };
        let limit = max_frame_size(MAX_MESSAGE_SIZE);
        if length > limit {
            self.is_lost = true;
            return self.take_lost();
        }
        let whole = usize::try_from(length).ok()?.checked_add(4)?;
        if self.buffer.len() < whole {
            return None;
        }
        let bytes = self.buffer.split_to(whole).freeze();
        let mut copy = BytesMut::with_capacity(bytes.len());
        copy.put_slice(&bytes);
        match decode_frame(&mut copy, limit) {
            Ok(Some(frame)) => Some(Heard::Frame(Box::new(frame), bytes)),
            // Its end is known all the same: what follows may be understood.
            _ => Some(Heard::Bytes(bytes)),
        }
    }

    fn take_lost(&mut self) -> Option<Heard> {
        if !self.is_lost || self.buffer.is_empty() {
            return None;
        }
        Some(Heard::Bytes(self.buffer.split().freeze()))
    }
}
