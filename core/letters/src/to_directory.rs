//! What a session asks of the directory: what is above single topics.

use vocabulary::{NamespaceName, RequestId};

/// Which topics are there? Answered by [`crate::SessionLetter::TopicsListed`].
#[derive(Clone, Debug, PartialEq)]
pub struct TopicsQuestion {
    /// Echoed.
    pub request_id: RequestId,
    /// Where.
    pub namespace: NamespaceName,
    /// Whether persistent topics are wanted.
    pub persistent: bool,
    /// Whether non-persistent topics are wanted: those that have producers or consumers.
    pub non_persistent: bool,
    /// Only those whose names, without domain and partition, match this regular expression as a whole.
    pub pattern: Option<String>,
    /// The client's number of the watch that begins with this list: whenever the list changes from then on,
    /// [`crate::SessionLetter::TopicsChanged`] follows.
    pub watcher_id: Option<u64>,
}
