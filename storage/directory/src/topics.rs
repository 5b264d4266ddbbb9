//! Topics by name: lists of them, their making, their partitions.

use crate::namespaces;
use crate::paths;
use crate::view::{Halt, Verdict, View, Why, Write, answer, change, no};
use bytes::Bytes;
use serde_json::{Value, json};
use vocabulary::name::url_decode;
use vocabulary::{Domain, NamespaceName, TopicName};

/// Topics that brokers keep for themselves (Pulsar's SystemTopicNames), by how their names end.
const SYSTEM_ENDINGS: [&str; 5] = [
    "__change_events",
    "__transaction_buffer_snapshot",
    "__transaction_buffer_snapshot_indexes",
    "__transaction_buffer_snapshot_segments",
    "__transaction_pending_ack",
];

/// Most partitions of one topic, whatever `maxNumPartitionsPerPartitionedTopic` says: each is a name in one answer.
pub const PARTITIONS_MAX: u32 = 100_000;

pub(crate) fn list(
    view: &mut View,
    namespace: &NamespaceName,
    with_system_topics: bool,
    must_exist: bool,
) -> Result<Verdict, Halt> {
    if must_exist {
        namespaces::expect(view, namespace, "Namespace does not exist")?;
    }
    let logs = view.children(&paths::logs_of(namespace))?;
    let names = logs.iter().filter_map(|leaf| url_decode(leaf));
    let topics = names
        .filter(|local| with_system_topics || !is_system_topic(local))
        .map(|local| format!("persistent://{namespace}/{local}"));
    let mut topics: Vec<String> = topics.collect();
    topics.sort();
    answer(topics)
}

/// Whether a topic is a broker's own, by the part of its name after the namespace.
pub(crate) fn is_system_topic(local: &str) -> bool {
    let base = local
        .rsplit_once("-partition-")
        .map_or(local, |(base, _)| base);
    SYSTEM_ENDINGS.iter().any(|ending| base.ends_with(ending))
}

pub(crate) fn list_partitioned(
    view: &mut View,
    namespace: &NamespaceName,
    persistent: bool,
) -> Result<Verdict, Halt> {
    namespaces::expect(view, namespace, "Namespace does not exist")?;
    let domain = match persistent {
        true => Domain::Persistent,
        false => Domain::NonPersistent,
    };
    let leaves = view.children(&paths::partitioned_of(namespace, domain))?;
    let names = leaves.iter().filter_map(|leaf| url_decode(leaf));
    let mut topics: Vec<String> = names
        .map(|local| format!("{}://{namespace}/{local}", domain.as_str()))
        .collect();
    topics.sort();
    answer(topics)
}

pub(crate) fn create(view: &mut View, topic: &TopicName) -> Result<Verdict, Halt> {
    namespaces::expect(view, topic.namespace(), "Namespace not found")?;
    if topic.domain() == Domain::NonPersistent {
        // It exists while it is used; there is nothing to be made.
        return answer(Value::Null);
    }
    if let Some(parent) = parent_of(topic) {
        match partitioned(view, &parent)? {
            Some(found)
                if topic
                    .partition()
                    .is_some_and(|index| index < found.partitions) => {}
            _ => {
                let text = format!(
                    "Can't create topic {} with \"-partition-\" followed by a number smaller than number of \
                     partition of partitioned topic {}",
                    topic.local(),
                    parent.local()
                );
                return no(Why::Precondition, text);
            }
        }
    }
    expect_free(view, topic)?;
    change(vec![Write::new(paths::log(topic), Bytes::new())])
}

pub(crate) fn create_partitioned(
    view: &mut View,
    topic: &TopicName,
    partitions: u32,
    most: u32,
    properties: &Value,
) -> Result<Verdict, Halt> {
    if topic.partition().is_some() {
        let text = "Partitioned Topic Name should not contain '-partition-'";
        return no(Why::Precondition, text);
    }
    expect_count(partitions, most)?;
    namespaces::expect(view, topic.namespace(), "Namespace not found")?;
    expect_free(view, topic)?;
    let mut record = json!({"partitions": partitions, "deleted": false});
    if properties.as_object().is_some_and(|all| !all.is_empty()) {
        crate::policies::put_field(&mut record, "properties", properties.clone());
    }
    let mut writes = vec![Write::new(
        paths::partitioned(topic),
        Bytes::from(record.to_string()),
    )];
    writes.extend(logs(topic, 0..partitions));
    change(writes)
}

