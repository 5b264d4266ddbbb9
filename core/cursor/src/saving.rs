//! From a cursor to the records that are saved, and back.

use std::collections::BTreeMap;

use bytes::Bytes;
use letters::log::CursorRecord;

use crate::changes::Changes;
use crate::codec::CursorError;
use crate::cursor::Cursor;
use crate::{delta, snapshot};

/// Deltas of this size in sum are kept before a snapshot replaces them, or of the last snapshot's size if
/// that is larger: so the bytes written are at most twice those of the changes.
pub const DELTAS_BYTES_MIN: usize = 16 * 1024;

impl Cursor {
    /// The cursor that was saved: the newest snapshot and the deltas after it. Deltas the snapshot contains
    /// already change nothing. To be followed by [`Cursor::clamp`].
    ///
    /// # Errors
    /// If the bytes are damaged, or of a newer form.
    pub fn restore(snapshot: &[u8], deltas: &[Bytes]) -> Result<Cursor, CursorError> {
        let mut cursor = snapshot::decode(snapshot)?;
        let contained = cursor.saving.sequence;
        let mut ordered = Vec::with_capacity(deltas.len());
        for bytes in deltas {
            ordered.push((delta::sequence(bytes)?, bytes));
        }
        ordered.sort_by_key(|(sequence, _)| *sequence);
        for (sequence, bytes) in ordered {
            if sequence > contained {
                delta::apply(&mut cursor, bytes)?;
                cursor.saving.sequence = sequence;
                cursor.saving.deltas_bytes += bytes.len();
            }
        }
        cursor.saving.snapshot_bytes = snapshot.len();
        cursor.tidy();
        Ok(cursor)
    }

    /// Whether there is something to save.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.saving.snapshot_due || !self.changes.is_empty()
    }

    /// All that changed since the last record was taken; `None` if nothing did. Mostly a delta; a snapshot
    /// where the deltas have outgrown the last one, after a save that failed, and after a seek.
    pub fn take_record(&mut self) -> Option<CursorRecord> {
        if !self.is_dirty() {
            return None;
        }
        let sequence = self.saving.sequence.saturating_add(1);
        self.saving.sequence = sequence;
        if !self.saving.snapshot_due {
            let bytes = delta::encode(self, sequence);
            let deltas_bytes = self.saving.deltas_bytes.saturating_add(bytes.len());
            if deltas_bytes <= self.saving.snapshot_bytes.max(DELTAS_BYTES_MIN) {
                self.saving.deltas_bytes = deltas_bytes;
                self.changes = Changes::default();
                return Some(CursorRecord::Delta(bytes));
            }
        }
        let bytes = snapshot::encode(self, sequence);
        self.saving.snapshot_due = false;
        self.saving.snapshot_bytes = bytes.len();
        self.saving.deltas_bytes = 0;
        self.changes = Changes::default();
        Some(CursorRecord::Snapshot(bytes))
    }

    /// A record taken was not saved, or perhaps not: the next one is a snapshot.
    pub fn save_failed(&mut self) {
        self.snapshot_is_due();
    }

    /// The whole state, to create the saved cursor with. Later records count from here.
    #[must_use]
    pub fn snapshot_bytes(&self) -> Bytes {
        snapshot::encode(self, self.saving.sequence)
    }

    /// The properties that clients set with their acks, and the broker for itself.
    #[must_use]
    pub fn properties(&self) -> &BTreeMap<String, i64> {
        &self.properties
    }

    /// Sets a property, or removes it (`None`).
    pub fn set_property(&mut self, name: &str, value: Option<i64>) {
        if set(&mut self.properties, name, value) && self.is_durable() {
            self.changes.properties.insert(name.to_owned());
        }
    }

    /// Replaces all properties, as a cumulative ack with properties does.
    pub fn replace_properties(&mut self, properties: BTreeMap<String, i64>) {
        let gone: Vec<String> = self
            .properties
            .keys()
            .filter(|name| !properties.contains_key(*name))
            .cloned()
            .collect();
        for name in gone {
            self.set_property(&name, None);
        }
        for (name, value) in properties {
            self.set_property(&name, Some(value));
        }
    }

    /// The properties of the subscription that are texts.
    #[must_use]
    pub fn string_properties(&self) -> &BTreeMap<String, String> {
        &self.string_properties
    }

    /// Sets a text property, or removes it (`None`).
    pub fn set_string_property(&mut self, name: &str, value: Option<String>) {
        if set(&mut self.string_properties, name, value) && self.is_durable() {
            self.changes.string_properties.insert(name.to_owned());
        }
    }

    /// What records tell one by one may contradict each other: the mark wins over the rest, whole entries over batches.
    fn tidy(&mut self) {
        self.forget_to_mark();
        let done: Vec<_> = self
            .partial
            .iter()
            .filter(|(_, set)| set.is_empty())
            .map(|(at, _)| *at)
            .collect();
        for position in done {
            self.ahead.insert(crate::ahead::Run {
                ledger: position.ledger,
                first: position.entry,
                last: position.entry,
            });
        }
        let ahead = &self.ahead;
        self.partial
            .retain(|position, set| !set.is_empty() && !ahead.contains(*position));
    }
}

/// Sets or removes; says whether that changed anything.
fn set<V: PartialEq>(properties: &mut BTreeMap<String, V>, name: &str, value: Option<V>) -> bool {
    if properties.get(name) == value.as_ref() {
        return false;
    }
    match value {
        Some(value) => properties.insert(name.to_owned(), value),
        None => properties.remove(name),
    };
    true
}
