//! Commands by the names of the protocol's own tables, whatever fields they have.
//!
//! `SEND producer_id=1 sequence_id=0`: fields in the order of their numbers, nothing that is absent. Numbers that stand
//! for "none" (2^64-1) are written as -1. Bytes are a text where they are printable, else `0x` and hex digits.

use crate::node::{Node, Parts, TextError};
use bytes::Bytes;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value,
};
use pulsar_wire::Message;
use pulsar_wire::proto::BaseCommand;
use std::fmt::Write;
use std::sync::LazyLock;

/// `None` cannot happen: a test reads every command from it.
static BASE_COMMAND: LazyLock<Option<MessageDescriptor>> = LazyLock::new(|| {
    let pool = DescriptorPool::decode(pulsar_wire::proto::DESCRIPTORS).ok()?;
    pool.get_message_by_name("pulsar.proto.BaseCommand")
});

const TYPE: &str = "type";

/// The command that the parts of a line name. It is not checked: required fields may be missing.
///
/// # Errors
/// The protocol has no such command, field or value.
pub fn parse_command(parts: &Parts<'_>) -> Result<BaseCommand, TextError> {
    let unknown = || TextError::NoSuchCommand(parts.name.clone());
    let base = BASE_COMMAND.as_ref().ok_or_else(unknown)?;
    let number = type_of(base, &parts.name).ok_or_else(unknown)?;
    let field = u32::try_from(number)
        .ok()
        .and_then(|number| base.get_field(number));
    let field = field.ok_or_else(unknown)?;
    let Kind::Message(body) = field.kind() else {
        return Err(unknown());
    };
    let mut message = DynamicMessage::new(base.clone());
    message.set_field_by_name(TYPE, Value::EnumNumber(number));
    message.set_field(&field, Value::Message(message_of(body, &parts.fields)?));
    BaseCommand::decode(message.encode_to_vec().as_slice()).map_err(|_| unknown())
}

fn type_of(base: &MessageDescriptor, name: &str) -> Option<i32> {
    match base.get_field_by_name(TYPE)?.kind() {
        Kind::Enum(types) => Some(types.get_value_by_name(name)?.number()),
        _ => None,
    }
}

fn message_of(
    descriptor: MessageDescriptor,
    fields: &[(String, Node)],
) -> Result<DynamicMessage, TextError> {
    let mut message = DynamicMessage::new(descriptor.clone());
    for (name, node) in fields {
        let field = descriptor
            .get_field_by_name(name)
            .ok_or_else(|| TextError::NoSuchField {
                message: descriptor.name().to_owned(),
                field: name.clone(),
            })?;
        let value = match (field.is_list(), node) {
            (true, Node::List(nodes)) => {
                let values = nodes.iter().map(|node| value_of(&field, node));
                Value::List(values.collect::<Result<_, _>>()?)
            }
            (true, node) => return Err(bad_value(&field, node)),
            (false, node) => value_of(&field, node)?,
        };
        message.set_field(&field, value);
    }
    Ok(message)
}

fn bad_value(field: &FieldDescriptor, node: &Node) -> TextError {
    TextError::BadValue {
        field: field.name().to_owned(),
        kind: format!("{:?}", field.kind()),
        value: format!("{node:?}"),
    }
}

