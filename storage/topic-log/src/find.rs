//! What is known of a topic without opening its log: three metadata nodes.

use crate::translate::metadata_fault;
use bytes::Bytes;
use letters::log::{Ticket, TopicFacts};
use letters::{LogError, LogReply};
use managed_ledger::ManagedLedger;
use metadata_store::{MetadataError, Stat};
use serde::Deserialize;
use vocabulary::TopicName;
use vocabulary::name::url_encode;

/// The nodes, in the order in which they are asked for.
pub(crate) fn paths(topic: &TopicName) -> [String; 3] {
    let namespace = topic.namespace();
    let parent = topic
        .partition()
        .and_then(|_| TopicName::parse(topic.base()).ok());
    let local = url_encode(parent.as_ref().unwrap_or(topic).local());
    let domain = topic.domain().as_str();
    [
        ManagedLedger::path_of(topic),
        format!("/admin/partitioned-topics/{namespace}/{domain}/{local}"),
        format!("/admin/policies/{namespace}"),
    ]
}

/// One `Find` under way.
#[derive(Debug)]
pub(crate) struct Find {
    pub(crate) topic: TopicName,
    ticket: Ticket,
    unanswered: usize,
    facts: TopicFacts,
    error: Option<LogError>,
}

/// The part of Pulsar's `PartitionedTopicMetadata` that matters here.
#[derive(Deserialize)]
struct Partitioned {
    partitions: u32,
    #[serde(default)]
    deleted: bool,
}

impl Find {
    pub(crate) fn new(topic: TopicName, ticket: Ticket) -> Find {
        Find {
            topic,
            ticket,
            unanswered: 3,
            facts: TopicFacts::default(),
            error: None,
        }
    }

    /// A node was read; `which` counts as in [`paths`]. The reply, when all three were.
    pub(crate) fn answered(
        &mut self,
        which: u32,
        path: &str,
        result: Result<Option<(Bytes, Stat)>, MetadataError>,
    ) -> Option<LogReply> {
        self.unanswered = self.unanswered.saturating_sub(1);
        match result {
            Err(error) => {
                self.error = Some(metadata_fault(error).to_log_error(self.topic.as_str()))
            }
            Ok(None) => {}
            Ok(Some((value, _))) => match which {
                0 => self.facts.exists = true,
                1 => self.partitions(path, &value),
                _ => self.facts.namespace_exists = true,
            },
        }
        let result = self.error.clone().map_or(Ok(self.facts), Err);
        (self.unanswered == 0).then_some(LogReply::Found {
            ticket: self.ticket,
            result,
        })
    }

    fn partitions(&mut self, path: &str, value: &[u8]) {
        match serde_json::from_slice::<Partitioned>(value) {
            // Of what is being deleted no partition comes back.
            Ok(found) if found.deleted => {
                self.facts.partitions = self.topic.partition().map(|_| 0);
            }
            Ok(found) => self.facts.partitions = Some(found.partitions),
            Err(error) => self.error = Some(LogError::Damaged(format!("{path}: {error}"))),
        }
    }
}
