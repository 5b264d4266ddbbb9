use super::*;

const NOW: WallTime = WallTime(5);

fn put(tree: &mut Tree, path: &str, kind: KeyKind, session: SessionId) -> String {
    tree.put(path, Bytes::new(), Expect::Anything, kind, session, NOW)
        .unwrap()
        .0
}

#[test]
fn a_number_that_somebody_wrote_by_hand_is_skipped() {
    let mut tree = Tree::default();
    put(&mut tree, "/q/n-0000000001", KeyKind::Persistent, 1);
    assert_eq!(
        put(&mut tree, "/q/n-", KeyKind::Sequential, 1),
        "/q/n-0000000000"
    );
    assert_eq!(
        put(&mut tree, "/q/n-", KeyKind::Sequential, 1),
        "/q/n-0000000002"
    );
    assert_eq!(
        put(&mut tree, "/other/n-", KeyKind::Sequential, 1),
        "/other/n-0000000000"
    );
}

#[test]
fn each_session_ends_alone() {
    let mut tree = Tree::default();
    for (path, session) in [("/e/1", 1), ("/e/2", 2), ("/e/3", 3)] {
        put(&mut tree, path, KeyKind::Ephemeral, session);
    }
    put(&mut tree, "/e/p", KeyKind::Persistent, 1);
    assert_eq!(tree.end_session(1), ["/e/1"]);
    assert_eq!(tree.end_other_sessions(3), ["/e/2"]);
    assert_eq!(tree.children("/e").unwrap(), ["3", "p"]);
}

#[test]
fn times_come_from_outside() {
    let mut tree = Tree::default();
    put(&mut tree, "/a", KeyKind::Persistent, 1);
    let (_, stat) = tree
        .put(
            "/a",
            Bytes::new(),
            Expect::Version(0),
            KeyKind::Persistent,
            1,
            WallTime(9),
        )
        .unwrap();
    assert_eq!(
        stat,
        Stat {
            version: 1,
            created_ms: 5,
            modified_ms: 9,
            ephemeral: false
        }
    );
}

#[test]
fn a_parent_without_value_cannot_be_deleted_under_its_children() {
    let mut tree = Tree::default();
    put(&mut tree, "/a/b", KeyKind::Persistent, 1);
    assert_eq!(
        tree.delete("/a", Expect::Anything),
        Err(MetadataError::NotEmpty("/a".to_owned()))
    );
    assert_eq!(tree.delete("/a/b", Expect::Anything), Ok(true));
    assert_eq!(tree.delete("/a", Expect::Anything), Ok(false));
}
