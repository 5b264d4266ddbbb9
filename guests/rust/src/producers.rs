//! Who may publish, and what.

use crate::asking::*;
use crate::place::{Place, topic};
use crate::{Outcome, Problem};
use pulsar::compression::Compression;
use pulsar::proto::{Schema, schema::Type};
use pulsar::{ConsumerOptions, ProducerOptions, SubType};
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::timeout;

/// Values of the protocol's ProducerAccessMode.
const EXCLUSIVE: i32 = 1;
const WAIT_FOR_EXCLUSIVE: i32 = 2;

fn access(mode: i32) -> ProducerOptions {
    ProducerOptions {
        access_mode: Some(mode),
        ..Default::default()
    }
}

pub async fn access_modes(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("access");
    let mut first = producer(&client, &name, access(EXCLUSIVE)).await?;
    let second = producer(&client, &name, access(EXCLUSIVE)).await;
    refused(second, "a second exclusive producer was let in")?;
    let second = producer(&client, &name, ProducerOptions::default()).await;
    refused(
        second,
        "a shared producer was let in beside an exclusive one",
    )?;
    send(&mut first, "one").await?;
    first.close().await?;
    let mut second = producer(&client, &name, ProducerOptions::default()).await?;
    send(&mut second, "two").await?;
    let third = producer(&client, &name, access(EXCLUSIVE)).await;
    refused(
        third,
        "an exclusive producer was let in beside a shared one",
    )?;
    published(place, &name, &["one", "two"]).await
}

pub async fn wait_for_exclusive(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("wait");
    let mut first = producer(&client, &name, access(EXCLUSIVE)).await?;
    let mut second = {
        let waiting = producer(&client, &name, access(WAIT_FOR_EXCLUSIVE));
        tokio::pin!(waiting);
        if timeout(QUIET, &mut waiting).await.is_ok() {
            return Err("the second producer had its turn beside the first".into());
        }
        send(&mut first, "one").await?;
        first.close().await?;
        timeout(RECEIVE, waiting).await??
    };
    send(&mut second, "two").await?;
    published(place, &name, &["one", "two"]).await
}

async fn published(place: &Place, name: &str, expected: &[&str]) -> Outcome {
    let client = place.client().await?;
    let mut consumer = consumer(&client, name, SubType::Exclusive)
        .with_options(earliest())
        .build()
        .await?;
    let got = texts(&receive_all(&mut consumer, expected.len(), true).await?);
    equal(
        got,
        expected.iter().map(|&body| body.to_owned()).collect(),
        "what was published",
    )
}

pub async fn compressions(place: &Place) -> Outcome {
    let client = place.client().await?;
    let kinds = [
        None,
        Some(Compression::Lz4(Default::default())),
        Some(Compression::Zlib(Default::default())),
        Some(Compression::Zstd(Default::default())),
        Some(Compression::Snappy(Default::default())),
    ];
    for (at, compression) in kinds.into_iter().enumerate() {
        for batch_size in [None, Some(5)] {
            let name = topic("compressed");
            let mut consumer = subscribe(&client, &name, SubType::Exclusive).await?;
            let options = ProducerOptions {
                compression: compression.clone(),
                batch_size,
                ..Default::default()
            };
            let mut producer = producer(&client, &name, options).await?;
            let body = "word ".repeat(2000);
            let mut receipts = Vec::new();
            for _ in 0..5 {
                receipts.push(producer.send_non_blocking(&body).await?);
            }
            for receipt in receipts {
                receipt.await?;
            }
            for message in receive_all(&mut consumer, 5, true).await? {
                equal(
                    text(&message) == body,
                    true,
                    &format!("whether compression {at} came back unchanged"),
                )?;
            }
        }
    }
    Ok(())
}

