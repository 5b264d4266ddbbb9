//! Frames: `total:u32 | command_length:u32 | BaseCommand [| payload]`, all numbers big-endian, `total` counting
//! everything after itself. SEND and MESSAGE carry a payload (see `entry`), no other command does.
//!
//! Decoding is a pure function of the buffer: nothing is remembered between calls, and nothing is allocated by a
//! length before it was checked. An error ends the connection; the buffer's content is then of no further use.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;
use thiserror::Error;

use crate::proto::BaseCommand;
use crate::proto::base_command::{Cmd, Type};
use crate::validate::InvalidCommand;

/// Default of `maxMessageSize`, bytes.
pub const DEFAULT_MAX_MESSAGE_SIZE: u32 = 5 * 1024 * 1024;

/// What a frame may hold beyond `maxMessageSize`, bytes: room for the command and its headers.
pub const FRAME_PADDING: u32 = 10 * 1024;

/// Width of each of the two length fields.
const LENGTH_SIZE: usize = 4;

/// The largest `total` to accept or send where messages may have `max_message_size` bytes.
pub fn max_frame_size(max_message_size: u32) -> u32 {
    max_message_size.saturating_add(FRAME_PADDING)
}

/// One frame, validated: the command's body matches its type and lacks no required field.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The command.
    pub command: BaseCommand,
    /// Everything after the command, sharing the read buffer: an entry's headers and payload. Present exactly for
    /// SEND and MESSAGE.
    pub payload: Option<Bytes>,
}

/// Why a frame was refused. Each ends the connection: where the next frame begins can no longer be trusted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FrameError {
    /// `total` exceeds the limit. Seen as soon as the first four bytes are.
    #[error(
        "frame of {total} bytes exceeds the limit of {limit}; send smaller messages or raise maxMessageSize"
    )]
    TooLarge {
        /// Bytes after the first length field, as the frame says.
        total: u32,
        /// The most it may say.
        limit: u32,
    },
    /// `total` leaves no room for the command's length.
    #[error("frame of {total} bytes cannot hold the length of its command")]
    TooShort {
        /// Bytes after the first length field, as the frame says.
        total: u32,
    },
    /// The command would end after the frame.
    #[error("command of {command_length} bytes does not fit into its frame of {total} bytes")]
    CommandBeyondFrame {
        /// The command's length, as the frame says.
        command_length: u32,
        /// Bytes after the first length field, as the frame says.
        total: u32,
    },
    /// The command is larger than this side takes commands. Seen as soon as the first eight bytes are.
    #[error("command of {command_length} bytes exceeds the limit of {limit} for commands")]
    CommandTooLarge {
        /// The command's length, as the frame says.
        command_length: u32,
        /// The most it may say.
        limit: u32,
    },
    /// The command's bytes are no protobuf message of that shape.
    #[error("command of {command_length} bytes cannot be decoded: {reason}")]
    Undecodable {
        /// The command's length.
        command_length: u32,
        /// What the protobuf decoder said.
        reason: prost::DecodeError,
    },
    /// The command is not whole: a required field is missing, its type is unknown, or its body is another's.
    #[error("command refused: {0}")]
    Invalid(#[from] InvalidCommand),
    /// Bytes follow a command that carries no payload.
    #[error("{payload_length} bytes follow a {command:?} command, which carries no payload")]
    UnexpectedPayload {
        /// The command.
        command: Type,
        /// How many bytes follow.
        payload_length: usize,
    },
    /// A SEND or MESSAGE without the entry it is about.
    #[error("{command:?} command carries no payload")]
    MissingPayload {
        /// The command.
        command: Type,
    },
}

/// Takes the first frame off the buffer, or `None` while it is incomplete.
///
/// `max_frame_size` bounds `total` (see [`max_frame_size`]); a frame beyond it is refused before its bytes arrive.
/// A hostile command can take up to about 45 times its size in memory once decoded (two bytes become one MessageIdData),
/// so give connections that have not introduced themselves a small limit.
pub fn decode_frame(
    buffer: &mut BytesMut,
    max_frame_size: u32,
) -> Result<Option<Frame>, FrameError> {
    let Some(lengths) = Lengths::read(buffer, max_frame_size)? else {
        return Ok(None);
    };
    let Some(command_length) = lengths.command_length else {
        return Ok(None);
    };
    if buffer.len() < LENGTH_SIZE + lengths.total as usize {
        return Ok(None);
    }
    let mut frame = buffer
        .split_to(LENGTH_SIZE + lengths.total as usize)
        .freeze();
    frame.advance(2 * LENGTH_SIZE);
    let command_bytes = frame.split_to(command_length as usize);
    let command = BaseCommand::decode(command_bytes).map_err(|reason| FrameError::Undecodable {
        command_length,
        reason,
    })?;
    let body = command.validate()?;
    let kind = body.command_type();
    let payload = match (carries_payload(body), frame.is_empty()) {
        (true, false) => Some(frame),
        (false, true) => None,
        (true, true) => return Err(FrameError::MissingPayload { command: kind }),
        (false, false) => {
            return Err(FrameError::UnexpectedPayload {
                command: kind,
                payload_length: frame.len(),
            });
        }
    };
    Ok(Some(Frame { command, payload }))
}

