//! A desk's inputs as bytes, so that what a desk did can be done again, to the letter.
//!
//! Layout: the magic `HDR1`, then per input a `u32` length (little-endian) and that many bytes of
//! postcard: `(Now, DeskInput)`. A desk is told the time and draws no dice, so the same inputs give the
//! same effects; a test holds it to that.

use crate::{Desk, DeskEffect, DeskInput};
use vocabulary::Now;

const MAGIC: &[u8; 4] = b"HDR1";

/// Writes inputs to a growing buffer, which the owner may take away piece by piece.
pub struct Recorder {
    bytes: Vec<u8>,
}

/// Why bytes are no recording.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Not made by [`Recorder`], or by a later version of it.
    #[error("not a desk recording of a known version: it must begin with 'HDR1'")]
    Magic,
    /// Ends in the middle of an input.
    #[error("the desk recording is cut off {0} bytes in")]
    CutOff(usize),
    /// An input cannot be understood.
    #[error("the desk recording is damaged {0} bytes in: {1}")]
    Damaged(usize, String),
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder {
            bytes: MAGIC.to_vec(),
        }
    }
}

impl Recorder {
    /// Adds one input, before the desk is told it.
    pub fn record(&mut self, now: Now, input: &DeskInput) -> Result<(), RecordingError> {
        let at = self.bytes.len();
        let body = postcard::to_stdvec(&(now, input))
            .map_err(|e| RecordingError::Damaged(at, e.to_string()))?;
        let length = u32::try_from(body.len())
            .map_err(|_| RecordingError::Damaged(at, "an input of more than 4 GiB".to_owned()))?;
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(&body);
        Ok(())
    }

    /// What was recorded since the last call (with the magic the first time).
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// Reads a recording back.
pub fn read(bytes: &[u8]) -> Result<Vec<(Now, DeskInput)>, RecordingError> {
    let mut rest = bytes.strip_prefix(MAGIC).ok_or(RecordingError::Magic)?;
    let mut inputs = Vec::new();
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let (length, behind) = rest
            .split_first_chunk::<4>()
            .ok_or(RecordingError::CutOff(at))?;
        let length = u32::from_le_bytes(*length) as usize;
        let body = behind.get(..length).ok_or(RecordingError::CutOff(at))?;
        let input =
            postcard::from_bytes(body).map_err(|e| RecordingError::Damaged(at, e.to_string()))?;
        inputs.push(input);
        rest = &behind[length..];
    }
    Ok(inputs)
}

/// Tells a desk all of a recording and returns what it said.
pub fn replay(desk: &mut Desk, inputs: Vec<(Now, DeskInput)>) -> Vec<DeskEffect> {
    let mut effects = Vec::new();
    for (now, input) in inputs {
        desk.handle(now, input, &mut effects);
    }
    effects
}
