//! Kinds of subscriptions, partitions, patterns.

use crate::Outcome;
use crate::asking::*;
use crate::place::{Place, topic, unique};
use pulsar::routing_policy::RoutingPolicy;
use pulsar::{ProducerOptions, SubType};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

pub async fn exclusive(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("exclusive");
    let mut first = subscribe(&client, &name, SubType::Exclusive).await?;
    let second = subscribe(&client, &name, SubType::Exclusive).await;
    refused(second, "a second exclusive consumer was let in")?;
    publish(&client, &name, 0, 100).await?;
    equal(
        texts(&receive_all(&mut first, 100, true).await?),
        numbered(0, 100),
        "order",
    )?;
    expect_silence(&mut first, "nothing more").await?;
    first.close().await?;
    // What was acknowledged does not come back to the next consumer.
    let mut next = subscribe(&client, &name, SubType::Exclusive).await?;
    expect_silence(&mut next, "no acknowledged message again").await
}

pub async fn shared(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("shared");
    let mut consumers = Vec::new();
    for _ in 0..3 {
        consumers.push(
            consumer(&client, &name, SubType::Shared)
                .with_batch_size(10)
                .build()
                .await?,
        );
    }
    publish(&client, &name, 0, 90).await?;
    let (mut seen, mut shares) = (BTreeSet::new(), BTreeSet::new());
    let begun = Instant::now();
    while seen.len() < 90 && begun.elapsed() < Duration::from_secs(30) {
        for (at, consumer) in consumers.iter_mut().enumerate() {
            if let Some(message) = maybe(consumer, Duration::from_millis(20)).await? {
                consumer.ack(&message).await?;
                seen.insert(text(&message));
                shares.insert(at);
            }
        }
    }
    equal(seen.len(), 90, "distinct messages over three consumers")?;
    equal(shares.len(), 3, "consumers that got a share")
}

pub async fn failover(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("failover");
    let mut a = consumer(&client, &name, SubType::Failover)
        .with_consumer_name("a")
        .build()
        .await?;
    let mut b = consumer(&client, &name, SubType::Failover)
        .with_consumer_name("b")
        .build()
        .await?;
    publish(&client, &name, 0, 20).await?;
    let begun = Instant::now();
    let wait = Duration::from_millis(50);
    let (first, mut active, mut standby) = loop {
        if let Some(message) = maybe(&mut a, wait).await? {
            break (message, a, b);
        }
        if let Some(message) = maybe(&mut b, wait).await? {
            break (message, b, a);
        }
        if begun.elapsed() > RECEIVE {
            return Err("no consumer got anything".into());
        }
    };
    equal(text(&first), "m0".to_owned(), "the first message")?;
    active.ack(&first).await?;
    equal(
        texts(&receive_all(&mut active, 9, true).await?),
        numbered(1, 10),
        "messages of the active one",
    )?;
    expect_silence(&mut standby, "nothing for the one that waits").await?;
    active.close().await?;
    drop(active);
    let rest: BTreeSet<String> = texts(&receive_all(&mut standby, 10, true).await?)
        .into_iter()
        .collect();
    equal(
        rest,
        numbered(10, 20).into_iter().collect(),
        "what the next one gets",
    )
}

pub async fn partitions_by_key(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("parts");
    place.partitioned(&name, 4).await?;
    equal(
        client.lookup_partitioned_topic_number(&name).await?,
        4,
        "partitions",
    )?;
    let mut consumer = subscribe(&client, &name, SubType::Shared).await?;
    // Without a policy the client does not look at keys.
    let by_key = ProducerOptions {
        routing_policy: Some(RoutingPolicy::RoundRobin),
        ..Default::default()
    };
    let mut producer = producer(&client, &name, by_key).await?;
    for number in 0..60 {
        let (key, body) = (number % 6, format!("{}:{number}", number % 6));
        let message = producer
            .create_message()
            .with_content(body)
            .with_partition_key(format!("key{key}"));
        message.send_non_blocking().await?.await?;
    }
    let mut last: BTreeMap<String, (String, u32)> = BTreeMap::new();
    for message in receive_all(&mut consumer, 60, true).await? {
        let body = text(&message);
        let (key, number) = body.split_once(':').ok_or("a body of another shape")?;
        let number: u32 = number.parse()?;
        equal(message.key(), Some(format!("key{key}")), "key")?;
        if let Some((partition, before)) =
            last.insert(key.to_owned(), (message.topic.clone(), number))
        {
            equal(&message.topic, &partition, "partition of a key")?;
            equal(before < number, true, "order of a key")?;
        }
    }
    let used: BTreeSet<&String> = last.values().map(|(partition, _)| partition).collect();
    equal(used.len() > 1, true, "more than one partition used")
}

pub async fn pattern(place: &Place) -> Outcome {
    let client = place.client().await?;
    let prefix = format!("persistent://public/default/rust-{}", unique());
    publish(&client, &format!("{prefix}-a1"), 0, 3).await?;
    publish(&client, &format!("{prefix}-b1"), 0, 3).await?;
    publish(&client, &format!("{prefix}-a2"), 0, 4).await?;
    let mut consumer: Consumer = client
        .consumer()
        .with_topic_regex(Regex::new(&format!("{prefix}-a.*"))?)
        .with_lookup_namespace("public/default")
        .with_topic_refresh(Duration::from_secs(1))
        .with_subscription("sub")
        .with_subscription_type(SubType::Exclusive)
        .with_options(earliest())
        .build()
        .await?;
    for message in receive_all(&mut consumer, 7, true).await? {
        equal(
            message.topic.contains("-b1"),
            false,
            "a topic that does not match",
        )?;
    }
    expect_silence(&mut consumer, "nothing more").await?;
    // A topic that is made later is found.
    publish(&client, &format!("{prefix}-a3"), 0, 2).await?;
    receive_all(&mut consumer, 2, true).await?;
    Ok(())
}

pub async fn unsubscribe(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("unsubscribe");
    let mut consumer = subscribe(&client, &name, SubType::Shared).await?;
    publish(&client, &name, 0, 3).await?;
    consumer.unsubscribe().await?;
    drop(consumer);
    let mut again = subscribe(&client, &name, SubType::Shared).await?;
    expect_silence(&mut again, "nothing that the removed subscription had kept").await
}

pub async fn non_persistent(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = format!("non-{}", topic("volatile"));
    let mut producer = producer(&client, &name, ProducerOptions::default()).await?;
    producer.send_non_blocking("nobody is there").await?.await?;
    let shared = || consumer(&client, &name, SubType::Shared).with_options(earliest());
    let mut first: Consumer = shared().build().await?;
    let mut second: Consumer = client
        .consumer()
        .with_topic(&name)
        .with_subscription("second")
        .with_subscription_type(SubType::Exclusive)
        .build()
        .await?;
    for body in numbered(0, 20) {
        producer.send_non_blocking(body).await?.await?;
    }
    for consumer in [&mut first, &mut second] {
        let got = texts(&receive_all(consumer, 20, false).await?);
        equal(got, numbered(0, 20), "messages while somebody was there")?;
    }
    // Nothing is kept: what was not acknowledged does not come again.
    first.close().await?;
    drop(first);
    producer.send_non_blocking("nobody is there").await?.await?;
    let mut first: Consumer = shared().build().await?;
    expect_silence(&mut first, "nothing that was published before").await?;
    producer.send_non_blocking("later").await?.await?;
    let got = receive(&mut first).await?;
    equal(text(&got), "later".to_owned(), "the next message")
}
