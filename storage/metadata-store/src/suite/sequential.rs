//! Sequential keys.

use super::{Bench, assert_bad_version};
use crate::seam::{Expect, KeyKind, MetadataReply, MetadataRequest};
use bytes::Bytes;

/// The number of a sequential key made for `asked`.
fn number(asked: &str, written: &str) -> u64 {
    let digits = written
        .strip_prefix(asked)
        .unwrap_or_else(|| panic!("{written} does not start with {asked}"));
    assert!(digits.len() >= 10, "{written}: at least ten digits");
    digits
        .parse()
        .unwrap_or_else(|_| panic!("{written} does not end with a number"))
}

fn next(bench: &mut Bench<'_>, path: &str) -> (String, u64) {
    let written = bench.put(path, "numbered", KeyKind::Sequential);
    let number = number(path, &written);
    (written, number)
}

pub(super) fn numbers_are_unique_and_grow(bench: &mut Bench<'_>) {
    let path = bench.path("queue/item-");
    let mut last = None;
    let mut names = Vec::new();
    for _ in 0..12 {
        let (written, number) = next(bench, &path);
        assert!(last < Some(number), "{number} after {last:?}");
        last = Some(number);
        assert_eq!(bench.read(&written), Some(("numbered".to_owned(), 0)));
        names.push(written.rsplit('/').next().unwrap_or_default().to_owned());
    }
    let parent = bench.path("queue");
    assert_eq!(
        bench.children(&parent),
        names,
        "zero-padded, so they sort by number"
    );
    in_one_call(bench, &path, last);
}

/// Many at once do not get one number twice.
fn in_one_call(bench: &mut Bench<'_>, path: &str, last: Option<u64>) {
    let requests = (0..8).map(|_| MetadataRequest::Put {
        ticket: bench.ticket(),
        path: path.to_owned(),
        value: Bytes::new(),
        expect: Expect::Absent,
        kind: KeyKind::Sequential,
    });
    let requests = requests.collect();
    let mut numbers = Vec::new();
    for answer in bench.ask(requests).into_values() {
        match answer {
            MetadataReply::Put { result, .. } => {
                numbers.push(Some(number(path, &result.expect("written").0)))
            }
            other => panic!("Put answered with {other:?}"),
        }
    }
    assert!(
        numbers.is_sorted_by(|a, b| a < b),
        "in the order they were asked for, since it is one path: {numbers:?}"
    );
    assert!(numbers.first().copied().flatten() > last);
}

pub(super) fn a_number_is_not_given_twice(bench: &mut Bench<'_>) {
    let path = bench.path("queue/item-");
    let (_, first) = next(bench, &path);
    let (second_path, second) = next(bench, &path);
    assert!(second > first);
    bench.delete(&second_path);
    let (third_path, third) = next(bench, &path);
    assert!(
        third > second,
        "the number of a deleted key is not given again"
    );
    bench.delete(&third_path);
    let other = bench.path("queue/other-");
    let (_, fourth) = next(bench, &other);
    assert!(fourth > third, "keys of one parent share the numbers");
}

pub(super) fn numbers_grow_over_sessions(bench: &mut Bench<'_>) {
    let path = bench.path("queue/item-");
    let (written, before) = next(bench, &path);
    bench.delete(&written);
    bench.store.end_session();
    let (_, after) = next(bench, &path);
    assert!(
        after > before,
        "{after} after {before}, over the end of a session"
    );
}

pub(super) fn a_numbered_key_is_always_new(bench: &mut Bench<'_>) {
    let path = bench.path("queue/item-");
    bench
        .try_put(&path, "a", Expect::Absent, KeyKind::Sequential)
        .expect("never there before");
    let refused = bench.try_put(&path, "a", Expect::Version(0), KeyKind::Sequential);
    assert_bad_version(refused, &path, "a sequential key expected at a version");
    let parent = bench.path("queue");
    assert_eq!(bench.children(&parent).len(), 1);
}
