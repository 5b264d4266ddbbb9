//! Questions that pages have to shards, and their answers on the way back.

use crate::threads::desk_inbox::DeskInbox;
use shard::ShardInput;
use shard::{ShardAnswer, ShardAsk};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long a page waits for a desk.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// Who waits for which answer.
#[derive(Default)]
pub struct Asks {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    last_id: u64,
    pages: BTreeMap<u64, oneshot::Sender<ShardAnswer>>,
}

impl Asks {
    /// Asks a shard and waits for the answer; `None` if it does not come in time.
    pub async fn ask(
        &self,
        desk: &DeskInbox,
        question: impl FnOnce(u64) -> ShardAsk,
    ) -> Option<ShardAnswer> {
        let (sender, receiver) = oneshot::channel();
        let id = {
            let mut waiting = self.lock();
            waiting.last_id += 1;
            let id = waiting.last_id;
            waiting.pages.insert(id, sender);
            id
        };
        desk.reply([ShardInput::Ask(question(id))]);
        let answer = timeout(ANSWER_WAIT, receiver).await;
        self.lock().pages.remove(&id);
        answer.ok()?.ok()
    }

    /// Hands an answer to whoever waits for it.
    pub fn answer(&self, answer: ShardAnswer) {
        let id = match &answer {
            ShardAnswer::Here { id }
            | ShardAnswer::Figures { id, .. }
            | ShardAnswer::Topic { id, .. }
            | ShardAnswer::Passing { id, .. } => *id,
        };
        if let Some(page) = self.lock().pages.remove(&id) {
            // A page that waits no more needs no answer.
            drop(page.send(answer));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that can panic runs under this lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
