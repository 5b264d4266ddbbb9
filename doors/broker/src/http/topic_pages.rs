//! Pages about what one topic holds: its messages, figures and partitions.

use super::Pages;
use super::admin::{Call, json_of, query_value};
use super::answer::Answer;
use super::subscriptions::position_of;
use super::{internal_stats, messages, topic_stats};
use directory::{Question, Why};
use letters::{Refusal, RefusalCode, TaskResult, TopicTask, Which};
use serde_json::{Map, Value, json};
use shard::{CloseFigures, ShardAnswer, ShardAsk};
use vocabulary::{Domain, Position, TopicName};

/// How often a topic that goes to sleep just when it is asked is woken again.
const WAKE_TRIES_MAX: u32 = 3;

impl Pages {
    /// The answer to a path below a topic; `None`: it is none of these.
    pub(super) async fn topic_page(
        &self,
        method: &str,
        topic: &TopicName,
        rest: &[&str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        if topic.domain() == Domain::NonPersistent
            && let Some(answer) = not_of_non_persistent(method, rest)
        {
            return Some(answer);
        }
        if let Some(answer) = self.subscription_page(method, topic, rest, call).await {
            return Some(answer);
        }
        let result = match (method, rest) {
            ("GET", ["stats"]) => self.stats(topic).await,
            ("GET", ["partitioned-stats"]) => self.partitioned_stats(topic, call.query).await,
            ("GET", ["internalStats"]) => self.internal_stats(topic).await,
            ("GET", ["partitioned-internalStats"]) => self.partitioned_internal_stats(topic).await,
            ("GET", ["lastMessageId"]) => self.last_message_id(topic).await,
            ("GET", ["examinemessage"]) => self.examine(topic, call.query).await,
            ("GET", ["ledger", ledger, "entry", entry]) => match (ledger.parse(), entry.parse()) {
                (Ok(ledger), Ok(entry)) => self.entry_at(topic, Position::new(ledger, entry)).await,
                _ => return None,
            },
            ("GET", ["messageid", time]) => match time.parse() {
                Ok(time_ms) => self.find_time(topic, time_ms).await,
                Err(_) => return None,
            },
            ("PUT", ["backlogSize"]) => self.backlog_size(topic, call).await,
            ("PUT", ["unload"]) => self.unload(topic).await,
            _ => return None,
        };
        Some(result.unwrap_or_else(|answer| answer))
    }

    /// The partitions of a topic; `None`: it is not partitioned. `may_create`: as if it were used.
    pub(super) async fn parts_of(
        &self,
        topic: &TopicName,
        may_create: bool,
    ) -> Result<Option<Vec<TopicName>>, Answer> {
        match self.finder.find(topic.clone(), may_create).await {
            Ok(0) => Ok(None),
            Ok(count) => {
                let names = (0..count).filter_map(|index| topic.partition_name(index).ok());
                Ok(Some(names.collect()))
            }
            Err(no) => Err(Answer::of_topic(topic, &no)),
        }
    }

    /// Whether it has no partitions; with the words of whoever wants to know.
    pub(super) async fn expect_one(&self, topic: &TopicName, no: &str) -> Result<(), Answer> {
        match self.parts_of(topic, false).await? {
            None => Ok(()),
            Some(_) => Err(Answer::refused(405, no)),
        }
    }

    /// Does something to one topic.
    pub(super) async fn task(
        &self,
        topic: &TopicName,
        task: TopicTask,
    ) -> Result<TaskResult, Answer> {
        match self.finder.task(topic, task).await {
            Ok(result) => Ok(result),
            Err(no) => Err(self.refusal_of(topic, &no).await),
        }
    }

    /// A topic's refusal in Pulsar's words: of a namespace that is not there no topic is spoken.
    async fn refusal_of(&self, topic: &TopicName, no: &Refusal) -> Answer {
        if is_missing_topic(no) {
            let namespace = topic.namespace().clone();
            let policies = self.house.clerk.ask(Question::Policies { namespace }).await;
            if policies.is_err_and(|no| no.why == Why::NotFound) {
                return Answer::refused(404, "Namespace not found");
            }
        }
        Answer::of_topic(topic, no)
    }

    /// The figures of a topic, which is woken for it.
    pub(super) async fn close_figures(
        &self,
        topic: &TopicName,
    ) -> Result<Box<CloseFigures>, Answer> {
        for _ in 0..WAKE_TRIES_MAX {
            self.task(topic, TopicTask::Open).await?;
            let Some(desk) = self.house.desks.get(self.house.shard_of(topic)) else {
                break;
            };
            let ask = |id| ShardAsk::Topic {
                id,
                topic: topic.clone(),
            };
            match self.asks.ask(desk, ask).await {
                Some(ShardAnswer::Topic {
                    figures: Some(figures),
                    ..
                }) => return Ok(figures),
                Some(_) => {}
                None => break,
            }
        }
        let text = format!("the desk of {topic} does not answer in time");
        Err(Answer::refused(503, &text))
    }

    async fn stats(&self, topic: &TopicName) -> Result<Answer, Answer> {
        let figures = self.close_figures(topic).await?;
        let mut json = self.stats_json(&figures);
        if topic.domain() == Domain::NonPersistent {
            topic_stats::add_drops(&mut json, &figures.stats, self.house.now().wall);
        }
        Ok(Answer::json(&json))
    }

    fn stats_json(&self, figures: &CloseFigures) -> Value {
        topic_stats::topic_json(figures, self.house.now().wall, &self.broker_id())
    }

    async fn partitioned_stats(&self, topic: &TopicName, query: &str) -> Result<Answer, Answer> {
        let parts = self.expect_parts(topic).await?;
        let mut sum = topic_stats::Sum::default();
        let mut each = Map::new();
        let count = parts.len();
        for part in parts {
            let stats = self.stats_json(self.close_figures(&part).await?.as_ref());
            sum.add(&stats);
            each.insert(part.to_string(), stats);
        }
        let per_partition = query_value(query, "perPartition").as_deref() != Some("false");
        let each = match per_partition {
            true => each,
            false => Map::new(),
        };
        Ok(Answer::json(&sum.into_json(count, each)))
    }

    async fn expect_parts(&self, topic: &TopicName) -> Result<Vec<TopicName>, Answer> {
        let not_found = || Answer::refused(404, &format!("Partitioned Topic {topic} not found"));
        match self.finder.find(topic.clone(), false).await {
            Ok(0) => Err(not_found()),
            Ok(count) => {
                let names = (0..count).filter_map(|index| topic.partition_name(index).ok());
                Ok(names.collect())
            }
            Err(no) if is_missing_topic(&no) => Err(not_found()),
            Err(no) => Err(Answer::of_topic(topic, &no)),
        }
    }

    async fn internal_stats(&self, topic: &TopicName) -> Result<Answer, Answer> {
        let figures = self.close_figures(topic).await?;
        Ok(Answer::json(&internal_stats::topic_json(&figures)))
    }

    async fn partitioned_internal_stats(&self, topic: &TopicName) -> Result<Answer, Answer> {
        let parts = self.expect_parts(topic).await?;
        let mut each = Map::new();
        let count = parts.len();
        for part in parts {
            let figures = self.close_figures(&part).await?;
            each.insert(part.to_string(), internal_stats::topic_json(&figures));
        }
        Ok(Answer::json(&json!({
            "metadata": {"partitions": count, "deleted": false},
            "partitions": each,
        })))
    }

    async fn last_message_id(&self, topic: &TopicName) -> Result<Answer, Answer> {
        let last = self.finder.last_message(topic).await;
        let last = last.map_err(|no| Answer::of_topic(topic, &no))?;
        Ok(Answer::json(&message_id(
            topic,
            last.position,
            last.batch_index,
        )))
    }

    async fn examine(&self, topic: &TopicName, query: &str) -> Result<Answer, Answer> {
        let no = "Examine messages on a partitioned topic is not allowed, please try examine message on specific \
                  topic partition";
        self.expect_one(topic, no).await?;
        let n = query_value(query, "messagePosition");
        let n = match n.as_deref().map(str::parse::<i64>) {
            None => 1,
            Some(Ok(n)) => n.max(1).unsigned_abs(),
            Some(Err(error)) => {
                let text = format!("messagePosition is no number: {error}");
                return Err(Answer::refused(400, &text));
            }
        };
        let which = match query_value(query, "initialPosition").as_deref() {
            Some("earliest") => Which::FromFirst(n),
            _ => Which::FromLast(n),
        };
        if self.close_figures(topic).await?.details.entries == 0 {
            let text = "Could not examine messages due to the total message is zero";
            return Err(Answer::refused(412, text));
        }
        match self.task(topic, TopicTask::Read(which)).await? {
            TaskResult::Entry(Some(entry)) => Ok(messages::page(&entry)),
            _ => {
                let text =
                    format!("{topic} has no {n} messages; count from the end up to its first one");
                Err(Answer::refused(412, &text))
            }
        }
    }

    async fn entry_at(&self, topic: &TopicName, position: Position) -> Result<Answer, Answer> {
        let no = "GetMessageById is not allowed on partitioned-topic";
        self.expect_one(topic, no).await?;
        let task = TopicTask::Read(Which::At(position));
        match self.task(topic, task).await? {
            TaskResult::Entry(Some(entry)) => Ok(messages::page(&entry)),
            _ => Err(Answer::refused(404, "Message id not found")),
        }
    }

    async fn find_time(&self, topic: &TopicName, time_ms: u64) -> Result<Answer, Answer> {
        let no = "Get message ID by timestamp on a partitioned topic is not allowed, please try do it on specific \
                  topic partition";
        self.expect_one(topic, no).await?;
        let found = self.task(topic, TopicTask::FindTime { time_ms }).await?;
        let TaskResult::Position(position) = found else {
            return Err(Answer::refused(404, "Message not found"));
        };
        Ok(Answer::json(&message_id(topic, position, None)))
    }

    async fn backlog_size(&self, topic: &TopicName, call: &Call<'_>) -> Result<Answer, Answer> {
        let no = "backlogSize is asked of a partition, not of a partitioned topic";
        self.expect_one(topic, no).await?;
        let body = json_of(call.body)?;
        let Some(position) = position_of(&body) else {
            return Err(Answer::refused(400, "the body names no message id"));
        };
        let figures = self.close_figures(topic).await?;
        let bytes = topic_stats::bytes_after(&figures.log, position);
        Ok(Answer::json(&bytes))
    }

    async fn unload(&self, topic: &TopicName) -> Result<Answer, Answer> {
        let parts = self.parts_of(topic, false).await?;
        for part in parts.unwrap_or_else(|| vec![topic.clone()]) {
            match self.finder.task(&part, TopicTask::Unload).await {
                Ok(_) => {}
                // A partition that nobody has used needs no end.
                Err(no) if part != *topic && is_missing_topic(&no) => {}
                Err(no) => return Err(Answer::of_topic(topic, &no)),
            }
        }
        Ok(Answer::nothing(204))
    }

    /// Unloads the topics of a namespace that are in memory and match.
    pub(super) async fn unload_all(&self, matches: impl Fn(&TopicName) -> bool) -> Answer {
        for desk in &self.house.desks {
            let figures = self.asks.ask(desk, |id| ShardAsk::Figures { id }).await;
            let Some(ShardAnswer::Figures { topics, .. }) = figures else {
                return Answer::refused(503, "a desk does not answer in time");
            };
            let names = topics.into_iter().map(|figures| figures.topic);
            let kept = names.filter(|name| name.domain() == Domain::Persistent);
            for topic in kept.filter(&matches) {
                match self.finder.task(&topic, TopicTask::Unload).await {
                    Ok(_) => {}
                    // Only asked for, or just deleted.
                    Err(no) if is_missing_topic(&no) => {}
                    Err(no) => return Answer::of_topic(&topic, &no),
                }
            }
        }
        Answer::nothing(204)
    }

    /// How Pulsar names a broker: the address of its pages.
    pub(super) fn broker_id(&self) -> String {
        let url = self.web_url.as_str();
        url.strip_prefix("http://").unwrap_or(url).to_owned()
    }
}

fn is_missing_topic(no: &Refusal) -> bool {
    no.code == RefusalCode::TopicNotFound && !no.message.starts_with("Namespace")
}

/// What is not possible with a topic that keeps nothing.
fn not_of_non_persistent(method: &str, rest: &[&str]) -> Option<Answer> {
    match (method, rest) {
        ("PUT", ["subscription", _]) => {
            let text =
                "Create subscription on non-persistent topic can only be done through client";
            Some(Answer::refused(400, text))
        }
        ("DELETE", ["subscription", _]) => None,
        (
            _,
            [
                "subscription" | "all_subscription" | "examinemessage" | "ledger" | "messageid"
                | "lastMessageId" | "backlogSize",
                ..,
            ],
        ) => {
            let text = "This is not possible with a non-persistent topic: it keeps nothing";
            Some(Answer::refused(405, text))
        }
        _ => None,
    }
}

/// Pulsar's MessageIdImpl as JSON.
fn message_id(topic: &TopicName, position: Position, batch_index: Option<u32>) -> Value {
    json!({
        "ledgerId": position.ledger,
        "entryId": position.entry,
        "partitionIndex": topic.partition().map_or(-1, i64::from),
        "batchIndex": batch_index.map_or(-1, i64::from),
        "batchSize": 0,
    })
}
