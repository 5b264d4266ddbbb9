//! Numbers, texts and sets as the stored forms write them.
//!
//! ```text
//! number     seven bits a byte, the lowest first; the high bit of a byte: more follow
//! signed     number with the sign in the lowest bit: 0, -1, 1, -2 are 0, 1, 2, 3
//! position   signed ledger, signed entry
//! text       number size, so many bytes of UTF-8
//! ack set    number words, so many words; bit set: message remains
//! entry set  number parts, each:
//!              number skip << 1 | form   begins `skip` behind the end of the part before (at first: entry 0)
//!              form 0  number more       this entry and so many more are in the set
//!              form 1  number words, so many words; bit set: entry is in the set
//! word       eight bytes, the lowest first; its lowest bit comes first
//! ```

use bytes::{BufMut, BytesMut};
use vocabulary::{AckSet, Position};

use crate::block::Block;
use crate::entry_set::{EntrySet, Part};

/// Entries of saved cursors have no higher numbers: more than any ledger can hold.
const ENTRY_MAX: u64 = 1 << 47;

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
        let mut from = 0u64;
        for _ in 0..self.number(what)? {
            let head = self.number(what)?;
            let size = self.number(what)?;
            let base = bounded(from, head >> 1, what)?;
            if head & 1 == 0 {
                let last = bounded(base, size, what)?;
                set.insert(base as i64, last as i64);
                from = last + 1;
            } else {
                from = bounded(base, size.saturating_mul(64), what)?;
                let bytes = self.take(size.saturating_mul(8), what)?;
                let (words, _) = bytes.as_chunks::<8>();
                for (word, at) in words.iter().zip((base..).step_by(64)) {
                    set.insert_word(at as i64, u64::from_le_bytes(*word));
                }
            }
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
    let mut parts = Parts::default();
    for part in set.parts() {
        match part {
            Part::Run { first, last } => parts.run(first, last),
            Part::Bits { base, block } => parts.bits(base, block),
        }
    }
    parts.flush();
    if let Some(bits) = as_words(set, parts.out.len()) {
        parts = bits;
    }
    put_number(out, parts.count);
    out.put_slice(&parts.out);
}

/// The whole set as words, if that is smaller.
fn as_words(set: &EntrySet, bytes_max: usize) -> Option<Parts> {
    let first = set.next_present(0)?;
    let base = first - first % 64;
    let (mut words, mut parts) = (Vec::new(), Parts::default());
    for (first, last) in set.runs() {
        let needed = usize::try_from((last - base) / 64 + 1).ok()?;
        if needed.saturating_mul(8) >= bytes_max {
            return None;
        }
        words.resize(needed, 0u64);
        for entry in first..=last {
            if let Some(word) = words.get_mut(((entry - base) / 64) as usize) {
                *word |= 1 << ((entry - base) % 64);
            }
        }
    }
    parts.words(base, &words);
    (parts.out.len() < bytes_max).then_some(parts)
}

/// The parts of an entry set, as they are written.
#[derive(Clone, Default)]
struct Parts {
    out: BytesMut,
    count: u64,
    /// The number behind the last part.
    from: i64,
    /// A run not written yet: the next one may go on where it ends.
    open: Option<(i64, i64)>,
}

impl Parts {
    fn run(&mut self, first: i64, last: i64) {
        match &mut self.open {
            Some((_, end)) if *end + 1 == first => *end = last,
            _ => {
                self.flush();
                self.open = Some((first, last));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((first, last)) = self.open.take() {
            self.head(first, 0);
            put_number(&mut self.out, last.abs_diff(first));
            self.from = last + 1;
        }
    }

    /// Whichever is smaller: the words or the runs in them.
    fn bits(&mut self, base: i64, block: &Block) {
        let mut as_runs = Parts {
            out: BytesMut::new(),
            ..*self
        };
        for (first, last) in block.runs() {
            as_runs.run(base + first as i64, base + last as i64);
        }
        let words = block.words();
        let skipped = words.iter().take_while(|word| **word == 0).count();
        let ended = words
            .iter()
            .rposition(|word| *word != 0)
            .map_or(0, |last| last + 1);
        let mut as_words = Parts {
            out: BytesMut::new(),
            ..*self
        };
        as_words.flush();
        as_words.words(
            base + skipped as i64 * 64,
            words.get(skipped..ended).unwrap_or_default(),
        );
        let mut closed = as_runs.clone();
        closed.flush();
        let chosen = if closed.out.len() <= as_words.out.len() {
            as_runs
        } else {
            as_words
        };
        self.out.put_slice(&chosen.out);
        (self.count, self.from, self.open) = (chosen.count, chosen.from, chosen.open);
    }

    fn words(&mut self, base: i64, words: &[u64]) {
        self.head(base, 1);
        put_number(&mut self.out, words.len() as u64);
        for word in words {
            self.out.put_u64_le(*word);
        }
        self.from = base + words.len() as i64 * 64;
    }

    fn head(&mut self, base: i64, form: u64) {
        put_number(&mut self.out, base.abs_diff(self.from) << 1 | form);
        self.count += 1;
    }
}

/// The sum, if entries are numbered that high.
fn bounded(from: u64, more: u64, what: &'static str) -> Result<u64, CursorError> {
    from.checked_add(more)
        .filter(|sum| *sum <= ENTRY_MAX)
        .ok_or(CursorError::Damaged(what))
}
