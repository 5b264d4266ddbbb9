use crate::name::{url_decode, url_encode};
use crate::{Domain, NameError, TopicName};
use proptest::prelude::*;

fn name(text: &str) -> TopicName {
    TopicName::parse(text).unwrap()
}

#[test]
fn short_names_are_completed() {
    assert_eq!(name("t").as_str(), "persistent://public/default/t");
    assert_eq!(name("acme/orders/t").as_str(), "persistent://acme/orders/t");
    assert_eq!(
        name("non-persistent://a/b/c").domain(),
        Domain::NonPersistent
    );
    assert_eq!(name("t").namespace().as_str(), "public/default");
}

#[test]
fn what_is_no_name_is_refused_by_name() {
    assert!(matches!(
        TopicName::parse("a/b"),
        Err(NameError::ShortForm(_))
    ));
    assert!(matches!(
        TopicName::parse("a/b/c/d"),
        Err(NameError::ShortForm(_))
    ));
    assert!(matches!(
        TopicName::parse("persistent://a/b"),
        Err(NameError::LongForm(_))
    ));
    assert!(matches!(
        TopicName::parse("persistent://a/use/b/c"),
        Err(NameError::V1(_))
    ));
    assert!(matches!(
        TopicName::parse("kafka://a/b/c"),
        Err(NameError::UnknownDomain(..))
    ));
    assert!(matches!(
        TopicName::parse("topic://a/b/c"),
        Err(NameError::Scalable(..))
    ));
    assert!(matches!(
        TopicName::parse("segment://a/b/c/0-ff-1"),
        Err(NameError::Scalable(..))
    ));
    assert!(matches!(
        TopicName::parse("persistent://a b/c/d"),
        Err(NameError::Entity(_))
    ));
    assert!(matches!(
        TopicName::parse(&"\u{fc}".repeat(2_000)),
        Err(NameError::TooLongEncoded(_))
    ));
    assert!(TopicName::parse(&"x".repeat(8_000)).is_ok());
    for text in [
        ".",
        "..",
        "a/b/..",
        "persistent://a/b/.",
        "persistent://./b/t",
        "persistent://a/../t",
    ] {
        assert!(
            matches!(TopicName::parse(text), Err(NameError::Dots(_))),
            "{text}"
        );
    }
    assert_eq!(name("...").local(), "...");
    assert!(matches!(TopicName::parse(""), Err(NameError::Blank(_))));
    assert!(matches!(TopicName::parse("  "), Err(NameError::Blank(_))));
    assert!(matches!(
        TopicName::parse(&"x".repeat(10_000)),
        Err(NameError::TooLong(_))
    ));
}

#[test]
fn a_partition_is_a_plain_number_after_the_last_mark() {
    assert_eq!(name("t-partition-7").partition(), Some(7));
    assert_eq!(
        name("t-partition-7").base(),
        "persistent://public/default/t"
    );
    assert_eq!(
        name("t-partition-1-partition-2").base(),
        "persistent://public/default/t-partition-1"
    );
    for plain in [
        "t-partition-01",
        "t-partition--1",
        "t-partition-",
        "t-partition-x",
        "t-partition-99999999999",
    ] {
        assert_eq!(name(plain).partition(), None, "{plain}");
    }
    assert_eq!(name("t").partition_name(3).unwrap(), name("t-partition-3"));
}

#[test]
fn the_persistence_name_is_encoded_as_java_does() {
    assert_eq!(
        name("a/b/x y*z:ü").persistence_name(),
        "a/b/persistent/x+y*z%3A%C3%BC"
    );
}

proptest! {
    #[test]
    fn encoding_round_trips(text in ".*") {
        prop_assert_eq!(url_decode(&url_encode(&text)), Some(text));
    }

    #[test]
    fn no_text_panics(text in ".*") {
        if let Ok(name) = TopicName::parse(&text) {
            prop_assert_eq!(TopicName::parse(name.as_str()).unwrap(), name);
        }
    }
}
