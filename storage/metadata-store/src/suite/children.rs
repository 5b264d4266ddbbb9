//! What lies below what.

use super::Bench;
use crate::seam::{Expect, MetadataError};

pub(super) fn children_are_the_names_directly_below(bench: &mut Bench<'_>) {
    for rest in ["b", "a", "c/deep", "c/deeper/still", "c"] {
        let path = bench.path(rest);
        bench.put_plain(&path, "here");
    }
    let root = bench.root.clone();
    assert_eq!(bench.children(&root), ["a", "b", "c"]);
    let (deep, leaf) = (bench.path("c"), bench.path("a"));
    assert_eq!(bench.children(&deep), ["deep", "deeper"]);
    assert_eq!(bench.children(&leaf), Vec::<String>::new());
    let gone = bench.path("b");
    bench.delete(&gone);
    assert_eq!(bench.children(&root), ["a", "c"]);
}

pub(super) fn a_parent_without_value_is_listed(bench: &mut Bench<'_>) {
    let deep = bench.path("one/two/three");
    bench.put_plain(&deep, "here");
    let (root, one, two) = (bench.root.clone(), bench.path("one"), bench.path("one/two"));
    assert_eq!(bench.children(&root), ["one"]);
    assert_eq!(bench.children(&one), ["two"]);
    assert_eq!(bench.children(&two), ["three"]);
    assert!(bench.children("/").iter().any(|name| {
        root.get(1..)
            .is_some_and(|rest| rest.starts_with(name.as_str()))
    }));
}

/// `/a/b` and its children against `/a/bc`, `/a/b-c`, `/a/b!` and `/a/b0`, which sort around `/a/b/`.
pub(super) fn look_alikes_are_not_children(bench: &mut Bench<'_>) {
    for rest in [
        "b/x",
        "b!",
        "b!/y",
        "b-c/z",
        "b.d",
        "b0",
        "bc",
        "bc/w",
        "b/x/deeper",
        "b/xx",
        "b",
    ] {
        let path = bench.path(rest);
        bench.put_plain(&path, "here");
    }
    let (root, b) = (bench.root.clone(), bench.path("b"));
    assert_eq!(bench.children(&b), ["x", "xx"]);
    assert_eq!(bench.children(&root), ["b", "b!", "b-c", "b.d", "b0", "bc"]);
    let lone = bench.path("bc/w");
    bench.delete(&lone);
    let (bc, plain) = (bench.path("bc"), bench.path("b0"));
    bench.delete(&bc);
    bench.delete(&plain);
    assert_eq!(bench.children(&root), ["b", "b!", "b-c", "b.d"]);
}

pub(super) fn many_children_are_listed(bench: &mut Bench<'_>) {
    let names: Vec<String> = (0..120).map(|number| format!("{number:04}")).collect();
    for name in &names {
        let path = bench.path(&format!("all/{name}"));
        bench.put_plain(&path, "here");
    }
    let all = bench.path("all");
    assert_eq!(bench.children(&all), names);
}

/// A child with many keys of its own, between others.
pub(super) fn a_crowded_child_hides_nobody(bench: &mut Bench<'_>) {
    for number in 0..40 {
        let path = bench.path(&format!("b/{number}/x"));
        bench.put_plain(&path, "here");
    }
    for rest in ["a", "b-", "b0", "c/d"] {
        let path = bench.path(rest);
        bench.put_plain(&path, "here");
    }
    let root = bench.root.clone();
    assert_eq!(bench.children(&root), ["a", "b", "b-", "b0", "c"]);
}

pub(super) fn a_key_with_children_stays(bench: &mut Bench<'_>) {
    let (parent, child) = (bench.path("p"), bench.path("p/c"));
    let look_alike = bench.path("p0");
    bench.put_plain(&parent, "parent");
    bench.put_plain(&child, "child");
    bench.put_plain(&look_alike, "not a child");
    for expect in [Expect::Anything, Expect::Version(0)] {
        let refused = bench.try_delete(&parent, expect);
        assert_eq!(refused, Err(MetadataError::NotEmpty(parent.clone())));
    }
    assert_eq!(bench.read(&parent), Some(("parent".to_owned(), 0)));
    bench.delete(&child);
    bench.delete(&parent);
    assert_eq!(bench.get(&parent), None);
}
