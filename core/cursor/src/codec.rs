//! Numbers, texts and sets as the stored forms write them.

use bytes::{BufMut, BytesMut};
use vocabulary::{AckSet, Position};

use crate::entry_set::EntrySet;

/// Why saved bytes are no cursor. Their text says what to do nothing about: the bytes are damaged, or newer than this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// The bytes end in the middle of something.
    #[error("the saved cursor is cut off: its {0} is incomplete")]
    CutOff(&'static str),
    /// A number or text cannot be what it should be.
    #[error("the saved cursor is damaged: its {0} makes no sense")]
    Damaged(&'static str),
    /// The first byte names a form this version does not know.
    #[error(
        "the saved cursor has form {found:#04x}, this version reads {known:#04x}: a newer version may have written it"
    )]
    Version {
        /// The byte found.
        found: u8,
        /// The one expected.
        known: u8,
    },
}

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub fn byte(&mut self, what: &'static str) -> Result<u8, CursorError> {
        let (byte, rest) = self.rest.split_first().ok_or(CursorError::CutOff(what))?;
        self.rest = rest;
        Ok(*byte)
    }

    pub fn take(&mut self, size: u64, what: &'static str) -> Result<&'a [u8], CursorError> {
        let size = usize::try_from(size).map_err(|_| CursorError::CutOff(what))?;
        let (taken, rest) = self
            .rest
            .split_at_checked(size)
            .ok_or(CursorError::CutOff(what))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Seven bits a byte, the lowest first; the high bit says that more follow.
    pub fn number(&mut self, what: &'static str) -> Result<u64, CursorError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(CursorError::Damaged(what))
    }

    /// A signed number, the sign in the lowest bit.
    pub fn signed(&mut self, what: &'static str) -> Result<i64, CursorError> {
        let number = self.number(what)?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    pub fn position(&mut self, what: &'static str) -> Result<Position, CursorError> {
        Ok(Position::new(self.signed(what)?, self.signed(what)?))
    }

    pub fn text(&mut self, what: &'static str) -> Result<String, CursorError> {
        let size = self.number(what)?;
        let bytes = self.take(size, what)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| CursorError::Damaged(what))
    }

    pub fn ack_set(&mut self, what: &'static str) -> Result<AckSet, CursorError> {
        let words = self.number(what)?;
        let bytes = self.take(words.checked_mul(8).ok_or(CursorError::CutOff(what))?, what)?;
        let (words, _) = bytes.as_chunks::<8>();
        let words: Vec<i64> = words.iter().map(|word| i64::from_le_bytes(*word)).collect();
        Ok(AckSet::from_wire(&words))
    }

    pub fn entry_set(&mut self, what: &'static str) -> Result<EntrySet, CursorError> {
        let mut set = EntrySet::default();
        let mut from = 0i64;
        for _ in 0..self.number(what)? {
            let gap = i64::try_from(self.number(what)?).map_err(|_| CursorError::Damaged(what))?;
            let more = i64::try_from(self.number(what)?).map_err(|_| CursorError::Damaged(what))?;
            let first = from.checked_add(gap).ok_or(CursorError::Damaged(what))?;
            let last = first.checked_add(more).ok_or(CursorError::Damaged(what))?;
            from = last.checked_add(2).ok_or(CursorError::Damaged(what))?;
            set.insert(first, last);
        }
        Ok(set)
    }

    pub fn end(&self) -> Result<(), CursorError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(CursorError::Damaged("end"))
        }
    }
}

pub(crate) fn put_number(out: &mut BytesMut, mut number: u64) {
    while number >= 0x80 {
        out.put_u8(number as u8 | 0x80);
        number >>= 7;
    }
    out.put_u8(number as u8);
}

pub(crate) fn put_signed(out: &mut BytesMut, number: i64) {
    put_number(out, ((number << 1) ^ (number >> 63)) as u64);
}

pub(crate) fn put_position(out: &mut BytesMut, position: Position) {
    put_signed(out, position.ledger);
    put_signed(out, position.entry);
}

pub(crate) fn put_text(out: &mut BytesMut, text: &str) {
    put_number(out, text.len() as u64);
    out.put_slice(text.as_bytes());
}

pub(crate) fn put_ack_set(out: &mut BytesMut, set: &AckSet) {
    put_number(out, set.words().len() as u64);
    for word in set.words() {
        out.put_u64_le(*word);
    }
}

pub(crate) fn put_entry_set(out: &mut BytesMut, set: &EntrySet) {
    put_number(out, set.runs().count() as u64);
    let mut from = 0;
    for (first, last) in set.runs() {
        put_number(out, (first - from).unsigned_abs());
        put_number(out, (last - first).unsigned_abs());
        from = last + 2;
    }
}
