//! The messages of `proto/PulsarApi.proto` and `proto/PulsarMarkers.proto` as Rust types, generated.
//!
//! Two things differ from what the proto files say, and none of it on the wire: BaseCommand's bodies are the arms of
//! `base_command::Cmd`, and required fields are `Option` (see `validate`).

// Generated: its lints are prost's affair, its documentation is the protocol's.
#![allow(missing_docs, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/pulsar.proto.rs"));

/// `proto/PulsarApi.proto` and `proto/PulsarMarkers.proto` as they are, as an encoded FileDescriptorSet: for whoever needs the
/// names of fields.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
