//! Compare-and-set, versions, order.

use super::{Bench, assert_bad_version};
use crate::seam::{Expect, KeyKind, MetadataReply, MetadataRequest};
use bytes::Bytes;

pub(super) fn an_absent_key_is_certainly_absent(bench: &mut Bench<'_>) {
    let path = bench.path("nobody");
    assert_eq!(bench.get(&path), None);
    assert_eq!(
        bench.children(&path),
        Vec::<String>::new(),
        "a path that does not exist has no children"
    );
}

pub(super) fn each_write_counts_one(bench: &mut Bench<'_>) {
    let path = bench.path("key");
    for (version, value) in ["a", "b", "c", "c"].into_iter().enumerate() {
        let (written, stat) = bench
            .try_put(&path, value, Expect::Anything, KeyKind::Persistent)
            .expect("written");
        assert_eq!(written, path);
        let version = i64::try_from(version).expect("small");
        assert_eq!(
            stat.version, version,
            "0 when created, one more with every write, also of the same value"
        );
        assert_eq!(bench.read(&path), Some((value.to_owned(), version)));
    }
}

/// What is there before, as a number of writes; 0 is nothing.
const BEFORE: [i64; 3] = [0, 1, 3];
const EXPECTATIONS: [Expect; 6] = [
    Expect::Anything,
    Expect::Absent,
    Expect::Version(0),
    Expect::Version(1),
    Expect::Version(2),
    Expect::Version(-1),
];

fn is_met(expect: Expect, writes: i64) -> bool {
    match expect {
        Expect::Anything => true,
        Expect::Absent => writes == 0,
        Expect::Version(version) => writes > 0 && version == writes - 1,
    }
}

/// Makes a key that was written so often.
fn prepare(bench: &mut Bench<'_>, what: &str, writes: i64, number: usize) -> String {
    let path = bench.path(&format!("{what}-{writes}-{number}"));
    for _ in 0..writes {
        bench.put_plain(&path, "old");
    }
    path
}

pub(super) fn a_write_happens_exactly_when_expected(bench: &mut Bench<'_>) {
    for writes in BEFORE {
        for (number, expect) in EXPECTATIONS.into_iter().enumerate() {
            let path = prepare(bench, "put", writes, number);
            let before = bench.read(&path);
            let result = bench.try_put(&path, "new", expect, KeyKind::Persistent);
            if is_met(expect, writes) {
                let (_, stat) =
                    result.unwrap_or_else(|e| panic!("{writes} writes, expecting {expect}: {e}"));
                assert_eq!(stat.version, writes);
                assert_eq!(bench.read(&path), Some(("new".to_owned(), writes)));
            } else {
                assert_bad_version(
                    result,
                    &path,
                    &format!("{writes} writes, expecting {expect}"),
                );
                assert_eq!(bench.read(&path), before, "a refused write changes nothing");
            }
        }
    }
}

pub(super) fn a_delete_happens_exactly_when_expected(bench: &mut Bench<'_>) {
    for writes in BEFORE {
        for (number, expect) in EXPECTATIONS.into_iter().enumerate() {
            let path = prepare(bench, "delete", writes, number);
            let before = bench.read(&path);
            let result = bench.try_delete(&path, expect);
            if is_met(expect, writes) {
                result.unwrap_or_else(|e| panic!("{writes} writes, expecting {expect}: {e}"));
                assert_eq!(bench.read(&path), None);
            } else {
                assert_bad_version(
                    result,
                    &path,
                    &format!("{writes} writes, expecting {expect}"),
                );
                assert_eq!(
                    bench.read(&path),
                    before,
                    "a refused delete changes nothing"
                );
            }
        }
    }
}

pub(super) fn a_recreated_key_starts_over(bench: &mut Bench<'_>) {
    let path = bench.path("key");
    bench.put_plain(&path, "first life");
    bench.put_plain(&path, "first life, again");
    bench.delete(&path);
    let (_, stat) = bench
        .try_put(&path, "second life", Expect::Absent, KeyKind::Persistent)
        .expect("absent again");
    assert_eq!(stat.version, 0);
    assert_eq!(bench.read(&path), Some(("second life".to_owned(), 0)));
}

/// A burst on one path in one call: each step sees the one before it.
pub(super) fn requests_on_one_path_keep_their_order(bench: &mut Bench<'_>) {
    let path = bench.path("key");
    let put = |ticket, expect| {
        let value = Bytes::from(format!("{ticket}"));
        MetadataRequest::Put {
            ticket,
            path: path.clone(),
            value,
            expect,
            kind: KeyKind::Persistent,
        }
    };
    let first = bench.ticket();
    bench.next_ticket += 5;
    let answers = bench.ask(vec![
        put(first, Expect::Absent),
        put(first + 1, Expect::Version(0)),
        MetadataRequest::Get {
            ticket: first + 2,
            path: path.clone(),
        },
        MetadataRequest::Delete {
            ticket: first + 3,
            path: path.clone(),
            expect: Expect::Version(1),
        },
        put(first + 4, Expect::Absent),
    ]);
    for (ticket, answer) in answers {
        match answer {
            MetadataReply::Put { result, .. } => {
                drop(result.expect("each write finds what the one before left"))
            }
            MetadataReply::Deleted { result, .. } => {
                result.expect("the delete finds the second write")
            }
            MetadataReply::Got { result, .. } => {
                let (value, stat) = result.expect("read").expect("there");
                assert_eq!(
                    (value, stat.version),
                    (Bytes::from(format!("{}", first + 1)), 1),
                    "ticket {ticket}"
                );
            }
            other => panic!("unexpected {other:?}"),
        }
    }
    assert_eq!(bench.read(&path), Some((format!("{}", first + 4), 0)));
}

pub(super) fn one_of_many_racers_wins(bench: &mut Bench<'_>) {
    let path = bench.path("key");
    bench.put_plain(&path, "start");
    let racers: Vec<MetadataRequest> = (0..10)
        .map(|_| MetadataRequest::Put {
            ticket: bench.ticket(),
            path: path.clone(),
            value: Bytes::from_static(b"won"),
            expect: Expect::Version(0),
            kind: KeyKind::Persistent,
        })
        .collect();
    let answers = bench.ask(racers);
    let winners = answers
        .values()
        .filter(|answer| matches!(answer, MetadataReply::Put { result: Ok(_), .. }));
    assert_eq!(
        winners.count(),
        1,
        "of many writers that expect one version, one wins"
    );
    assert_eq!(bench.read(&path), Some(("won".to_owned(), 1)));
}

pub(super) fn times_and_kind_are_kept(bench: &mut Bench<'_>) {
    let path = bench.path("key");
    let (_, created) = bench
        .try_put(&path, "a", Expect::Absent, KeyKind::Persistent)
        .expect("written");
    assert!(!created.ephemeral);
    assert_eq!(
        bench.get(&path).expect("there").1,
        created,
        "Put and Get tell the same state"
    );
    let (_, written) = bench
        .try_put(&path, "b", Expect::Anything, KeyKind::Persistent)
        .expect("written");
    assert_eq!(
        written.created_ms, created.created_ms,
        "a write keeps the time of creation"
    );
    assert_eq!(bench.get(&path).expect("there").1, written);
}
