//! Keys bound to a session.

use super::Bench;
use crate::seam::{Expect, KeyKind};

pub(super) fn ephemeral_keys_go_with_the_session(bench: &mut Bench<'_>) {
    let (bound, beside) = (bench.path("owner/bound"), bench.path("owner/stays"));
    let (_, stat) = bench
        .try_put(&bound, "me", Expect::Absent, KeyKind::Ephemeral)
        .expect("written");
    assert!(stat.ephemeral);
    assert_eq!(stat.version, 0);
    bench.put_plain(&beside, "kept");
    assert!(
        bench
            .get(&bound)
            .expect("there while the session lasts")
            .1
            .ephemeral
    );
    bench.store.end_session();
    assert_eq!(bench.get(&bound), None, "gone with its session");
    let parent = bench.path("owner");
    assert_eq!(bench.children(&parent), ["stays"]);
    let (_, again) = bench
        .try_put(&bound, "me again", Expect::Absent, KeyKind::Ephemeral)
        .expect("free again");
    assert_eq!(again.version, 0);
    bench.delete(&bound);
    bench.store.end_session();
    assert_eq!(bench.get(&bound), None);
}

pub(super) fn the_kind_counts_only_when_created(bench: &mut Bench<'_>) {
    let (bound, kept) = (bench.path("bound"), bench.path("kept"));
    bench.put(&bound, "1", KeyKind::Ephemeral);
    bench.put(&kept, "1", KeyKind::Persistent);
    let (_, stat) = bench
        .try_put(&bound, "2", Expect::Version(0), KeyKind::Persistent)
        .expect("written");
    assert!(stat.ephemeral, "a write does not unbind a key");
    let (_, stat) = bench
        .try_put(&kept, "2", Expect::Version(0), KeyKind::Ephemeral)
        .expect("written");
    assert!(!stat.ephemeral, "a write does not bind a key");
    bench.store.end_session();
    assert_eq!(bench.get(&bound), None);
    assert_eq!(bench.read(&kept), Some(("2".to_owned(), 1)));
}

pub(super) fn both_at_once(bench: &mut Bench<'_>) {
    let path = bench.path("candidates/n-");
    let first = bench.put(&path, "me", KeyKind::EphemeralSequential);
    assert_ne!(first, path);
    assert!(bench.get(&first).expect("there").1.ephemeral);
    bench.store.end_session();
    assert_eq!(bench.get(&first), None);
    let second = bench.put(&path, "me", KeyKind::EphemeralSequential);
    assert!(second > first, "{second} after {first}");
    bench.delete(&second);
}

/// Deleting and making anew changes what a key is bound to.
pub(super) fn other_keys_stay(bench: &mut Bench<'_>) {
    let (unbound, rewritten) = (bench.path("unbound"), bench.path("rewritten"));
    bench.put(&unbound, "1", KeyKind::Ephemeral);
    bench.delete(&unbound);
    bench.put_plain(&unbound, "2");
    for value in ["1", "2", "3"] {
        bench.put_plain(&rewritten, value);
    }
    let before = bench.get(&rewritten);
    bench.store.end_session();
    assert_eq!(
        bench.read(&unbound),
        Some(("2".to_owned(), 0)),
        "it was made anew, and not bound"
    );
    assert_eq!(
        bench.get(&rewritten),
        before,
        "value, version and times outlive the session"
    );
}
