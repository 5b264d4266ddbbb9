//! Every required field of every message, taken out in turn: the message is refused and the error names the field.
//!
//! The messages are built from the original descriptors by reflection, so nothing here shares code with what is tested.

use bytes::{BufMut, BytesMut};
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor,
    ReflectMessage, Value,
};
use pulsar_wire::Message;
use pulsar_wire::frame::{FrameError, decode_frame, encode_command, encode_payload_header};
use pulsar_wire::validate::{InvalidCommand, MissingField};

type DecodeAndValidate = fn(&[u8]) -> Result<(), MissingField>;

/// Written by the build script: every message but BaseCommand.
const MESSAGES: &[(&str, DecodeAndValidate)] =
    include!(concat!(env!("OUT_DIR"), "/validator_table.rs"));

/// How deep messages that may hold their own kind are filled.
const DEPTH: usize = 3;

fn descriptors() -> DescriptorPool {
    let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
    DescriptorPool::decode(&bytes[..]).unwrap()
}

fn descriptor(name: &str) -> MessageDescriptor {
    descriptors()
        .get_message_by_name(&format!("pulsar.proto.{name}"))
        .unwrap()
}

fn some_value(field: &FieldDescriptor, depth: usize) -> Value {
    match field.kind() {
        Kind::Message(inner) => Value::Message(filled(&inner, depth - 1)),
        // The last value: defaults are the first.
        Kind::Enum(kind) => Value::EnumNumber(kind.values().last().unwrap().number()),
        Kind::String => Value::String("text".into()),
        Kind::Bytes => Value::Bytes("bytes".into()),
        Kind::Bool => Value::Bool(true),
        Kind::Int32 => Value::I32(-7),
        Kind::Int64 => Value::I64(-7),
        Kind::Uint32 => Value::U32(7),
        Kind::Uint64 => Value::U64(u64::MAX),
        Kind::Double => Value::F64(0.5),
        kind => panic!("{kind:?} is not in Pulsar's protocol"),
    }
}

/// A message with every field set, required ones at any depth, others down to `depth`.
fn filled(descriptor: &MessageDescriptor, depth: usize) -> DynamicMessage {
    let mut message = DynamicMessage::new(descriptor.clone());
    for field in descriptor.fields() {
        if depth <= 1 && field.cardinality() != Cardinality::Required {
            continue;
        }
        let value = some_value(&field, depth.max(2));
        let value = if field.is_list() {
            Value::List(vec![value])
        } else {
            value
        };
        message.set_field(&field, value);
    }
    message
}

struct Lacking {
    message: String,
    field: String,
    bytes: DynamicMessage,
}

/// The message once for each required field in it or inside it, without that field.
fn lacking_each(whole: &DynamicMessage) -> Vec<Lacking> {
    let mut out = Vec::new();
    for field in whole
        .descriptor()
        .fields()
        .filter(|field| whole.has_field(field))
    {
        if field.cardinality() == Cardinality::Required {
            let mut bytes = whole.clone();
            bytes.clear_field(&field);
            let message = whole.descriptor().name().to_owned();
            out.push(Lacking {
                message,
                field: field.name().to_owned(),
                bytes,
            });
        }
        let value = whole.get_field(&field);
        let inner = value.as_list().map_or(value.as_ref(), |list| &list[0]);
        let Some(inner) = inner.as_message() else {
            continue;
        };
        for lacking in lacking_each(inner) {
            let mut bytes = whole.clone();
            let value = Value::Message(lacking.bytes);
            bytes.set_field(
                &field,
                if field.is_list() {
                    Value::List(vec![value])
                } else {
                    value
                },
            );
            out.push(Lacking { bytes, ..lacking });
        }
    }
    out
}

fn assert_names(lacking: &Lacking, missing: MissingField) {
    assert_eq!(
        (missing.message, missing.field),
        (&lacking.message[..], &lacking.field[..])
    );
}

#[test]
fn every_message_lacking_a_required_field_is_refused() {
    let mut own_fields = 0;
    for (name, decode_and_validate) in MESSAGES {
        let whole = filled(&descriptor(name), DEPTH);
        assert_eq!(
            decode_and_validate(&whole.encode_to_vec()),
            Ok(()),
            "{name}"
        );
        for lacking in lacking_each(&whole) {
            let refused = decode_and_validate(&lacking.bytes.encode_to_vec());
            assert_names(&lacking, refused.expect_err(name));
        }
        own_fields += required_count(&descriptor(name));
    }
    // BaseCommand.type is the one that is checked elsewhere.
    assert_eq!(own_fields + 1, required_in_proto_files());
}

fn required_count(descriptor: &MessageDescriptor) -> usize {
    descriptor
        .fields()
        .filter(|field| field.cardinality() == Cardinality::Required)
        .count()
}

fn required_in_proto_files() -> usize {
    [
        include_str!("../proto/PulsarApi.proto"),
        include_str!("../proto/PulsarMarkers.proto"),
    ]
    .iter()
    .flat_map(|file| file.lines())
    .filter(|line| line.trim_start().starts_with("required "))
    .count()
}

/// A frame of a command given by reflection.
fn frame_of(command: &DynamicMessage, payload: &[u8]) -> BytesMut {
    let command = command.encode_to_vec();
    let mut out = BytesMut::new();
    out.put_u32((4 + command.len() + payload.len()) as u32);
    out.put_u32(command.len() as u32);
    out.put_slice(&command);
    out.put_slice(payload);
    out
}

/// Every command with every field set, and the payload its frame needs.
fn every_command() -> Vec<(DynamicMessage, &'static [u8])> {
    let base = descriptor("BaseCommand");
    let bodies = base
        .fields()
        .filter(|field| matches!(field.kind(), Kind::Message(_)));
    bodies
        .map(|body| {
            let mut command = DynamicMessage::new(base.clone());
            command.set_field_by_name("type", Value::EnumNumber(body.number() as i32));
            command.set_field(&body, some_value(&body, DEPTH + 1));
            let carries_payload = ["send", "message"].contains(&body.name());
            (command, if carries_payload { &b"entry"[..] } else { b"" })
        })
        .collect()
}

#[test]
fn every_command_passes_whole_and_comes_back_byte_for_byte() {
    let commands = every_command();
    assert_eq!(commands.len(), 70);
    for (command, payload) in commands {
        let bytes = frame_of(&command, payload);
        let frame = decode_frame(&mut bytes.clone(), u32::MAX).unwrap().unwrap();
        assert_eq!(frame.payload.as_deref().unwrap_or_default(), payload);
        let mut again = BytesMut::new();
        match &frame.payload {
            None => encode_command(&frame.command, &mut again),
            Some(payload) => {
                encode_payload_header(&frame.command, payload.len(), &mut again);
                again.put_slice(payload);
            }
        }
        assert_eq!(again, bytes, "{command:?}");
        assert_eq!(frame.command.encode_to_vec(), command.encode_to_vec());
    }
}

#[test]
fn every_command_lacking_a_required_field_is_refused() {
    for (command, payload) in every_command() {
        for lacking in lacking_each(&command) {
            let refused = decode_frame(&mut frame_of(&lacking.bytes, payload), u32::MAX);
            match refused {
                Err(FrameError::Invalid(InvalidCommand::MissingField(missing))) => {
                    assert_names(&lacking, missing);
                }
                other => panic!("{} without {}: {other:?}", lacking.message, lacking.field),
            }
        }
    }
}
