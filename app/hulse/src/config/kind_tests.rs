use super::check::check;
use super::kind::{Kind, Typed};
use super::layers::Given;

/// What is said about a value on the command line.
fn said(set: &str) -> String {
    let mut given = Given::default();
    given.read_set(set).unwrap();
    match check(&given) {
        Ok(_) => "fine".to_owned(),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn each_kind_of_bad_value_says_what_is_allowed() {
    for (set, allowed) in [
        // Keys that act ...
        (
            "maxProducersPerTopic=many",
            "whole numbers from -1 to 2147483647",
        ),
        (
            "maxProducersPerTopic=-2",
            "whole numbers from -1 to 2147483647",
        ),
        (
            "maxProducersPerTopic=2147483648",
            "whole numbers from -1 to 2147483647",
        ),
        (
            "maxProducersPerTopic=1.5",
            "whole numbers from -1 to 2147483647",
        ),
        (
            "keepAliveIntervalSeconds=0",
            "whole seconds from 1 to 86400",
        ),
        (
            "defaultRetentionSizeInMB=-2",
            "whole megabytes from -1 to 1000000000",
        ),
        ("allowAutoTopicCreation=yes", "true or false"),
        (
            "brokerServicePort=65536",
            "a port number from 0 (any free port) to 65535",
        ),
        ("clusterName=a/b", "letters, digits and - = : . _"),
        ("bindAddress=a b", "a host name or an IP address"),
        ("hulse.shards=65", "whole numbers from 1 to 64"),
        // ... and others: what would keep Pulsar from starting is no good here either.
        ("backlogQuotaDefaultLimitGB=ten", "a number"),
        ("backlogQuotaDefaultLimitGB=NaN", "a number"),
        ("backlogQuotaDefaultLimitGB=-Infinity", "a number"),
        (
            "backlogQuotaCheckIntervalInSeconds=0",
            "whole numbers from 1 to 2147483647",
        ),
        (
            "brokerPublisherThrottlingMaxByteRate=9223372036854775808",
            "whole numbers from -9223372036854775808 to 9223372036854775807",
        ),
        (
            "backlogQuotaDefaultRetentionPolicy=drop",
            "one of producer_request_hold, producer_exception, consumer_backlog_eviction",
        ),
        ("webSocketServiceEnabled=on", "true or false"),
        ("journalSyncData=no", "true or false"),
        ("authenticationEnabled=on", "true or false"),
        (
            "webServicePortTls=https",
            "a port number from 0 (any free port) to 65535",
        ),
    ] {
        let expected = format!("{} (--set) is not allowed: expected {allowed}", set);
        assert_eq!(said(set), expected);
    }
}

#[test]
fn pulsars_parser_is_no_stricter_nor_is_ours() {
    for set in [
        "maxProducersPerTopic=+5",
        "  maxProducersPerTopic  =  5  ",
        "maxProducersPerTopic=",
        "maxProducersPerTopic=-1",
        "connectionLivenessCheckTimeoutMillis=0",
        "allowAutoTopicCreation=TRUE",
        "backlogQuotaDefaultLimitGB=-1",
        "backlogQuotaDefaultLimitGB=1e1",
        "backlogQuotaDefaultLimitGB=10.0d",
        "backlogQuotaDefaultRetentionPolicy=PRODUCER_EXCEPTION",
        "advertisedAddress=[::1]",
    ] {
        assert_eq!(said(set), "fine", "{set}");
    }
}

#[test]
fn values_that_say_the_same_are_the_same() {
    assert!(Kind::Decimal.is_same("1", "1.00"));
    assert!(Kind::Int.is_same("07", "+7"));
    assert!(Kind::Switch.is_same("True", "true"));
    assert!(Kind::List.is_same("a, b,,b", "b,a"));
    assert!(!Kind::List.is_same("a", ""));
    assert!(!Kind::Text.is_same("A", "a"));
    assert!(Kind::Int.matches("-3", "..0") && !Kind::Int.matches("1", "..0"));
    assert!(!Kind::Text.matches("../x", "..x"));
}

#[test]
fn bounds_may_be_open() {
    assert_eq!(Kind::Int.read("0", "1.. bytes"), None);
    assert_eq!(Kind::Int.read("1", "1.. bytes"), Some(Typed::Whole(1)));
    assert_eq!(Kind::Int.read("4", "..3"), None);
    assert_eq!(
        Kind::Long.read("3000000000", ""),
        Some(Typed::Whole(3_000_000_000))
    );
    assert_eq!(Kind::Int.read("3000000000", ""), None);
}
