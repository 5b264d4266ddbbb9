use super::check::check;
use super::layers::{ConfigError, Given, Origin};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn given(sets: &[&str]) -> Given {
    let mut given = Given::default();
    for set in sets {
        given.read_set(set).unwrap();
    }
    given
}

fn notices(sets: &[&str]) -> Vec<String> {
    check(&given(sets)).unwrap().notices
}

fn error(sets: &[&str]) -> String {
    check(&given(sets)).unwrap_err().to_string()
}

#[test]
fn nothing_given_means_pulsars_defaults() {
    let checked = check(&Given::default()).unwrap();
    assert_eq!(checked.settings, broker::BrokerSettings::default());
    assert!(checked.notices.is_empty());
}

#[test]
fn the_later_word_wins() {
    let mut words = Given::default();
    let origin = Origin::File(PathBuf::from("broker.conf"), 7);
    words.put("brokerServicePort".into(), "6651".into(), origin);
    assert_eq!(check(&words).unwrap().settings.binary_port, 6651);
    words.read_set("brokerServicePort = 6652").unwrap();
    words.read_set("keepAliveIntervalSeconds=7").unwrap();
    let settings = check(&words).unwrap().settings;
    assert_eq!(settings.binary_port, 6652);
    assert_eq!(settings.keep_alive_interval, Duration::from_secs(7));
}

#[test]
fn a_bad_value_names_key_value_origin_and_what_is_allowed() {
    let mut words = Given::default();
    let origin = Origin::File(PathBuf::from("broker.conf"), 7);
    words.put("brokerServicePort".into(), "66500".into(), origin);
    assert_eq!(
        check(&words).unwrap_err().to_string(),
        "brokerServicePort=66500 (broker.conf:7) is not allowed: \
         expected a port number from 0 (any free port) to 65535"
    );
    assert!(error(&["allowAutoTopicCreation=yes"]).contains("expected true or false"));
    assert!(error(&["maxMessageSize=-1"]).contains("(--set)"));
}

#[test]
fn an_empty_value_is_the_default_except_for_doors() {
    assert!(check(&given(&["advertisedAddress=", "managedLedgerCacheSizeMB="])).is_ok());
    assert!(error(&["webServicePort="]).contains("webServicePort="));
}

#[test]
fn values_that_contradict_each_other_are_refused() {
    let text = error(&["managedLedgerMinLedgerRolloverTimeMinutes=500"]);
    assert!(
        text.contains("managedLedgerMaxLedgerRolloverTimeMinutes=240"),
        "{text}"
    );
    let text = error(&["maxMessageSize=40000000"]);
    assert!(text.contains("hulse.segmentSizeMb"), "{text}");
}

#[test]
fn a_known_key_that_does_not_act_is_named_once_and_only_when_it_asks_for_something() {
    assert_eq!(
        notices(&[
            "authenticationEnabled=true",
            "brokerDeduplicationEnabled=true"
        ]),
        ["known to Pulsar, but not acting in this version: \
          authenticationEnabled (--set), brokerDeduplicationEnabled (--set)"]
    );
    assert!(notices(&["authenticationEnabled=false", "tlsCertificateFilePath="]).is_empty());
}

#[test]
fn values_are_not_repeated_in_notices() {
    let text = notices(&["brokerClientAuthenticationParameters=secret"]).join("\n");
    assert!(
        text.contains("brokerClientAuthenticationParameters"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn an_unknown_key_is_named_with_the_nearest_known_one() {
    assert_eq!(
        notices(&["brokerServisePort=1"]),
        [
            "brokerServisePort (--set) is not a known key and is ignored; did you mean brokerServicePort?"
        ]
    );
    assert_eq!(
        notices(&["somethingElseEntirely=1"]),
        ["somethingElseEntirely (--set) is not a known key and is ignored"]
    );
    assert!(
        notices(&["hulse.shard=1"])
            .join("")
            .contains("did you mean hulse.shards?")
    );
}

#[test]
fn durability_cannot_be_weakened_by_pulsars_keys() {
    let text = notices(&["journalSyncData=false", "journalWriteData=false"]).join("\n");
    assert!(
        text.contains("journalSyncData=false (--set) is ignored: receipts are always synced"),
        "{text}"
    );
    assert!(text.contains("journalWriteData=false"), "{text}");
    assert!(notices(&["journalSyncData=true"]).is_empty());
}

#[test]
fn pulsars_own_files_load_without_noise() {
    for name in [
        "4.0-broker",
        "4.0-standalone",
        "4.2-broker",
        "4.2-standalone",
    ] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/pulsar-{name}.conf"));
        let mut words = Given::default();
        words.read_file(&path).unwrap();
        let checked = check(&words).unwrap();
        assert_eq!(checked.settings.binary_port, 6650, "{name}");
        let about_sync = usize::from(name.ends_with("standalone"));
        assert_eq!(
            checked.notices.len(),
            about_sync,
            "{name}: {:?}",
            checked.notices
        );
    }
}

#[test]
fn broken_words_are_refused() {
    let mut words = Given::default();
    assert!(matches!(
        words.read_set("port"),
        Err(ConfigError::BadSet(_))
    ));
    assert!(matches!(words.read_set("=1"), Err(ConfigError::BadSet(_))));
    let error = words.read_file(Path::new("no/such/file.conf")).unwrap_err();
    assert!(error.to_string().contains("no/such/file.conf"), "{error}");
}

#[test]
fn the_page_of_what_works_names_exactly_the_keys_that_act() {
    let table = include_str!("../../../../docs/status/keys.tsv");
    let mut on_the_page: Vec<&str> = table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut columns = line.split('\t');
            let key = columns.next()?;
            columns
                .next()
                .is_some_and(|status| status != "not yet")
                .then_some(key)
        })
        .collect();
    on_the_page.sort_unstable();
    let mut acting: Vec<&str> = super::acting::ACTING
        .iter()
        .map(|acting| acting.key)
        .collect();
    acting.sort_unstable();
    assert_eq!(on_the_page, acting);
}