fn value_of(field: &FieldDescriptor, node: &Node) -> Result<Value, TextError> {
    let value = match (field.kind(), node) {
        (Kind::Message(descriptor), Node::Group(fields)) => {
            Some(Value::Message(message_of(descriptor, fields)?))
        }
        (Kind::String, Node::Text(text)) => Some(Value::String(text.clone())),
        (Kind::Bytes, Node::Text(text)) => Some(Value::Bytes(text.clone().into())),
        (Kind::Bytes, Node::Word(word)) => {
            word.strip_prefix("0x").and_then(from_hex).map(Value::Bytes)
        }
        (Kind::Bool, Node::Word(word)) => word.parse().ok().map(Value::Bool),
        (Kind::Enum(names), Node::Word(word)) => match word.parse() {
            Ok(number) => Some(Value::EnumNumber(number)),
            Err(_) => names
                .get_value_by_name(word)
                .map(|name| Value::EnumNumber(name.number())),
        },
        (Kind::Uint64, Node::Word(word)) if word == "-1" => Some(Value::U64(u64::MAX)),
        (Kind::Uint64, Node::Word(word)) => word.parse().ok().map(Value::U64),
        (Kind::Uint32, Node::Word(word)) => word.parse().ok().map(Value::U32),
        (Kind::Int64, Node::Word(word)) => word.parse().ok().map(Value::I64),
        (Kind::Int32, Node::Word(word)) => word.parse().ok().map(Value::I32),
        _ => None,
    };
    value.ok_or_else(|| bad_value(field, node))
}

/// A command as text. What has no name in our tables (a newer protocol's) is left out.
#[must_use]
pub fn print_command(command: &BaseCommand) -> String {
    print_known(command).unwrap_or_else(|| "UNKNOWN".to_owned())
}

fn print_known(command: &BaseCommand) -> Option<String> {
    let base = BASE_COMMAND.as_ref()?;
    let message = DynamicMessage::decode(base.clone(), command.encode_to_vec().as_slice()).ok()?;
    let (field, body) = message.fields().find(|(field, _)| field.name() != TYPE)?;
    let Kind::Enum(types) = base.get_field_by_name(TYPE)?.kind() else {
        return None;
    };
    let name = types.get_value(i32::try_from(field.number()).ok()?)?;
    let mut text = name.name().to_owned();
    if let Some(body) = body.as_message() {
        print_fields(body, &mut text, " ");
    }
    Some(text)
}

fn print_fields(message: &DynamicMessage, text: &mut String, before_first: &str) {
    let mut separator = before_first;
    for (field, value) in message.fields() {
        text.push_str(separator);
        separator = " ";
        text.push_str(field.name());
        text.push('=');
        print_value(&field, value, text);
    }
}

fn print_value(field: &FieldDescriptor, value: &Value, text: &mut String) {
    match (value, field.kind()) {
        (Value::EnumNumber(number), Kind::Enum(names)) => match names.get_value(*number) {
            Some(name) => text.push_str(name.name()),
            None => push(text, number),
        },
        (Value::Message(message), _) => {
            text.push('{');
            print_fields(message, text, "");
            text.push('}');
        }
        (Value::List(values), _) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                print_value(field, value, text);
            }
            text.push(']');
        }
        (Value::String(words), _) => quote(text, words),
        (Value::Bytes(bytes), _) => match std::str::from_utf8(bytes) {
            Ok(words) if !words.contains(|letter: char| letter.is_control()) => quote(text, words),
            _ => {
                text.push_str("0x");
                push_hex(text, bytes);
            }
        },
        (Value::U64(u64::MAX), _) => text.push_str("-1"),
        (Value::U64(number), _) => push(text, number),
        (Value::U32(number), _) => push(text, number),
        (Value::I64(number), _) => push(text, number),
        (Value::I32(number), _) => push(text, number),
        (Value::Bool(yes), _) => push(text, yes),
        (other, _) => push(text, format_args!("{other:?}")),
    }
}

fn push(text: &mut String, what: impl std::fmt::Display) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{what}");
}

/// As JSON writes it, so that any text comes back as it was.
fn quote(text: &mut String, words: &str) {
    push(text, serde_json::Value::from(words));
}

/// Appends two digits for each byte.
pub fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        push(text, format_args!("{byte:02x}"));
    }
}

/// What [`push_hex`] wrote; `None` if it is not that.
#[must_use]
pub fn from_hex(digits: &str) -> Option<Bytes> {
    let digits: Vec<u32> = digits
        .chars()
        .map(|digit| digit.to_digit(16))
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| {
        let bytes = pairs
            .iter()
            .filter_map(|[high, low]| u8::try_from(high * 16 + low).ok());
        bytes.collect()
    })
}
