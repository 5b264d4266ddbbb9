//! What is no path.

use super::Bench;
use crate::path::MAX_PATH_BYTES;
use crate::seam::{Expect, KeyKind, MetadataError};

pub(super) fn what_is_no_path_is_refused(bench: &mut Bench<'_>) {
    let root = bench.root.clone();
    let bad = [
        String::new(),
        "//".to_owned(),
        root.get(1..).unwrap_or_default().to_owned(),
        format!("{root}/"),
        format!("{root}//a"),
        format!("{root}/a/"),
        format!("{root}/./a"),
        format!("{root}/a/.."),
        format!("{root}/a\0"),
        format!("{root}/a\n"),
        format!("{root}/\u{7f}"),
        format!("{root}/\u{e000}"),
        format!("{root}/\u{ffff}"),
        format!("{root}/{}", "x".repeat(MAX_PATH_BYTES)),
    ];
    for path in bad {
        for kind in [KeyKind::Persistent, KeyKind::Sequential] {
            assert_bad_path(bench.try_put(&path, "x", Expect::Anything, kind), &path);
        }
        assert_bad_path(bench.try_get(&path), &path);
        assert_bad_path(bench.try_delete(&path, Expect::Anything), &path);
        assert_bad_path(bench.try_children(&path), &path);
    }
    assert_bad_path(bench.try_get("/"), "/");
    assert_bad_path(
        bench.try_put("/", "x", Expect::Anything, KeyKind::Persistent),
        "/",
    );
    assert_bad_path(bench.try_delete("/", Expect::Anything), "/");
    assert_eq!(
        bench.children(&root),
        Vec::<String>::new(),
        "nothing was written"
    );
    let longest = format!("{root}/{}", "x".repeat(MAX_PATH_BYTES - root.len() - 1));
    bench.put_plain(&longest, "fits");
    assert_eq!(bench.read(&longest), Some(("fits".to_owned(), 0)));
}

fn assert_bad_path<T: std::fmt::Debug>(result: Result<T, MetadataError>, path: &str) {
    let shown: String = path.chars().take(80).collect();
    match result {
        Err(MetadataError::BadPath(_, why)) => assert!(!why.is_empty(), "{shown:?}: it says why"),
        other => panic!("{shown:?} is no path, got {other:?}"),
    }
}
