//! Compiles `proto/ManagedLedger.proto` to Rust types.
//!
//! `required` becomes `optional` on the way (the bytes stay the same): prost fills an absent required
//! field with its default and nobody could tell; the modules under `forms` check what must be there.

use prost_types::field_descriptor_proto::Label;
use prost_types::{DescriptorProto, FileDescriptorSet};

fn main() {
    println!("cargo:rerun-if-changed=proto");
    let mut set = protox::compile(["ManagedLedger.proto"], ["proto"])
        .expect("the proto file in proto/ compiles");
    relax(&mut set);
    prost_build::Config::new()
        .bytes(["."])
        .compile_fds(set)
        .expect("the altered descriptors compile");
}

fn relax(set: &mut FileDescriptorSet) {
    for file in &mut set.file {
        // prost-build 0.14.6 panics on source info that no longer matches the descriptors.
        file.source_code_info = None;
        file.message_type.iter_mut().for_each(relax_message);
    }
}

fn relax_message(message: &mut DescriptorProto) {
    for field in &mut message.field {
        if field.label() == Label::Required {
            field.set_label(Label::Optional);
        }
    }
    message.nested_type.iter_mut().for_each(relax_message);
}
