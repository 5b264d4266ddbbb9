//! Pages about the schemas of a topic.

use super::Pages;
use super::answer::Answer;
use super::topics::TopicPath;
use letters::SchemaFound;
use schema_registry::kind_name;
use serde_json::{Map, Value, json};

impl Pages {
    /// A version of a topic's schema, the newest without a number. Its domain does not matter, so the path has none.
    pub(super) async fn schema(
        &self,
        tenant: &str,
        namespace: &str,
        topic: &str,
        version: Option<&str>,
    ) -> Answer {
        let domain = "persistent";
        let path = TopicPath {
            domain,
            tenant,
            namespace,
            topic,
        };
        let topic = match path.name() {
            Ok(topic) => topic,
            Err(answer) => return answer,
        };
        let version = match version.map(str::parse::<i64>).transpose() {
            Ok(version) => version,
            Err(error) => {
                let text = format!("the version of a schema is a number: {error}");
                return Answer::refused(400, &text);
            }
        };
        match self.finder.schema(&topic, version).await {
            Ok(Some(found)) => Answer::json(&schema_json(&found)),
            Ok(None) => Answer::refused(404, "Schema not found"),
            Err(refusal) => Answer::refusal(&refusal),
        }
    }
}

fn schema_json(found: &SchemaFound) -> Value {
    let pairs = found.schema.properties.iter();
    let properties: Map<String, Value> = pairs
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect();
    json!({
        "version": found.version,
        "type": kind_name(found.schema.kind),
        "timestamp": found.stored_ms,
        "data": String::from_utf8_lossy(&found.schema.data),
        "properties": properties,
    })
}
