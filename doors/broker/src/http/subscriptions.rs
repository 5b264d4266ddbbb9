//! Pages about the subscriptions of a topic. A partitioned topic's page does the same to all its partitions.

use super::Pages;
use super::admin::{Call, json_of, query_value};
use super::answer::Answer;
use super::messages;
use letters::{Expiry, RefusalCode, SeekTarget, TaskResult, TopicTask, Which};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use vocabulary::name::url_decode;
use vocabulary::{AckSet, Position, TopicName};

impl Pages {
    /// The answer to a path below a topic that is about subscriptions; `None`: it is none of these.
    pub(super) async fn subscription_page(
        &self,
        method: &str,
        topic: &TopicName,
        rest: &[&str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        let answer = match *rest {
            ["subscriptions"] if method == "GET" => self.subscriptions(topic).await,
            ["all_subscription", "expireMessages", seconds] if method == "POST" => {
                match seconds.parse() {
                    Ok(seconds) => self.expire_everywhere(topic, seconds).await,
                    Err(_) => return None,
                }
            }
            ["subscription", name, ref what @ ..] => {
                let Some(name) = url_decode(name) else {
                    let text = format!("'{name}' is not a URL-encoded subscription name");
                    return Some(Answer::refused(412, &text));
                };
                return self.one(method, topic, &name, what, call).await;
            }
            _ => return None,
        };
        Some(answer)
    }

    async fn one(
        &self,
        method: &str,
        topic: &TopicName,
        name: &str,
        what: &[&str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        let subscription = name.to_owned();
        let result = match (method, what) {
            ("PUT", []) => self.subscribe(topic, name, call).await,
            ("DELETE", []) => {
                let force = query_value(call.query, "force").as_deref() == Some("true");
                self.unsubscribe(topic, name, force).await
            }
            ("POST", ["skip_all"]) => {
                let entries = None;
                let task = TopicTask::Skip {
                    subscription,
                    entries,
                };
                self.everywhere(topic, name, &task).await
            }
            ("POST", ["skip", count]) => match count.parse() {
                Ok(count) => self.skip(topic, name, count).await,
                Err(_) => return None,
            },
            ("POST", ["expireMessages", seconds]) => match seconds.parse() {
                Ok(seconds) => self.expire(topic, name, seconds).await,
                Err(_) => return None,
            },
            ("POST", ["expireMessages"]) => self.expire_to(topic, name, call).await,
            ("POST", ["resetcursor", time]) => match time.parse() {
                Ok(time) => {
                    let target = SeekTarget::Time(time);
                    let task = TopicTask::Seek {
                        subscription,
                        target,
                    };
                    self.everywhere(topic, name, &task).await
                }
                Err(_) => return None,
            },
            ("POST", ["resetcursor"]) => self.reset(topic, name, call).await,
            ("GET", ["position", n]) => match n.parse() {
                Ok(n) => self.peek(topic, subscription, n).await,
                Err(_) => return None,
            },
            ("GET", ["properties"]) => self.properties(topic, name).await,
            ("PUT", ["properties"]) => match properties_of(call.body) {
                Ok(properties) => {
                    let task = TopicTask::SetProperties {
                        subscription,
                        properties,
                    };
                    self.everywhere(topic, name, &task).await
                }
                Err(answer) => Err(answer),
            },
            ("GET", ["replicatedSubscriptionStatus"]) => self.replicated(topic, name).await,
            ("POST", ["replicatedSubscriptionStatus"]) => match json_of(call.body) {
                Ok(value) => {
                    let task = TopicTask::SetReplicated {
                        subscription,
                        is_replicated: value == Value::Bool(true),
                    };
                    let answer = self.everywhere(topic, name, &task).await;
                    answer.map(|answer| answer.with_notice(Some(NOT_REPLICATED.to_owned())))
                }
                Err(answer) => Err(answer),
            },
            _ => return None,
        };
        Some(result.unwrap_or_else(|answer| answer))
    }

    async fn subscriptions(&self, topic: &TopicName) -> Answer {
        let parts = match self.parts_of(topic, false).await {
            Ok(parts) => parts,
            Err(answer) => return answer,
        };
        let mut names = BTreeSet::new();
        for part in parts.unwrap_or_else(|| vec![topic.clone()]) {
            match self.close_figures(&part).await {
                Ok(figures) => {
                    let all = figures.stats.subscriptions;
                    names.extend(all.into_iter().map(|subscription| subscription.name));
                }
                Err(answer) => return answer,
            }
        }
        Answer::json(&names)
    }

    async fn subscribe(
        &self,
        topic: &TopicName,
        name: &str,
        call: &Call<'_>,
    ) -> Result<Answer, Answer> {
        let body = json_of(call.body)?;
        let position = position_of(&body).unwrap_or(Position::LATEST);
        let properties = match body.get("properties") {
            Some(properties) => pairs_of(properties)?,
            None => Vec::new(),
        };
        let replicated = query_value(call.query, "replicated");
        let is_replicated = replicated.as_deref() == Some("true");
        let task = TopicTask::Subscribe {
            subscription: name.to_owned(),
            start: SeekTarget::Id(position, None),
            properties,
            is_replicated,
        };
        let parts = self.parts_of(topic, true).await?;
        let mut made = false;
        for part in parts.unwrap_or_else(|| vec![topic.clone()]) {
            made |= self.task(&part, task.clone()).await? == TaskResult::Done;
        }
        match made {
            true => {
                let notice = is_replicated.then(|| NOT_REPLICATED.to_owned());
                Ok(Answer::nothing(204).with_notice(notice))
            }
            false => Err(Answer::refused(
                409,
                "Subscription already exists for topic",
            )),
        }
    }

    async fn unsubscribe(
        &self,
        topic: &TopicName,
        name: &str,
        force: bool,
    ) -> Result<Answer, Answer> {
        let parts = self.parts_of(topic, false).await?;
        let is_partitioned = parts.is_some();
        for part in parts.unwrap_or_else(|| vec![topic.clone()]) {
            let task = TopicTask::Unsubscribe {
                subscription: name.to_owned(),
                force,
            };
            match self.finder.task(&part, task).await {
                Ok(_) => {}
                Err(no) if is_partitioned && no.code == RefusalCode::SubscriptionNotFound => {
                    return Err(Answer::refused(404, "Subscription not found"));
                }
                Err(no) => return Err(Answer::of_topic(topic, &no)),
            }
        }
        Ok(Answer::nothing(204))
    }

    /// Does it to the topic, or to all its partitions.
    async fn everywhere(
        &self,
        topic: &TopicName,
        name: &str,
        task: &TopicTask,
    ) -> Result<Answer, Answer> {
        let Some(parts) = self.parts_of(topic, false).await? else {
            self.task(topic, task.clone()).await?;
            return Ok(Answer::nothing(204));
        };
        // Not something done to some and then an error, where it can be known before.
        for part in &parts {
            let subscription = name.to_owned();
            self.task(part, TopicTask::Properties { subscription })
                .await?;
        }
        for part in parts {
            self.task(&part, task.clone()).await?;
        }
        Ok(Answer::nothing(204))
    }

    async fn skip(&self, topic: &TopicName, name: &str, count: u64) -> Result<Answer, Answer> {
        let no = "Skip messages on a partitioned topic is not allowed";
        self.expect_one(topic, no).await?;
        let task = TopicTask::Skip {
            subscription: name.to_owned(),
            entries: Some(count),
        };
        self.task(topic, task).await?;
        Ok(Answer::nothing(204))
    }

    async fn expire(&self, topic: &TopicName, name: &str, seconds: u64) -> Result<Answer, Answer> {
        let parts = self.parts_of(topic, false).await?;
        let mut refused = None;
        for part in parts.unwrap_or_else(|| vec![topic.clone()]) {
            let task = TopicTask::Expire {
                subscription: name.to_owned(),
                until: Expiry::OlderThanSeconds(seconds),
            };
            if self.task(&part, task).await? == TaskResult::NotDone {
                refused = refused.or(Some(not_issued("timestamp", &part, name)));
            }
        }
        refused.map_or(Ok(Answer::nothing(204)), Err)
    }

    async fn expire_to(
        &self,
        topic: &TopicName,
        name: &str,
        call: &Call<'_>,
    ) -> Result<Answer, Answer> {
        let no = "Expire message at position is not supported for partitioned-topic";
        self.expect_one(topic, no).await?;
        let body = json_of(call.body)?;
        let Some(position) = position_of(&body) else {
            return Err(no_position());
        };
        let is_excluded = body.get("excluded") == Some(&Value::Bool(true));
        let task = TopicTask::Expire {
            subscription: name.to_owned(),
            until: Expiry::To(match is_excluded {
                true => position.before(),
                false => position,
            }),
        };
        match self.task(topic, task).await? {
            TaskResult::NotDone => Err(not_issued("position", topic, name)),
            _ => Ok(Answer::nothing(204)),
        }
    }

    async fn expire_everywhere(&self, topic: &TopicName, seconds: u64) -> Answer {
        let parts = match self.parts_of(topic, false).await {
            Ok(parts) => parts,
            Err(answer) => return answer,
        };
        let mut refused = None;
        for part in parts.unwrap_or_else(|| vec![topic.clone()]) {
            let subscriptions = match self.close_figures(&part).await {
                Ok(figures) => figures.stats.subscriptions,
                Err(answer) => return answer,
            };
            for subscription in subscriptions.iter().filter(|found| found.is_durable) {
                // One that cannot keeps no other from it.
                if let Err(answer) = self.expire(&part, &subscription.name, seconds).await {
                    refused = refused.or(Some(answer));
                }
            }
        }
        refused.unwrap_or_else(|| Answer::nothing(204))
    }

    async fn reset(
        &self,
        topic: &TopicName,
        name: &str,
        call: &Call<'_>,
    ) -> Result<Answer, Answer> {
        let no = "Reset-cursor at position is not allowed for partitioned-topic";
        self.expect_one(topic, no).await?;
        let body = json_of(call.body)?;
        let Some(position) = position_of(&body) else {
            return Err(no_position());
        };
        let is_excluded = body.get("excluded") == Some(&Value::Bool(true));
        let index = body.get("batchIndex").and_then(Value::as_i64);
        let target = match index.filter(|index| *index >= 0) {
            Some(index) => self.in_batch(topic, position, index, is_excluded).await?,
            None if is_excluded && position.entry != i64::MAX => {
                SeekTarget::Id(position.after(), None)
            }
            None => SeekTarget::Id(position, None),
        };
        let task = TopicTask::Seek {
            subscription: name.to_owned(),
            target,
        };
        self.task(topic, task).await?;
        Ok(Answer::nothing(204))
    }

    /// Where a message of a batch is; where there is no such entry or it is no batch, the entry counts.
    async fn in_batch(
        &self,
        topic: &TopicName,
        position: Position,
        index: i64,
        is_excluded: bool,
    ) -> Result<SeekTarget, Answer> {
        let task = TopicTask::Read(Which::At(position));
        let size = match self.task(topic, task).await? {
            TaskResult::Entry(Some(entry)) => messages::batch_size(&entry),
            _ => None,
        };
        let first = u32::try_from(index).unwrap_or(u32::MAX);
        let first = first.saturating_add(u32::from(is_excluded));
        Ok(match size {
            None if is_excluded => SeekTarget::Id(position.after(), None),
            Some(size) if first >= size => SeekTarget::Id(position.after(), None),
            Some(size) if first > 0 => {
                let mut remaining = AckSet::full(size);
                (0..first).for_each(|index| remaining.clear(index));
                SeekTarget::Id(position, Some(remaining))
            }
            _ => SeekTarget::Id(position, None),
        })
    }

    async fn peek(
        &self,
        topic: &TopicName,
        subscription: String,
        n: u64,
    ) -> Result<Answer, Answer> {
        let no = "Peek messages on a partitioned topic is not allowed";
        self.expect_one(topic, no).await?;
        let task = TopicTask::Read(Which::Unacked { subscription, n });
        Ok(match self.task(topic, task).await? {
            TaskResult::Entry(Some(entry)) => messages::page(&entry),
            _ => Answer::refused(404, "Message not found"),
        })
    }

    async fn properties(&self, topic: &TopicName, name: &str) -> Result<Answer, Answer> {
        let parts = self.parts_of(topic, false).await?;
        let mut all = Map::new();
        for part in parts.unwrap_or_else(|| vec![topic.clone()]) {
            let subscription = name.to_owned();
            let task = TopicTask::Properties { subscription };
            if let TaskResult::Properties { properties, .. } = self.task(&part, task).await? {
                let pairs = properties.into_iter();
                all.extend(pairs.map(|(key, value)| (key, Value::from(value))));
            }
        }
        Ok(Answer::json(&all))
    }

    async fn replicated(&self, topic: &TopicName, name: &str) -> Result<Answer, Answer> {
        let parts = self.parts_of(topic, false).await?;
        let mut all = Map::new();
        for part in parts.unwrap_or_else(|| vec![topic.clone()]) {
            let subscription = name.to_owned();
            let task = TopicTask::Properties { subscription };
            if let TaskResult::Properties { is_replicated, .. } = self.task(&part, task).await? {
                all.insert(part.to_string(), json!(is_replicated));
            }
        }
        Ok(Answer::json(&all))
    }
}

const NOT_REPLICATED: &str = "stored, not acting in this version: subscriptions are not replicated";

fn not_issued(by: &str, topic: &TopicName, name: &str) -> Answer {
    let text = format!(
        "Expire message by {by} not issued on topic {topic} for subscription {name} due to ongoing message expiration \
         not finished or subscription almost catch  up. If it's performed on a partitioned topic operation might \
         succeeded on other partitions, please check stats of individual partition."
    );
    Answer::refused(409, &text)
}

fn no_position() -> Answer {
    Answer::refused(
        400,
        "the body names no position: {\"ledgerId\": number, \"entryId\": number}",
    )
}

/// `{"ledgerId": …, "entryId": …}`.
pub(super) fn position_of(body: &Value) -> Option<Position> {
    let number = |name: &str| body.get(name).and_then(Value::as_i64);
    Some(Position::new(number("ledgerId")?, number("entryId")?))
}

fn properties_of(body: &[u8]) -> Result<Vec<(String, String)>, Answer> {
    pairs_of(&json_of(body)?)
}

fn pairs_of(value: &Value) -> Result<Vec<(String, String)>, Answer> {
    let pair = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    let pairs = match value {
        Value::Null => Some(Vec::new()),
        Value::Object(pairs) => pairs.iter().map(pair).collect(),
        _ => None,
    };
    pairs.ok_or_else(|| Answer::refused(400, "properties are an object whose values are texts"))
}
