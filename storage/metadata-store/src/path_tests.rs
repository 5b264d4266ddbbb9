use super::*;

#[test]
fn parents_and_what_lies_below() {
    assert_eq!(parent("/a"), "/");
    assert_eq!(parent("/a/b"), "/a");
    assert_eq!(below("/"), "/");
    assert_eq!(below("/a"), "/a/");
    let (from, to) = (below("/a"), after_below("/a"));
    for inside in ["/a/0", "/a/\u{10ffff}", "/a/b/c"] {
        assert!((from.as_str()..to.as_str()).contains(&inside), "{inside}");
    }
    for outside in ["/a", "/a!", "/a0", "/a-b/c", "/b"] {
        assert!(
            !(from.as_str()..to.as_str()).contains(&outside),
            "{outside}"
        );
    }
    assert!((below("/")..after_below("/")).contains(&"/\u{10ffff}".to_owned()));
}

#[test]
fn numbers_have_ten_digits_or_more() {
    assert_eq!(numbered("/a/n-", 7), "/a/n-0000000007");
    assert_eq!(numbered("/a/n-", 12_345_678_901), "/a/n-12345678901");
}

#[test]
fn a_refusal_says_why_and_stays_short() {
    let error = check_key(&format!("/{}", "x".repeat(1 << 20)))
        .unwrap_err()
        .to_string();
    assert!(error.len() < 200, "{error}");
    assert!(error.contains("1048577 bytes"), "{error}");
    assert!(
        check_key("/a\u{1}b")
            .unwrap_err()
            .to_string()
            .contains("U+0001")
    );
    assert!(
        check_key("a")
            .unwrap_err()
            .to_string()
            .contains("does not start")
    );
    assert!(check_key("/").is_err());
    assert!(check_parent("/").is_ok());
}