pub(crate) fn update_partitions(
    view: &mut View,
    topic: &TopicName,
    partitions: u32,
    most: u32,
) -> Result<Verdict, Halt> {
    if topic.partition().is_some() {
        let text = "Partitioned Topic Name should not contain '-partition-'";
        return no(Why::Precondition, text);
    }
    expect_count(partitions, most)?;
    let Some(found) = partitioned(view, topic)? else {
        let text = format!("Topic {topic} is not the partitioned topic.");
        return no(Why::Conflict, text);
    };
    if partitions < found.partitions {
        let text = format!(
            "Desired partitions {partitions} can't be less than the current partitions {}.",
            found.partitions
        );
        return no(Why::Unprocessable, text);
    }
    // The new partitions first: whoever hears of the number can use them all.
    let mut writes: Vec<Write> = logs(topic, found.partitions..partitions).collect();
    let mut record = found.record;
    crate::policies::put_field(&mut record, "partitions", json!(partitions));
    writes.push(Write::over(
        paths::partitioned(topic),
        found.version,
        Bytes::from(record.to_string()),
    ));
    change(writes)
}

pub(crate) fn expect_plain(view: &mut View, topic: &TopicName) -> Result<Verdict, Halt> {
    if view.node(&paths::partitioned(topic))?.is_some() {
        let text = format!(
            "{topic} is a partitioned topic, instead of calling delete topic, please call delete-partitioned-topic."
        );
        return no(Why::Conflict, text);
    }
    answer(Value::Null)
}

pub(crate) fn mark_partitioned(
    view: &mut View,
    topic: &TopicName,
    deleted: bool,
) -> Result<Verdict, Halt> {
    let found = expect_partitioned(view, topic)?;
    let count = json!(found.partitions);
    let mut record = found.record;
    if record.get("deleted") == Some(&json!(deleted)) {
        return answer(count);
    }
    crate::policies::put_field(&mut record, "deleted", json!(deleted));
    Ok(Verdict {
        writes: vec![Write::over(
            paths::partitioned(topic),
            found.version,
            Bytes::from(record.to_string()),
        )],
        answer: count,
    })
}

pub(crate) fn forget_partitioned(view: &mut View, topic: &TopicName) -> Result<Verdict, Halt> {
    let found = expect_partitioned(view, topic)?;
    if found.record.get("deleted") != Some(&json!(true)) {
        let text = format!("{topic} is not being deleted any more: somebody else changed it");
        return no(Why::Conflict, text);
    }
    change(vec![Write::removal(
        paths::partitioned(topic),
        found.version,
    )])
}

fn expect_partitioned(view: &mut View, topic: &TopicName) -> Result<Partitioned, Halt> {
    if let Some(found) = partitioned(view, topic)? {
        return Ok(found);
    }
    let is_plain = topic.domain() == Domain::Persistent && view.node(&paths::log(topic))?.is_some();
    if is_plain {
        let text = format!(
            "{topic} is a non-partitioned topic. Instead of calling delete-partitioned-topic please call delete."
        );
        return no(Why::Conflict, text);
    }
    no(Why::NotFound, format!("Topic {topic} not found."))
}

/// A partitioned topic as it is stored.
struct Partitioned {
    partitions: u32,
    record: Value,
    version: i64,
}

fn partitioned(view: &mut View, topic: &TopicName) -> Result<Option<Partitioned>, Halt> {
    let path = paths::partitioned(topic);
    let Some((record, version)) = view.json(&path)? else {
        return Ok(None);
    };
    let partitions = record.get("partitions").and_then(Value::as_u64);
    match partitions.and_then(|partitions| u32::try_from(partitions).ok()) {
        Some(partitions) => Ok(Some(Partitioned {
            partitions,
            record,
            version,
        })),
        None => no(
            Why::Storage,
            format!("{path} names no number of partitions"),
        ),
    }
}

fn expect_free(view: &mut View, topic: &TopicName) -> Result<(), Halt> {
    let is_log = topic.domain() == Domain::Persistent && view.node(&paths::log(topic))?.is_some();
    if is_log || view.node(&paths::partitioned(topic))?.is_some() {
        return no(Why::Conflict, "This topic already exists");
    }
    Ok(())
}

fn expect_count(partitions: u32, most: u32) -> Result<(), Halt> {
    if partitions == 0 {
        let text = "Number of partitions should be more than 0";
        return no(Why::NotAcceptable, text);
    }
    let most = match most {
        0 => PARTITIONS_MAX,
        most => most.min(PARTITIONS_MAX),
    };
    if partitions > most {
        let text = format!("Number of partitions should be less than or equal to {most}");
        return no(Why::NotAcceptable, text);
    }
    Ok(())
}

/// Empty logs for partitions: with them the partitions exist. One that is there already is left alone.
fn logs(topic: &TopicName, indexes: std::ops::Range<u32>) -> impl Iterator<Item = Write> {
    let is_kept = topic.domain() == Domain::Persistent;
    let names = indexes.filter(move |_| is_kept);
    let names = names.filter_map(|index| topic.partition_name(index).ok());
    names.map(|name| Write {
        may_be_there: true,
        ..Write::new(paths::log(&name), Bytes::new())
    })
}

/// The topic that has this one as a partition, by name.
fn parent_of(topic: &TopicName) -> Option<TopicName> {
    topic.partition()?;
    TopicName::parse(topic.base()).ok()
}
