use super::check::check;
use super::layers::Given;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A file with these bytes, and what reading it says.
fn read(bytes: &[u8]) -> (PathBuf, Result<Given, String>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broker.conf");
    std::fs::write(&path, bytes).unwrap();
    let mut given = Given::default();
    let result = given.read_file(&path).map_err(|error| error.to_string());
    (path, result.map(|()| given), folder)
}

fn refusal(bytes: &[u8]) -> String {
    let (path, result, _folder) = read(bytes);
    result
        .unwrap_err()
        .replace(&path.display().to_string(), "conf")
}

fn environment(variables: &[(&str, &str)]) -> Given {
    let mut given = Given::default();
    let variables = variables
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    given.read_environment(variables).unwrap();
    given
}

#[test]
fn the_environment_stands_over_files_and_set_over_the_environment() {
    let (_, given, _folder) = read(b"clusterName=a\nmaxProducersPerTopic=1\nhulse.shards=2\n");
    let mut given = given.unwrap();
    let variables = [
        ("PULSAR_PREFIX_clusterName", " b "),
        ("PULSAR_PREFIX_maxProducersPerTopic", "2"),
        ("PULSAR_MEM", "-Xmx1g"),
    ];
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    given.read_environment(variables.into_iter()).unwrap();
    given.read_set("maxProducersPerTopic=3").unwrap();
    let checked = check(&given).unwrap();
    assert!(checked.notices.is_empty(), "{:?}", checked.notices);
    assert_eq!(checked.settings.cluster, "b");
    assert_eq!(checked.settings.topics.producers_max, 3);
    assert_eq!(checked.settings.shards, 2);
}

#[test]
fn a_bad_value_of_the_environment_names_the_variable() {
    let text = check(&environment(&[("PULSAR_PREFIX_maxMessageSize", "5MB")]))
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with(
            "maxMessageSize=5MB (environment variable PULSAR_PREFIX_maxMessageSize) is not allowed"
        ),
        "{text}"
    );
    let mut given = Given::default();
    let value = OsString::from_vec(vec![b'a', 0xff]);
    let error = given
        .read_environment([(OsString::from("PULSAR_PREFIX_clusterName"), value)].into_iter())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "clusterName (environment variable PULSAR_PREFIX_clusterName) is not UTF-8: \
         expected UTF-8, or \\uXXXX in a file for what is not ASCII"
    );
}

#[test]
fn variables_without_the_prefix_are_named_but_not_read() {
    let given = environment(&[
        ("clusterName", "elsewhere"),
        ("maxProducersPerTopic", "0"),
        ("authenticationEnabled", "false"),
        ("hulse.shards", "9"),
        ("HOME", "/"),
    ]);
    let checked = check(&given).unwrap();
    assert_eq!(checked.settings, broker::BrokerSettings::default());
    assert_eq!(
        checked.notices,
        [
            "environment variables called like a key are not read, only those that begin with PULSAR_PREFIX_: clusterName"
        ]
    );
}

#[test]
fn a_file_that_contradicts_itself_is_refused() {
    assert_eq!(
        refusal(b"clusterName=a\n\nclusterName = b\n"),
        "clusterName=b (conf:3) contradicts line 1, which says clusterName=a: remove one of the two"
    );
    let text = refusal(b"tokenSecretKey=xyzzy1\ntokenSecretKey=xyzzy2\n");
    assert!(!text.contains("xyzzy"), "{text}");
    // Saying it again is no contradiction.
    assert!(read(b"clusterName=a\nclusterName: a\n").1.is_ok());
}

#[test]
fn bytes_that_are_no_utf8_matter_only_outside_comments() {
    assert_eq!(
        refusal(b"clusterName=a\nadvertisedAddress=m\xfcller\n"),
        "advertisedAddress (conf:2) is not UTF-8: \
         expected UTF-8, or \\uXXXX in a file for what is not ASCII"
    );
    let (_, given, _folder) = read(b"# gr\xfc\xdfe\nsuperUserRoles=m\\u00fcller\n");
    assert_eq!(given.unwrap().get("superUserRoles").unwrap().text, "müller");
}

#[test]
fn a_mark_at_the_beginning_is_no_part_of_the_first_key() {
    let (_, given, _folder) = read(b"\xef\xbb\xbfclusterName=a\n");
    assert_eq!(given.unwrap().get("clusterName").unwrap().text, "a");
}

#[test]
fn what_is_too_long_is_refused_and_not_repeated() {
    let mut long = b"superUserRoles=".to_vec();
    long.extend(vec![b'x'; 64 * 1024 + 1]);
    assert_eq!(
        refusal(&long),
        "superUserRoles (conf:1) is too long: expected a key of at most 1024 and a value of at most 65536 bytes"
    );
    let text = refusal(&[b'k'; 2000]);
    assert!(
        text.contains("kk... (2000 bytes) (conf:1) is too long"),
        "{text}"
    );
    let text = refusal(&vec![b'#'; 16 * 1024 * 1024 + 1]);
    assert_eq!(
        text,
        "configuration file conf has more than 16777216 bytes, which is the most that is read: is this the right file?"
    );
}

#[test]
fn a_value_with_control_characters_stays_on_one_line() {
    let (_, given, _folder) = read(b"maxMessageSize=1\\n2\\u001b[31m\n");
    let text = check(&given.unwrap()).unwrap_err().to_string();
    assert!(
        text.starts_with("maxMessageSize=1\\n2\\u{1b}[31m ("),
        "{text}"
    );
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut given = Given::default();
    for path in [folder.path().to_owned(), folder.path().join("none.conf")] {
        let text = given.read_file(&path).unwrap_err().to_string();
        let begin = format!("cannot read configuration file {}: ", path.display());
        assert!(text.starts_with(&begin), "{text}");
    }
}

#[test]
fn broken_words_are_refused() {
    let mut given = Given::default();
    for word in ["port", "=secret", ""] {
        let text = given.read_set(word).unwrap_err().to_string();
        assert!(text.contains("expected key=value"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}
