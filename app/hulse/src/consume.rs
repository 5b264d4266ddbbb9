//! `hulse consume`: messages of a subscription, a line each, acknowledged with a receipt.

use crate::link::{Link, LinkError};
use crate::show::{self, ShowError};
use crate::{ConsumeArguments, Position, SubscriptionKind, exit};
use client_session::{
    Ack, ClientAsk, ClientError, ClientEvent, InitialPosition, Received, SubType, Subscribe,
};
use std::io::{self, Write};
use std::process::ExitCode;
use thiserror::Error;
use vocabulary::{ConsumerId, NameError, TopicName};

const CONSUMER: ConsumerId = 1;

/// Messages on their way at a time.
const QUEUE_SIZE: u32 = 1000;

/// Why consuming ended early.
#[derive(Debug, Error)]
enum ConsumeError {
    #[error("{0}")]
    Topic(#[from] NameError),
    #[error("{0}")]
    Link(#[from] LinkError),
    #[error("the broker let no consumer into subscription {0} of {1}: {2}")]
    Refused(String, String, ClientError),
    #[error("{0} was left unacknowledged: {1}")]
    Unshown(vocabulary::Position, ShowError),
    #[error("cannot write the messages: {0}")]
    Output(io::Error),
}

/// Shows messages until there were enough, or until interrupted.
pub fn run(arguments: &ConsumeArguments) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return exit::with(exit::FAILED, &format!("cannot start: {error}")),
    };
    match runtime.block_on(consume(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has had enough.
        Err(ConsumeError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(
            error @ (ConsumeError::Topic(_)
            | ConsumeError::Link(LinkError::BadUrl(_) | LinkError::Tls(_))),
        ) => exit::with(exit::USAGE, &error),
        Err(error) => exit::with(exit::FAILED, &error),
    }
}

async fn consume(arguments: &ConsumeArguments) -> Result<(), ConsumeError> {
    let topic = TopicName::parse(&arguments.topic)?;
    let mut link = Link::open(&arguments.url).await?;
    let wanted = arguments.messages.unwrap_or(u64::MAX);
    link.ask(ClientAsk::Subscribe(Subscribe {
        consumer_id: CONSUMER,
        topic: topic.as_str().to_owned(),
        subscription: arguments.subscription.clone(),
        subscription_type: kind(arguments.kind),
        initial_position: initial_position(arguments.position),
        // Nothing is asked for that will not be shown: on a shared subscription others may want it.
        queue_size: u32::try_from(wanted)
            .unwrap_or(QUEUE_SIZE)
            .clamp(1, QUEUE_SIZE),
        name: String::new(),
        says_took: true,
    }));
    let mut shower = Shower {
        arguments,
        topic,
        shown: 0,
        unconfirmed: 0,
    };
    while shower.shown < wanted {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => break,
            event = link.next() => shower.note(&mut link, event?)?,
        }
    }
    while shower.unconfirmed > 0 {
        let event = link.next().await?;
        if !matches!(event, ClientEvent::Message(_)) {
            shower.note(&mut link, event)?;
        }
    }
    link.ask(ClientAsk::CloseConsumer(CONSUMER));
    loop {
        if let ClientEvent::ConsumerClosed { .. } | ClientEvent::Disconnected = link.next().await? {
            return Ok(());
        }
    }
}

/// What was shown so far.
struct Shower<'a> {
    arguments: &'a ConsumeArguments,
    topic: TopicName,
    shown: u64,
    unconfirmed: u64,
}

impl Shower<'_> {
    fn note(&mut self, link: &mut Link, event: ClientEvent) -> Result<(), ConsumeError> {
        match event {
            ClientEvent::Message(message) => self.show(link, &message),
            ClientEvent::AckConfirmed { error, .. } => {
                self.unconfirmed = self.unconfirmed.saturating_sub(1);
                if let Some(error) = error {
                    tracing::warn!(
                        "an acknowledgement was refused, its message will come again: {error}"
                    );
                }
                Ok(())
            }
            ClientEvent::SubscribeFailed { error, .. } => {
                let subscription = self.arguments.subscription.clone();
                Err(ConsumeError::Refused(
                    subscription,
                    self.topic.as_str().to_owned(),
                    error,
                ))
            }
            ClientEvent::Unreadable {
                position, problem, ..
            } => {
                tracing::warn!(
                    "the entry at {position} cannot be read and was passed over: {problem}"
                );
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn show(&mut self, link: &mut Link, message: &Received) -> Result<(), ConsumeError> {
        let lines = show::lines(message, self.arguments.long)
            .map_err(|error| ConsumeError::Unshown(message.id.position, error))?;
        let mut out = io::stdout().lock();
        for line in &lines {
            out.write_all(line)
                .and_then(|()| out.write_all(b"\n"))
                .map_err(ConsumeError::Output)?;
        }
        out.flush().map_err(ConsumeError::Output)?;
        // What was compressed is one entry for the session, and is acknowledged as a whole.
        self.shown += lines.len().max(1) as u64;
        link.ask(ClientAsk::Took {
            consumer_id: CONSUMER,
            incarnation: message.incarnation,
            permits: message.permits,
        });
        link.ask(ClientAsk::Ack {
            consumer_id: CONSUMER,
            ack: Ack::Individual(vec![message.id]),
            receipt: Some(self.shown),
        });
        self.unconfirmed += 1;
        Ok(())
    }
}

fn kind(kind: SubscriptionKind) -> SubType {
    match kind {
        SubscriptionKind::Exclusive => SubType::Exclusive,
        SubscriptionKind::Shared => SubType::Shared,
        SubscriptionKind::Failover => SubType::Failover,
    }
}

fn initial_position(position: Position) -> InitialPosition {
    match position {
        Position::Earliest => InitialPosition::Earliest,
        Position::Latest => InitialPosition::Latest,
    }
}
