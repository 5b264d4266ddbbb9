//! Messages by name: `m0`, a batch `[b0 b1 b2]`, a chunk `big/2of3`, a marker `x:marker`, a message of some size
//! `m0:100000`, one published at a time `m0:@25`, and what a broker must not take: `m0:wrong-checksum`, `m0:unreadable`. A message's payload is its name
//! in angle brackets.

use bytes::{BufMut, Bytes, BytesMut};
use pulsar_wire::batch::{BatchBuilder, BatchWalk};
use pulsar_wire::entry::{EntryHeaders, encode_entry};
use pulsar_wire::peek::peek;
use pulsar_wire::proto::{MessageMetadata, SingleMessageMetadata};

/// An entry to be sent.
pub struct Parcel {
    pub label: String,
    pub messages: u32,
    pub is_chunk: bool,
    pub entry: Bytes,
}

/// An entry that was delivered.
pub struct Unpacked {
    /// Of its messages, in order; one if it is no batch.
    pub names: Vec<String>,
    pub is_batch: bool,
}

impl Unpacked {
    pub fn label(&self) -> String {
        match self.is_batch {
            true => format!("[{}]", self.names.join(" ")),
            false => self.names.join(" "),
        }
    }
}

/// Splits `m0 [b0 b1] m1` where it has to be.
pub fn tokens(line: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut open = false;
    for word in line.split_whitespace() {
        match tokens.last_mut().filter(|_| open) {
            Some(last) => *last += &format!(" {word}"),
            None => tokens.push(word.to_owned()),
        }
        open = (open || word.starts_with('[')) && !word.ends_with(']');
    }
    tokens
}

pub fn pack(token: &str, producer: &str, sequence_id: u64) -> Parcel {
    let mut metadata = MessageMetadata {
        producer_name: Some(producer.to_owned()),
        sequence_id: Some(sequence_id),
        publish_time: Some(1),
        ..Default::default()
    };
    if let Some(names) = token
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        let mut batch = BatchBuilder::new();
        for name in names.split(' ') {
            batch.push(
                SingleMessageMetadata::default(),
                payload(name, 0).as_slice(),
            );
        }
        metadata.num_messages_in_batch = Some(batch.count() as i32);
        return Parcel {
            label: token.to_owned(),
            messages: batch.count(),
            is_chunk: false,
            entry: encode_entry(&metadata, &batch.finish()),
        };
    }
    let (name, note) = token.split_once(':').unwrap_or((token, ""));
    let chunk = name.split_once('/').and_then(|(uuid, place)| {
        let (id, count) = place.split_once("of")?;
        Some((uuid, id.parse::<i32>().ok()?, count.parse::<i32>().ok()?))
    });
    if let Some((uuid, id, count)) = chunk {
        metadata.uuid = Some(uuid.to_owned());
        metadata.chunk_id = Some(id - 1);
        metadata.num_chunks_from_msg = Some(count);
        metadata.total_chunk_msg_size = Some(count * 10);
    }
    if let Some(time) = note.strip_prefix('@') {
        metadata.publish_time = time.parse().ok();
    }
    metadata.marker_type = (note == "marker").then_some(10);
    let entry = encode_entry(&metadata, &payload(name, note.parse().unwrap_or(0)));
    Parcel {
        label: name.to_owned(),
        messages: 1,
        is_chunk: chunk.is_some(),
        entry: match note {
            "wrong-checksum" => with_wrong_checksum(&entry),
            "unreadable" => unreadable(),
            _ => entry,
        },
    }
}

pub fn unpack(entry: &Bytes) -> Option<Unpacked> {
    let headers = EntryHeaders::parse(entry).ok()?;
    headers.verify_checksum().ok()?;
    let metadata = peek(headers.metadata).ok()?;
    let Some(count) = metadata.num_messages_in_batch else {
        return Some(Unpacked {
            names: vec![name_in(headers.payload)],
            is_batch: false,
        });
    };
    let batch = BatchWalk::new(entry.slice_ref(headers.payload), count as u32);
    let names: Result<Vec<String>, _> = batch
        .map(|message| message.map(|message| name_in(&message.payload)))
        .collect();
    Some(Unpacked {
        names: names.ok()?,
        is_batch: true,
    })
}

/// What of a message's payload is like no other's on the disk.
pub fn payload(name: &str, bytes: usize) -> Vec<u8> {
    let mut payload = format!("<{name}>").into_bytes();
    payload.resize(bytes.max(payload.len()), b'.');
    payload
}

fn name_in(payload: &[u8]) -> String {
    let text = String::from_utf8_lossy(payload);
    let name = text.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    name.map_or("?", |(name, _)| name).to_owned()
}

fn with_wrong_checksum(entry: &Bytes) -> Bytes {
    let mut bytes = BytesMut::from(entry.as_ref());
    // Magic number, then the checksum.
    bytes[5] = !bytes[5];
    bytes.freeze()
}

/// Metadata of three bytes that are none; without a checksum, which could only be right.
fn unreadable() -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u32(3);
    bytes.put_slice(&[0xff, 0xff, 0xff]);
    bytes.freeze()
}
