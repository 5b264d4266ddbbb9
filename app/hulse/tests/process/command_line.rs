//! What the program says to wrong and to missing words, without a broker.

use crate::support::{failure, hulse, run, standalone, text};

#[test]
fn without_a_command_it_prints_help() {
    let said = text(run(&mut hulse(&[])));
    for word in ["standalone", "config", "produce", "consume", "--help"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn a_bad_value_ends_with_2_before_any_door_opens() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (code, said) = failure(run(&mut standalone(&data, &["maxMessageSize=big"])));
    assert_eq!(code, Some(2));
    assert!(
        said.contains("maxMessageSize=big (--set) is not allowed: expected whole bytes"),
        "{said}"
    );
    assert!(!data.exists());
}

#[test]
fn a_bad_line_of_a_file_is_named_with_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broker.conf");
    std::fs::write(&file, "# a comment\n\nkeepAliveIntervalSeconds = never\n").unwrap();
    let mut command = hulse(&["standalone", "-c"]);
    let (code, said) = failure(run(command.arg(&file)));
    assert_eq!(code, Some(2));
    assert!(
        said.contains(&format!(
            "keepAliveIntervalSeconds=never ({}:3)",
            file.display()
        )),
        "{said}"
    );
    let (code, said) = failure(run(&mut hulse(&["standalone", "-c", "no-such-file.conf"])));
    assert_eq!(code, Some(2));
    assert!(said.contains("no-such-file.conf"), "{said}");
}

#[test]
fn visitors_need_a_url_and_somebody_behind_it() {
    let (code, said) = failure(run(&mut hulse(&[
        "produce",
        "t",
        "-m",
        "x",
        "--url",
        "http://localhost",
    ])));
    assert_eq!(code, Some(2));
    assert!(said.contains("expected pulsar://host:port"), "{said}");
    // Port 1 is nobody's.
    let (code, said) = failure(run(&mut hulse(&[
        "consume",
        "t",
        "-s",
        "s",
        "--url",
        "pulsar://127.0.0.1:1",
    ])));
    assert_eq!(code, Some(1));
    assert!(
        said.contains("127.0.0.1:1") && said.contains("hulse standalone"),
        "{said}"
    );
    let (code, said) = failure(run(&mut hulse(&[
        "produce",
        "a/b",
        "-m",
        "x",
        "--url",
        "pulsar://127.0.0.1:1",
    ])));
    assert_eq!(code, Some(2));
    assert!(said.contains("'a/b'"), "{said}");
}
