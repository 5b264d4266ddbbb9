//! The way of a producer or consumer to its topic, and back to it when it was lost:
//! PARTITIONED_METADATA, LOOKUP, PRODUCER or SUBSCRIBE.

use crate::backoff::Backoff;
use crate::client::{Client, Turn};
use crate::face::{ClientError, ClientEvent};
use crate::requests::{Handle, Request};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{
    CommandCloseConsumer, CommandCloseProducer, CommandLookupTopic, CommandLookupTopicResponse,
    CommandPartitionedTopicMetadata, CommandPartitionedTopicMetadataResponse, ServerError,
    command_lookup_topic_response, command_partitioned_topic_metadata_response,
};
use vocabulary::{Moment, RequestId};

/// How far a producer or consumer has come.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub topic: String,
    pub stage: Stage,
    pub backoff: Backoff,
    /// It was open once: from then on it comes back, whatever other clients do meanwhile.
    pub was_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// To be opened at this moment, or when there is a connection.
    Due(Moment),
    /// The broker is asked where the topic is.
    Finding(RequestId),
    /// The broker is asked to open it.
    Opening(RequestId),
    Open,
    /// The broker is asked to close it, for good.
    Closing(RequestId),
    /// The broker is asked to close it, so that it can be opened again.
    Reclosing(RequestId),
}

impl Opening {
    pub fn of(topic: String) -> Opening {
        Opening {
            topic,
            stage: Stage::Due(Moment(0)),
            backoff: Backoff::default(),
            was_open: false,
        }
    }

    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    fn waits_for(&self, id: RequestId) -> bool {
        match self.stage {
            Stage::Finding(asked)
            | Stage::Opening(asked)
            | Stage::Closing(asked)
            | Stage::Reclosing(asked) => asked == id,
            Stage::Due(_) | Stage::Open => false,
        }
    }
}

impl Client {
    pub(crate) fn opening(&mut self, handle: Handle) -> Option<&mut Opening> {
        match handle {
            Handle::Producer(id) => self
                .producers
                .get_mut(&id)
                .map(|producer| &mut producer.opening),
            Handle::Consumer(id) => self
                .consumers
                .get_mut(&id)
                .map(|consumer| &mut consumer.opening),
        }
    }

    fn openings(&self) -> impl Iterator<Item = (Handle, &Opening)> {
        let producers = self
            .producers
            .iter()
            .map(|(id, producer)| (Handle::Producer(*id), &producer.opening));
        let consumers = self
            .consumers
            .iter()
            .map(|(id, consumer)| (Handle::Consumer(*id), &consumer.opening));
        producers.chain(consumers)
    }

    /// When the next one is due, if there is a connection to open it on.
    pub(crate) fn next_opening(&self) -> Option<Moment> {
        let due = self
            .openings()
            .filter_map(|(_, opening)| match opening.stage {
                Stage::Due(at) => Some(at),
                _ => None,
            });
        due.min().filter(|_| self.connection.is_up())
    }

    pub(crate) fn open_what_is_due(&mut self, turn: &mut Turn<'_>) {
        if !self.connection.is_up() {
            return;
        }
        let now = turn.now.moment;
        let due = self
            .openings()
            .filter(|(_, opening)| matches!(opening.stage, Stage::Due(at) if at <= now));
        let due: Vec<Handle> = due.map(|(handle, _)| handle).collect();
        for handle in due {
            self.ask_partitions(turn, handle);
        }
    }

    fn ask_partitions(&mut self, turn: &mut Turn<'_>, handle: Handle) {
        let id = self.request(turn, Request::Partitions(handle));
        let Some(opening) = self.opening(handle) else {
            return;
        };
        opening.stage = Stage::Finding(id);
        let topic = Some(opening.topic.clone());
        turn.send(Cmd::PartitionMetadata(CommandPartitionedTopicMetadata {
            topic,
            request_id: Some(id),
            ..Default::default()
        }));
    }

    /// The request an answer belongs to, if its producer or consumer still waits for it.
    fn waiting(&mut self, id: RequestId) -> Option<(Request, Handle)> {
        let request = self.requests.take(id)?;
        let handle = match request {
            Request::Partitions(handle)
            | Request::Lookup(handle)
            | Request::Open(handle)
            | Request::OpenLater(handle)
            | Request::Close(handle) => handle,
            Request::Reopen(producer_id) => Handle::Producer(producer_id),
            // Has an answer of its own type.
            Request::Ack { .. } => return None,
        };
        let waits = self.opening(handle)?.waits_for(id);
        waits.then_some((request, handle))
    }

