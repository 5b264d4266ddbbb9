//! Compiles `proto/*.proto` to Rust twice over: an altered copy of the descriptors becomes the types, the original
//! becomes the checks of required fields.
//!
//! The alteration keeps the wire form and changes the Rust only: BaseCommand's bodies become one `oneof cmd` (440 bytes
//! instead of 5 000), and `required` becomes `optional`, because prost fills an absent required field with its default
//! and nobody could tell.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet, OneofDescriptorProto};

#[path = "build/validators.rs"]
mod validators;

const PACKAGE: &str = ".pulsar.proto";

fn main() {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=build");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let original = protox::compile(["PulsarApi.proto", "PulsarMarkers.proto"], ["proto"])
        .expect("the proto files in proto/ compile");

    let messages = validators::messages_by_name(&original);
    fs::write(
        out.join("validators.rs"),
        validators::implementations(&messages),
    )
    .expect("OUT_DIR is writable");
    fs::write(
        out.join("commands.rs"),
        validators::command_names(&original),
    )
    .expect("OUT_DIR is writable");
    fs::write(
        out.join("validator_table.rs"),
        validators::test_table(&messages),
    )
    .expect("OUT_DIR is writable");
    fs::write(
        out.join("descriptors.bin"),
        prost::Message::encode_to_vec(&original),
    )
    .expect("OUT_DIR is writable");

    prost_build::Config::new()
        .bytes(["."])
        .out_dir(&out)
        .compile_fds(altered(original))
        .expect("the altered descriptors compile");
}

/// The descriptors the Rust types are made from.
fn altered(mut set: FileDescriptorSet) -> FileDescriptorSet {
    for file in &mut set.file {
        // prost-build 0.14.6 panics on source info that no longer matches the descriptors.
        file.source_code_info = None;
        for message in &mut file.message_type {
            if message.name() == "BaseCommand" {
                put_bodies_in_one_of(message);
            } else {
                message.field.iter_mut().for_each(make_optional);
            }
        }
    }
    set
}

fn make_optional(field: &mut FieldDescriptorProto) {
    if field.label() == Label::Required {
        field.set_label(Label::Optional);
    }
}

fn put_bodies_in_one_of(base_command: &mut DescriptorProto) {
    base_command.oneof_decl.push(OneofDescriptorProto {
        name: Some("cmd".into()),
        options: None,
    });
    for field in &mut base_command.field {
        if field.r#type() == Type::Message {
            field.oneof_index = Some(0);
        } else {
            // `type`: a required int32 has the same bytes as the enum, is always written, and reads as 0, which names
            // no command, where it is absent. As an enum its default would be CONNECT.
            field.set_type(Type::Int32);
            field.type_name = None;
        }
    }
}

/// Messages by their full name, leading dot included, as `type_name` refers to them.
type Messages = BTreeMap<String, DescriptorProto>;
