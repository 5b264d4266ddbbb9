//! A data directory of each released format, opened as a user's upgrade would.

use crate::support::Broker;
use std::fs::{self, File};
use std::path::Path;

/// What the last segment measured before its zeros were left out of the repository.
const SEGMENT_BYTES: u64 = 32 * 1024 * 1024;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), &target).unwrap()),
        }
    }
}

#[test]
fn a_directory_of_format_1_that_was_killed_is_opened_with_all_that_was_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format-1");
    copy(&kept, folder.path());
    let last = folder.path().join("log/segments/0000000000000041.seg");
    let segment = File::options().write(true).open(last).unwrap();
    segment.set_len(SEGMENT_BYTES).unwrap();
    let broker = Broker::start(folder.path(), &[]);
    let from_the_sixth: Vec<String> = (5..15).map(|number| format!("m{number}")).collect();
    assert_eq!(broker.consume("kept", 10, &["-s", "half"]), from_the_sixth);
    let every_other = ["b1", "b3", "b5", "b7"];
    assert_eq!(
        broker.consume("batched", 4, &["-s", "odd", "-t", "shared"]),
        every_other
    );
}
