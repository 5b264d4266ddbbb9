//! Messages through the real process, and what is left of them after it died.

use crate::support::{Broker, failure, hulse, run};
use std::io::Write;
use std::process::Stdio;

fn names(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|number| format!("m{number}")).collect()
}

fn publish(broker: &Broker, topic: &str, from: usize, to: usize) {
    let messages = names(from, to);
    let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
    broker.produce(topic, &messages);
}

#[test]
fn what_is_produced_is_consumed_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    let said = broker.produce("t", &["hello", "", "wörld"]);
    assert!(
        said.starts_with("3 messages stored in persistent://public/default/t, the last at "),
        "{said}"
    );
    for kind in ["exclusive", "shared", "failover"] {
        assert_eq!(
            broker.consume("t", 3, &["-s", kind, "-t", kind]),
            ["hello", "", "wörld"],
            "{kind}"
        );
    }
}

#[test]
fn lines_of_stdin_are_messages_and_keys_travel_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &["hulse.shards=3"]);
    let mut produce = hulse(&["produce", "t", "--key", "k", "--url", &broker.url]);
    let mut child = produce
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"one\r\ntwo\nthree")
        .unwrap();
    assert!(child.wait().unwrap().success());
    let lines = broker.consume("t", 3, &["-s", "s", "--long"]);
    let contents: Vec<&str> = lines
        .iter()
        .map(|line| line.split_once('\t').unwrap().1)
        .collect();
    assert_eq!(contents, ["one", "two", "three"]);
    assert!(lines[0].contains(" key=k\t"), "{lines:?}");
}

#[test]
fn after_a_kill_messages_are_there_and_acks_hold() {
    let folder = tempfile::tempdir().unwrap();
    // What all have acknowledged is kept here too, so that it can be looked at.
    let kept = [
        "defaultRetentionTimeInMinutes=-1",
        "defaultRetentionSizeInMB=-1",
    ];
    let broker = Broker::start(folder.path(), &kept);
    publish(&broker, "t", 0, 20);
    assert_eq!(broker.consume("t", 12, &["-s", "s"]), names(0, 12));
    broker.kill();
    let broker = Broker::start(folder.path(), &kept);
    publish(&broker, "t", 20, 22);
    assert_eq!(broker.consume("t", 10, &["-s", "s"]), names(12, 22));
    assert_eq!(broker.consume("t", 22, &["-s", "new"]), names(0, 22));
}

#[test]
fn after_a_stop_a_subscription_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &["hulse.shards=3"]);
    for topic in ["a", "b", "c", "d"] {
        publish(&broker, topic, 0, 6);
        assert_eq!(
            broker.consume(topic, 2, &["-s", "s", "-t", "shared"]),
            names(0, 2)
        );
    }
    assert_eq!(broker.signal("TERM").0, Some(0));
    // Another number of shards: topics may lie elsewhere, their data does not.
    let broker = Broker::start(folder.path(), &["hulse.shards=2"]);
    for topic in ["a", "b", "c", "d"] {
        assert_eq!(
            broker.consume(topic, 4, &["-s", "s", "-t", "shared"]),
            names(2, 6)
        );
    }
}

#[test]
fn a_broker_that_goes_away_and_comes_back_does_not_end_a_consumer() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    publish(&broker, "t", 0, 1);
    let url = broker.url.clone();
    let mut consume = hulse(&[
        "consume", "t", "-s", "s", "-n", "2", "-p", "earliest", "--url", &url,
    ]);
    let consumer = consume
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while broker.metric("pulsar_subscription_back_log{") != Some(0.0) {
        std::thread::yield_now();
    }
    let port = broker.binary.rsplit(':').next().unwrap().to_owned();
    assert_eq!(broker.signal("TERM").0, Some(0));
    let broker = Broker::start(folder.path(), &[&format!("brokerServicePort={port}")]);
    publish(&broker, "t", 1, 2);
    let output = consumer.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "m0\nm1\n");
}

#[test]
fn a_refusal_of_the_broker_reaches_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &["allowAutoTopicCreation=false"]);
    let mut produce = hulse(&["produce", "no-such-topic", "-m", "x", "--url", &broker.url]);
    let (code, said) = failure(run(&mut produce));
    assert_eq!(code, Some(1));
    assert!(said.contains("no-such-topic"), "{said}");
    let mut produce = hulse(&[
        "produce",
        "no-such-tenant/n/t",
        "-m",
        "x",
        "--url",
        &broker.url,
    ]);
    let (code, said) = failure(run(&mut produce));
    assert_eq!(code, Some(1));
    assert!(said.contains("no-such-tenant/n"), "{said}");
}
