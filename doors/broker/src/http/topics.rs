//! Pages about one topic.

use super::Pages;
use super::admin::query_value;
use super::answer::Answer;
use letters::RefusalCode;
use serde_json::json;
use vocabulary::name::url_decode;
use vocabulary::{Domain, TopicName};

/// A topic as a path names it.
pub(super) struct TopicPath<'a> {
    pub domain: &'a str,
    pub tenant: &'a str,
    pub namespace: &'a str,
    /// Encoded.
    pub topic: &'a str,
}

impl TopicPath<'_> {
    /// The topic's name, or the answer to a name that is none.
    pub fn name(&self) -> Result<TopicName, Answer> {
        let domain = match self.domain {
            "persistent" => Domain::Persistent,
            "non-persistent" => Domain::NonPersistent,
            other => {
                let text = format!(
                    "Invalid topic domain '{other}': expected persistent or non-persistent"
                );
                return Err(Answer::refused(412, &text));
            }
        };
        let local = url_decode(self.topic).ok_or_else(|| {
            Answer::refused(
                412,
                &format!("'{}' is not a URL-encoded topic name", self.topic),
            )
        })?;
        TopicName::from_parts(domain, self.tenant, self.namespace, &local)
            .map_err(|error| Answer::refused(412, &error.to_string()))
    }
}

impl Pages {
    /// Where a topic is served: here.
    pub(super) async fn lookup(&self, path: &TopicPath<'_>, query: &str) -> Answer {
        let topic = match path.name() {
            Ok(topic) => topic,
            Err(answer) => return answer,
        };
        let listener = query_value(query, "listenerName").filter(|name| !name.is_empty());
        if let Some(name) = listener {
            let text = format!("the broker do not have {name} listener");
            return Answer::refused(500, &text);
        }
        match self.finder.find(topic.clone(), true).await {
            // The C++ client wants every field to be there; an empty one means that there is no such door.
            Ok(_) => Answer::json(&json!({
                "brokerUrl": self.binary_url,
                "brokerUrlTls": "",
                "httpUrl": self.web_url,
                "httpUrlTls": "",
                "nativeUrl": self.binary_url,
                "brokerUrlSsl": "",
            })),
            Err(no)
                if no.code == RefusalCode::TopicNotFound
                    && !no.message.starts_with("Namespace") =>
            {
                Answer::refused(404, &format!("Topic not found {topic}"))
            }
            Err(no) => Answer::of_topic(&topic, &no),
        }
    }

    /// How many partitions a topic has. `checkAllowAutoCreation=true`: as if it were used.
    pub(super) async fn partitions(&self, path: &TopicPath<'_>, query: &str) -> Answer {
        let topic = match path.name() {
            Ok(topic) => topic,
            Err(answer) => return answer,
        };
        let may_create = query
            .split('&')
            .any(|pair| pair == "checkAllowAutoCreation=true");
        match self.finder.find(topic.clone(), may_create).await {
            Ok(partitions) => Answer::json(&json!({"partitions": partitions, "deleted": false})),
            Err(no) => Answer::of_topic(&topic, &no),
        }
    }
}
