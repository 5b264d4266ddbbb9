//! Starting, being refused, ending.

use crate::support::{Broker, failure, run, standalone};
use bytes::BytesMut;

use pulsar_wire::frame::{decode_frame, encode_command};
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::{BaseCommand, CommandConnect, ServerError};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

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
        "webSocketServiceEnabled=true",
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
        "not acting in this version: webSocketServiceEnabled (--set)",
        "did you mean brokerServicePort?",
        "journalSyncData=false (--set) is not followed",
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

#[test]
fn a_place_that_is_no_directory_of_ours_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |place: &std::path::Path| {
        let (code, said) = failure(run(&mut standalone(place, &[])));
        assert_eq!(code, Some(1));
        said
    };
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
    let said = refused(&link);
    assert!(said.contains("which is no directory; choose"), "{said}");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let said = refused(&file);
    assert!(said.contains("is a file; choose a directory"), "{said}");
    let said = refused(folder.path());
    assert!(
        said.contains("holds file and nothing of a broker"),
        "{said}"
    );
    let mut command = standalone(
        &folder.path().join("new"),
        &["bindAddress=no.such.host.invalid"],
    );
    let (_, said) = failure(run(&mut command));
    assert!(said.contains("--set bindAddress=ADDRESS"), "{said}");
}

#[test]
fn a_second_sigterm_at_once_is_the_first_ones_echo() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    broker.produce("t", &["one"]);
    let pid = broker.pid().to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(sent.unwrap().success());
    // It may be gone already.
    let (code, said) = broker.signal_anyway("TERM");
    assert_eq!((code, said.as_str()), (Some(0), "hulse has stopped\n"));
}

#[test]
fn a_write_beyond_the_limit_for_files_is_an_error_and_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    let pid = broker.pid().to_string();
    let sent = Command::new("kill").args(["-XFSZ", &pid]).status();
    assert!(sent.unwrap().success());
    broker.produce("t", &["one"]);
}

#[test]
fn a_command_too_large_ends_its_connection_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let broker = Broker::start(folder.path(), &[]);
    let mut peer = TcpStream::connect(&broker.binary).unwrap();
    let connect = BaseCommand::new(Cmd::Connect(CommandConnect {
        client_version: Some("hostile".to_owned()),
        protocol_version: Some(21),
        ..CommandConnect::default()
    }));
    let mut bytes = BytesMut::new();
    encode_command(&connect, &mut bytes);
    peer.write_all(&bytes).unwrap();
    let mut connected = [0; 4];
    peer.read_exact(&mut connected).unwrap();
    // Within the limit for frames, but all of it command: an ACK of a million empty ids.
    let mut lengths = Vec::new();
    lengths.extend_from_slice(&2_000_004u32.to_be_bytes());
    lengths.extend_from_slice(&2_000_000u32.to_be_bytes());
    peer.write_all(&lengths).unwrap();
    let mut rest = Vec::new();
    // It is closed without waiting for the rest; the answer to CONNECT is all that was said.
    peer.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len(), u32::from_be_bytes(connected) as usize);
    broker.produce("t", &["one"]);
}
