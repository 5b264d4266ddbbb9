//! `hulse record` between the terminal's commands and a broker.

use crate::support::{Broker, failure, hulse, run};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A recorder on a free port, and its url.
fn record(broker: &Broker, file: &Path) -> (Child, String) {
    let mut command = hulse(&["record", "--listen", "127.0.0.1:0", "--to", &broker.url]);
    let mut child = command
        .arg("--file")
        .arg(file)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    err.read_line(&mut said).unwrap();
    let url = said
        .split_whitespace()
        .find(|word| word.starts_with("pulsar://"));
    let url = url
        .unwrap_or_else(|| panic!("no url of a recorder: {said:?}"))
        .to_owned();
    // What it says at its end goes nowhere, and it may go on.
    std::thread::spawn(move || std::io::copy(&mut err, &mut std::io::sink()));
    (child, url)
}

fn stop(mut recorder: Child) {
    let pid = recorder.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    assert!(recorder.wait().unwrap().success());
}

#[test]
fn what_both_sides_say_is_written_down_and_reaches_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(&folder.path().join("data"), &[]);
    let file = folder.path().join("said.txt");
    let (recorder, url) = record(&broker, &file);
    run(&mut hulse(&["produce", "t", "-m", "hello", "--url", &url]));
    let consume = [
        "consume", "t", "-s", "s", "-n", "1", "-p", "earliest", "--url", &url,
    ];
    assert_eq!(run(&mut hulse(&consume)).stdout, b"hello\n");
    stop(recorder);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut from = 0;
    for step in [
        "1 opened",
        "1 C CONNECT",
        "1 B CONNECTED",
        "1 C SEND producer_id=1",
        "1 B SEND_RECEIPT",
        "1 closed by client",
        "2 opened",
        "2 C SUBSCRIBE topic=\"persistent://public/default/t\"",
        "2 B MESSAGE consumer_id=1",
        "2 C ACK consumer_id=1",
    ] {
        let found = text[from..].find(step);
        from += found.unwrap_or_else(|| panic!("{step} is missing from\n{text}"));
    }
    let line: transcript::Line = text.lines().next().unwrap().parse().unwrap();
    assert_eq!(line.said, transcript::Said::Opened);
}

#[test]
fn a_recording_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("said.txt");
    std::fs::write(&file, "precious").unwrap();
    let mut command = hulse(&["record", "--listen", "127.0.0.1:0", "--file"]);
    let (code, said) = failure(run(command.arg(&file)));
    assert_eq!(code, Some(1));
    assert!(said.contains("is there already"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn a_recorder_that_cannot_work_says_why() {
    let said = |arguments: &[&str]| failure(run(&mut hulse(arguments)));
    let (code, text) = said(&["record", "--to", "localhost"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("expected pulsar://host:port"), "{text}");
    let (code, text) = said(&["record", "--to", "pulsar+ssl://localhost:6651"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("speaks no TLS"), "{text}");
    let (code, text) = said(&["record", "--listen", "203.0.113.1:1"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("cannot listen on 203.0.113.1:1"), "{text}");
}
