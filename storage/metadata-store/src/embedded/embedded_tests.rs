use super::open::OpenError;
use super::{EmbeddedStore, Settings};
use crate::seam::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest};
use crate::suite::{self, StoreUnderTest};
use bytes::Bytes;
use sim_world::{OpKind, SimDisk};
use std::io;
use vocabulary::WallTime;
use world::Disk;

pub(super) const FILE: &str = "metadata.redb";

/// The store on a simulated disk, reopened at the end of each session: in turn after a clean close and after a kill.
struct Reopened {
    disk: SimDisk,
    store: Option<EmbeddedStore>,
    watched: Vec<String>,
    now: u64,
    kill: bool,
}

impl Reopened {
    fn new() -> Reopened {
        let disk = SimDisk::new();
        let store = Some(EmbeddedStore::open(&disk, &Settings::default()).unwrap());
        Reopened {
            disk,
            store,
            watched: Vec::new(),
            now: 0,
            kill: false,
        }
    }
}

impl StoreUnderTest for Reopened {
    fn ask(&mut self, requests: Vec<MetadataRequest>) -> Vec<MetadataReply> {
        self.now += 1;
        self.store
            .as_mut()
            .unwrap()
            .turn(WallTime(self.now), requests)
    }

    fn end_session(&mut self) {
        if self.kill {
            self.disk.kill();
        }
        self.kill = !self.kill;
        self.store = None;
        let mut store = EmbeddedStore::open(&self.disk, &Settings::default()).unwrap();
        for prefix in &self.watched {
            store.watch(prefix).unwrap();
        }
        self.store = Some(store);
    }

    fn watch(&mut self, prefix: &str) {
        self.watched.push(prefix.to_owned());
        self.store.as_mut().unwrap().watch(prefix).unwrap();
    }
}

#[test]
fn it_passes_the_suite() {
    suite::run(&mut Reopened::new(), "/suite");
}

pub(super) fn put(ticket: u64, path: &str, value: &'static str) -> MetadataRequest {
    let value = Bytes::from_static(value.as_bytes());
    MetadataRequest::Put {
        ticket,
        path: path.to_owned(),
        value,
        expect: Expect::Anything,
        kind: KeyKind::Persistent,
    }
}

fn get(ticket: u64, path: &str) -> MetadataRequest {
    MetadataRequest::Get {
        ticket,
        path: path.to_owned(),
    }
}

pub(super) fn value_of(
    store: &mut EmbeddedStore,
    path: &str,
) -> Result<Option<Bytes>, MetadataError> {
    match store.turn(WallTime(0), vec![get(1, path)]).remove(0) {
        MetadataReply::Got { result, .. } => result.map(|found| found.map(|(value, _)| value)),
        other => panic!("{other:?}"),
    }
}

pub(super) fn open(disk: &SimDisk) -> Result<EmbeddedStore, OpenError> {
    EmbeddedStore::open(
        disk,
        &Settings {
            must_exist: true,
            ..Settings::default()
        },
    )
}

pub(super) fn new_store() -> (SimDisk, EmbeddedStore) {
    let disk = SimDisk::new();
    let store = EmbeddedStore::open(&disk, &Settings::default()).unwrap();
    (disk, store)
}

#[test]
fn a_batch_is_one_commit_and_reads_are_none() {
    let (disk, mut store) = new_store();
    let writes_of = |store: &mut EmbeddedStore, requests| {
        let before = disk.operations();
        store.turn(WallTime(1), requests);
        disk.operations() - before
    };
    let one = writes_of(&mut store, vec![put(1, "/a", "1")]);
    let hundred = (0..100)
        .map(|ticket| put(ticket, &format!("/b/{ticket}"), "1"))
        .collect();
    let hundred = writes_of(&mut store, hundred);
    assert!(
        hundred < 3 * one,
        "100 changes: {hundred} operations; one change: {one}"
    );
    assert_eq!(writes_of(&mut store, vec![get(1, "/a"), get(2, "/b/7")]), 0);
    let refused = MetadataRequest::Delete {
        ticket: 1,
        path: "/a".to_owned(),
        expect: Expect::Version(9),
    };
    assert_eq!(
        writes_of(&mut store, vec![refused]),
        0,
        "a batch that changes nothing has nothing to keep"
    );
}

#[test]
fn replies_and_then_notices_in_order() {
    let (_disk, mut store) = new_store();
    store.watch("/w").unwrap();
    let requests = vec![
        put(1, "/w/b", "1"),
        put(2, "/x", "1"),
        get(3, "/w/b"),
        put(4, "/w/a", "1"),
        put(5, "/w/b", "2"),
    ];
    let replies = store.turn(WallTime(1), requests);
    let tickets: Vec<_> = replies.iter().map(MetadataReply::ticket).collect();
    assert_eq!(
        tickets,
        [Some(1), Some(2), Some(3), Some(4), Some(5), None, None]
    );
    let changed = |path: &str| MetadataReply::Changed {
        path: path.to_owned(),
    };
    assert_eq!(replies[5..], [changed("/w/a"), changed("/w/b")]);
    store.unwatch("/w");
    assert_eq!(store.turn(WallTime(1), vec![put(1, "/w/b", "3")]).len(), 1);
}

