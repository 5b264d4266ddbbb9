//! Starting, being refused, ending.

use crate::support::{Broker, failure, run, standalone};
use pulsar_wire::frame::decode_frame;
use pulsar_wire::proto::ServerError;
use pulsar_wire::proto::base_command::Cmd;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::Stdio;

#[test]
fn a_second_start_on_the_same_directory_is_refused_and_names_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let first = Broker::start(folder.path(), &[]);
    let (code, said) = failure(run(&mut standalone(folder.path(), &[])));
    assert_eq!(code, Some(1));
    assert!(
        said.contains(&folder.path().display().to_string()),
        "{said}"
    );
    assert!(said.contains(&format!("process {}", first.pid())), "{said}");
    first.kill();
    // What a killed process held is free at once.
    Broker::start(folder.path(), &[]);
}

#[test]
fn a_taken_port_is_refused_with_its_key() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = Broker::start(one.path(), &[]);
    let port = first.binary.rsplit(':').next().unwrap().to_owned();
    let (code, said) = failure(run(&mut standalone(
        two.path(),
        &[&format!("brokerServicePort={port}")],
    )));
    assert_eq!(code, Some(1));
    assert!(
        said.contains(&format!("127.0.0.1:{port} (brokerServicePort)")),
        "{said}"
    );
}

#[test]
fn sigterm_and_sigint_end_it_in_good_order() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["TERM", "INT"] {
        let broker = Broker::start(folder.path(), &[]);
        broker.produce("t", &["one"]);
        let (code, said) = broker.signal(signal);
        assert_eq!(
            (code, said.as_str()),
            (Some(0), "hulse has stopped\n"),
            "{signal}"
        );
    }
}

#[test]
fn settings_that_do_nothing_are_named_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [
        "authenticationEnabled=true",
        "brokerServisePort=1",
        "journalSyncData=false",
    ];
    let mut child = standalone(folder.path(), &sets)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.starts_with("hulse is ready: "), "{line}");
    child.kill().unwrap();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    child.wait().unwrap();
    for part in [
        "not acting in this version: authenticationEnabled (--set)",
        "did you mean brokerServicePort?",
        "journalSyncData=false (--set) is ignored",
    ] {
        assert_eq!(said.matches(part).count(), 1, "{part}: {said}");
    }
}

#[test]
fn a_connection_too_many_is_told_so_before_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &["brokerMaxConnections=1"]);
    let _first = TcpStream::connect(&broker.binary).unwrap();
    let mut second = TcpStream::connect(&broker.binary).unwrap();
    let mut said = Vec::new();
    second.read_to_end(&mut said).unwrap();
    let mut bytes = said.as_slice().into();
    let frame = decode_frame(&mut bytes, 1 << 20).unwrap().unwrap();
    let Some(Cmd::Error(error)) = frame.command.cmd else {
        panic!("{frame:?}")
    };
    assert_eq!(error.error(), ServerError::NotAllowedError);
    assert_eq!(error.request_id, Some(u64::MAX));
    assert!(
        error.message().contains("brokerMaxConnections"),
        "{error:?}"
    );
}

#[test]
fn half_a_data_directory_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    broker.produce("t", &["one"]);
    broker.signal("TERM");
    for half in ["metadata.redb", "log"] {
        let (whole, aside) = (folder.path().join(half), folder.path().join("aside"));
        std::fs::rename(&whole, &aside).unwrap();
        let (code, said) = failure(run(&mut standalone(folder.path(), &[])));
        assert_eq!(code, Some(1));
        assert!(said.contains(half), "{said}");
        assert!(!whole.exists(), "{half}");
        std::fs::rename(&aside, &whole).unwrap();
    }
    Broker::start(folder.path(), &[]);
}
