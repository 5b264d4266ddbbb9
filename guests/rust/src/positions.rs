//! Where reading begins.

use crate::Outcome;
use crate::asking::*;
use crate::place::{Place, topic};
use pulsar::consumer::InitialPosition;
use pulsar::proto::MessageIdData;
use pulsar::reader::Reader;
use pulsar::{ConsumerOptions, SubType, TokioExecutor};

pub async fn readers(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("reader");
    let ids = publish(&client, &name, 0, 10).await?;
    let open = |options: ConsumerOptions| {
        client
            .reader()
            .with_topic(&name)
            .with_options(options)
            .into_reader::<Vec<u8>>()
    };
    let mut reader: Reader<Vec<u8>, TokioExecutor> = open(earliest()).await?;
    for expected in numbered(0, 10) {
        equal(next(&mut reader).await?, expected, "all of it, in order")?;
    }
    publish(&client, &name, 10, 11).await?;
    equal(next(&mut reader).await?, "m10".to_owned(), "what came")?;
    let last = reader.get_last_message_id().await?;
    equal(
        last.entry_id,
        ids[9].entry_id + 1,
        "last message id of the reader",
    )?;
    drop(reader);
    let mut reader = open(ConsumerOptions::default().starting_on_message(ids[4].clone())).await?;
    equal(
        next(&mut reader).await?,
        "m4".to_owned(),
        "the start itself",
    )?;
    drop(reader);
    let latest = ConsumerOptions::default().with_initial_position(InitialPosition::Latest);
    let mut reader = open(latest).await?;
    publish(&client, &name, 11, 12).await?;
    equal(
        next(&mut reader).await?,
        "m11".to_owned(),
        "what came later",
    )
}

pub async fn seek(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("seek");
    let mut consumer = subscribe(&client, &name, SubType::Shared).await?;
    let ids = publish(&client, &name, 0, 10).await?;
    let before = receive_all(&mut consumer, 10, true).await?;
    consumer
        .seek(None, Some(ids[3].clone()), None, client.clone())
        .await?;
    equal(
        texts(&receive_all(&mut consumer, 7, true).await?),
        numbered(3, 10),
        "after a seek by id",
    )?;
    let first = MessageIdData {
        ledger_id: u64::MAX,
        entry_id: u64::MAX,
        ..Default::default()
    };
    consumer
        .seek(None, Some(first), None, client.clone())
        .await?;
    equal(
        texts(&receive_all(&mut consumer, 10, true).await?),
        numbered(0, 10),
        "from the beginning",
    )?;
    let moment = before[6].metadata().publish_time;
    consumer
        .seek(None, None, Some(moment), client.clone())
        .await?;
    let message = receive(&mut consumer).await?;
    equal(
        message.metadata().publish_time >= moment,
        true,
        "a seek by time gives nothing older",
    )
}

pub async fn last_message_id(place: &Place) -> Outcome {
    let client = place.client().await?;
    let name = topic("last");
    let mut consumer = subscribe(&client, &name, SubType::Exclusive).await?;
    let ids = publish(&client, &name, 0, 3).await?;
    let last = consumer.get_last_message_id().await?;
    equal(last.len(), 1, "topics with a last message id")?;
    equal(
        (last[0].ledger_id, last[0].entry_id),
        (ids[2].ledger_id, ids[2].entry_id),
        "last message id",
    )
}
