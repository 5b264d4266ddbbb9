use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use world::{Disk, DiskFile, OpenHow};

use crate::{DiskOp, OpKind, SimDice, SimDisk, SyncKind};

fn synced_file(disk: &SimDisk, path: &str, bytes: &[u8]) -> Arc<dyn DiskFile> {
    let file = disk.open(path, OpenHow::CreateNew).unwrap();
    file.write_at(&[bytes], 0).unwrap();
    file.sync_all().unwrap();
    disk.sync_dir("").unwrap();
    file
}

/// What a file may hold after a cut, over many seeds.
fn outcomes(build: impl Fn(&SimDisk), path: &str) -> BTreeSet<Option<Vec<u8>>> {
    let seeds = 0..400;
    seeds
        .map(|seed| {
            let disk = SimDisk::new();
            build(&disk);
            disk.restart(&mut SimDice::new(seed));
            disk.bytes_of(path)
        })
        .collect()
}

#[test]
fn synced_bytes_and_names_survive_every_cut() {
    let all = outcomes(|disk| drop(synced_file(disk, "a", b"hello")), "a");
    assert_eq!(all, BTreeSet::from([Some(b"hello".to_vec())]));
}

#[test]
fn a_name_without_a_directory_sync_may_be_gone_though_the_bytes_were_synced() {
    let all = outcomes(
        |disk| {
            let file = disk.open("a", OpenHow::CreateNew).unwrap();
            file.write_at(&[b"hello"], 0).unwrap();
            file.sync_all().unwrap();
        },
        "a",
    );
    assert_eq!(all, BTreeSet::from([None, Some(b"hello".to_vec())]));
}

#[test]
fn the_power_goes_with_a_chosen_operation_which_can_be_asked_for() {
    let disk = SimDisk::new();
    disk.cut_when(Box::new(|operation| operation.kind == OpKind::SyncDir));
    let file = disk.open("a", OpenHow::CreateNew).unwrap();
    file.write_at(&[b"hello"], 0).unwrap();
    assert_eq!(disk.cut_operation(), None);
    assert!(disk.sync_dir("").is_err());
    assert!(disk.is_off());
    let kind = OpKind::SyncDir;
    let path = String::new();
    assert_eq!(disk.cut_operation(), Some(DiskOp { kind, path }));
    disk.restart(&mut SimDice::new(1));
    assert_eq!(disk.cut_operation(), None);
    disk.sync_dir("").unwrap();
}

#[test]
fn a_process_killed_at_an_operation_leaves_what_it_wrote_and_owes_the_sync() {
    let mut kept = BTreeSet::new();
    for seed in 0..100 {
        let disk = SimDisk::new();
        let file = synced_file(&disk, "a", b"old");
        disk.cut_when(Box::new(|operation| operation.kind == OpKind::Sync));
        file.write_at(&[b"new"], 0).unwrap();
        assert!(file.sync_data().is_err());
        assert!(file.sync_data().is_err());
        disk.kill();
        assert!(file.sync_data().is_err(), "its handles are dead");
        assert_eq!(disk.bytes_of("a"), Some(b"new".to_vec()));
        if seed % 2 == 0 {
            let file = disk.open("a", OpenHow::ReadWrite).unwrap();
            file.sync_data().unwrap();
        }
        disk.restart(&mut SimDice::new(seed));
        kept.insert((seed % 2 == 0, disk.bytes_of("a")));
    }
    let old_and_new = [
        (true, Some(b"new".to_vec())),
        (false, Some(b"old".to_vec())),
        (false, Some(b"new".to_vec())),
    ];
    assert_eq!(kept, BTreeSet::from(old_and_new));
}

#[test]
fn a_file_goes_by_the_name_that_the_cut_left_it() {
    let disk = SimDisk::new();
    synced_file(&disk, "a", b"hello");
    let undone = (0..100).any(|seed| {
        disk.rename("a", "b").unwrap();
        disk.restart(&mut SimDice::new(seed));
        let undone = disk.exists("a").unwrap();
        if !undone {
            disk.rename("b", "a").unwrap();
            disk.sync_dir("").unwrap();
        }
        undone
    });
    assert!(undone, "some cut undoes the rename");
    disk.cut_when(Box::new(|operation| {
        assert_eq!(operation.path, "a");
        false
    }));
    let file = disk.open("a", OpenHow::ReadWrite).unwrap();
    file.write_at(&[b"x"], 0).unwrap();
}

#[test]
fn unsynced_blocks_are_old_or_new_each_on_its_own() {
    let all = outcomes(
        |disk| {
            let file = synced_file(disk, "a", &[1; 1536]);
            file.write_at(&[&[2; 1536]], 0).unwrap();
        },
        "a",
    );
    assert_eq!(all.len(), 8, "three blocks, each old or new");
    for bytes in all.into_iter().flatten() {
        for block in bytes.chunks(512) {
            assert!(
                block.iter().all(|byte| byte == &block[0]),
                "a block is never torn"
            );
        }
    }
}

#[test]
fn a_middle_version_of_a_block_may_be_the_one_that_stays() {
    let all = outcomes(
        |disk| {
            let file = synced_file(disk, "a", b"old");
            file.write_at(&[b"mid"], 0).unwrap();
            file.write_at(&[b"new"], 0).unwrap();
        },
        "a",
    );
    let texts: BTreeSet<Option<Vec<u8>>> =
        ["old", "mid", "new"].map(|text| Some(text.into())).into();
    assert_eq!(all, texts);
}

