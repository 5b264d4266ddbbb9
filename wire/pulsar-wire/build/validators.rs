//! Writes Rust from the original descriptors: `validate()` per message, names of commands, and a table for the tests.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{FieldDescriptorProto, FileDescriptorSet, Label, Messages, PACKAGE, Type};

const BASE_COMMAND: &str = "BaseCommand";

/// An open enum: newer brokers append codes, and a code we do not know still says "it failed".
const OPEN_ENUM: &str = ".pulsar.proto.ServerError";

pub fn messages_by_name(set: &FileDescriptorSet) -> Messages {
    set.file
        .iter()
        .flat_map(|file| &file.message_type)
        .map(|message| {
            assert!(
                message.nested_type.is_empty(),
                "nested messages are not in Pulsar's protocol: {}",
                message.name()
            );
            (format!("{PACKAGE}.{}", message.name()), message.clone())
        })
        .collect()
}

/// `impl <Message> { pub fn validate(..) }` for every message but BaseCommand, whose check is written by hand.
pub fn implementations(messages: &Messages) -> String {
    let checked = messages_to_check(messages);
    let mut out = String::new();
    for (full_name, message) in messages {
        if message.name() == BASE_COMMAND {
            continue;
        }
        let name = rust_type(message.name());
        let mut body = String::new();
        for field in &message.field {
            check_field(&mut body, message.name(), field, &checked);
        }
        let note = if checked.contains(full_name) {
            "Whether every required field is there, in this message and those inside it."
        } else {
            "Nothing is required in this message; it is here so that callers need not know."
        };
        writeln!(
            out,
            "impl crate::proto::{name} {{\n/// {note}\npub fn validate(&self) -> Result<(), MissingField> {{\n{body}Ok(())\n}}\n}}"
        )
        .expect("a String takes text");
    }
    out
}

/// Messages that have a required field, or can hold a message that has one.
fn messages_to_check(messages: &Messages) -> BTreeSet<String> {
    let mut checked = BTreeSet::new();
    loop {
        let before = checked.len();
        for (full_name, message) in messages {
            let needs = |field: &FieldDescriptorProto| {
                field.label() == Label::Required || checked.contains(field.type_name())
            };
            if message.field.iter().any(needs) {
                checked.insert(full_name.clone());
            }
        }
        if checked.len() == before {
            return checked;
        }
    }
}

fn check_field(
    out: &mut String,
    message: &str,
    field: &FieldDescriptorProto,
    checked: &BTreeSet<String>,
) {
    let name = rust_field(field.name());
    let missing = format!(
        "Err(MissingField {{ message: {message:?}, field: {:?} }})",
        field.name()
    );
    let inner = checked.contains(field.type_name());
    let code = match (field.label(), field.r#type()) {
        (Label::Required, Type::Message) if inner => format!(
            "match &self.{name} {{ Some(inner) => inner.validate()?, None => return {missing} }}"
        ),
        // Proto2: a value the enum does not have counts as absent.
        (Label::Required, Type::Enum) if field.type_name() != OPEN_ENUM => {
            let path = rust_enum_path(field.type_name());
            format!(
                "if self.{name}.and_then(|value| {path}::try_from(value).ok()).is_none() {{ return {missing}; }}"
            )
        }
        (Label::Required, _) => format!("if self.{name}.is_none() {{ return {missing}; }}"),
        (Label::Optional, _) if inner => {
            format!("if let Some(inner) = &self.{name} {{ inner.validate()?; }}")
        }
        (Label::Repeated, _) if inner => {
            format!("for inner in &self.{name} {{ inner.validate()?; }}")
        }
        _ => return,
    };
    writeln!(out, "{code}").expect("a String takes text");
}

/// For every body of BaseCommand: its type, and its check.
pub fn command_names(set: &FileDescriptorSet) -> String {
    let messages = messages_by_name(set);
    let base = &messages[&format!("{PACKAGE}.{BASE_COMMAND}")];
    let types = &base.enum_type[0].value;
    let (mut type_arms, mut check_arms) = (String::new(), String::new());
    for field in base
        .field
        .iter()
        .filter(|field| field.r#type() == Type::Message)
    {
        let value = types.iter().find(|value| value.number == field.number);
        let value = value
            .unwrap_or_else(|| panic!("no BaseCommand.Type has the number of {}", field.name()));
        let (arm, kind) = (
            upper_camel(field.name()),
            upper_camel(&value.name().to_lowercase()),
        );
        writeln!(type_arms, "Cmd::{arm}(_) => Type::{kind},").expect("a String takes text");
        writeln!(check_arms, "Cmd::{arm}(body) => body.validate(),").expect("a String takes text");
    }
    format!(
        "impl Cmd {{\n\
         /// The `type` that belongs to this body.\n\
         pub fn command_type(&self) -> Type {{\nmatch self {{\n{type_arms}}}\n}}\n\
         /// Whether every required field of the body is there.\n\
         pub fn validate(&self) -> Result<(), MissingField> {{\nmatch self {{\n{check_arms}}}\n}}\n}}\n"
    )
}

/// `(name, decode and validate)` of every message, so that a test can go through them all by name.
pub fn test_table(messages: &Messages) -> String {
    let mut out = String::from("&[\n");
    for message in messages
        .values()
        .filter(|message| message.name() != BASE_COMMAND)
    {
        let name = rust_type(message.name());
        writeln!(
            out,
            "({:?}, |bytes| pulsar_wire::proto::{name}::decode(bytes).expect(\"decodes\").validate()),",
            message.name()
        )
        .expect("a String takes text");
    }
    out.push(']');
    out
}

/// prost's name for a message: `ScalableTopicDAG` becomes `ScalableTopicDag`.
fn rust_type(name: &str) -> String {
    upper_camel(&snake(name))
}

fn rust_enum_path(type_name: &str) -> String {
    let local = type_name
        .strip_prefix(PACKAGE)
        .expect("our package")
        .trim_start_matches('.');
    match local.split_once('.') {
        Some((message, name)) => format!("crate::proto::{}::{}", snake(message), rust_type(name)),
        None => format!("crate::proto::{}", rust_type(local)),
    }
}

fn rust_field(name: &str) -> String {
    let name = snake(name);
    if name == "type" {
        format!("r#{name}")
    } else {
        name
    }
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut previous_is_lower = false;
    let letters: Vec<char> = name.chars().collect();
    for (at, letter) in letters.iter().enumerate() {
        let next_is_lower = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase()
            && at > 0
            && (previous_is_lower || next_is_lower)
            && !out.ends_with('_')
        {
            out.push('_');
        }
        previous_is_lower = letter.is_lowercase() || letter.is_ascii_digit();
        out.extend(letter.to_lowercase());
    }
    out
}

fn upper_camel(name: &str) -> String {
    snake(name)
        .split('_')
        .filter_map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_uppercase().chain(letters).collect::<String>())
        })
        .collect()
}
