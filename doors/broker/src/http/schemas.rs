//! Pages about the schemas of a topic. Its domain does not matter, so their paths have none.

use super::Pages;
use super::admin::{Call, json_of, query_value, refused};
use super::answer::Answer;
use super::topics::TopicPath;
use bytes::Bytes;
use directory::Question;
use letters::{Refusal, RefusalCode, SchemaAsk, SchemaFound, SchemaText};
use schema_registry::{kind_name, kind_of};
use serde_json::{Map, Value, json};
use vocabulary::TopicName;

/// What one schema must be for another: what this registry holds to whatever is asked for.
const STRATEGY: &str = "FULL";

impl Pages {
    /// The answer to a path below a topic's schemas; `None`: it is none of these.
    pub(super) async fn schema_page(
        &self,
        method: &str,
        path: &TopicPath<'_>,
        rest: &[&str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        let topic = match path.name() {
            Ok(topic) => topic,
            Err(answer) => return Some(answer),
        };
        let result = match (method, rest) {
            ("GET", ["schema"]) => self.schema(&topic, None).await,
            ("GET", ["schema", version]) => match version.parse() {
                Ok(version) => self.schema(&topic, Some(version)).await,
                Err(error) => {
                    let text = format!("the version of a schema is a number: {error}");
                    Err(Answer::refused(400, &text))
                }
            },
            ("GET", ["schemas"]) => self.all_schemas(&topic).await,
            ("POST", ["schema"]) => self.post_schema(&topic, call).await,
            ("DELETE", ["schema"]) => self.delete_schema(&topic, call).await,
            ("POST", ["compatibility"]) => self.judge_schema(&topic, call).await,
            ("POST", ["version"]) => self.version_of_schema(&topic, call).await,
            _ => return None,
        };
        Some(result.unwrap_or_else(|answer| answer))
    }

    /// A version, the newest without a number.
    async fn schema(&self, topic: &TopicName, version: Option<i64>) -> Result<Answer, Answer> {
        let ask = SchemaAsk::Get { version };
        match self.ask_schema(topic, ask).await? {
            Some(found) => Ok(Answer::json(&schema_json(&found))),
            None => Err(Answer::refused(404, "Schema not found")),
        }
    }

    async fn all_schemas(&self, topic: &TopicName) -> Result<Answer, Answer> {
        let all = self.finder.schemas(topic).await;
        let all = all.map_err(|no| Answer::of_topic(topic, &no))?;
        let all: Vec<Value> = all.iter().map(schema_json).collect();
        Ok(Answer::json(&json!({"getSchemaResponses": all})))
    }

    async fn post_schema(&self, topic: &TopicName, call: &Call<'_>) -> Result<Answer, Answer> {
        let schema = text_of(call)?;
        let question = Question::Policies {
            namespace: topic.namespace().clone(),
        };
        let policies = self.house.clerk.ask(question).await;
        policies.map_err(|no| refused(&no))?;
        let ask = SchemaAsk::Put {
            schema,
            may_register: true,
        };
        match self.finder.schema(topic, ask).await {
            Ok(Some(found)) => Ok(Answer::json(
                &json!({"version": {"version": found.version}}),
            )),
            Ok(None) => Err(Answer::refused(500, "the schema was not stored")),
            Err(no) => Err(invalid_or_incompatible(topic, &no)),
        }
    }

    async fn delete_schema(&self, topic: &TopicName, call: &Call<'_>) -> Result<Answer, Answer> {
        let forget = query_value(call.query, "force").as_deref() == Some("true");
        let found = self.ask_schema(topic, SchemaAsk::Delete { forget }).await?;
        let version = found.map_or(-1, |found| found.version);
        Ok(Answer::json(&json!({"version": version})))
    }

    async fn judge_schema(&self, topic: &TopicName, call: &Call<'_>) -> Result<Answer, Answer> {
        let schema = text_of(call)?;
        let newest = SchemaAsk::Get { version: None };
        let compatible = match self.ask_schema(topic, newest).await? {
            None => true,
            Some(_) => self.find_schema(topic, schema).await?.is_some(),
        };
        let verdict = json!({"schemaCompatibilityStrategy": STRATEGY, "compatibility": compatible});
        Ok(Answer::json(&verdict).with_status(202))
    }

    async fn version_of_schema(
        &self,
        topic: &TopicName,
        call: &Call<'_>,
    ) -> Result<Answer, Answer> {
        let found = self.find_schema(topic, text_of(call)?).await?;
        Ok(Answer::json(&json!({"version": found.unwrap_or(-1)})))
    }

    /// The version of an equal schema.
    async fn find_schema(
        &self,
        topic: &TopicName,
        schema: SchemaText,
    ) -> Result<Option<i64>, Answer> {
        let ask = SchemaAsk::Put {
            schema,
            may_register: false,
        };
        match self.finder.schema(topic, ask).await {
            Ok(found) => Ok(found.map(|found| found.version)),
            Err(no) if no.code == RefusalCode::IncompatibleSchema => Ok(None),
            Err(no) => Err(Answer::of_topic(topic, &no)),
        }
    }

    async fn ask_schema(
        &self,
        topic: &TopicName,
        ask: SchemaAsk,
    ) -> Result<Option<SchemaFound>, Answer> {
        let found = self.finder.schema(topic, ask).await;
        found.map_err(|no| Answer::of_topic(topic, &no))
    }
}

/// 422: no schema of anything. 409: not this topic's.
fn invalid_or_incompatible(topic: &TopicName, no: &Refusal) -> Answer {
    match no.code {
        RefusalCode::IncompatibleSchema if no.message.starts_with("Invalid") => {
            Answer::refused(422, &no.message)
        }
        RefusalCode::IncompatibleSchema => Answer::refused(409, &no.message),
        _ => Answer::of_topic(topic, no),
    }
}

/// `{"type": "AVRO", "schema": "…", "properties": {}}`.
fn text_of(call: &Call<'_>) -> Result<SchemaText, Answer> {
    let body = json_of(call.body)?;
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let Some(kind) = text("type").and_then(kind_of) else {
        let text = format!(
            "the body names no type of schema: {}",
            body.get("type").unwrap_or(&Value::Null)
        );
        return Err(Answer::refused(422, &text));
    };
    if kind_name(kind) == "KEY_VALUE" {
        let text = "KEY_VALUE schemas are brought by producers and consumers in this version, not by this page";
        return Err(Answer::refused(501, text));
    }
    let pairs = body.get("properties").and_then(Value::as_object);
    let pairs = pairs.into_iter().flatten();
    let mut properties: Vec<(String, String)> = pairs
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect();
    properties.sort();
    let data = Bytes::copy_from_slice(text("schema").unwrap_or_default().as_bytes());
    Ok(SchemaText {
        kind,
        data,
        properties,
    })
}

fn schema_json(found: &SchemaFound) -> Value {
    let pairs = found.schema.properties.iter();
    let properties: Map<String, Value> = pairs
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect();
    let data = &found.schema.data;
    let data = match kind_name(found.schema.kind) {
        "KEY_VALUE" => key_and_value(data).unwrap_or_else(|| as_text(data)),
        _ => as_text(data),
    };
    json!({
        "version": found.version,
        "type": kind_name(found.schema.kind),
        "timestamp": found.stored_ms,
        "data": data,
        "properties": properties,
    })
}

fn as_text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Both definitions as one JSON text. Stored they are `length: u32 | key's | length: u32 | value's`; one without
/// definition has length -1 or 0.
fn key_and_value(data: &[u8]) -> Option<String> {
    let (key, rest) = with_length(data)?;
    let (value, _) = with_length(rest)?;
    let json = |data: &[u8]| match data {
        [] => "\"\"".to_owned(),
        data => as_text(data),
    };
    Some(format!(
        "{{\"key\":{},\"value\":{}}}",
        json(key),
        json(value)
    ))
}

fn with_length(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk()?;
    let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::key_and_value;

    #[test]
    fn two_definitions_are_shown_as_one() {
        let stored = b"\0\0\0\x02{}\0\0\0\x05{\"a\"}";
        assert_eq!(
            key_and_value(stored).unwrap(),
            r#"{"key":{},"value":{"a"}}"#
        );
        let keyless = b"\xff\xff\xff\xff\0\0\0\x02{}";
        assert_eq!(key_and_value(keyless).unwrap(), r#"{"key":"","value":{}}"#);
        assert_eq!(key_and_value(b"\0\0\0\x09{}"), None);
        assert_eq!(key_and_value(b""), None);
    }
}
