use std::collections::BTreeSet;
use std::io;

use world::{Clock, Dice, Disk, OpenHow};

use crate::{OsClock, OsDice, OsDisk};

fn disk() -> (tempfile::TempDir, OsDisk) {
    let directory = tempfile::tempdir().unwrap();
    let disk = OsDisk::new(directory.path().join("data")).unwrap();
    (directory, disk)
}

#[test]
fn many_slices_land_one_after_another() {
    let (_directory, disk) = disk();
    let file = disk.open("a", OpenHow::CreateNew).unwrap();
    let pieces: Vec<Vec<u8>> = (0..3000)
        .map(|n: u32| n.to_be_bytes()[..(n % 5).min(4) as usize].to_vec())
        .collect();
    let slices: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    file.write_at(&slices, 7).unwrap();
    file.write_at(&[b"x"], 0).unwrap();
    file.write_at(&[], 0).unwrap();
    file.sync_data().unwrap();
    let expected = pieces.concat();
    let mut read = vec![0; expected.len() + 100];
    assert_eq!(file.read_at(&mut read, 7).unwrap(), expected.len());
    assert_eq!(&read[..expected.len()], expected);
    assert_eq!(file.len().unwrap(), 7 + expected.len() as u64);
    file.set_len(3).unwrap();
    file.sync_all().unwrap();
    assert_eq!(file.len().unwrap(), 3);
}

#[test]
fn names_come_and_go() {
    let (_directory, disk) = disk();
    disk.create_dir("d/e").unwrap();
    drop(disk.open("d/b", OpenHow::CreateNew).unwrap());
    drop(disk.open("d/a", OpenHow::CreateOrOpen).unwrap());
    assert_eq!(disk.list("d").unwrap(), ["a", "b", "e"]);
    disk.rename("d/a", "d/b").unwrap();
    disk.sync_dir("d").unwrap();
    disk.sync_dir("").unwrap();
    assert!(disk.exists("d/b").unwrap() && !disk.exists("d/a").unwrap());
    disk.remove("d/b").unwrap();
    assert_eq!(disk.list("d").unwrap(), ["e"]);
    assert!(disk.free_bytes().unwrap().unwrap() > 0);
}

#[test]
fn errors_name_the_path_and_keep_the_kind() {
    let (_directory, disk) = disk();
    let error = disk.open("no/such", OpenHow::Read).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(error.to_string().contains("data/no/such"), "{error}");
    drop(disk.open("there", OpenHow::CreateNew).unwrap());
    let error = disk.open("there", OpenHow::CreateNew).err().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    let file = disk.open("there", OpenHow::Read).unwrap();
    let error = file.write_at(&[b"a", b"b"], 0).unwrap_err();
    assert!(error.to_string().contains("there"), "{error}");
    assert!(
        disk.sync_dir("gone")
            .unwrap_err()
            .to_string()
            .contains("gone")
    );
}

#[test]
fn a_path_cannot_leave_the_directory() {
    let (_directory, disk) = disk();
    for path in ["../a", "/etc/passwd", "a/../../b"] {
        let error = disk.open(path, OpenHow::CreateOrOpen).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path}");
    }
}

#[test]
fn dice_differ_and_the_clock_goes_on() {
    let mut dice = OsDice::new().unwrap();
    let rolls: BTreeSet<u64> = (0..100).map(|_| dice.roll()).collect();
    assert_eq!(rolls.len(), 100);
    let clock = OsClock::new();
    let before = clock.monotonic_ns();
    assert!(clock.monotonic_ns() >= before);
    assert!(clock.wall_ms() > 1_700_000_000_000);
}
