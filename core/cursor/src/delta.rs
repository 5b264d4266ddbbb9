//! What changed in a cursor since the record before, as bytes.
//!
//! ```text
//! byte     0x81
//! number   sequence
//! byte     1: a mark follows, 0: none
//! position mark, if told
//! number   ledgers, each:    signed id, entry set (newly acknowledged)
//! number   batches, each:    position, ack set (messages that remain)
//! number   properties, each: text name, byte 1 and signed value, or byte 0: removed
//! number   texts, each:      text name, byte 1 and text value, or byte 0: removed
//! ```

use bytes::{BufMut, Bytes, BytesMut};

use crate::codec::{
    CursorError, Reader, put_ack_set, put_entry_set, put_number, put_position, put_signed, put_text,
};
use crate::cursor::Cursor;

/// The form written, and the only one read so far.
pub const VERSION: u8 = 0x81;

pub(crate) fn encode(cursor: &Cursor, sequence: u64) -> Bytes {
    let changes = &cursor.changes;
    let mut out = BytesMut::new();
    out.put_u8(VERSION);
    put_number(&mut out, sequence);
    out.put_u8(u8::from(changes.mark_moved));
    if changes.mark_moved {
        put_position(&mut out, cursor.mark);
    }
    put_number(&mut out, changes.acked.ledgers().len() as u64);
    for (ledger, set) in changes.acked.ledgers() {
        put_signed(&mut out, *ledger);
        put_entry_set(&mut out, set);
    }
    let batches = || {
        changes
            .partial
            .iter()
            .filter_map(|position| Some((position, cursor.partial.get(position)?)))
    };
    put_number(&mut out, batches().count() as u64);
    for (position, set) in batches() {
        put_position(&mut out, *position);
        put_ack_set(&mut out, set);
    }
    put_number(&mut out, changes.properties.len() as u64);
    for name in &changes.properties {
        put_text(&mut out, name);
        let value = cursor.properties.get(name);
        out.put_u8(u8::from(value.is_some()));
        if let Some(value) = value {
            put_signed(&mut out, *value);
        }
    }
    put_number(&mut out, changes.string_properties.len() as u64);
    for name in &changes.string_properties {
        put_text(&mut out, name);
        let value = cursor.string_properties.get(name);
        out.put_u8(u8::from(value.is_some()));
        if let Some(value) = value {
            put_text(&mut out, value);
        }
    }
    out.freeze()
}

/// The sequence number of a delta.
pub(crate) fn sequence(bytes: &[u8]) -> Result<u64, CursorError> {
    header(&mut Reader::new(bytes))
}

/// Adds what a delta tells to the cursor. Told twice, or in another order, it says the same of what is acknowledged.
pub(crate) fn apply(cursor: &mut Cursor, bytes: &[u8]) -> Result<(), CursorError> {
    let mut reader = Reader::new(bytes);
    header(&mut reader)?;
    if flag(&mut reader, "mark")? {
        cursor.mark = cursor.mark.max(reader.position("mark")?);
    }
    for _ in 0..reader.number("ledgers")? {
        let ledger = reader.signed("ledger")?;
        cursor
            .ahead
            .union(ledger, reader.entry_set("acknowledged entries")?);
    }
    for _ in 0..reader.number("batches")? {
        let position = reader.position("batch")?;
        let set = reader.ack_set("ack set")?;
        cursor
            .partial
            .entry(position)
            .and_modify(|known| known.intersect(&set))
            .or_insert(set);
    }
    for _ in 0..reader.number("properties")? {
        let name = reader.text("property")?;
        if flag(&mut reader, "property")? {
            cursor.properties.insert(name, reader.signed("property")?);
        } else {
            cursor.properties.remove(&name);
        }
    }
    for _ in 0..reader.number("text properties")? {
        let name = reader.text("text property")?;
        if flag(&mut reader, "text property")? {
            cursor
                .string_properties
                .insert(name, reader.text("text property")?);
        } else {
            cursor.string_properties.remove(&name);
        }
    }
    reader.end()
}

fn header(reader: &mut Reader<'_>) -> Result<u64, CursorError> {
    let found = reader.byte("version")?;
    if found != VERSION {
        return Err(CursorError::Version {
            found,
            known: VERSION,
        });
    }
    reader.number("sequence")
}

fn flag(reader: &mut Reader<'_>, what: &'static str) -> Result<bool, CursorError> {
    match reader.byte(what)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(CursorError::Damaged(what)),
    }
}
