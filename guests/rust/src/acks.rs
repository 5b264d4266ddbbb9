//! Acknowledgements, negative ones too.

use crate::Outcome;
use crate::asking::*;
use crate::place::{Place, topic};
use pulsar::consumer::DeadLetterPolicy;
use pulsar::{ProducerOptions, SubType};
use std::collections::BTreeSet;
use std::time::Duration;

pub async fn cumulative(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("cumulative");
    let mut consumer = subscribe(&client, &name, SubType::Exclusive).await?;
    publish(&client, &name, 0, 30).await?;
    let messages = receive_all(&mut consumer, 30, false).await?;
    consumer.cumulative_ack(&messages[19]).await?;
    consumer.close().await?;
    drop(consumer);
    let mut consumer = subscribe(&client, &name, SubType::Exclusive).await?;
    equal(
        texts(&receive_all(&mut consumer, 10, true).await?),
        numbered(20, 30),
        "what was left",
    )?;
    expect_silence(&mut consumer, "nothing more").await
}

/// Whole batches: the client acknowledges an entry when the last message of it was.
pub async fn batches(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("batch");
    let mut consumer = subscribe(&client, &name, SubType::Shared).await?;
    let options = ProducerOptions {
        batch_size: Some(50),
        ..Default::default()
    };
    let mut producer = producer(&client, &name, options).await?;
    let mut receipts = Vec::new();
    for body in numbered(0, 50) {
        receipts.push(producer.send_non_blocking(body).await?);
    }
    let mut entries = BTreeSet::new();
    for receipt in receipts {
        entries.insert(receipt.await?.message_id.map(|id| id.entry_id));
    }
    equal(entries.len(), 1, "entries of the batch")?;
    equal(
        texts(&receive_all(&mut consumer, 50, true).await?),
        numbered(0, 50),
        "order in the batch",
    )?;
    consumer.close().await?;
    drop(consumer);
    let mut again = subscribe(&client, &name, SubType::Shared).await?;
    expect_silence(&mut again, "nothing of the finished batch").await
}

pub async fn negative_ack(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("nack");
    let mut consumer = subscribe(&client, &name, SubType::Shared).await?;
    publish(&client, &name, 0, 10).await?;
    for (at, message) in receive_all(&mut consumer, 10, false)
        .await?
        .iter()
        .enumerate()
    {
        match at {
            3..6 => consumer.nack(message).await?,
            _ => consumer.ack(message).await?,
        }
    }
    let again = receive_all(&mut consumer, 3, true).await?;
    equal(
        sorted(texts(&again)),
        numbered(3, 6),
        "messages that came again",
    )?;
    expect_silence(&mut consumer, "nothing more").await
}

pub async fn dead_letters(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("dead");
    let dead_letter_topic = format!("{name}-DLQ");
    let mut dead = subscribe(&client, &dead_letter_topic, SubType::Shared).await?;
    let policy = DeadLetterPolicy {
        max_redeliver_count: 2,
        dead_letter_topic,
    };
    let mut consumer: Consumer = consumer(&client, &name, SubType::Shared)
        .with_unacked_message_resend_delay(Some(Duration::from_secs(60)))
        .with_dead_letter_policy(policy)
        .build()
        .await?;
    publish(&client, &name, 0, 1).await?;
    while let Some(message) = maybe(&mut consumer, Duration::from_secs(2)).await? {
        consumer.nack(&message).await?;
    }
    equal(
        texts(&receive_all(&mut dead, 1, true).await?),
        numbered(0, 1),
        "the dead letter",
    )
}
