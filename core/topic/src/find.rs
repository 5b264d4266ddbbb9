//! Whether the topic exists, for PARTITIONED_METADATA and LOOKUP. Answered without opening the log.

use crate::Topic;
use crate::turn::{Turn, refusal};
use letters::log::TopicFacts;
use letters::{LogError, LogRequest, Refusal, RefusalCode, SessionLetter};
use vocabulary::{RequestId, SessionId};

/// A question that waits for the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Find {
    session: SessionId,
    request_id: RequestId,
    may_create: bool,
}

impl Topic {
    /// PARTITIONED_METADATA or LOOKUP came.
    pub(crate) fn find(
        &mut self,
        session: SessionId,
        request_id: RequestId,
        may_create: bool,
        turn: &mut Turn<'_>,
    ) {
        if self.finds.len() >= self.settings.finds_max {
            let text = format!(
                "{}: {} lookups wait for metadata already; try again later",
                self.name,
                self.finds.len()
            );
            let refusal = refusal(RefusalCode::TooManyRequests, text);
            turn.tell(
                session,
                SessionLetter::TopicRefused {
                    request_id,
                    refusal,
                },
            );
            return;
        }
        let ticket = turn.ticket();
        self.finds.insert(
            ticket,
            Find {
                session,
                request_id,
                may_create,
            },
        );
        turn.ask(LogRequest::Find { ticket });
    }

    /// The log knows.
    pub(crate) fn found(
        &mut self,
        ticket: u64,
        result: Result<TopicFacts, LogError>,
        turn: &mut Turn<'_>,
    ) {
        let Some(Find {
            session,
            request_id,
            may_create,
        }) = self.finds.remove(&ticket)
        else {
            return;
        };
        let letter = match self.partitions(result, may_create) {
            Ok(partitions) => SessionLetter::TopicFound {
                request_id,
                partitions,
            },
            Err(refusal) => SessionLetter::TopicRefused {
                request_id,
                refusal,
            },
        };
        turn.tell(session, letter);
    }

    /// Expectation: Java, Go and C++ close the connection on ServiceNotReady here, so it is never said.
    fn partitions(
        &self,
        result: Result<TopicFacts, LogError>,
        may_create: bool,
    ) -> Result<u32, Refusal> {
        let facts = match result {
            Ok(facts) => facts,
            Err(LogError::NoSuchNamespace(_)) => TopicFacts::default(),
            Err(LogError::NoSuchTopic(_)) => TopicFacts {
                namespace_exists: true,
                ..TopicFacts::default()
            },
            Err(error) => {
                let text = format!("The metadata of {} cannot be read: {error}", self.name);
                return Err(refusal(RefusalCode::MetadataError, text));
            }
        };
        // A partition has no partitions of its own. It may be made if its topic has so many, and only then.
        let (partitions, is_promised) = match self.name.partition() {
            Some(index) => (None, facts.partitions.map(|count| index < count)),
            None => (facts.partitions, None),
        };
        if facts.exists || partitions.is_some() || self.passes_now() {
            return Ok(partitions.unwrap_or(0));
        }
        if !facts.namespace_exists {
            let text = format!(
                "Namespace not found: {} does not exist",
                self.name.namespace()
            );
            return Err(refusal(RefusalCode::TopicNotFound, text));
        }
        if may_create && is_promised.unwrap_or(self.settings.auto_create_topics) {
            return Ok(0);
        }
        Err(refusal(
            RefusalCode::TopicNotFound,
            format!("Topic {} not found", self.name),
        ))
    }
}
