//! Carries questions about what is above topics to the metadata store and back (see `directory`).

use crate::house::House;
use crate::threads::metadata::{Asker, MetadataParcel, MetadataQueue};
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
}

impl Clerk {
    /// One in front of this store.
    pub fn new(metadata: Arc<MetadataQueue>) -> Clerk {
        Clerk {
            metadata,
            room: Semaphore::new(ERRANDS_MAX),
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

    /// Answers a session's question with a letter.
    pub async fn answer(&self, house: &House, session: SessionId, question: TopicsQuestion) {
        let request_id = question.request_id;
        let result = self.topics(house, question).await;
        let letter = SessionLetter::TopicsListed { request_id, result };
        house
            .registry
            .hand_out(std::iter::once(ToSession { session, letter }));
    }

    async fn topics(
        &self,
        house: &House,
        question: TopicsQuestion,
    ) -> Result<Vec<String>, Refusal> {
        let refused = |text: String| Refusal::new(RefusalCode::MetadataError, text);
        let pattern = match &question.pattern {
            Some(pattern) => Some(TopicPattern::parse(pattern).map_err(|error| {
                refused(format!("{pattern} is no pattern of topic names: {error}"))
            })?),
            None => None,
        };
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
        names.retain(|name| {
            let topic = TopicName::parse(name);
            pattern
                .as_ref()
                .is_none_or(|pattern| topic.is_ok_and(|topic| pattern.matches(&topic)))
        });
        Ok(names)
    }
}
