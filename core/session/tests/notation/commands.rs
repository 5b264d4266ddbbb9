//! Commands by the names of the protocol's own tables, whatever fields they have.

use super::entries;
use super::text::{self, Node};
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value,
};
use pulsar_wire::Message;
use pulsar_wire::frame::Frame;
use pulsar_wire::proto::BaseCommand;
use std::sync::LazyLock;

static BASE_COMMAND: LazyLock<MessageDescriptor> = LazyLock::new(|| {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../../wire/pulsar-wire/proto");
    let files = protox::compile(["PulsarApi.proto"], [proto]).expect("the protocol's tables");
    let pool = DescriptorPool::from_file_descriptor_set(files).expect("whole tables");
    pool.get_message_by_name("pulsar.proto.BaseCommand")
        .expect("BaseCommand")
});

/// A frame from `COMMAND field=value ... [+ entry]`. Not checked: required fields may be missing.
pub fn parse_frame(line: &str) -> Frame {
    let (name, fields, entry) = text::parse(line);
    let command = parse_command(&name, &fields);
    let payload = entry.map(|entry| entries::parse(entry, sequence_id(&fields)));
    Frame { command, payload }
}

fn sequence_id(fields: &[(String, Node)]) -> u64 {
    let sequence_id = fields.iter().find(|(name, _)| name == "sequence_id");
    match sequence_id {
        Some((_, Node::Word(number))) => number.parse().expect("a sequence id"),
        _ => 0,
    }
}

fn parse_command(name: &str, fields: &[(String, Node)]) -> BaseCommand {
    let types = BASE_COMMAND.get_field_by_name("type").expect("type");
    let Kind::Enum(types) = types.kind() else {
        panic!("type is an enum")
    };
    let number = types
        .get_value_by_name(name)
        .unwrap_or_else(|| panic!("no command {name}"))
        .number();
    let field = BASE_COMMAND
        .get_field(number as u32)
        .expect("a body of that number");
    let Kind::Message(body) = field.kind() else {
        panic!("bodies are messages")
    };
    let mut message = DynamicMessage::new(BASE_COMMAND.clone());
    message.set_field_by_name("type", Value::EnumNumber(number));
    message.set_field(&field, Value::Message(message_of(body, fields)));
    BaseCommand::decode(message.encode_to_vec().as_slice()).expect("what we encoded")
}

fn message_of(descriptor: MessageDescriptor, fields: &[(String, Node)]) -> DynamicMessage {
    let mut message = DynamicMessage::new(descriptor.clone());
    for (name, node) in fields {
        let field = descriptor.get_field_by_name(name);
        let field = field.unwrap_or_else(|| panic!("{} has no field {name}", descriptor.name()));
        let value = match (field.is_list(), node) {
            (true, Node::List(nodes)) => {
                Value::List(nodes.iter().map(|node| value_of(&field, node)).collect())
            }
            (true, _) => panic!("{name} wants a list"),
            (false, node) => value_of(&field, node),
        };
        message.set_field(&field, value);
    }
    message
}

fn value_of(field: &FieldDescriptor, node: &Node) -> Value {
    match (field.kind(), node) {
        (Kind::Message(descriptor), Node::Group(fields)) => {
            Value::Message(message_of(descriptor, fields))
        }
        (Kind::String, Node::Text(text)) => Value::String(text.clone()),
        (Kind::Bytes, Node::Text(text)) => Value::Bytes(text.clone().into()),
        (Kind::Bool, Node::Word(word)) => Value::Bool(word == "true"),
        (Kind::Enum(names), Node::Word(word)) => match word.parse() {
            Ok(number) => Value::EnumNumber(number),
            Err(_) => Value::EnumNumber(
                names
                    .get_value_by_name(word)
                    .expect("a name of that enum")
                    .number(),
            ),
        },
        (Kind::Uint64, Node::Word(word)) if word == "-1" => Value::U64(u64::MAX),
        (Kind::Uint64, Node::Word(word)) => Value::U64(word.parse().expect("a number")),
        (Kind::Uint32, Node::Word(word)) => Value::U32(word.parse().expect("a number")),
        (Kind::Int64, Node::Word(word)) => Value::I64(word.parse().expect("a number")),
        (Kind::Int32, Node::Word(word)) => Value::I32(word.parse().expect("a number")),
        (kind, node) => panic!("{} is {kind:?}, not {node:?}", field.name()),
    }
}

/// A command in the same form, fields in the order of their numbers.
pub fn print(command: &BaseCommand) -> String {
    command.validate().expect("the broker sends whole commands");
    let message = DynamicMessage::decode(BASE_COMMAND.clone(), command.encode_to_vec().as_slice())
        .expect("a command");
    let (field, body) = message
        .fields()
        .find(|(field, _)| field.name() != "type")
        .expect("a body");
    let types = BASE_COMMAND.get_field_by_name("type").expect("type");
    let Kind::Enum(types) = types.kind() else {
        panic!("type is an enum")
    };
    let name = types
        .get_value(field.number() as i32)
        .expect("a type of that number");
    let fields = body.as_message().map(print_fields).unwrap_or_default();
    format!("{} {fields}", name.name()).trim_end().to_owned()
}

fn print_fields(message: &DynamicMessage) -> String {
    let fields: Vec<_> = message
        .fields()
        .map(|(field, value)| print_field(&field, value))
        .collect();
    fields.join(" ")
}

fn print_field(field: &FieldDescriptor, value: &Value) -> String {
    format!("{}={}", field.name(), print_value(field, value))
}

fn print_value(field: &FieldDescriptor, value: &Value) -> String {
    match (value, field.kind()) {
        (Value::EnumNumber(number), Kind::Enum(names)) => match names.get_value(*number) {
            Some(name) => name.name().to_owned(),
            None => number.to_string(),
        },
        (Value::Message(message), _) => format!("{{{}}}", print_fields(message)),
        (Value::List(values), _) => {
            let values: Vec<_> = values
                .iter()
                .map(|value| print_value(field, value))
                .collect();
            format!("[{}]", values.join(" "))
        }
        (Value::String(text), _) => format!("{text:?}"),
        (Value::Bytes(bytes), _) => format!("{:?}", String::from_utf8_lossy(bytes)),
        (Value::U64(u64::MAX), _) => "-1".to_owned(),
        (Value::U64(number), _) => number.to_string(),
        (Value::U32(number), _) => number.to_string(),
        (Value::I64(number), _) => number.to_string(),
        (Value::I32(number), _) => number.to_string(),
        (Value::Bool(yes), _) => yes.to_string(),
        (other, _) => format!("{other:?}"),
    }
}