fn person(kind_of_age: &str) -> Schema {
    let fields =
        format!(r#"[{{"name":"name","type":"string"}},{{"name":"age","type":"{kind_of_age}"}}]"#);
    Schema {
        name: "person".to_owned(),
        schema_data: format!(r#"{{"type":"record","name":"Person","fields":{fields}}}"#)
            .into_bytes(),
        r#type: Type::Json as i32,
        properties: Vec::new(),
    }
}

pub async fn schemas(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("schema");
    let with = |schema: Schema| ProducerOptions {
        schema: Some(schema),
        ..Default::default()
    };
    let mut first = producer(&client, &name, with(person("int"))).await?;
    let mut second = producer(&client, &name, with(person("int"))).await?;
    let mut consumer: Consumer = consumer(&client, &name, SubType::Exclusive)
        .with_options(ConsumerOptions::default().with_schema(person("int")))
        .build()
        .await?;
    send(&mut first, r#"{"name":"Ada","age":36}"#).await?;
    send(&mut second, r#"{"name":"Ada","age":37}"#).await?;
    let got = receive_all(&mut consumer, 2, true).await?;
    equal(
        got[0].metadata().schema_version.is_some(),
        true,
        "a message names its schema",
    )?;
    let versions = (
        &got[0].metadata().schema_version,
        &got[1].metadata().schema_version,
    );
    equal(versions.0, versions.1, "versions of equal schemas")?;
    let kept = consumer
        .get_schema(&name, got[0].metadata().schema_version.clone())
        .await?;
    equal(
        kept.map(|schema| schema.schema_data),
        Some(person("int").schema_data),
        "the schema of a version",
    )?;
    let other = producer(&client, &name, with(person("string"))).await;
    refused(other, "a producer with another type of a field was let in")?;
    let other = client
        .consumer()
        .with_topic(&name)
        .with_subscription("other");
    let other = other.with_options(ConsumerOptions::default().with_schema(person("string")));
    let other: Result<Consumer, _> = other.build().await;
    refused(
        other.map_err(Problem::from),
        "a consumer with another type of a field was let in",
    )
}

pub async fn names_and_properties(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("named");
    let mut consumer = subscribe(&client, &name, SubType::Exclusive).await?;
    let mut mine = client
        .producer()
        .with_topic(&name)
        .with_name("mine")
        .build()
        .await?;
    let again = client
        .producer()
        .with_topic(&name)
        .with_name("mine")
        .build()
        .await;
    refused(
        again.map_err(Problem::from),
        "the same producer name was let in twice",
    )?;
    let message = mine
        .create_message()
        .with_content("x")
        .with_property("a", "1")
        .with_partition_key("key");
    message.event_time(12345).send_non_blocking().await?.await?;
    let got = receive(&mut consumer).await?;
    let properties: BTreeMap<String, String> = got
        .metadata()
        .properties
        .iter()
        .map(|one| (one.key.clone(), one.value.clone()))
        .collect();
    equal(
        properties,
        BTreeMap::from([("a".to_owned(), "1".to_owned())]),
        "properties",
    )?;
    equal(
        got.metadata().producer_name.as_str(),
        "mine",
        "producer name",
    )?;
    equal(got.key(), Some("key".to_owned()), "key")?;
    equal(got.metadata().event_time, Some(12345), "event time")
}

/// All on the one connection that a client has per broker.
pub async fn thousand_producers(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("thousand");
    let mut consumer = subscribe(&client, &name, SubType::Exclusive).await?;
    let mut producers = Vec::new();
    for _ in 0..1000 {
        producers.push(producer(&client, &name, patient()).await?);
    }
    let mut receipts = Vec::new();
    for (at, producer) in producers.iter_mut().enumerate() {
        receipts.push(producer.send_non_blocking(format!("m{at}")).await?);
    }
    for receipt in receipts {
        receipt.await?;
    }
    let got = receive_all(&mut consumer, 1000, true).await?;
    let names: BTreeSet<&str> = got
        .iter()
        .map(|message| message.metadata().producer_name.as_str())
        .collect();
    equal(names.len(), 1000, "different names")?;
    let bodies: BTreeSet<String> = texts(&got).into_iter().collect();
    equal(bodies.len(), 1000, "different messages")
}

fn patient() -> ProducerOptions {
    ProducerOptions {
        block_queue_if_full: true,
        ..Default::default()
    }
}

/// A broker killed under a producer that keeps sending: everything confirmed is there, in the order it was sent.
pub async fn kill_with_resend(place: &mut Place) -> Outcome {
    let client = place.patient_client().await?;
    let name = topic("kill");
    let mut consumer = subscribe(&client, &name, SubType::Exclusive).await?;
    let mut producer = producer(&client, &name, patient()).await?;
    const TOTAL: usize = 3000;
    let mut receipts = Vec::new();
    for number in 0..TOTAL {
        receipts.push(producer.send_non_blocking(number.to_string()).await?);
        if number == 700 || number == 1900 {
            place.kill_and_start().await?;
        }
    }
    for (number, receipt) in receipts.into_iter().enumerate() {
        receipt.await.map_err(|problem| {
            format!("send {number} failed although the client may send again: {problem}")
        })?;
    }
    let (mut known, mut last) = (BTreeSet::new(), None);
    while known.len() < TOTAL {
        let message = receive(&mut consumer).await?;
        let number: usize = text(&message).parse()?;
        consumer.ack(&message).await?;
        if known.insert(number) {
            equal(last < Some(number), true, "order of first deliveries")?;
            last = Some(number);
        }
    }
    Ok(())
}
