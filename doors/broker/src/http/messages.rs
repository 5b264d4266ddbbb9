//! One entry as a page: its payload as the body, all that its metadata says in headers, as Pulsar does it.

use super::answer::Answer;
use super::topic_stats::when;
use compression::decompress;
use letters::StoredEntry;
use pulsar_wire::Message;
use pulsar_wire::entry::EntryHeaders;
use pulsar_wire::proto::{CompressionType, MessageMetadata};
use serde_json::{Map, Value};
use vocabulary::WallTime;

type Headers = Vec<(&'static str, String)>;

/// The page of an entry. A payload that is encrypted stays as it is; others are shown without their compression.
pub(super) fn page(entry: &StoredEntry) -> Answer {
    let read = EntryHeaders::parse(&entry.body).map_err(|error| error.to_string());
    let read = read.and_then(|headers| {
        let metadata = MessageMetadata::decode(headers.metadata);
        let metadata = metadata.map_err(|error| format!("its metadata is damaged: {error}"))?;
        Ok((headers.payload, metadata))
    });
    let (payload, metadata) = match read {
        Ok(read) => read,
        Err(error) => {
            let text = format!("the entry at {} cannot be read: {error}", entry.position);
            return Answer::refused(500, &text);
        }
    };
    let body = match metadata.encryption_keys.is_empty() {
        true => {
            let size = metadata.uncompressed_size();
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            decompress(metadata.compression(), payload, size)
        }
        false => Ok(payload.to_vec()),
    };
    match body {
        Ok(body) => {
            let headers = headers_of(entry, payload.len(), &metadata);
            Answer::bytes(body, headers)
        }
        Err(error) => {
            let text = format!("the entry at {} cannot be shown: {error}", entry.position);
            Answer::refused(500, &text)
        }
    }
}

/// How many messages an entry has, if it is a batch.
pub(super) fn batch_size(entry: &StoredEntry) -> Option<u32> {
    let headers = EntryHeaders::parse(&entry.body).ok()?;
    let metadata = MessageMetadata::decode(headers.metadata).ok()?;
    u32::try_from(metadata.num_messages_in_batch?).ok()
}

fn headers_of(entry: &StoredEntry, payload_bytes: usize, metadata: &MessageMetadata) -> Headers {
    let pairs = metadata.properties.iter();
    let properties: Map<String, Value> = pairs
        .map(|pair| (pair.key().to_owned(), Value::from(pair.value())))
        .collect();
    let time = |millis: u64| when(WallTime(millis));
    let mut headers: Headers = vec![
        ("x-pulsar-message-id", entry.position.to_string()),
        ("x-pulsar-property", Value::Object(properties).to_string()),
        ("x-pulsar-publish-time", time(metadata.publish_time())),
        (
            "x-pulsar-is-encrypted",
            (!metadata.encryption_keys.is_empty()).to_string(),
        ),
        (
            "x-pulsar-producer-name",
            metadata.producer_name().to_owned(),
        ),
        ("x-pulsar-sequence-id", metadata.sequence_id().to_string()),
        ("x-pulsar-txn-uncommitted", "false".to_owned()),
    ];
    let mut say = |name, value: Option<String>| {
        headers.extend(value.map(|value| (name, value)));
    };
    let number = |value: Option<i32>| value.map(|value| value.to_string());
    say("x-pulsar-event-time", metadata.event_time.map(time));
    let deliver_at = metadata.deliver_at_time;
    let deliver_at = deliver_at.and_then(|millis| u64::try_from(millis).ok());
    say("x-pulsar-deliver-at-time", deliver_at.map(time));
    let batch = metadata.num_messages_in_batch;
    say("x-pulsar-num-batch-message", number(batch));
    say(
        "x-pulsar-batch-size",
        batch.map(|_| payload_bytes.to_string()),
    );
    let null_value = metadata.null_value;
    say("x-pulsar-null-value", null_value.map(|is| is.to_string()));
    let chunks = metadata.num_chunks_from_msg;
    say("x-pulsar-property-total-chunks", number(chunks));
    say("x-pulsar-property-chunk-id", number(metadata.chunk_id));
    say("x-pulsar-num-chunks-from-msg", number(chunks));
    let total = metadata.total_chunk_msg_size;
    say("x-pulsar-total-chunk-msg-size", number(total));
    say("x-pulsar-chunk-id", number(metadata.chunk_id));
    say("x-pulsar-replicated-from", metadata.replicated_from.clone());
    for cluster in &metadata.replicate_to {
        say("x-pulsar-replicated-to", Some(cluster.clone()));
    }
    say("x-pulsar-partition-key", metadata.partition_key.clone());
    let codec = metadata.compression;
    let codec = codec.and_then(|codec| CompressionType::try_from(codec).ok());
    let codec = codec.map(|codec| codec.as_str_name().to_owned());
    say("x-pulsar-compression", codec);
    let size = metadata.uncompressed_size;
    say(
        "x-pulsar-uncompressed-size",
        size.map(|size| size.to_string()),
    );
    say("x-pulsar-encryption-algo", metadata.encryption_algo.clone());
    for key in &metadata.encryption_keys {
        let bytes = key.encode_to_vec();
        say("x-pulsar-base64-encryption-keys", Some(base64(&bytes)));
    }
    let of_bytes = |bytes: Option<&[u8]>| bytes.map(base64);
    let parameter = metadata.encryption_param.as_deref();
    say("x-pulsar-base64-encryption-param", of_bytes(parameter));
    let version = metadata.schema_version.as_deref();
    say("x-pulsar-base64-schema-version", of_bytes(version));
    let ordering = metadata.ordering_key.as_deref();
    say("x-pulsar-base64-ordering-key", of_bytes(ordering));
    let encoded = metadata.partition_key_b64_encoded;
    say(
        "x-pulsar-partition-key-b64-encoded",
        encoded.map(|is| is.to_string()),
    );
    say("x-pulsar-marker-type", number(metadata.marker_type));
    let highest = metadata.highest_sequence_id;
    say(
        "x-pulsar-highest-sequence-id",
        highest.map(|id| id.to_string()),
    );
    say("x-pulsar-uuid", metadata.uuid.clone());
    let null_key = metadata.null_partition_key;
    say(
        "x-pulsar-null-partition-key",
        null_key.map(|is| is.to_string()),
    );
    headers
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, at| {
            word << 8 | group.get(at).copied().map_or(0, u32::from)
        });
        for at in 0..4usize {
            let digit = (word >> (18 - 6 * at)) & 63;
            match DIGITS.get(digit as usize) {
                Some(digit) if at <= group.len() => text.push(char::from(*digit)),
                _ => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn bytes_are_written_as_rfc_4648_says() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, encoded) in pairs {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