    pub(crate) fn partitions_found(
        &mut self,
        turn: &mut Turn<'_>,
        response: &CommandPartitionedTopicMetadataResponse,
    ) {
        let Some((_, handle)) = self.waiting(response.request_id()) else {
            return;
        };
        if response.response() == command_partitioned_topic_metadata_response::LookupType::Failed {
            let error =
                ClientError::of_broker(response.error.unwrap_or_default(), response.message());
            return self.not_opened(turn, handle, error);
        }
        let partitions = response.partitions();
        let id = self.request(turn, Request::Lookup(handle));
        let Some(opening) = self.opening(handle) else {
            return;
        };
        let topic = opening.topic.clone();
        if partitions > 0 {
            let text = format!(
                "Topic {topic} has {partitions} partitions: name one of them, {topic}-partition-0"
            );
            self.requests.take(id);
            return self.given_up(turn, handle, ClientError::here(text));
        }
        opening.stage = Stage::Finding(id);
        turn.send(Cmd::LookupTopic(CommandLookupTopic {
            topic: Some(topic),
            request_id: Some(id),
            ..Default::default()
        }));
    }

    pub(crate) fn looked_up(&mut self, turn: &mut Turn<'_>, response: &CommandLookupTopicResponse) {
        let Some((_, handle)) = self.waiting(response.request_id()) else {
            return;
        };
        match response.response() {
            command_lookup_topic_response::LookupType::Failed => {
                let error =
                    ClientError::of_broker(response.error.unwrap_or_default(), response.message());
                self.not_opened(turn, handle, error);
            }
            command_lookup_topic_response::LookupType::Redirect => {
                let text = format!(
                    "The topic is served by {}, and this client stays with one broker",
                    response.broker_service_url()
                );
                self.given_up(turn, handle, ClientError::here(text));
            }
            command_lookup_topic_response::LookupType::Connect => {
                let id = self.request(turn, Request::Open(handle));
                if let Some(opening) = self.opening(handle) {
                    opening.stage = Stage::Opening(id);
                }
                match handle {
                    Handle::Producer(producer_id) => self.send_producer(turn, producer_id, id),
                    Handle::Consumer(consumer_id) => self.send_subscribe(turn, consumer_id, id),
                }
            }
        }
    }

    pub(crate) fn succeeded(&mut self, turn: &mut Turn<'_>, id: RequestId) {
        match self.waiting(id) {
            Some((Request::Open(Handle::Consumer(consumer_id)), _)) => {
                self.subscribed(turn, consumer_id)
            }
            Some((Request::Close(_), handle)) => self.closed(turn, handle),
            Some((Request::Reopen(_), handle)) => self.try_again(turn, handle),
            _ => {}
        }
    }

    pub(crate) fn producer_waits(&mut self, id: RequestId) {
        if let Some((_, handle)) = self.waiting(id) {
            self.requests.put_back(id, Request::OpenLater(handle));
        }
    }

    /// The producer a PRODUCER_SUCCESS belongs to, which is open now.
    pub(crate) fn producer_of(&mut self, id: RequestId) -> Option<u64> {
        match self.waiting(id)? {
            (Request::Open(_) | Request::OpenLater(_), Handle::Producer(producer_id)) => {
                Some(producer_id)
            }
            _ => None,
        }
    }

    pub(crate) fn refused(&mut self, turn: &mut Turn<'_>, id: RequestId, error: ClientError) {
        match self.waiting(id) {
            Some((Request::Close(_), handle)) => self.closed(turn, handle),
            Some((Request::Reopen(_), handle)) => self.try_again(turn, handle),
            Some((_, handle)) => self.not_opened(turn, handle, error),
            None => {}
        }
    }

    /// The broker said no: try again if that may help.
    fn not_opened(&mut self, turn: &mut Turn<'_>, handle: Handle, error: ClientError) {
        let was_open = self.opening(handle).is_some_and(|opening| opening.was_open);
        if may_help_to_retry(error.code, was_open) {
            self.try_again(turn, handle);
        } else {
            self.given_up(turn, handle, error);
        }
    }

    pub(crate) fn try_again(&mut self, turn: &Turn<'_>, handle: Handle) {
        let settings = self.settings.clone();
        if let Some(opening) = self.opening(handle) {
            let wait = opening.backoff.next(&settings);
            opening.stage = Stage::Due(turn.now.moment.after(wait));
        }
    }

    pub(crate) fn given_up(&mut self, turn: &mut Turn<'_>, handle: Handle, error: ClientError) {
        match handle {
            Handle::Producer(producer_id) => {
                self.fail_sends(turn, producer_id, &error);
                self.producers.remove(&producer_id);
                turn.tell(ClientEvent::ProducerFailed { producer_id, error });
            }
            Handle::Consumer(consumer_id) => {
                self.consumers.remove(&consumer_id);
                turn.tell(ClientEvent::SubscribeFailed { consumer_id, error });
            }
        }
    }

    /// The broker closed it on its side: look it up again.
    pub(crate) fn detached(&mut self, turn: &mut Turn<'_>, handle: Handle) {
        if self
            .opening(handle)
            .is_some_and(|opening| opening.is_open())
        {
            self.try_again(turn, handle);
        }
    }

