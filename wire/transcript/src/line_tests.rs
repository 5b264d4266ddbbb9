use crate::{Line, Said, Speaker};
use proptest::prelude::*;

fn same(text: &str) {
    let line: Line = text.parse().unwrap();
    assert_eq!(line.to_string(), text);
}

#[test]
fn lines_go_there_and_back() {
    same("0      1 opened");
    same("12     1 C PING");
    same("123456 70 B SEND_RECEIPT producer_id=1 sequence_id=0 message_id={ledgerId=3 entryId=0}");
    same("5      2 C SEND producer_id=1 sequence_id=0 + 00ff0a");
    same("5      2 C! 0000000a");
    same("9      2 closed by broker");
}

#[test]
fn who_says_what_when_is_read() {
    let line: Line = "7 3 B! 01ff".parse().unwrap();
    assert_eq!((line.at_millis, line.connection), (7, 3));
    let bytes = bytes::Bytes::from_static(&[1, 255]);
    assert_eq!(line.said, Said::Bytes(Speaker::Broker, bytes));
}

#[test]
fn what_cannot_be_read_is_named() {
    let error = |text: &str| text.parse::<Line>().unwrap_err().to_string();
    assert!(error("").contains("milliseconds"));
    assert!(error("x 1 opened").contains("milliseconds"));
    assert!(error("1 x opened").contains("a connection's number"));
    assert!(error("1 99999999999 opened").contains("a connection's number"));
    assert!(error("1 1 D PING").contains("C, B, C!, B!, opened or closed"));
    assert!(error("1 1 C! 0").contains("pairs of hex digits"));
    assert!(error("1 1 C SEND + 0g").contains("pairs of hex digits"));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        let _ = text.parse::<Line>();
        let _ = format!("1 1 C {text}").parse::<Line>();
    }
}
