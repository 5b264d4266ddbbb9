//! Where settings come from, and what `hulse config` says about them: with the real program.

use crate::support::{failure, hulse, run, standalone, text};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// The line of a key.
fn line<'a>(said: &'a str, key: &str) -> Vec<&'a str> {
    let mut lines = said
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines
        .find(|words| words.first() == Some(&key))
        .unwrap_or_else(|| panic!("{key}: {said}"))
}

#[test]
fn every_layer_is_shown_with_its_origin() {
    let file = shipped("pulsar-4.2-standalone.conf");
    let mut command = hulse(&[
        "config",
        "--set",
        "maxMessageSize=2048",
        "--data-dir",
        "d",
        "-c",
    ]);
    command
        .arg(&file)
        .env("PULSAR_PREFIX_maxMessageSize", "4096")
        .env("PULSAR_PREFIX_hulse.shards", "3");
    let said = text(run(&mut command));
    assert_eq!(
        line(&said, "maxMessageSize"),
        ["maxMessageSize", "2048", "5242880", "--set", "yes"]
    );
    assert_eq!(
        line(&said, "hulse.shards"),
        [
            "hulse.shards",
            "3",
            "1",
            "PULSAR_PREFIX_hulse.shards",
            "yes"
        ]
    );
    assert_eq!(
        line(&said, "hulse.dataDirectory")[3..],
        ["--data-dir", "yes"]
    );
    let sync = line(&said, "journalSyncData").join(" ");
    assert!(
        sync.contains("standalone.conf:") && sync.ends_with("not followed: true it is"),
        "{sync}"
    );
}

#[test]
fn all_changed_and_json_are_other_sights_of_the_same() {
    let all = text(run(&mut hulse(&["config", "--all"])));
    assert!(all.lines().count() > 600, "{all}");
    let set = ["--set", "hulse.shards=2"];
    let changed = text(run(hulse(&["config", "--changed"]).args(set)));
    assert_eq!(changed.lines().count(), 2, "{changed}");
    let json = text(run(hulse(&["config", "--changed", "--json"]).args(set)));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json,
        serde_json::json!([
            {"key": "hulse.shards", "value": "2", "default": "1", "origin": "--set", "acts": "yes"}
        ])
    );
}

#[test]
fn what_must_not_be_ignored_ends_both_commands_with_2_before_anything_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let sets = ["authenticationEnabled=true", "brokerServicePortTls=6651"];
    let (code, said) = failure(run(&mut standalone(&data, &sets)));
    assert_eq!(code, Some(2));
    for set in sets {
        assert!(
            said.contains(&format!("{set} (--set) is not supported")),
            "{said}"
        );
    }
    assert!(!data.exists());
    let mut command = hulse(&["config"]);
    let output = run(command.env("PULSAR_PREFIX_authorizationEnabled", "true"));
    let shown = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(
        line(&shown, "authorizationEnabled").last(),
        Some(&"refused")
    );
    let (code, said) = failure(output);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("(environment variable PULSAR_PREFIX_authorizationEnabled)"),
        "{said}"
    );
}

#[test]
fn a_shipped_file_starts_and_what_does_not_act_is_said_once() {
    for name in [
        "pulsar-4.0-broker.conf",
        "pulsar-4.0-standalone.conf",
        "pulsar-4.2-broker.conf",
        "pulsar-4.2-standalone.conf",
    ] {
        let mut command = hulse(&["config", "-c"]);
        let output = run(command.arg(shipped(name)));
        assert!(output.status.success(), "{name}: {output:?}");
        let notices = String::from_utf8(output.stderr).unwrap();
        let about_sync = notices.matches("journalSyncData").count();
        assert_eq!(
            about_sync,
            usize::from(name.contains("standalone")),
            "{notices}"
        );
        let folder = tempfile::tempdir().unwrap();
        let mut child = standalone(folder.path(), &[])
            .arg("-c")
            .arg(shipped(name))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(line.starts_with("hulse is ready: "), "{name}: {line}");
    }
}
