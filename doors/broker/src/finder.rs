//! Asks topics whether they exist, on behalf of a page: a session without a connection.

use crate::house::House;
use crate::registry::Letterbox;
use crate::threads::desk_inbox::DeskInbox;
use letters::{Refusal, RefusalCode, SessionLetter, ToTopic, TopicLetter};
use shard::ShardInput;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;
use vocabulary::{RequestId, SessionId, TopicName};

/// How long a page waits for a topic's answer.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// A question's outcome: the number of partitions, 0 if it is not partitioned.
type Found = Result<u32, Refusal>;

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
    pub async fn find(&self, topic: TopicName, may_create: bool) -> Found {
        let (sender, receiver) = oneshot::channel();
        let request_id = {
            let mut waiting = self.lock();
            waiting.last_id += 1;
            let id = waiting.last_id;
            waiting.pages.insert(id, sender);
            id
        };
        let asking = self.ask(request_id, topic, may_create, receiver);
        let found = timeout(ANSWER_WAIT, asking).await.ok().flatten();
        self.lock().pages.remove(&request_id);
        found.unwrap_or_else(|| {
            let text = "the topic did not answer in time; try again";
            Err(Refusal::new(RefusalCode::ServiceNotReady, text))
        })
    }

    async fn ask(
        &self,
        request_id: RequestId,
        topic: TopicName,
        may_create: bool,
        answer: oneshot::Receiver<Found>,
    ) -> Option<Found> {
        let desk = self.house.desks.get(self.house.shard_of(&topic))?;
        let letter = TopicLetter::FindTopic {
            request_id,
            may_create,
        };
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
                    } => (request_id, Ok(partitions)),
                    SessionLetter::TopicRefused {
                        request_id,
                        refusal,
                    } => (request_id, Err(refusal)),
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
