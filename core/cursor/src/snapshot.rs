//! The whole state of a cursor as bytes.
//!
//! ```text
//! byte     0x01
//! number   sequence: deltas up to this one are contained
//! position mark
//! number   ledgers, each:   signed id, entry set (acknowledged ahead of the mark)
//! number   batches, each:   position, ack set (messages that remain)
//! number   properties, each: text name, signed value
//! number   texts, each:      text name, text value
//! ```
//! Numbers, positions, texts and sets are written as in `codec`. There is no read position: what was
//! delivered and not acknowledged is delivered again.

use bytes::{BufMut, Bytes, BytesMut};

use crate::codec::{
    CursorError, Reader, put_ack_set, put_entry_set, put_number, put_position, put_signed, put_text,
};
use crate::cursor::Cursor;

/// The form written, and the only one read so far.
pub const VERSION: u8 = 0x01;

pub(crate) fn encode(cursor: &Cursor, sequence: u64) -> Bytes {
    let mut out = BytesMut::new();
    out.put_u8(VERSION);
    put_number(&mut out, sequence);
    put_position(&mut out, cursor.mark);
    put_number(&mut out, cursor.ahead.ledgers().len() as u64);
    for (ledger, set) in cursor.ahead.ledgers() {
        put_signed(&mut out, *ledger);
        put_entry_set(&mut out, set);
    }
    put_number(&mut out, cursor.partial.len() as u64);
    for (position, set) in &cursor.partial {
        put_position(&mut out, *position);
        put_ack_set(&mut out, set);
    }
    put_number(&mut out, cursor.properties.len() as u64);
    for (name, value) in &cursor.properties {
        put_text(&mut out, name);
        put_signed(&mut out, *value);
    }
    put_number(&mut out, cursor.string_properties.len() as u64);
    for (name, value) in &cursor.string_properties {
        put_text(&mut out, name);
        put_text(&mut out, value);
    }
    out.freeze()
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Cursor, CursorError> {
    let mut reader = Reader::new(bytes);
    let found = reader.byte("version")?;
    if found != VERSION {
        return Err(CursorError::Version {
            found,
            known: VERSION,
        });
    }
    let sequence = reader.number("sequence")?;
    let mut cursor = Cursor::at(reader.position("mark")?);
    cursor.saving.sequence = sequence;
    for _ in 0..reader.number("ledgers")? {
        let ledger = reader.signed("ledger")?;
        cursor
            .ahead
            .union(ledger, reader.entry_set("acknowledged entries")?);
    }
    for _ in 0..reader.number("batches")? {
        let position = reader.position("batch")?;
        cursor.partial.insert(position, reader.ack_set("ack set")?);
    }
    for _ in 0..reader.number("properties")? {
        let name = reader.text("property")?;
        cursor.properties.insert(name, reader.signed("property")?);
    }
    for _ in 0..reader.number("text properties")? {
        let name = reader.text("text property")?;
        cursor
            .string_properties
            .insert(name, reader.text("text property")?);
    }
    reader.end()?;
    Ok(cursor)
}
