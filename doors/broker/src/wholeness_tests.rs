use crate::first_start::{ClusterUrls, prepare};
use crate::running::StartError;
use crate::wholeness::{expect_log, expect_ours, has_log};
use disk_log::LogSettings;
use disk_log::manifest::Manifest;
use metadata_store::embedded::{EmbeddedStore, OpenError, Settings};
use metadata_store::{Expect, KeyKind, MetadataRequest};
use sim_world::SimDisk;
use vocabulary::WallTime;
use world::Disk;

fn log_on(disk: &SimDisk) {
    disk.create_dir("log").unwrap();
    let manifest = Manifest {
        features: 0,
        store_id: [7; 16],
        segment_bytes: 1 << 20,
        number_ceiling: 1,
    };
    manifest
        .store(disk, &LogSettings::new("log", [7; 16]))
        .unwrap();
}

#[test]
fn a_log_without_metadata_is_not_taken_for_a_new_directory() {
    let disk = SimDisk::new();
    assert!(!has_log(&disk, "log"));
    log_on(&disk);
    assert!(has_log(&disk, "log"));
    let opened = crate::running::open_metadata(&disk, has_log(&disk, "log"));
    assert!(matches!(
        opened.err(),
        Some(StartError::MetadataStore(OpenError::Missing { .. }))
    ));
    assert!(!disk.exists("metadata.redb").unwrap());
}

#[test]
fn topics_without_a_log_are_not_taken_for_empty_ones() {
    let disk = SimDisk::new();
    let mut store = EmbeddedStore::open(&disk, &Settings::default()).unwrap();
    let urls = ClusterUrls {
        web: "http://h:8080".to_owned(),
        binary: "pulsar://h:6650".to_owned(),
    };
    prepare(&mut store, WallTime(1), "c", &urls).unwrap();
    // A first start that was cut short before its log was made.
    assert!(expect_log(&mut store, WallTime(1), false, "log").is_ok());
    let topic = MetadataRequest::Put {
        ticket: 0,
        path: "/managed-ledgers/public/default/persistent/t".to_owned(),
        value: "x".into(),
        expect: Expect::Absent,
        kind: KeyKind::Persistent,
    };
    store.turn(WallTime(1), vec![topic]);
    assert!(expect_log(&mut store, WallTime(1), true, "log").is_ok());
    let refused = expect_log(&mut store, WallTime(1), false, "log").unwrap_err();
    assert!(
        matches!(&refused, StartError::LogMissing(path) if path == "log"),
        "{refused}"
    );
}

#[test]
fn a_directory_of_other_files_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    expect_ours(&folder.path().join("not-there-yet")).unwrap();
    expect_ours(folder.path()).unwrap();
    std::fs::create_dir(folder.path().join("lost+found")).unwrap();
    expect_ours(folder.path()).unwrap();
    std::fs::write(folder.path().join("thesis.txt"), "").unwrap();
    let refused = expect_ours(folder.path()).unwrap_err().to_string();
    assert!(
        refused.contains("holds thesis.txt and nothing"),
        "{refused}"
    );
    std::fs::write(folder.path().join("LOCK"), "").unwrap();
    expect_ours(folder.path()).unwrap();
}
