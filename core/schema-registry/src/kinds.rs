//! The types of schemas, and what the definition of each may look like.

use letters::{Refusal, RefusalCode, SchemaText};

/// The protocol's number for "no schema".
pub const NONE: i32 = 0;
/// The protocol's number for "whatever the topic has"; only consumers say it.
pub const AUTO_CONSUME: i32 = 21;

const JSON: i32 = 2;
const PROTOBUF: i32 = 3;
const AVRO: i32 = 4;

/// Pulsar's names, by the protocol's numbers.
const NAMES: [&str; 21] = [
    "NONE",
    "STRING",
    "JSON",
    "PROTOBUF",
    "AVRO",
    "BOOLEAN",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "FLOAT",
    "DOUBLE",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "KEY_VALUE",
    "INSTANT",
    "LOCAL_DATE",
    "LOCAL_TIME",
    "LOCAL_DATE_TIME",
    "PROTOBUF_NATIVE",
];

/// The name of a type as Pulsar writes it.
#[must_use]
pub fn kind_name(kind: i32) -> &'static str {
    let name = usize::try_from(kind).ok().and_then(|at| NAMES.get(at));
    match (name, kind) {
        (Some(name), _) => name,
        (None, AUTO_CONSUME) => "AUTO_CONSUME",
        (None, _) => "unknown",
    }
}

/// A type by its name; `None`: there is none of that name, or topics cannot have it.
#[must_use]
pub fn kind_of(name: &str) -> Option<i32> {
    let at = NAMES.iter().position(|known| *known == name)?;
    i32::try_from(at).ok().filter(|kind| *kind != NONE)
}

/// Its definition is an Avro schema in JSON.
pub(crate) fn is_avro(kind: i32) -> bool {
    matches!(kind, JSON | PROTOBUF | AVRO)
}

/// Refuses what cannot be the schema of anything.
pub(crate) fn check(schema: &SchemaText) -> Result<(), Refusal> {
    let invalid = |text: String| Err(Refusal::new(RefusalCode::IncompatibleSchema, text));
    let name = kind_name(schema.kind);
    let bytes = schema.data.len();
    match name {
        "NONE" | "AUTO_CONSUME" | "unknown" => {
            invalid(format!("Unknown schema type : {name} ({})", schema.kind))
        }
        "JSON" | "PROTOBUF" | "AVRO" => {
            match serde_json::from_slice::<serde_json::Value>(&schema.data) {
                Ok(_) => Ok(()),
                Err(error) => invalid(format!(
                    "Invalid schema definition data for {name} schema: {error}"
                )),
            }
        }
        "STRING" | "KEY_VALUE" | "PROTOBUF_NATIVE" => Ok(()),
        _ if bytes > 0 => invalid(format!(
            "Invalid schema definition data for primitive schemas :length of schema data should be zero, \
             but {bytes} bytes is found"
        )),
        _ => Ok(()),
    }
}
