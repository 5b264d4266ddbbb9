//! What happens to a file that is not what was written.

use super::embedded_tests::{FILE, new_store, open, put, value_of};
use super::record::head::Head;
use super::{EmbeddedStore, HEAD, OpenError, Settings};
use crate::seam::{MetadataError, MetadataReply};
use bytes::Bytes;
use sim_world::{OpKind, SimDice, SimDisk};
use std::io;
use vocabulary::WallTime;
use world::{Dice, Disk, OpenHow};

/// Writes over the start of the file, or cuts it there.
fn spoil(disk: &SimDisk, length: Option<u64>, bytes: &[u8]) {
    let file = disk.open(FILE, OpenHow::ReadWrite).unwrap();
    if let Some(length) = length {
        file.set_len(length).unwrap();
    }
    file.write_at(&[bytes], 0).unwrap();
    file.sync_all().unwrap();
}

#[test]
fn damage_is_not_taken_for_a_new_file() {
    for (length, bytes) in [
        (Some(0), &b""[..]),
        (None, b"not a database"),
        (Some(3), b"abc"),
        (Some(100), b""),
        (Some(4096), b""),
        (Some(100_000), b""),
    ] {
        let (disk, store) = new_store();
        drop(store);
        spoil(&disk, length, bytes);
        let before = disk.bytes_of(FILE);
        let error = EmbeddedStore::open(&disk, &Settings::default()).unwrap_err();
        assert!(
            matches!(error, OpenError::Damaged { .. }),
            "{length:?}: {error}"
        );
        assert!(error.to_string().contains(FILE), "{error}");
        assert_eq!(disk.bytes_of(FILE), before, "the evidence stays");
    }
}

#[test]
fn a_failing_disk_is_not_taken_for_damage() {
    let (disk, store) = new_store();
    drop(store);
    disk.inject(Box::new(|operation| {
        (operation.kind == OpKind::Read).then(|| io::Error::other("no answer from the drive"))
    }));
    let error = open(&disk).unwrap_err();
    assert!(matches!(error, OpenError::Io { .. }), "{error}");
    assert!(
        error.to_string().contains("no answer from the drive"),
        "{error}"
    );
    disk.heal();
    open(&disk).unwrap();
}

#[test]
fn a_rotten_value_is_one_keys_error() {
    let (disk, mut store) = new_store();
    store.turn(
        WallTime(1),
        vec![put(1, "/a", "a remarkable value"), put(2, "/b", "another")],
    );
    drop(store);
    let bytes = disk.bytes_of(FILE).unwrap();
    let hits: Vec<usize> = (0..bytes.len())
        .filter(|at| bytes[*at..].starts_with(b"a remarkable value"))
        .collect();
    assert!(!hits.is_empty());
    for at in hits {
        disk.flip(FILE, at as u64 + 2, 1);
    }
    assert!(matches!(open(&disk), Err(OpenError::Damaged { .. })));
    // As if it rotted after the file was opened.
    let unchecked = Settings {
        check_on_open: false,
        ..Settings::default()
    };
    let mut store = EmbeddedStore::open(&disk, &unchecked).unwrap();
    let error = value_of(&mut store, "/a").unwrap_err().to_string();
    assert!(
        error.contains("/a") && error.contains("damaged") && error.contains(FILE),
        "{error}"
    );
    let replies = store.turn(
        WallTime(2),
        vec![put(1, "/a", "over it"), put(2, "/b", "fine")],
    );
    assert!(matches!(
        &replies[0],
        MetadataReply::Put {
            result: Err(MetadataError::Io(..)),
            ..
        }
    ));
    assert!(matches!(
        &replies[1],
        MetadataReply::Put { result: Ok(_), .. }
    ));
    assert_eq!(
        value_of(&mut store, "/b"),
        Ok(Some(Bytes::from_static(b"fine")))
    );
}

const VALUE: &str = "a value long enough that most of the file is values";

/// Anywhere in the pages that are in use: an error that names the file, never a panic, never other values.
#[test]
fn rot_anywhere_is_an_error_with_a_name() {
    let mut dice = SimDice::new(1);
    let mut refused = 0;
    for _ in 0..60 {
        let (disk, mut store) = new_store();
        let requests = (0..600)
            .map(|number| put(number, &format!("/dir/{number}"), VALUE))
            .collect();
        store.turn(WallTime(1), requests);
        drop(store);
        let bytes = disk.bytes_of(FILE).unwrap();
        let used: Vec<u64> = (0..bytes.len() as u64)
            .filter(|at| bytes[*at as usize] != 0)
            .collect();
        let at = used[dice.below(used.len() as u64) as usize];
        disk.flip(FILE, at, 1 << dice.below(8));
        match open(&disk) {
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains(FILE), "{error}");
            }
            // It hit a page that is no longer in use.
            Ok(mut store) => {
                let all = (0..600).map(|number| value_of(&mut store, &format!("/dir/{number}")));
                assert!(
                    all.into_iter()
                        .all(|value| value == Ok(Some(Bytes::from_static(VALUE.as_bytes())))),
                    "byte {at}"
                );
            }
        }
    }
    assert!(refused > 10, "{refused} of 60");
}

/// Replaces the head record.
fn write_head(disk: &SimDisk, bytes: &[u8]) {
    let store = open(disk).unwrap();
    let transaction = super::open::begin_durable(&store.database).unwrap();
    transaction
        .open_table(HEAD)
        .unwrap()
        .insert((), bytes)
        .unwrap();
    transaction.commit().unwrap();
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let mut newer = Head {
        incompatible_features: 0,
        openings: 1,
    }
    .encode();
    newer[0] = 2;
    for head in [
        Head {
            incompatible_features: 4,
            openings: 1,
        }
        .encode(),
        newer,
    ] {
        let (disk, store) = new_store();
        drop(store);
        write_head(&disk, &head);
        for _ in 0..2 {
            let error = open(&disk).unwrap_err();
            assert!(matches!(error, OpenError::Newer { .. }), "{error}");
            assert!(error.to_string().contains(FILE), "{error}");
        }
    }
}