#[test]
fn ephemeral_keys_of_former_openings_are_removed() {
    let (disk, mut store) = new_store();
    assert_eq!(store.owner(), 1);
    let bound = |ticket, path: &str| match put(ticket, path, "me") {
        MetadataRequest::Put {
            ticket,
            path,
            value,
            expect,
            ..
        } => MetadataRequest::Put {
            ticket,
            path,
            value,
            expect,
            kind: KeyKind::Ephemeral,
        },
        other => other,
    };
    store.turn(
        WallTime(1),
        vec![bound(1, "/e"), put(2, "/p", "kept"), bound(3, "/gone")],
    );
    let delete = MetadataRequest::Delete {
        ticket: 1,
        path: "/gone".to_owned(),
        expect: Expect::Anything,
    };
    store.turn(WallTime(1), vec![delete, put(2, "/gone", "made anew")]);
    disk.kill();
    let mut store = open(&disk).unwrap();
    assert_eq!(store.owner(), 2);
    assert_eq!(value_of(&mut store, "/e"), Ok(None));
    assert_eq!(
        value_of(&mut store, "/p"),
        Ok(Some(Bytes::from_static(b"kept")))
    );
    assert_eq!(
        value_of(&mut store, "/gone"),
        Ok(Some(Bytes::from_static(b"made anew")))
    );
}

#[test]
fn a_failed_sync_poisons_the_store_with_the_disks_own_words() {
    let (disk, mut store) = new_store();
    store.turn(WallTime(1), vec![put(1, "/a", "1")]);
    let mut failures = 1;
    disk.inject(Box::new(move |operation| {
        if operation.kind != OpKind::Sync || failures == 0 {
            return None;
        }
        failures -= 1;
        Some(io::Error::other("the cable fell out"))
    }));
    store.watch("/").unwrap();
    let replies = store.turn(
        WallTime(2),
        vec![put(1, "/a", "2"), get(2, "/a"), get(3, "a")],
    );
    assert_eq!(
        replies.len(),
        3,
        "no notices of what was not kept: {replies:?}"
    );
    let MetadataReply::Put {
        result: Err(MetadataError::Io(path, text)),
        ..
    } = &replies[0]
    else {
        panic!("{replies:?}")
    };
    assert_eq!(path, "/a");
    assert!(
        text.contains(FILE) && text.contains("the cable fell out"),
        "{text}"
    );
    assert!(matches!(
        &replies[1],
        MetadataReply::Got {
            result: Err(MetadataError::Io(..)),
            ..
        }
    ));
    for _ in 0..2 {
        let later = store.turn(WallTime(3), vec![put(1, "/b", "1")]);
        let MetadataReply::Put {
            result: Err(error), ..
        } = &later[0]
        else {
            panic!("{later:?}")
        };
        assert!(error.to_string().contains("the cable fell out"), "{error}");
    }
    assert!(store.poisoned().is_some());
    assert!(value_of(&mut store, "/a").is_err());
    disk.heal();
    disk.kill();
    let mut store = open(&disk).unwrap();
    let value = value_of(&mut store, "/a").unwrap().unwrap();
    assert!(value == "1" || value == "2");
    assert_eq!(value_of(&mut store, "/b"), Ok(None));
}

#[test]
fn a_full_disk_is_told() {
    let (disk, mut store) = new_store();
    let length = disk.bytes_of(FILE).unwrap().len() as u64;
    disk.limit_bytes(Some(length + 1000));
    let large = Bytes::from(vec![7; 8 << 20]);
    let request = MetadataRequest::Put {
        ticket: 1,
        path: "/large".to_owned(),
        value: large,
        expect: Expect::Anything,
        kind: KeyKind::Persistent,
    };
    let replies = store.turn(WallTime(1), vec![request]);
    assert!(
        matches!(
            &replies[0],
            MetadataReply::Put {
                result: Err(MetadataError::Io(..)),
                ..
            }
        ),
        "{replies:?}"
    );
    disk.limit_bytes(None);
    disk.kill();
    assert_eq!(value_of(&mut open(&disk).unwrap(), "/large"), Ok(None));
}

#[test]
fn a_missing_file_is_made_only_when_allowed() {
    let disk = SimDisk::new();
    let error = open(&disk).unwrap_err();
    assert!(matches!(error, OpenError::Missing { .. }));
    assert!(error.to_string().contains(FILE));
    let deep = Settings {
        path: "a/b/m.redb".to_owned(),
        ..Settings::default()
    };
    drop(EmbeddedStore::open(&disk, &deep).unwrap());
    assert_eq!(disk.list("a/b").unwrap(), ["m.redb"]);
}

#[test]
fn a_number_that_somebody_wrote_by_hand_is_skipped() {
    let (_disk, mut store) = new_store();
    let numbered = |ticket| MetadataRequest::Put {
        ticket,
        path: "/q/n-".to_owned(),
        value: Bytes::new(),
        expect: Expect::Absent,
        kind: KeyKind::Sequential,
    };
    let requests = vec![
        put(1, "/q/n-0000000001", "by hand"),
        numbered(2),
        numbered(3),
    ];
    let replies = store.turn(WallTime(1), requests);
    let written: Vec<&str> = replies
        .iter()
        .filter_map(|reply| match reply {
            MetadataReply::Put {
                result: Ok((path, _)),
                ..
            } => Some(path.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        written,
        ["/q/n-0000000001", "/q/n-0000000000", "/q/n-0000000002"]
    );
    assert_eq!(
        value_of(&mut store, "/q/n-0000000001"),
        Ok(Some(Bytes::from_static(b"by hand")))
    );
}
