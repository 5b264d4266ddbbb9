//! `hulse produce`: messages from the command line or from stdin.

use crate::link::{Link, LinkError};
use crate::{ProduceArguments, exit};
use bytes::Bytes;
use client_session::{ClientAsk, ClientError, ClientEvent, CreateProducer, OutMessage};
use std::io::{BufRead, stdin};
use std::process::ExitCode;
use thiserror::Error;
use tokio::sync::mpsc::{Receiver, channel};
use vocabulary::{NameError, Position, ProducerId, TopicName};

const PRODUCER: ProducerId = 1;

/// Messages without confirmation; more wait, so that memory stays small whatever stdin holds.
const PENDING_MAX: usize = 500;

/// Why messages could not be sent.
#[derive(Debug, Error)]
enum ProduceError {
    #[error("{0}")]
    Topic(#[from] NameError),
    #[error("{0}")]
    Link(#[from] LinkError),
    #[error("the broker let no producer into {0}: {1}")]
    Refused(String, ClientError),
    #[error("{sent} messages were sent, then one failed: {error}")]
    SendFailed { sent: u64, error: ClientError },
}

/// Sends and waits for every confirmation.
pub fn run(arguments: &ProduceArguments) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return exit::with(exit::FAILED, &format!("cannot start: {error}")),
    };
    let outcome = runtime.block_on(produce(arguments));
    // A thread may still wait for stdin.
    runtime.shutdown_background();
    match outcome {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(
            error @ (ProduceError::Topic(_)
            | ProduceError::Link(LinkError::BadUrl(_) | LinkError::Tls(_))),
        ) => exit::with(exit::USAGE, &error),
        Err(error) => exit::with(exit::FAILED, &error),
    }
}

async fn produce(arguments: &ProduceArguments) -> Result<String, ProduceError> {
    let topic = TopicName::parse(&arguments.topic)?;
    let mut link = Link::open(&arguments.url).await?;
    link.ask(ClientAsk::CreateProducer(CreateProducer {
        producer_id: PRODUCER,
        topic: topic.as_str().to_owned(),
        name: None,
    }));
    let mut source = messages(arguments);
    let mut progress = Progress::default();
    let mut exhausted = false;
    while !exhausted || link.pending_sends() > 0 {
        tokio::select! {
            biased;
            event = link.next() => progress.note(&topic, event?)?,
            message = source.recv(), if !exhausted && link.pending_sends() < PENDING_MAX => match message {
                Some(payload) => link.ask(ClientAsk::Send {
                    producer_id: PRODUCER,
                    token: 0,
                    messages: vec![OutMessage { payload, properties: Vec::new(), key: arguments.key.clone() }],
                    batch: false,
                }),
                None => exhausted = true,
            },
        }
    }
    link.ask(ClientAsk::CloseProducer(PRODUCER));
    loop {
        match link.next().await? {
            ClientEvent::ProducerClosed { .. } | ClientEvent::Disconnected => break,
            event => progress.note(&topic, event)?,
        }
    }
    Ok(progress.summary(&topic))
}

/// What is confirmed so far.
#[derive(Default)]
struct Progress {
    sent: u64,
    last: Option<Position>,
}

impl Progress {
    fn note(&mut self, topic: &TopicName, event: ClientEvent) -> Result<(), ProduceError> {
        match event {
            ClientEvent::Sent { position, .. } => {
                self.sent += 1;
                self.last = Some(position);
                Ok(())
            }
            ClientEvent::SendFailed { error, .. } => Err(ProduceError::SendFailed {
                sent: self.sent,
                error,
            }),
            ClientEvent::ProducerFailed { error, .. } => {
                Err(ProduceError::Refused(topic.as_str().to_owned(), error))
            }
            _ => Ok(()),
        }
    }

    fn summary(&self, topic: &TopicName) -> String {
        let messages = if self.sent == 1 {
            "message"
        } else {
            "messages"
        };
        match self.last {
            Some(last) => format!(
                "{} {messages} stored in {topic}, the last at {last}",
                self.sent
            ),
            None => format!("no message to send to {topic}"),
        }
    }
}

/// The messages: those of the command line so many times, or the lines of stdin as they come.
fn messages(arguments: &ProduceArguments) -> Receiver<Bytes> {
    let (sender, receiver) = channel(PENDING_MAX);
    let given: Vec<Bytes> = arguments
        .messages
        .iter()
        .map(|text| Bytes::from(text.clone()))
        .collect();
    let times = arguments.times;
    std::thread::spawn(move || {
        if !given.is_empty() {
            for message in (0..times).flat_map(|_| given.iter()) {
                if sender.blocking_send(message.clone()).is_err() {
                    return;
                }
            }
            return;
        }
        for line in stdin().lock().split(b'\n') {
            match line {
                Ok(mut line) => {
                    if line.last() == Some(&b'\r') {
                        line.pop();
                    }
                    if sender.blocking_send(Bytes::from(line)).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    tracing::error!("stdin cannot be read any further: {error}");
                    return;
                }
            }
        }
    });
    receiver
}
