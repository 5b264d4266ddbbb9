//! Letters by the names of their own fields; `None` is not written.

use super::commands::parts;
use super::entries;
use letters::{Delivery, SessionLetter, TopicLetter};
use serde_json::{Map, Value, json};
use transcript::Node;
use transcript::node::Parts;

/// A letter to a session. `Deliver` holds one delivery: `Deliver consumer_id=1 position=3:0 permits=1 + "entry"`.
pub fn parse(line: &str) -> SessionLetter {
    let Parts {
        name,
        fields,
        entry,
    } = parts(line);
    let mut fields: Map<_, _> = fields
        .into_iter()
        .map(|(name, node)| (name, value_of(node)))
        .collect();
    if let Some(entry) = entry {
        fields.entry("redelivery_count").or_insert(json!(0));
        let consumer_id = fields
            .remove("consumer_id")
            .and_then(|id| id.as_u64())
            .expect("whom");
        fields.insert("entry".to_owned(), json!([]));
        let delivery: Delivery = serde_json::from_value(Value::Object(fields)).expect("a delivery");
        let deliveries = vec![Delivery {
            entry: entries::parse(entry, 0),
            ..delivery
        }];
        return SessionLetter::Deliver {
            consumer_id,
            deliveries,
        };
    }
    let value = Value::Object(Map::from_iter([(name, Value::Object(fields))]));
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{error} in {line}"))
}

fn value_of(node: Node) -> Value {
    match node {
        Node::Text(text) => Value::String(text),
        Node::List(nodes) => Value::Array(nodes.into_iter().map(value_of).collect()),
        Node::Group(fields) => fields
            .into_iter()
            .map(|(name, node)| (name, value_of(node)))
            .collect(),
        Node::Word(word) => match (word.split_once(':'), serde_json::from_str(&word)) {
            (Some((ledger, entry)), _) if ledger.parse::<i64>().is_ok() => {
                json!({ "ledger": number(ledger), "entry": number(entry) })
            }
            (_, Ok(value)) => value,
            (_, Err(_)) => Value::String(word),
        },
    }
}

fn number(text: &str) -> i64 {
    text.parse().expect("a number")
}

/// A letter to a topic.
pub fn print(letter: &TopicLetter) -> String {
    match serde_json::to_value(letter).expect("a letter") {
        Value::String(name) => name,
        Value::Object(one) => {
            let (name, fields) = one.into_iter().next().expect("a name");
            let Value::Object(mut fields) = fields else {
                panic!("{name} has fields")
            };
            let entry = match letter {
                TopicLetter::Publish(publish) => format!(" + {}", entries::print(&publish.entry)),
                _ => String::new(),
            };
            if !entry.is_empty() {
                fields.remove("entry");
            }
            format!("{name} {}{entry}", print_fields(&fields))
        }
        other => panic!("{other} is no letter"),
    }
}

fn print_fields(fields: &Map<String, Value>) -> String {
    let said = fields.iter().filter(|(_, value)| !value.is_null());
    let mut fields: Vec<_> = said
        .map(|(name, value)| format!("{name}={}", print_value(value)))
        .collect();
    fields.sort();
    fields.join(" ")
}

fn print_value(value: &Value) -> String {
    match value {
        Value::Object(fields) => match (fields.len(), fields.get("ledger"), fields.get("entry")) {
            (2, Some(ledger), Some(entry)) => format!("{ledger}:{entry}"),
            _ => format!("{{{}}}", print_fields(fields)),
        },
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(print_value).collect();
            format!("[{}]", values.join(" "))
        }
        other => other.to_string(),
    }
}
