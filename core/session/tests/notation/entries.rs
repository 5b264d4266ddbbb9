//! Entries: `"payload"`, and what is special about them: `no-checksum`, `bad-checksum`, `batch=3`, `txn`,
//! `broker-metadata`; or `hex 0e01...`, or `zeros 100` for a payload of that size.

use bytes::{BufMut, Bytes, BytesMut};
use pulsar_wire::entry::{EntryHeaders, encode_entry};
use pulsar_wire::peek::peek;
use pulsar_wire::proto::MessageMetadata;

pub fn parse(line: &str, sequence_id: u64) -> Bytes {
    if let Some(hex) = line.strip_prefix("hex ") {
        return from_hex(hex).into();
    }
    let (payload, notes) = match line.strip_prefix("zeros ") {
        Some(size) => (vec![0; size.parse().expect("a size")], ""),
        None => {
            let quoted = line
                .strip_prefix('"')
                .and_then(|line| line.split_once('"'))
                .expect("a payload in quotes");
            (quoted.0.as_bytes().to_vec(), quoted.1)
        }
    };
    let notes: Vec<&str> = notes.split_whitespace().collect();
    let batch = notes
        .iter()
        .find_map(|note| note.strip_prefix("batch="))
        .map(|size| size.parse().expect("a size"));
    let metadata = MessageMetadata {
        producer_name: Some("p".to_owned()),
        sequence_id: Some(sequence_id),
        publish_time: Some(1),
        num_messages_in_batch: batch,
        txnid_most_bits: notes.contains(&"txn").then_some(1),
        ..Default::default()
    };
    let entry = encode_entry(&metadata, &payload);
    let mut out = BytesMut::new();
    if notes.contains(&"broker-metadata") {
        out.put_slice(&[0x0e, 0x02, 0, 0, 0, 0]);
    }
    match () {
        () if notes.contains(&"no-checksum") => out.put_slice(&entry[6..]),
        () if notes.contains(&"bad-checksum") => {
            out.put_slice(&entry[..5]);
            out.put_u8(!entry[5]);
            out.put_slice(&entry[6..]);
        }
        () => out.put_slice(&entry),
    }
    out.freeze()
}

pub fn print(entry: &[u8]) -> String {
    let Ok(headers) = EntryHeaders::parse(entry) else {
        return format!("{} unreadable bytes", entry.len());
    };
    let mut out = match std::str::from_utf8(headers.payload) {
        Ok(text) if text.len() < 50 => format!("{text:?}"),
        _ => format!("{} bytes", headers.payload.len()),
    };
    out += match (headers.checksum, headers.verify_checksum()) {
        (None, _) => " no-checksum",
        (Some(_), Err(_)) => " bad-checksum",
        (Some(_), Ok(())) => "",
    };
    if let Ok(Some(count)) = peek(headers.metadata).map(|metadata| metadata.num_messages_in_batch) {
        out += &format!(" batch={count}");
    }
    out
}

pub fn from_hex(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex
        .chars()
        .map(|digit| digit.to_digit(16).expect("hexadecimal digits"))
        .collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect()
}
