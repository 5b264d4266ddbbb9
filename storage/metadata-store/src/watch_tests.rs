use super::*;

#[test]
fn a_prefix_covers_itself_and_what_is_below() {
    let mut watches = Watches::default();
    assert!(!watches.covers("/a/b"));
    watches.watch("/a/b").unwrap();
    for covered in ["/a/b", "/a/b/c", "/a/b/c/d"] {
        assert!(watches.covers(covered), "{covered}");
    }
    for other in ["/a", "/a/bc", "/a/b-/c", "/b/a/b"] {
        assert!(!watches.covers(other), "{other}");
    }
    watches.unwatch("/a/b");
    assert!(!watches.covers("/a/b"));
}

#[test]
fn the_root_covers_everything_and_bad_prefixes_are_refused() {
    let mut watches = Watches::default();
    assert!(watches.watch("/a/").is_err());
    watches.watch("/").unwrap();
    assert!(watches.covers("/a/b"));
}
