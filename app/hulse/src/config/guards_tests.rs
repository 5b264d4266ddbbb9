//! No setting that protects somebody is dropped in silence: each such key, each with a value that asks for protection.

use super::check::check;
use super::layers::Given;
use super::table::{self, Class};
use std::ffi::OsString;

/// Every guard with values that Pulsar would follow and this program cannot.
const PROTECTING: &[(&str, &[&str])] = &[
    (
        "metadataStoreUrl",
        &["zk:one:2181,two:2181/chroot", "rocksdb://data"],
    ),
    ("configurationMetadataStoreUrl", &["etcd:http://one:2379"]),
    ("zookeeperServers", &["one:2181"]),
    ("globalZookeeperServers", &["one:2184"]),
    ("configurationStoreServers", &["one:2184"]),
    (
        "bookkeeperMetadataServiceUri",
        &["zk+hierarchical://one:2181/ledgers"],
    ),
    ("authenticationEnabled", &["true", "TRUE"]),
    ("authorizationEnabled", &["true"]),
    ("authenticateMetricsEndpoint", &["true"]),
    ("brokerServicePortTls", &["6651"]),
    ("webServicePortTls", &["8443"]),
    ("tlsEnabled", &["true"]),
    ("tlsRequireTrustedClientCertOnConnect", &["true"]),
    ("encryptionRequireOnProducer", &["true"]),
    ("ttlDurationDefaultInSeconds", &["1", "3600"]),
    ("brokerDeduplicationEnabled", &["true"]),
    ("maxTenants", &["1"]),
    ("maxNamespacesPerTenant", &["1"]),
    ("maxTopicsPerNamespace", &["1"]),
    ("maxSameAddressProducersPerTopic", &["1"]),
    ("maxSameAddressConsumersPerTopic", &["1"]),
    (
        "subscriptionTypesEnabled",
        &["Exclusive", "Shared,Failover,Key_Shared", ""],
    ),
    ("subscriptionKeySharedEnable", &["false"]),
    ("entryFilterNames", &["jms"]),
    ("brokerInterceptors", &["audit"]),
    ("brokerEntryPayloadProcessors", &["org.example.Seal"]),
    ("clientLibraryVersionCheckEnabled", &["true"]),
    ("managedLedgerDefaultEnsembleSize", &["3"]),
    ("managedLedgerDefaultWriteQuorum", &["3"]),
    ("managedLedgerDefaultAckQuorum", &["3"]),
    ("managedLedgerDigestType", &["MAC"]),
    (
        "bookkeeperClientEnforceMinNumRacksPerWriteQuorum",
        &["true"],
    ),
];

fn check_set(set: &str) -> Result<(), String> {
    let mut given = Given::default();
    given.read_set(set).unwrap();
    check(&given)
        .map(|_| ())
        .map_err(|errors| errors.to_string())
}

#[test]
fn each_guard_keeps_the_program_from_starting_and_says_what_to_do() {
    for (key, values) in PROTECTING {
        let note = table::find(key).unwrap().note;
        for value in *values {
            assert_eq!(
                check_set(&format!("{key}={value}")),
                Err(format!(
                    "{key}={value} (--set) is not supported, and must not be ignored: {note}"
                ))
            );
            assert!(note.contains(": "), "{key}: what is lost, then what to do");
        }
    }
}

#[test]
fn no_guard_is_forgotten_here() {
    let tested: Vec<&str> = PROTECTING.iter().map(|(key, _)| *key).collect();
    let mut guards: Vec<&str> = table::keys()
        .iter()
        .filter(|key| key.class == Class::Guards)
        .map(|key| key.name)
        .collect();
    guards.retain(|key| !tested.contains(key));
    assert!(guards.is_empty(), "{guards:?}");
}

#[test]
fn a_guard_lets_pass_what_asks_for_nothing() {
    for (key, _) in PROTECTING {
        let default = table::find(key).unwrap().default;
        assert_eq!(check_set(&format!("{key}={default}")), Ok(()));
    }
    for set in [
        "metadataStoreUrl=",
        "authenticationEnabled=False",
        "ttlDurationDefaultInSeconds=-1",
        "maxTopicsPerNamespace=0",
        "managedLedgerDefaultEnsembleSize=1",
        "managedLedgerDigestType=crc32",
        "subscriptionTypesEnabled=Key_Shared, Exclusive,Failover ,Shared",
    ] {
        assert_eq!(check_set(set), Ok(()), "{set}");
    }
}

#[test]
fn a_guard_in_the_environment_counts_with_and_without_the_prefix() {
    for name in [
        "PULSAR_PREFIX_authenticationEnabled",
        "authenticationEnabled",
    ] {
        let mut given = Given::default();
        let variable = (OsString::from(name), OsString::from("true"));
        given.read_environment([variable].into_iter()).unwrap();
        let text = check(&given).unwrap_err().to_string();
        assert!(
            text.starts_with(&format!(
                "authenticationEnabled=true (environment variable {name}) is not supported"
            )),
            "{text}"
        );
    }
}

#[test]
fn a_later_layer_may_take_a_guard_back() {
    let mut given = Given::default();
    given.read_set("authenticationEnabled=true").unwrap();
    given.read_set("authenticationEnabled=false").unwrap();
    assert!(check(&given).is_ok());
}
