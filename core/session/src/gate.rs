//! The one question asked at every command: may this principal do that to this?

use letters::Refusal;
use vocabulary::TopicName;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Principal {
    /// Nobody in particular: the connection did not authenticate, or needed not to.
    Anonymous,
    /// A role, as an authentication provider named it.
    Role(String),
}

/// What is asked for. Named after what a command does, since one permission may cover several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the commands'")]
pub enum Action {
    Connect,
    FindPartitions,
    Lookup,
    OpenProducer,
    Send,
    CloseProducer,
    Subscribe,
    Flow,
    Acknowledge,
    Redeliver,
    CloseConsumer,
    Unsubscribe,
    Seek,
    ReadLastMessageId,
    ReadConsumerStats,
    ListTopics,
    ReadSchema,
    WriteSchema,
    Transact,
    UseScalableTopics,
}

/// To what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource<'a> {
    /// The broker as a whole.
    Broker,
    /// A namespace, as the client wrote it.
    Namespace(&'a str),
    /// A topic.
    Topic(&'a TopicName),
    /// A subscription of a topic.
    Subscription(&'a TopicName, &'a str),
}

/// Answers the question. It is asked in a session's turn, so it answers from what it knows, without waiting.
pub trait Gate: Send + Sync {
    /// Whether the principal may do that. A refusal's code and text reach the client in the answer of its command.
    fn may(
        &self,
        principal: &Principal,
        action: Action,
        resource: Resource<'_>,
    ) -> Result<(), Refusal>;
}

/// Everybody may do everything: Pulsar with authorization disabled, its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Gate for AllowAll {
    fn may(&self, _: &Principal, _: Action, _: Resource<'_>) -> Result<(), Refusal> {
        Ok(())
    }
}
