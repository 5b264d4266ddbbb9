//! Notifications.

use super::Bench;
use crate::seam::{Expect, KeyKind};

pub(super) fn changes_below_a_prefix_are_told(bench: &mut Bench<'_>) {
    let (prefix, child, deep) = (
        bench.path("w"),
        bench.path("w/child"),
        bench.path("w/child/deep"),
    );
    bench.store.watch(&prefix);
    let sequential = bench.path("w/n-");
    for path in [&prefix, &child, &deep] {
        bench.told.clear();
        bench.put_plain(path, "created");
        bench.await_told(path);
        settle(bench);
        bench.told.clear();
        bench.put_plain(path, "changed");
        bench.await_told(path);
    }
    bench.told.clear();
    let written = bench.put(&sequential, "numbered", KeyKind::Sequential);
    bench.await_told(&written);
    settle(bench);
    bench.told.clear();
    bench.delete(&deep);
    bench.await_told(&deep);
}

pub(super) fn look_alikes_are_not_told(bench: &mut Bench<'_>) {
    let (prefix, inside) = (bench.path("w"), bench.path("w/in"));
    bench.store.watch(&prefix);
    let outside = [bench.path("wx"), bench.path("w-x/in"), bench.path("v/w")];
    for path in &outside {
        bench.put_plain(path, "elsewhere");
    }
    let refused = bench.try_put(&inside, "refused", Expect::Version(7), KeyKind::Persistent);
    assert!(refused.is_err());
    settle(bench);
    for path in &outside {
        assert!(!bench.told.contains(path), "{path} is not under {prefix}");
    }
    bench.told.clear();
    bench.put_plain(&inside, "here");
    bench.await_told(&inside);
}

/// Lets late and doubled notifications arrive.
fn settle(bench: &mut Bench<'_>) {
    for _ in 0..50 {
        bench.ask(Vec::new());
    }
}