    /// The connection is gone, and with it everything the broker knew of us.
    pub(crate) fn all_detached(&mut self) {
        let producers = self
            .producers
            .values_mut()
            .map(|producer| &mut producer.opening);
        let consumers = self
            .consumers
            .values_mut()
            .map(|consumer| &mut consumer.opening);
        for opening in producers.chain(consumers) {
            opening.stage = Stage::Due(Moment(0));
        }
    }

    pub(crate) fn close(&mut self, turn: &mut Turn<'_>, handle: Handle) {
        match self.opening(handle).map(|opening| opening.stage) {
            // Unknown to the broker, so nobody needs to be asked.
            None | Some(Stage::Due(_) | Stage::Finding(_)) => self.closed(turn, handle),
            Some(Stage::Opening(_) | Stage::Open | Stage::Closing(_) | Stage::Reclosing(_)) => {
                self.send_close(turn, handle, Request::Close(handle));
            }
        }
    }

    pub(crate) fn send_close(&mut self, turn: &mut Turn<'_>, handle: Handle, request: Request) {
        let id = self.request(turn, request);
        if let Some(opening) = self.opening(handle) {
            opening.stage = match request {
                Request::Reopen(_) => Stage::Reclosing(id),
                _ => Stage::Closing(id),
            };
        }
        let request_id = Some(id);
        turn.send(match handle {
            Handle::Producer(producer_id) => Cmd::CloseProducer(CommandCloseProducer {
                producer_id: Some(producer_id),
                request_id,
                ..Default::default()
            }),
            Handle::Consumer(consumer_id) => Cmd::CloseConsumer(CommandCloseConsumer {
                consumer_id: Some(consumer_id),
                request_id,
                ..Default::default()
            }),
        });
    }

    pub(crate) fn closed(&mut self, turn: &mut Turn<'_>, handle: Handle) {
        match handle {
            Handle::Producer(producer_id) => {
                self.fail_sends(
                    turn,
                    producer_id,
                    &ClientError::here("The producer was closed"),
                );
                self.producers.remove(&producer_id);
                turn.tell(ClientEvent::ProducerClosed { producer_id });
            }
            Handle::Consumer(consumer_id) => {
                self.consumers.remove(&consumer_id);
                turn.tell(ClientEvent::ConsumerClosed { consumer_id });
            }
        }
    }

    /// The broker did not answer in time.
    pub(crate) fn overdue(&mut self, turn: &mut Turn<'_>, id: RequestId, request: Request) {
        if let Request::Ack { consumer_id, token } = request {
            let error = Some(ClientError::here(
                "The broker did not confirm the ack in time",
            ));
            return turn.tell(ClientEvent::AckConfirmed {
                consumer_id,
                token,
                error,
            });
        }
        let (Request::Partitions(handle)
        | Request::Lookup(handle)
        | Request::Open(handle)
        | Request::OpenLater(handle)
        | Request::Close(handle)) = request
        else {
            return self.hang_up(turn, "the broker did not answer CLOSE_PRODUCER in time");
        };
        if !self
            .opening(handle)
            .is_some_and(|opening| opening.waits_for(id))
        {
            return;
        }
        match (request, handle) {
            (Request::Close(_), _) => self.closed(turn, handle),
            // It may come to be open late: close it first.
            (Request::Open(_), Handle::Producer(producer_id)) => {
                self.send_close(turn, handle, Request::Reopen(producer_id));
            }
            (Request::Open(_), Handle::Consumer(_)) => {
                self.send_close_and_forget(turn, handle);
                self.try_again(turn, handle);
            }
            _ => self.try_again(turn, handle),
        }
    }

    /// CLOSE whose answer nobody waits for: requests are handled in order, so the next one finds it closed.
    fn send_close_and_forget(&mut self, turn: &mut Turn<'_>, handle: Handle) {
        self.send_close(turn, handle, Request::Close(handle));
        if let Some(Stage::Closing(id)) = self.opening(handle).map(|opening| opening.stage) {
            self.requests.take(id);
        }
    }
}

/// Java's list of what is final, of which "busy" is final only at the first opening: a producer or consumer that was
/// open once meets its own ghost until the broker notices that the old connection is dead.
fn may_help_to_retry(code: Option<ServerError>, was_open: bool) -> bool {
    match code {
        Some(ServerError::ConsumerBusy | ServerError::ProducerBusy) => was_open,
        Some(
            ServerError::AuthorizationError
            | ServerError::TopicNotFound
            | ServerError::SubscriptionNotFound
            | ServerError::InvalidTopicName
            | ServerError::IncompatibleSchema
            | ServerError::ConsumerAssignError
            | ServerError::NotAllowedError
            | ServerError::TransactionConflict
            | ServerError::TopicTerminatedError
            | ServerError::ProducerFenced,
        ) => false,
        _ => true,
    }
}