#[test]
fn unsynced_growth_may_show_zeros_or_the_bytes_of_a_removed_file() {
    let all = outcomes(
        |disk| {
            drop(synced_file(disk, "gone", &[7; 512]));
            disk.remove("gone").unwrap();
            disk.sync_dir("").unwrap();
            let file = synced_file(disk, "a", b"");
            file.write_at(&[&[2; 512]], 0).unwrap();
        },
        "a",
    );
    for possible in [vec![], vec![0; 512], vec![7; 512], vec![2; 512]] {
        assert!(all.contains(&Some(possible.clone())), "{possible:?}");
    }
}

#[test]
fn a_lost_shrink_brings_the_bytes_back() {
    let all = outcomes(
        |disk| {
            let file = synced_file(disk, "a", &[5; 1024]);
            file.set_len(512).unwrap();
        },
        "a",
    );
    assert!(all.contains(&Some(vec![5; 512])));
    assert!(all.contains(&Some(vec![5; 1024])));
}

#[test]
fn a_rename_is_whole_or_did_not_happen() {
    for seed in 0..200 {
        let disk = SimDisk::new();
        drop(synced_file(&disk, "target", b"old"));
        drop(synced_file(&disk, "temp", b"new"));
        disk.rename("temp", "target").unwrap();
        disk.restart(&mut SimDice::new(seed));
        let state = (disk.bytes_of("temp"), disk.bytes_of("target"));
        let before = (Some(b"new".to_vec()), Some(b"old".to_vec()));
        let after = (None, Some(b"new".to_vec()));
        assert!(state == before || state == after, "{state:?}");
    }
}

#[test]
fn files_in_a_lost_directory_are_lost() {
    let all = outcomes(
        |disk| {
            disk.create_dir("d/e").unwrap();
            let file = disk.open("d/e/a", OpenHow::CreateNew).unwrap();
            file.sync_all().unwrap();
            disk.sync_dir("d/e").unwrap();
            disk.sync_dir("d").unwrap();
        },
        "d/e/a",
    );
    assert_eq!(all, BTreeSet::from([None, Some(vec![])]));
}

#[test]
fn the_power_goes_at_the_named_operation_and_handles_die_with_it() {
    let disk = SimDisk::new();
    disk.cut_at(3);
    let file = disk.open("a", OpenHow::CreateNew).unwrap();
    file.write_at(&[b"x"], 0).unwrap();
    assert!(
        file.sync_data()
            .unwrap_err()
            .to_string()
            .contains("power is off")
    );
    assert!(disk.is_off() && disk.exists("a").is_err());
    disk.restart(&mut SimDice::new(1));
    assert!(file.len().is_err(), "the handle is dead");
    assert!(disk.exists("a").is_ok());
}

#[test]
fn a_killed_process_leaves_its_bytes_in_view_and_in_doubt() {
    let disk = SimDisk::new();
    let file = synced_file(&disk, "a", b"old");
    file.write_at(&[b"new"], 0).unwrap();
    disk.kill();
    assert_eq!(disk.bytes_of("a").unwrap(), b"new");
    let lost = (0..50).any(|seed| {
        let disk = SimDisk::new();
        let file = synced_file(&disk, "a", b"old");
        file.write_at(&[b"new"], 0).unwrap();
        disk.kill();
        disk.restart(&mut SimDice::new(seed));
        disk.bytes_of("a").unwrap() == b"old"
    });
    assert!(lost);
}

#[test]
fn after_a_failed_sync_a_good_one_mends_nothing_but_a_rewrite_does() {
    let lost_after = |rewrite: bool| {
        (0..60).any(|seed| {
            let disk = SimDisk::new();
            let file = synced_file(&disk, "a", b"old");
            file.write_at(&[b"new"], 0).unwrap();
            let is_sync = |op: &DiskOp| op.kind == OpKind::Sync;
            disk.inject(Box::new(move |op| {
                is_sync(op).then(|| io::Error::other("broken"))
            }));
            file.sync_data().unwrap_err();
            disk.heal();
            if rewrite {
                file.write_at(&[b"new"], 0).unwrap();
            }
            file.sync_data().unwrap();
            disk.restart(&mut SimDice::new(seed));
            disk.bytes_of("a").unwrap() == b"old"
        })
    };
    assert!(lost_after(false));
    assert!(!lost_after(true));
}

#[test]
fn a_disabled_sync_does_nothing() {
    let lost = (0..50).any(|seed| {
        let disk = SimDisk::new();
        let file = synced_file(&disk, "a", b"old");
        disk.disable_sync(Box::new(|what| {
            what.kind == SyncKind::Data && what.path == "a"
        }));
        file.write_at(&[b"new"], 0).unwrap();
        file.sync_data().unwrap();
        disk.restart(&mut SimDice::new(seed));
        disk.bytes_of("a").unwrap() == b"old"
    });
    assert!(lost);
}

#[test]
fn a_full_disk_refuses_growth_and_nothing_else() {
    let disk = SimDisk::new();
    let file = synced_file(&disk, "a", &[1; 100]);
    disk.limit_bytes(Some(150));
    assert_eq!(disk.free_bytes().unwrap(), Some(50));
    file.write_at(&[&[2; 100]], 0).unwrap();
    let error = file.write_at(&[&[2; 100]], 100).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn the_same_seed_gives_the_same_disk() {
    let run = || {
        let disk = SimDisk::new();
        let file = synced_file(&disk, "a", &[1; 4096]);
        file.write_at(&[&[2; 8192]], 100).unwrap();
        disk.restart(&mut SimDice::new(9));
        disk.bytes_of("a")
    };
    assert_eq!(run(), run());
}
