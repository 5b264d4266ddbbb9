//! Directories written by released formats open, whole, in this version.

mod fixture_content;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bookie::Bookie;
use disk_log::manifest::FORMAT_VERSION;
use fixture_content::{LEDGERS, body, length, settings};
use sim_world::SimDisk;
use world::{Disk, OpenHow};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Opening changes a directory, so it is copied to a made-up disk.
fn copied(from: &Path, disk: &SimDisk, below: &str) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            disk.create_dir(&name).unwrap();
            copied(&entry.path(), disk, &format!("{name}/"));
            continue;
        }
        let file = disk.open(&name, OpenHow::CreateNew).unwrap();
        file.write_at(&[&fs::read(entry.path()).unwrap()], 0)
            .unwrap();
    }
}

#[test]
fn every_released_format_opens() {
    for version in 1..=FORMAT_VERSION {
        let directory = fixtures().join(format!("format-{version}"));
        let disk = SimDisk::new();
        copied(&directory, &disk, "");
        assert!(
            disk.list("segments").unwrap().len() >= 3,
            "{directory:?} has several segments"
        );
        for round in 0..2 {
            let bookie = Bookie::open(Arc::new(disk.clone()), settings()).unwrap();
            let report = bookie.report();
            assert_eq!(
                (report.damaged, report.damaged_headers),
                (0, 0),
                "format {version}"
            );
            assert_eq!(report.scanned, 1 - round, "the last segment was left open");
            for &(ledger, count) in LEDGERS {
                assert_eq!(
                    bookie.last_entry(ledger),
                    Ok((count - 1, length(ledger, count - 1)))
                );
                let found = bookie.reader().read(ledger, 0, count, usize::MAX).unwrap();
                assert_eq!(found.len() as i64, count);
                for entry in found {
                    assert_eq!(
                        entry.body,
                        body(ledger, entry.entry),
                        "{ledger}:{}",
                        entry.entry
                    );
                }
            }
        }
    }
}
