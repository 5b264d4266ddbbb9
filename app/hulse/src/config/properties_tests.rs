use super::properties::{Property, parse};

fn read(text: &str) -> Vec<(String, String)> {
    parse(text)
        .unwrap()
        .into_iter()
        .map(|property| (property.key, property.value))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn separators_are_equals_colon_and_space() {
    assert_eq!(
        read("a=1\nb:2\nc 3\nd = 4\ne\t:\t5\nf\n"),
        pairs(&[
            ("a", "1"),
            ("b", "2"),
            ("c", "3"),
            ("d", "4"),
            ("e", "5"),
            ("f", "")
        ])
    );
}

#[test]
fn only_the_first_separator_counts() {
    assert_eq!(
        read("url=a=b:c\nkey = = x"),
        pairs(&[("url", "a=b:c"), ("key", "= x")])
    );
}

#[test]
fn comments_begin_with_hash_or_exclamation_mark_and_are_not_continued() {
    assert_eq!(
        read("# one \\\n  ! two\nkey=value # not a comment"),
        pairs(&[("key", "value # not a comment")])
    );
}

#[test]
fn an_odd_number_of_backslashes_continues_a_line() {
    assert_eq!(
        read("list=a,\\\n    b,\\\n    # c\npath=c:\\\\\nnext=1"),
        pairs(&[("list", "a,b,# c"), ("path", "c:\\"), ("next", "1")])
    );
}

#[test]
fn escapes_stand_for_characters() {
    assert_eq!(
        read("a\\ b\\==x\\ty\nname=\\u00e4\\ud83d\\ude00\\q"),
        pairs(&[("a b=", "x\ty"), ("name", "ä😀q")])
    );
}

#[test]
fn a_broken_unicode_escape_names_its_line() {
    let error = parse("a=1\nb=\\u12x4").unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.to_string().contains("\\u12x4"), "{error}");
    assert!(parse("b=\\ud83dx").is_err());
}

#[test]
fn lines_are_counted_through_continuations_and_any_line_end() {
    let properties = parse("a=1\\\n2\r\n\rb=3\r\n").unwrap();
    assert_eq!(
        properties,
        [
            Property {
                key: "a".into(),
                value: "12".into(),
                line: 1
            },
            Property {
                key: "b".into(),
                value: "3".into(),
                line: 4
            },
        ]
    );
}

#[test]
fn pulsars_own_files_parse_whole() {
    for (name, text) in [
        (
            "4.0 broker",
            include_str!("../../tests/data/pulsar-4.0-broker.conf"),
        ),
        (
            "4.0 standalone",
            include_str!("../../tests/data/pulsar-4.0-standalone.conf"),
        ),
        (
            "4.2 broker",
            include_str!("../../tests/data/pulsar-4.2-broker.conf"),
        ),
        (
            "4.2 standalone",
            include_str!("../../tests/data/pulsar-4.2-standalone.conf"),
        ),
    ] {
        let properties = parse(text).unwrap();
        assert_eq!(properties.len(), text.lines().count(), "{name}");
        assert!(
            properties
                .iter()
                .any(|p| p.key == "brokerServicePort" && p.value == "6650"),
            "{name}"
        );
    }
}
