use std::sync::Arc;

use sim_world::SimDisk;
use world::{Disk, OpenHow};

use crate::manifest::{FORMAT_VERSION, Manifest};
use crate::{DiskLog, LogError, LogSettings};

const MANIFEST: Manifest = Manifest {
    features: 0,
    store_id: [3; 16],
    segment_bytes: 65_536,
    number_ceiling: 65,
};

fn refusal(bytes: &[u8]) -> String {
    match Manifest::decode(bytes, "data") {
        Err(LogError::Refused(text)) => text,
        other => panic!("{other:?}"),
    }
}

fn with_crc(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(48);
    let crc = crc_fast::crc32_iscsi(&bytes);
    bytes.extend_from_slice(&crc.to_be_bytes());
    bytes
}

#[test]
fn it_reads_back() {
    assert_eq!(Manifest::decode(&MANIFEST.encode(), "data"), Ok(MANIFEST));
}

#[test]
fn a_newer_format_is_refused_with_both_versions() {
    let mut bytes = MANIFEST.encode();
    bytes[8..12].copy_from_slice(&(FORMAT_VERSION + 1).to_be_bytes());
    bytes.extend_from_slice(b"whatever a newer program puts here");
    let text = refusal(&bytes);
    assert!(
        text.contains("format version 2") && text.contains("up to version 1"),
        "{text}"
    );
    assert!(
        text.contains("data/MANIFEST") && text.contains("newer program"),
        "{text}"
    );
}

#[test]
fn an_unknown_feature_is_refused_with_both_sets() {
    let newer = Manifest {
        features: 4,
        ..MANIFEST
    };
    let text = refusal(&newer.encode());
    assert!(
        text.contains("0x4") && text.contains("0x0") && text.contains("newer program"),
        "{text}"
    );
}

#[test]
fn damage_is_named_and_never_believed() {
    let whole = MANIFEST.encode();
    for cut in 0..whole.len() {
        refusal(&whole[..cut]);
    }
    for bit in 0..whole.len() * 8 {
        let mut bent = whole.clone();
        bent[bit / 8] ^= 1 << (bit % 8);
        refusal(&bent);
    }
    let mut zero = whole;
    zero[8..12].fill(0);
    assert!(refusal(&with_crc(zero)).contains("damaged"));
}

#[test]
fn segments_without_their_manifest_are_left_alone() {
    let disk = SimDisk::new();
    disk.create_dir("segments").unwrap();
    drop(disk.open("segments/0000000000000001.seg", OpenHow::CreateNew));
    let opened = DiskLog::open(Arc::new(disk.clone()), LogSettings::new("", [1; 16]));
    let Err(LogError::Refused(text)) = opened.map(drop) else {
        panic!("it must be refused");
    };
    assert!(
        text.contains("MANIFEST") && text.contains("backup"),
        "{text}"
    );
    assert!(!disk.exists("MANIFEST").unwrap());
}

#[test]
fn the_store_keeps_its_id_whatever_is_offered_later() {
    let disk = SimDisk::new();
    let id_after = |offered| {
        DiskLog::open(Arc::new(disk.clone()), LogSettings::new("a/b", offered)).unwrap();
        let manifest = Manifest::load(&disk, &LogSettings::new("a/b", offered)).unwrap();
        manifest.unwrap().store_id
    };
    assert_eq!(id_after([1; 16]), [1; 16]);
    assert_eq!(id_after([2; 16]), [1; 16]);
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    for segment_bytes in [0, 4096, 65_537, 2 * 1024 * 1024 * 1024] {
        let settings = LogSettings {
            segment_bytes,
            ..LogSettings::new("", [1; 16])
        };
        let opened = DiskLog::open(Arc::new(SimDisk::new()), settings);
        assert!(
            matches!(opened.map(drop), Err(LogError::Refused(_))),
            "{segment_bytes}"
        );
    }
}
