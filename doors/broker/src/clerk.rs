//! Carries questions about what is above topics to the metadata store and back (see `directory`).

use crate::house::House;
use crate::threads::metadata::{Asker, MetadataParcel, MetadataQueue};
use crate::watch_room::WatchRoom;
use directory::pattern::TopicPattern;
use directory::{Errand, No, Question, Step, Why};
use letters::{Refusal, RefusalCode, SessionLetter, ToSession, TopicsQuestion};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;
use vocabulary::{SessionId, TopicName};

/// Errands at one time; the rest waits for them.
const ERRANDS_MAX: usize = 64;

/// How long one reply of the store may take.
const STORE_WAIT: Duration = Duration::from_secs(10);

/// Whoever has a question about clusters, tenants, namespaces or lists of topics asks it here.
pub struct Clerk {
    metadata: Arc<MetadataQueue>,
    room: Semaphore,
    /// Who is told when lists of topics change.
    pub watchers: Arc<WatchRoom>,
}

/// A session's question as it was received.
pub struct Received {
    question: TopicsQuestion,
    pattern: Result<Option<TopicPattern>, Refusal>,
}

impl Clerk {
    /// One in front of this store.
    pub fn new(metadata: Arc<MetadataQueue>, watchers: Arc<WatchRoom>) -> Clerk {
        Clerk {
            metadata,
            room: Semaphore::new(ERRANDS_MAX),
            watchers,
        }
    }

    /// The answer to a question.
    pub async fn ask(&self, question: Question) -> Result<Value, No> {
        // It is never closed.
        let _room = self.room.acquire().await;
        let mut errand = Errand::new(question);
        let mut replies = Vec::new();
        loop {
            let requests = match errand.go_on(replies) {
                Step::Done(result) => return result,
                Step::Ask(requests) => requests,
            };
            let (sender, receiver) = oneshot::channel();
            self.metadata.push(MetadataParcel {
                requests,
                asker: Asker::Page(sender),
            });
            replies = match timeout(STORE_WAIT, receiver).await {
                Ok(Ok(replies)) => replies,
                _ => {
                    return Err(No {
                        why: Why::Storage,
                        text: "the metadata store does not answer in time: is the disk stuck?"
                            .to_owned(),
                    });
                }
            };
        }
    }

    /// Takes a session's question, to be answered; a watch that begins with it begins now, so that one that ends a moment
    /// later finds it.
    pub fn receive(&self, session: SessionId, mut question: TopicsQuestion) -> Received {
        let pattern = pattern_of(&question);
        question.pattern = None;
        if let (Some(watcher_id), Ok(pattern)) = (question.watcher_id, &pattern) {
            let pattern = pattern.clone().unwrap_or_else(TopicPattern::any);
            let (request_id, namespace) = (question.request_id, &question.namespace);
            self.watchers.change(|watchers| {
                watchers.begin(session, watcher_id, request_id, namespace, pattern);
            });
        }
        Received { question, pattern }
    }

    /// Answers a session's question with a letter.
    pub async fn answer(&self, house: &House, session: SessionId, received: Received) {
        let Received { question, pattern } = received;
        let request_id = question.request_id;
        let watcher_id = question.watcher_id;
        let namespace = question.namespace.clone();
        let is_read = watcher_id.is_none() || self.watchers.wants_list(&namespace);
        let result = match pattern {
            Ok(pattern) if is_read => self
                .topics(house, question)
                .await
                .map(|names| (names, pattern)),
            Ok(pattern) => Ok((Vec::new(), pattern)),
            Err(refusal) => Err(refusal),
        };
        if let (Ok((names, _)), true) = (&result, watcher_id.is_some() && is_read) {
            let names = names.clone();
            self.watchers
                .change(|watchers| watchers.listed(&namespace, names));
        }
        let result = result.map(|(names, pattern)| filter(names, pattern.as_ref()));
        let Some(watcher_id) = watcher_id else {
            let letter = SessionLetter::TopicsListed { request_id, result };
            return house
                .registry
                .hand_out(std::iter::once(ToSession { session, letter }));
        };
        if result.is_err() {
            self.watchers.end(session, watcher_id);
        }
        self.watchers
            .answer(&house.registry, (session, watcher_id), request_id, result);
    }

    /// All topics that a question is about.
    async fn topics(
        &self,
        house: &House,
        question: TopicsQuestion,
    ) -> Result<Vec<String>, Refusal> {
        let refused = |text: String| Refusal::new(RefusalCode::MetadataError, text);
        let mut names = Vec::new();
        if question.non_persistent {
            let text = "the broker's shards do not answer in time; try again";
            let here = house.passing(&question.namespace).await;
            names = here.ok_or_else(|| refused(text.to_owned()))?;
        }
        if question.persistent {
            let listed = self.ask(Question::Topics {
                namespace: question.namespace,
                with_system_topics: false,
                must_exist: false,
            });
            let listed = listed.await.map_err(|no| refused(no.text))?;
            let listed = listed.as_array().into_iter().flatten();
            names.extend(listed.filter_map(Value::as_str).map(str::to_owned));
        }
        Ok(names)
    }
}

fn pattern_of(question: &TopicsQuestion) -> Result<Option<TopicPattern>, Refusal> {
    let Some(pattern) = &question.pattern else {
        return Ok(None);
    };
    TopicPattern::parse(pattern)
        .map(Some)
        .map_err(|error| match question.watcher_id {
            Some(_) => {
                let text = format!("Invalid topics pattern: {error}");
                Refusal::new(RefusalCode::InvalidTopicName, text)
            }
            None => {
                let text = format!("{pattern} is no pattern of topic names: {error}");
                Refusal::new(RefusalCode::MetadataError, text)
            }
        })
}

fn filter(names: Vec<String>, pattern: Option<&TopicPattern>) -> Vec<String> {
    let Some(pattern) = pattern else {
        return names;
    };
    let is_meant = |name: &String| {
        let topic = TopicName::parse(name);
        topic.is_ok_and(|topic| pattern.matches(&topic))
    };
    names.into_iter().filter(is_meant).collect()
}
