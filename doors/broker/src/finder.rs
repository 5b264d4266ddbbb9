//! Asks topics whether they exist, which schemas they have, to end themselves or to do a task, on behalf of a page: a
//! session without a connection.

use crate::house::House;
use crate::registry::Letterbox;
use crate::threads::desk_inbox::DeskInbox;
use letters::{
    Refusal, RefusalCode, SchemaAsk, SchemaFound, SessionLetter, TaskResult, ToTopic, TopicLetter,
    TopicTask, schema_home,
};
use shard::ShardInput;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;
use vocabulary::{Position, RequestId, SessionId, TopicName};

/// How long a page waits for a topic's answer.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// A question's outcome.
enum Found {
    /// The number of partitions, 0 if it is not partitioned.
    Topic(Result<u32, Refusal>),
    Schema(Result<Option<SchemaFound>, Refusal>),
    Schemas(Result<Vec<SchemaFound>, Refusal>),
    Task(Result<TaskResult, Refusal>),
    LastMessage(LastMessage),
}

/// The last message of a topic.
#[derive(Clone, Copy, Debug)]
pub struct LastMessage {
    /// Its entry; (-1, -1) if there is none.
    pub position: Position,
    /// Its index, if the entry is a batch.
    pub batch_index: Option<u32>,
}

/// The session that pages ask with.
pub struct Finder {
    house: Arc<House>,
    session: SessionId,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    last_id: RequestId,
    pages: BTreeMap<RequestId, oneshot::Sender<Found>>,
}

impl Finder {
    /// Opens the session; a task hands its letters to those who wait.
    pub fn start(house: Arc<House>) -> Arc<Finder> {
        let (session, letterbox) = house.registry.admit_own();
        let finder = Arc::new(Finder {
            house,
            session,
            waiting: Mutex::default(),
        });
        tokio::spawn(Arc::clone(&finder).hand_on(letterbox));
        finder
    }

    /// Whether a topic exists (or may be created on use), and its number of partitions.
    pub async fn find(&self, topic: TopicName, may_create: bool) -> Result<u32, Refusal> {
        let letter = |request_id| TopicLetter::FindTopic {
            request_id,
            may_create,
        };
        match self.ask(topic, letter).await {
            Some(Found::Topic(found)) => found,
            _ => Err(too_late()),
        }
    }

    /// Deletes a topic with all it holds; one that has producers or consumers only with `force`.
    pub async fn delete(&self, topic: TopicName, force: bool) -> Result<(), Refusal> {
        let letter = |request_id| TopicLetter::DeleteTopic { request_id, force };
        match self.ask(topic, letter).await {
            Some(Found::Topic(found)) => found.map(drop),
            _ => Err(too_late()),
        }
    }

    /// Does something to a topic that exists.
    pub async fn task(&self, topic: &TopicName, task: TopicTask) -> Result<TaskResult, Refusal> {
        let task = Box::new(task);
        let letter = |request_id| TopicLetter::DoTask { request_id, task };
        match self.ask(topic.clone(), letter).await {
            Some(Found::Task(result)) => result,
            _ => Err(too_late()),
        }
    }

    /// The last message of a topic that exists.
    pub async fn last_message(&self, topic: &TopicName) -> Result<LastMessage, Refusal> {
        let task = Box::new(TopicTask::LastMessage);
        let letter = |request_id| TopicLetter::DoTask { request_id, task };
        match self.ask(topic.clone(), letter).await {
            Some(Found::LastMessage(last)) => Ok(last),
            Some(Found::Task(Err(refusal))) => Err(refusal),
            _ => Err(too_late()),
        }
    }

    /// What the registry says of a topic's schemas.
    pub async fn schema(
        &self,
        topic: &TopicName,
        ask: SchemaAsk,
    ) -> Result<Option<SchemaFound>, Refusal> {
        match self.ask_registry(topic, ask).await? {
            Some(Found::Schema(found)) => found,
            _ => Err(too_late()),
        }
    }

