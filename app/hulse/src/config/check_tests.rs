use super::check::check;
use super::layers::{Given, Origin};
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
    words
        .put("brokerServicePort".into(), "6651".into(), origin)
        .unwrap();
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
    words
        .put("brokerServicePort".into(), "66500".into(), origin)
        .unwrap();
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
            "webSocketServiceEnabled=true",
            "backlogQuotaDefaultLimitGB=10",
            "numIOThreads=16",
            "bookkeeper_throttle=5"
        ]),
        [
            "known to Pulsar, but not acting in this version: \
             backlogQuotaDefaultLimitGB (--set), webSocketServiceEnabled (--set)",
            "known to Pulsar, but without meaning here: \
             bookkeeper_throttle (--set), numIOThreads (--set)"
        ]
    );
    let usual = [
        "webSocketServiceEnabled=FALSE",
        "tlsCertificateFilePath=",
        "managedLedgerDefaultMarkDeleteRateLimit=0.10",
        "supportedNamespaceBundleSplitAlgorithms=topic_count_equally_divide, range_equally_divide,\
         specified_positions_divide,flow_or_qps_equally_divide",
    ];
    assert!(notices(&usual).is_empty(), "{:?}", notices(&usual));
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
        notices(&["brokerServisePort=1", "somethingElseEntirely=1"]),
        ["not known to Pulsar, and ignored: \
          brokerServisePort (--set); did you mean brokerServicePort?, somethingElseEntirely (--set)"]
    );
}

#[test]
fn an_unknown_key_of_our_own_is_a_mistake() {
    assert_eq!(
        error(&["hulse.shard=1"]),
        "hulse.shard (--set) is not a key: did you mean hulse.shards?"
    );
    let text = error(&["hulse.fsync=false"]);
    assert!(text.contains("hulse.dataDirectory, hulse.shards"), "{text}");
}

#[test]
fn durability_cannot_be_weakened_by_pulsars_keys() {
    assert_eq!(
        notices(&["journalSyncData=false", "journalWriteData=false"]),
        [
            "journalSyncData=false (--set) is not followed, it would weaken durability",
            "journalWriteData=false (--set) is not followed, it would weaken durability"
        ]
    );
    assert!(notices(&["journalSyncData=true", "journalWriteData=True"]).is_empty());
    let text = notices(&["managedLedgerDefaultWriteQuorum=2"]).join("");
    assert!(text.contains("keeps one copy"), "{text}");
    assert!(notices(&["managedLedgerDefaultWriteQuorum=1"]).is_empty());
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    assert_eq!(
        error(&[
            "maxMessageSize=big",
            "authorizationEnabled=true",
            "hulse.shards=0"
        ])
        .lines()
        .count(),
        3
    );
}

/// What a shipped file asks for without getting it.
fn notices_of(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/pulsar-{name}.conf"));
    let mut words = Given::default();
    words.read_file(&path).unwrap();
    let checked = check(&words).unwrap();
    assert_eq!(checked.settings.binary_port, 6650, "{name}");
    let place = path.display().to_string();
    let without_place = |notice: &String| notice.replace(&place, "conf");
    checked.notices.iter().map(without_place).collect()
}

#[test]
fn pulsars_own_files_load_and_what_they_ask_for_in_vain_is_said() {
    for (name, lines) in [
        ("4.0-standalone", [300, 28, 52, 265]),
        ("4.2-standalone", [306, 28, 52, 271]),
    ] {
        let [sync, quota, status, socket] = lines;
        assert_eq!(
            notices_of(name),
            [
                format!(
                    "journalSyncData=false (conf:{sync}) is not followed, it would weaken durability"
                ),
                format!(
                    "known to Pulsar, but not acting in this version: backlogQuotaDefaultLimitGB (conf:{quota}), \
                     statusFilePath (conf:{status}), webSocketServiceEnabled (conf:{socket})"
                ),
            ],
            "{name}"
        );
    }
    for (name, line) in [("4.0-broker", 296), ("4.2-broker", 297)] {
        assert_eq!(
            notices_of(name),
            [format!(
                "managedLedgerDefaultWriteQuorum=2 (conf:{line}) asks for copies on several bookies: \
                 this program keeps one copy, synced to this disk"
            )],
            "{name}"
        );
    }
}
