//! Where those who watch lists of topics meet the metadata store, which is where topics come and go.

use crate::registry::Registry;
use directory::Watchers;
use directory::watchers::{WATCHED_PREFIX, topic_of};
use letters::{Refusal, SessionLetter, ToSession};
use metadata_store::embedded::EmbeddedStore;
use metadata_store::{MetadataReply, MetadataRequest};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use vocabulary::{NamespaceName, SessionId, WallTime};

/// All watchers of this process, and a bell for whoever tells them their news.
#[derive(Default)]
pub struct WatchRoom {
    watchers: Mutex<Watchers>,
    /// Whether there is any watcher: looked at for each turn of the metadata store.
    is_wanted: AtomicBool,
    has_news: Notify,
}

impl WatchRoom {
    /// Changes the watchers.
    pub fn change<T>(&self, change: impl FnOnce(&mut Watchers) -> T) -> T {
        let mut watchers = self.lock();
        let outcome = change(&mut watchers);
        self.is_wanted
            .store(!watchers.is_empty(), Ordering::Release);
        outcome
    }

    /// The watch ends.
    pub fn end(&self, session: SessionId, watcher_id: u64) {
        self.change(|watchers| watchers.end(session, watcher_id));
    }

    /// All watches of the session end.
    pub fn session_gone(&self, session: SessionId) {
        self.change(|watchers| watchers.session_gone(session));
    }

    /// Whether the list of a namespace has to be read for its watchers.
    pub fn wants_list(&self, namespace: &NamespaceName) -> bool {
        self.lock().wants_list(namespace)
    }

    /// Answers a request with which a watch begins. `otherwise` answers one that was overtaken.
    pub fn answer(
        &self,
        registry: &Registry,
        whose: (SessionId, u64),
        request_id: u64,
        otherwise: Result<Vec<String>, Refusal>,
    ) {
        let (session, watcher_id) = whose;
        let mut letters = Vec::new();
        let mut watchers = self.lock();
        let list = watchers.first_list(session, watcher_id, request_id, &mut letters);
        let letter = SessionLetter::TopicsListed {
            request_id,
            result: list.map_or(otherwise, Ok),
        };
        letters.push(ToSession { session, letter });
        // Under the lock, so that no news comes before the list that it is about.
        registry.hand_out(letters.into_iter());
    }

    /// Tells the watchers their news whenever there is any, as long as the process lives.
    pub async fn announce(self: Arc<Self>, registry: Arc<Registry>) {
        loop {
            self.has_news.notified().await;
            let mut watchers = self.lock();
            let letters = watchers.news();
            registry.hand_out(letters.into_iter());
        }
    }

    /// Before a turn of the store: whether it has to say what changes.
    pub fn prepare(&self, store: &mut EmbeddedStore, is_watching: &mut bool) {
        let is_wanted = self.is_wanted.load(Ordering::Acquire);
        if is_wanted && !*is_watching {
            *is_watching = store.watch(WATCHED_PREFIX).is_ok();
        } else if !is_wanted && *is_watching {
            store.unwatch(WATCHED_PREFIX);
            *is_watching = false;
        }
    }

    /// After a turn of the store, before its replies are handed back: what they say of topics that come and go.
    pub fn hear(
        &self,
        store: &mut EmbeddedStore,
        now: WallTime,
        changed: impl Iterator<Item = MetadataReply>,
    ) {
        let topics = changed.filter_map(|reply| match reply {
            MetadataReply::Changed { path } => topic_of(&path).map(|topic| (path, topic)),
            _ => None,
        });
        let topics: Vec<_> = topics.collect();
        if topics.is_empty() {
            return;
        }
        let requests = topics.iter().map(|(path, _)| MetadataRequest::Get {
            ticket: 0,
            path: path.clone(),
        });
        let found = store.turn(now, requests.collect());
        let mut watchers = self.lock();
        for ((_, topic), reply) in topics.iter().zip(found) {
            if let MetadataReply::Got {
                result: Ok(node), ..
            } = reply
            {
                watchers.heard(topic, node.is_some());
            }
        }
        drop(watchers);
        self.has_news.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Watchers> {
        // Nothing that can panic runs under this lock.
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
