//! What `hulse config` prints, held to files in `tests/data/config`. With `HULSE_WRITE_GOLDEN=1` they are written anew.

use super::layers::{Given, Origin};
use super::listing::{Extent, as_json, as_text, rows};
use super::table::keys;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

fn is_golden(name: &str, text: &str) {
    let path = data("config").join(name);
    if std::env::var_os("HULSE_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    for (line, (is, should)) in text.lines().zip(golden.lines()).enumerate() {
        assert_eq!(is, should, "{name}, line {}", line + 1);
    }
    assert_eq!(text, golden, "{name}");
}

/// A shipped file, under a name that is the same on every machine.
fn shipped(name: &str) -> Given {
    let mut read = Given::default();
    read.read_file(&data(&format!("pulsar-{name}.conf")))
        .unwrap();
    let mut given = Given::default();
    for (key, value) in read.iter() {
        let Origin::File(_, line) = value.origin else {
            panic!("not from a file: {value:?}");
        };
        let origin = Origin::File(PathBuf::from("conf"), line);
        given.put(key.into(), value.text.clone(), origin).unwrap();
    }
    given
}

#[test]
fn the_listing_of_each_shipped_file() {
    for name in [
        "4.0-broker",
        "4.0-standalone",
        "4.2-broker",
        "4.2-standalone",
    ] {
        let given = shipped(name);
        is_golden(
            &format!("{name}.txt"),
            &as_text(&rows(&given, Extent::Usual)),
        );
        is_golden(
            &format!("{name}.changed.txt"),
            &as_text(&rows(&given, Extent::Changed)),
        );
    }
    let changed = rows(&shipped("4.2-standalone"), Extent::Changed);
    is_golden("4.2-standalone.changed.json", &as_json(&changed));
}

#[test]
fn the_listing_without_a_file() {
    let nothing = Given::default();
    is_golden("nothing.txt", &as_text(&rows(&nothing, Extent::Usual)));
    assert_eq!(rows(&nothing, Extent::All).len(), keys().len());
    assert!(rows(&nothing, Extent::Changed).is_empty());
}

#[test]
fn secrets_are_masked_and_everything_else_says_where_it_comes_from() {
    let mut given = Given::default();
    for set in [
        "tokenSecretKey=data:;base64,c2VjcmV0",
        "brokerClientAuthenticationParameters=token:c2VjcmV0",
        "myPlugin.password=c2VjcmV0",
        "myPlugin.size=7",
        "tlsKeyStorePassword=",
        "hulse.shards=3",
        "bookkeeper_x=1",
        "authenticationEnabled=true",
        "journalSyncData=false",
        "numIOThreads=4",
    ] {
        given.read_set(set).unwrap();
    }
    let origin = Origin::Environment("PULSAR_PREFIX_clusterName".into());
    given.put("clusterName".into(), "c".into(), origin).unwrap();
    let rows = rows(&given, Extent::Changed);
    is_golden("mixed.txt", &as_text(&rows));
    assert!(!as_text(&rows).contains("c2VjcmV0"));
    assert!(!as_json(&rows).contains("c2VjcmV0"));
}
