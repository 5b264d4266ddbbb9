use std::io;

use crate::DirectoryLock;

#[test]
fn the_second_holder_is_told_who_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let first = DirectoryLock::take(directory.path()).unwrap();
    let error = DirectoryLock::take(directory.path()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    let text = error.to_string();
    assert!(
        text.contains(&directory.path().display().to_string()),
        "{text}"
    );
    assert!(
        text.contains(&format!("process {}", std::process::id())),
        "{text}"
    );
    drop(first);
    DirectoryLock::take(directory.path()).unwrap();
}

#[test]
fn a_directory_that_is_not_there_cannot_be_locked() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let text = DirectoryLock::take(&missing).unwrap_err().to_string();
    assert!(text.contains("missing"), "{text}");
}