    /// All versions of a topic's schema that count, oldest first.
    pub async fn schemas(&self, topic: &TopicName) -> Result<Vec<SchemaFound>, Refusal> {
        match self.ask_registry(topic, SchemaAsk::All).await? {
            Some(Found::Schemas(found)) => found,
            _ => Err(too_late()),
        }
    }

    async fn ask_registry(
        &self,
        topic: &TopicName,
        ask: SchemaAsk,
    ) -> Result<Option<Found>, Refusal> {
        let home = schema_home(topic)
            .map_err(|error| Refusal::new(RefusalCode::InvalidTopicName, error.to_string()))?;
        let letter = |request_id| TopicLetter::Schema { request_id, ask };
        Ok(self.ask(home, letter).await)
    }

    async fn ask(
        &self,
        topic: TopicName,
        letter: impl FnOnce(RequestId) -> TopicLetter,
    ) -> Option<Found> {
        let (sender, receiver) = oneshot::channel();
        let request_id = {
            let mut waiting = self.lock();
            waiting.last_id += 1;
            let id = waiting.last_id;
            waiting.pages.insert(id, sender);
            id
        };
        let asking = self.write(topic, letter(request_id), receiver);
        let found = timeout(ANSWER_WAIT, asking).await.ok().flatten();
        self.lock().pages.remove(&request_id);
        found
    }

    async fn write(
        &self,
        topic: TopicName,
        letter: TopicLetter,
        answer: oneshot::Receiver<Found>,
    ) -> Option<Found> {
        let desk = self.house.desks.get(self.house.shard_of(&topic))?;
        let letter = ToTopic {
            topic,
            session: self.session,
            letter,
        };
        let credit = Arc::clone(desk).credit(DeskInbox::cost(1, 0)).await.ok()?;
        desk.hand_in(vec![ShardInput::Letter(letter)], credit)
            .ok()?;
        answer.await.ok()
    }

    async fn hand_on(self: Arc<Self>, mut letterbox: Letterbox) {
        while let Some(letters) = letterbox.recv().await {
            for letter in letters {
                let (request_id, found) = match letter {
                    SessionLetter::TopicFound {
                        request_id,
                        partitions,
                    } => (request_id, Found::Topic(Ok(partitions))),
                    SessionLetter::TopicDeleted { request_id } => (request_id, Found::Topic(Ok(0))),
                    SessionLetter::TopicRefused {
                        request_id,
                        refusal,
                    } => (request_id, Found::Topic(Err(refusal))),
                    SessionLetter::Schema { request_id, result } => {
                        (request_id, Found::Schema(result))
                    }
                    SessionLetter::Schemas { request_id, result } => {
                        (request_id, Found::Schemas(result))
                    }
                    SessionLetter::TaskDone { request_id, result } => {
                        (request_id, Found::Task(result))
                    }
                    SessionLetter::Unsubscribed { request_id, .. }
                    | SessionLetter::SeekDone { request_id, .. } => {
                        (request_id, Found::Task(Ok(TaskResult::Done)))
                    }
                    SessionLetter::AckDone {
                        request_id,
                        refusal,
                        ..
                    } => {
                        let result = refusal.map_or(Ok(TaskResult::Done), Err);
                        (request_id, Found::Task(result))
                    }
                    SessionLetter::RequestRefused {
                        request_id,
                        refusal,
                    } => (request_id, Found::Task(Err(refusal))),
                    SessionLetter::LastMessageId {
                        request_id,
                        position,
                        batch_index,
                        ..
                    } => {
                        let last = LastMessage {
                            position,
                            batch_index,
                        };
                        (request_id, Found::LastMessage(last))
                    }
                    // Nothing else was asked for.
                    _ => continue,
                };
                if let Some(page) = self.lock().pages.remove(&request_id) {
                    drop(page.send(found));
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that can panic runs under this lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_late() -> Refusal {
    let text = "the topic did not answer in time; try again";
    Refusal::new(RefusalCode::ServiceNotReady, text)
}