/// Refuses the first frame in the buffer if it claims a command of more bytes than that (its entry does not count). To
/// be asked before [`decode_frame`] by whoever reads from strangers: once decoded a command can be 45 times as large.
///
/// # Errors
/// [`FrameError::CommandTooLarge`].
pub fn expect_small_command(buffer: &[u8], limit: u32) -> Result<(), FrameError> {
    match read_u32(buffer, LENGTH_SIZE) {
        Some(command_length) if command_length > limit => Err(FrameError::CommandTooLarge {
            command_length,
            limit,
        }),
        _ => Ok(()),
    }
}

/// How many more bytes the first frame in the buffer needs, if its length is known already and within the limit.
/// For a reader that wants to make room in one go.
pub fn missing_bytes(buffer: &[u8], max_frame_size: u32) -> Option<usize> {
    let total = read_u32(buffer, 0).filter(|total| *total <= max_frame_size)?;
    Some((LENGTH_SIZE + total as usize).saturating_sub(buffer.len()))
}

/// Whether frames of this command carry a payload.
fn carries_payload(body: &Cmd) -> bool {
    matches!(body, Cmd::Send(_) | Cmd::Message(_))
}

/// The two length fields, checked as far as they have arrived.
struct Lengths {
    total: u32,
    command_length: Option<u32>,
}

impl Lengths {
    fn read(buffer: &[u8], limit: u32) -> Result<Option<Lengths>, FrameError> {
        let Some(total) = read_u32(buffer, 0) else {
            return Ok(None);
        };
        if total > limit {
            return Err(FrameError::TooLarge { total, limit });
        }
        let Some(room) = total.checked_sub(LENGTH_SIZE as u32) else {
            return Err(FrameError::TooShort { total });
        };
        let command_length = read_u32(buffer, LENGTH_SIZE);
        match command_length {
            Some(command_length) if command_length > room => Err(FrameError::CommandBeyondFrame {
                command_length,
                total,
            }),
            _ => Ok(Some(Lengths {
                total,
                command_length,
            })),
        }
    }
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|chunk| u32::from_be_bytes(*chunk))
}

/// Writes a whole frame of a command without payload.
///
/// # Panics
/// If the command is not whole or needs a payload: our own mistake, not the peer's.
pub fn encode_command(command: &BaseCommand, buffer: &mut BytesMut) {
    write_header(command, 0, buffer);
}

/// Writes `total | command_length | command` of a SEND or MESSAGE. The `payload_length` bytes of its entry must follow
/// on the connection, untouched; a vectored write puts them there without a copy.
///
/// # Panics
/// If the command is not whole or carries no payload, or the frame would exceed what its length field can say: our own
/// mistake, not the peer's.
pub fn encode_payload_header(command: &BaseCommand, payload_length: usize, buffer: &mut BytesMut) {
    // Invariant: an entry is never empty, it has at least the length of its metadata.
    assert!(payload_length > 0, "a payload frame without payload");
    write_header(command, payload_length, buffer);
}

fn write_header(command: &BaseCommand, payload_length: usize, buffer: &mut BytesMut) {
    let body = match command.validate() {
        Ok(body) => body,
        // Invariant: we send nothing we would refuse ourselves.
        Err(error) => panic!("Invariant: an invalid command was about to be sent: {error}"),
    };
    // Invariant: payloads follow SEND and MESSAGE and nothing else.
    assert_eq!(
        carries_payload(body),
        payload_length > 0,
        "payload and {:?} do not fit",
        body.command_type()
    );
    let command_length = command.encoded_len();
    let total = LENGTH_SIZE + command_length + payload_length;
    // Invariant: callers keep entries within the negotiated size, far below 4 GiB.
    assert!(u32::try_from(total).is_ok(), "a frame of {total} bytes");
    buffer.reserve(2 * LENGTH_SIZE + command_length);
    buffer.put_u32(total as u32);
    buffer.put_u32(command_length as u32);
    command.encode_raw(buffer);
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
