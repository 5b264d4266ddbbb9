//! Who watches which list of topics (WATCH_TOPIC_LIST, PIP-179).
//!
//! One set of names is kept for each watched namespace, however many watch it; watchers keep only their patterns. News
//! is noted as it is heard and told in batches, so that a burst of new topics costs one list for each batch and not one
//! for each topic.

use crate::pattern::TopicPattern;
use crate::topics::is_system_topic;
use letters::{SessionLetter, ToSession};
use pulsar_wire::topics_hash::topics_hash;
use std::collections::{BTreeMap, BTreeSet};
use vocabulary::{NamespaceName, RequestId, SessionId, TopicName};

/// Below it lies what comes and goes with a topic.
pub const WATCHED_PREFIX: &str = "/managed-ledgers";

/// The topic that comes and goes with this key of the metadata store; `None` for all other keys.
#[must_use]
pub fn topic_of(path: &str) -> Option<TopicName> {
    crate::paths::topic_of_log(path)
}

/// All watchers of persistent topics.
#[derive(Debug, Default)]
pub struct Watchers {
    namespaces: BTreeMap<NamespaceName, Watched>,
    /// Where the watchers of each session are.
    places: BTreeMap<(SessionId, u64), NamespaceName>,
}

/// A namespace that somebody watches.
#[derive(Debug, Default)]
struct Watched {
    watchers: BTreeMap<(SessionId, u64), Watcher>,
    /// Its topics; `None`: the list is being read.
    known: Option<BTreeSet<String>>,
    /// What changed while it was: whether the topic is there.
    meanwhile: BTreeMap<String, bool>,
    /// What changed since the watchers were told the last time: whether the topic is there.
    untold: BTreeMap<String, bool>,
}

#[derive(Debug)]
struct Watcher {
    pattern: TopicPattern,
    /// The request that began it: an answer to an earlier one of the same watcher begins nothing.
    request_id: RequestId,
    /// It has its list, so it may be told what changes.
    has_list: bool,
}

impl Watchers {
    /// A watch begins, or begins anew; news is collected for it from now on.
    pub fn begin(
        &mut self,
        session: SessionId,
        watcher_id: u64,
        request_id: RequestId,
        namespace: &NamespaceName,
        pattern: TopicPattern,
    ) {
        self.end(session, watcher_id);
        let watcher = Watcher {
            pattern,
            request_id,
            has_list: false,
        };
        let watched = self.namespaces.entry(namespace.clone()).or_default();
        watched.watchers.insert((session, watcher_id), watcher);
        self.places.insert((session, watcher_id), namespace.clone());
    }

    /// Whether the topics of a watched namespace have to be read still.
    #[must_use]
    pub fn wants_list(&self, namespace: &NamespaceName) -> bool {
        let watched = self.namespaces.get(namespace);
        watched.is_some_and(|watched| watched.known.is_none())
    }

    /// The topics of a namespace as they were at some moment after a watch of it began.
    pub fn listed(&mut self, namespace: &NamespaceName, names: impl IntoIterator<Item = String>) {
        let Some(watched) = self.namespaces.get_mut(namespace) else {
            return;
        };
        // Another list came first, and is kept up to date since.
        if watched.known.is_some() {
            return;
        }
        let mut known: BTreeSet<String> = names.into_iter().collect();
        for (name, is_there) in std::mem::take(&mut watched.meanwhile) {
            match is_there {
                true => known.insert(name),
                false => known.remove(&name),
            };
        }
        watched.known = Some(known);
    }

    /// The list with which a watch begins; what changes from here on is told. Whatever the others have to be told first
    /// goes into `letters`. `None`: the watch has ended, or begun anew, or its list was never read.
    pub fn first_list(
        &mut self,
        session: SessionId,
        watcher_id: u64,
        request_id: RequestId,
        letters: &mut Vec<ToSession>,
    ) -> Option<Vec<String>> {
        let namespace = self.places.get(&(session, watcher_id))?;
        let watched = self.namespaces.get_mut(namespace)?;
        watched.tell(letters);
        let watcher = watched.watchers.get_mut(&(session, watcher_id))?;
        if watcher.request_id != request_id {
            return None;
        }
        let known = watched.known.as_ref()?;
        watcher.has_list = true;
        let names = known.iter().filter(|name| watcher.means(name));
        Some(names.cloned().collect())
    }

    /// A watch ends; one that is not there has ended already.
    pub fn end(&mut self, session: SessionId, watcher_id: u64) {
        let Some(namespace) = self.places.remove(&(session, watcher_id)) else {
            return;
        };
        if let Some(watched) = self.namespaces.get_mut(&namespace) {
            watched.watchers.remove(&(session, watcher_id));
            if watched.watchers.is_empty() {
                self.namespaces.remove(&namespace);
            }
        }
    }

    /// All watches of a session end.
    pub fn session_gone(&mut self, session: SessionId) {
        let own = self.places.range((session, 0)..=(session, u64::MAX));
        let own: Vec<u64> = own.map(|((_, watcher_id), _)| *watcher_id).collect();
        for watcher_id in own {
            self.end(session, watcher_id);
        }
    }

    /// Whether anybody watches anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.namespaces.is_empty()
    }

    /// A topic is there, or is not.
    pub fn heard(&mut self, topic: &TopicName, is_there: bool) {
        let Some(watched) = self.namespaces.get_mut(topic.namespace()) else {
            return;
        };
        if is_system_topic(topic.local()) {
            return;
        }
        let name = topic.as_str().to_owned();
        let Some(known) = &mut watched.known else {
            watched.meanwhile.insert(name, is_there);
            return;
        };
        let is_news = match is_there {
            true => known.insert(name.clone()),
            false => known.remove(&name),
        };
        if is_news {
            // What came and went again meanwhile is no news to anybody.
            if watched.untold.remove(&name).is_none() {
                watched.untold.insert(name, is_there);
            }
        }
    }

    /// What the watchers have to be told since the last time.
    pub fn news(&mut self) -> Vec<ToSession> {
        let mut letters = Vec::new();
        for watched in self.namespaces.values_mut() {
            watched.tell(&mut letters);
        }
        letters
    }
}

impl Watched {
    fn tell(&mut self, letters: &mut Vec<ToSession>) {
        let untold = std::mem::take(&mut self.untold);
        let Some(known) = self.known.as_ref().filter(|_| !untold.is_empty()) else {
            return;
        };
        for ((session, watcher_id), watcher) in &self.watchers {
            if !watcher.has_list {
                continue;
            }
            let meant = untold.iter().filter(|(name, _)| watcher.means(name));
            let (created, deleted): (Vec<_>, Vec<_>) = meant.partition(|(_, is_there)| **is_there);
            if created.is_empty() && deleted.is_empty() {
                continue;
            }
            let names = |some: Vec<(&String, &bool)>| {
                some.into_iter().map(|(name, _)| name.clone()).collect()
            };
            let list = known.iter().filter(|name| watcher.means(name));
            let letter = SessionLetter::TopicsChanged {
                watcher_id: *watcher_id,
                created: names(created),
                deleted: names(deleted),
                hash: topics_hash(list.map(String::as_str)),
            };
            letters.push(ToSession {
                session: *session,
                letter,
            });
        }
    }
}

impl Watcher {
    fn means(&self, name: &str) -> bool {
        TopicName::parse(name).is_ok_and(|topic| self.pattern.matches(&topic))
    }
}
