//! What every scenario asks of the client.

use crate::place::Client;
use crate::{Outcome, Problem};
use futures::{StreamExt, TryStreamExt};
use pulsar::consumer::{Consumer as AnyConsumer, ConsumerBuilder, InitialPosition, Message};
use pulsar::proto::MessageIdData;
use pulsar::{ConsumerOptions, Producer as AnyProducer, ProducerOptions, SubType, TokioExecutor};
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::timeout;

/// A consumer of bytes.
pub type Consumer = AnyConsumer<Vec<u8>, TokioExecutor>;
/// A received message.
pub type Received = Message<Vec<u8>>;
/// A producer.
pub type Producer = AnyProducer<TokioExecutor>;

/// How long a message may take.
pub const RECEIVE: Duration = Duration::from_secs(20);
/// How long nothing must come.
pub const QUIET: Duration = Duration::from_millis(700);

/// Fails unless both are equal.
pub fn equal<T: PartialEq + Debug>(got: T, expected: T, what: &str) -> Outcome {
    match got == expected {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected:?}, got {got:?}").into()),
    }
}

/// Fails if it succeeded.
pub fn refused<T>(result: Result<T, Problem>, what: &str) -> Outcome {
    match result {
        Ok(_) => Err(what.into()),
        Err(_) => Ok(()),
    }
}

/// A subscription named `sub`, ready to be changed and built.
pub fn consumer(client: &Client, topic: &str, kind: SubType) -> ConsumerBuilder<TokioExecutor> {
    client
        .consumer()
        .with_topic(topic)
        .with_subscription("sub")
        .with_subscription_type(kind)
}

/// A subscription named `sub`.
pub async fn subscribe(client: &Client, topic: &str, kind: SubType) -> Result<Consumer, Problem> {
    Ok(consumer(client, topic, kind).build().await?)
}

/// From the beginning.
pub fn earliest() -> ConsumerOptions {
    ConsumerOptions::default().with_initial_position(InitialPosition::Earliest)
}

/// A message, if one comes in time.
pub async fn maybe(consumer: &mut Consumer, wait: Duration) -> Result<Option<Received>, Problem> {
    match timeout(wait, consumer.try_next()).await {
        Ok(Ok(Some(message))) => Ok(Some(message)),
        Ok(Ok(None)) => Err("the stream of messages ended".into()),
        Ok(Err(problem)) => Err(problem.into()),
        Err(_) => Ok(None),
    }
}

/// The next message.
pub async fn receive(consumer: &mut Consumer) -> Result<Received, Problem> {
    match maybe(consumer, RECEIVE).await? {
        Some(message) => Ok(message),
        None => Err(format!("nothing came within {RECEIVE:?} on {:?}", consumer.topics()).into()),
    }
}

/// So many messages, acknowledged or not.
pub async fn receive_all(
    consumer: &mut Consumer,
    count: usize,
    ack: bool,
) -> Result<Vec<Received>, Problem> {
    let mut got = Vec::new();
    for _ in 0..count {
        let message = receive(consumer).await?;
        if ack {
            consumer.ack(&message).await?;
        }
        got.push(message);
    }
    Ok(got)
}

/// Fails if something comes.
pub async fn expect_silence(consumer: &mut Consumer, what: &str) -> Outcome {
    match maybe(consumer, QUIET).await? {
        None => Ok(()),
        Some(message) => Err(format!(
            "expected {what}, got {:?} {:?}",
            text(&message),
            message.message_id()
        )
        .into()),
    }
}

/// The body of a message.
pub fn text(message: &Received) -> String {
    String::from_utf8_lossy(&message.payload.data).into_owned()
}

/// The bodies of messages.
pub fn texts(messages: &[Received]) -> Vec<String> {
    messages.iter().map(text).collect()
}

/// The same in order.
pub fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// m`from`, and so on before m`to`.
pub fn numbered(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|number| format!("m{number}")).collect()
}

/// A producer.
pub async fn producer(
    client: &Client,
    topic: &str,
    options: ProducerOptions,
) -> Result<Producer, Problem> {
    Ok(client
        .producer()
        .with_topic(topic)
        .with_options(options)
        .build()
        .await?)
}

/// Sends one message and waits for its receipt.
pub async fn send(producer: &mut Producer, body: &str) -> Result<MessageIdData, Problem> {
    let receipt = producer.send_non_blocking(body).await?.await?;
    Ok(receipt.message_id.ok_or("a receipt without an id")?)
}

/// Sends m`from`, and so on before m`to`, one by one.
pub async fn publish(
    client: &Client,
    topic: &str,
    from: usize,
    to: usize,
) -> Result<Vec<MessageIdData>, Problem> {
    let mut producer = producer(client, topic, ProducerOptions::default()).await?;
    let mut ids = Vec::new();
    for body in numbered(from, to) {
        ids.push(send(&mut producer, &body).await?);
    }
    producer.close().await?;
    Ok(ids)
}

/// The next message of a reader.
pub async fn next(
    reader: &mut pulsar::reader::Reader<Vec<u8>, TokioExecutor>,
) -> Result<String, Problem> {
    match timeout(RECEIVE, reader.next()).await {
        Ok(Some(message)) => Ok(text(&message?)),
        Ok(None) => Err("the stream of messages ended".into()),
        Err(_) => Err(format!("nothing came within {RECEIVE:?}").into()),
    }
}
