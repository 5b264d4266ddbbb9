//! When two schemas are the same.
//!
//! Types must be the same. Avro schemas (also those of JSON and PROTOBUF) are compared as Avro's Java library compares
//! what it parsed: names with their namespaces, fields in order with types and defaults, further properties; not white
//! space, the order of keys, `doc` or `aliases`. All others are compared byte by byte, as Pulsar compares their hashes.

use crate::kinds::is_avro;
use letters::SchemaText;
use serde_json::{Map, Value, json};

/// Whether both are one schema.
#[must_use]
pub fn are_equal(one: &SchemaText, other: &SchemaText) -> bool {
    if one.kind != other.kind {
        return false;
    }
    if one.data == other.data {
        return true;
    }
    is_avro(one.kind)
        && match (normal(&one.data), normal(&other.data)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        }
}

fn normal(data: &[u8]) -> Option<Value> {
    let parsed = serde_json::from_slice(data).ok()?;
    Some(schema(&parsed, ""))
}

/// The same schema without what does not count; `namespace` is that of the schema around it.
fn schema(value: &Value, namespace: &str) -> Value {
    match value {
        Value::String(name) => json!(full_name(name, namespace)),
        Value::Array(union) => union.iter().map(|one| schema(one, namespace)).collect(),
        Value::Object(object) => of_object(object, namespace),
        other => other.clone(),
    }
}

fn of_object(object: &Map<String, Value>, around: &str) -> Value {
    let kind = match object.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(inner) if object.len() == 1 => return schema(inner, around),
        _ => return Value::Object(object.clone()),
    };
    let is_named = matches!(kind, "record" | "error" | "enum" | "fixed");
    let mut normal = Map::new();
    let mut namespace = around;
    if is_named {
        if let Some(own) = object.get("namespace").and_then(Value::as_str) {
            namespace = own;
        }
        let name = object.get("name").and_then(Value::as_str).unwrap_or("");
        normal.insert("name".to_owned(), json!(full_name(name, namespace)));
        if let Some((own, _)) = name.rsplit_once('.') {
            namespace = own;
        }
    }
    for (key, value) in object {
        let value = match (kind, key.as_str()) {
            (_, "name" | "namespace" | "doc" | "aliases") if is_named => continue,
            // Java compares the symbols of two enums, not which of them is the default.
            ("enum", "default") => continue,
            ("record" | "error", "fields") => fields(value, namespace),
            ("array", "items") | ("map", "values") => schema(value, namespace),
            _ => value.clone(),
        };
        normal.insert(key.clone(), value);
    }
    match normal.len() {
        1 => json!(full_name(kind, around)),
        _ => Value::Object(normal),
    }
}

fn fields(value: &Value, namespace: &str) -> Value {
    let Value::Array(fields) = value else {
        return value.clone();
    };
    fields
        .iter()
        .map(|field| one_field(field, namespace))
        .collect()
}

fn one_field(field: &Value, namespace: &str) -> Value {
    let Value::Object(object) = field else {
        return field.clone();
    };
    let mut normal = Map::new();
    for (key, value) in object {
        let value = match key.as_str() {
            "doc" | "aliases" => continue,
            "order" if value == "ascending" => continue,
            "type" => schema(value, namespace),
            _ => value.clone(),
        };
        normal.insert(key.clone(), value);
    }
    Value::Object(normal)
}

fn full_name(name: &str, namespace: &str) -> String {
    let primitive = matches!(
        name,
        "null" | "boolean" | "int" | "long" | "float" | "double" | "bytes" | "string"
    );
    match primitive || name.contains('.') || namespace.is_empty() {
        true => name.to_owned(),
        false => format!("{namespace}.{name}"),
    }
}
