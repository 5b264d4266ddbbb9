//! What a fresh store holds: the keys of a new standalone Pulsar (BROKER.md B2), with its own JSON.
//!
//! Each key is written only if it is absent, so that this is also right after a start that was cut short, and leaves
//! alone what somebody changed.

use bytes::Bytes;
use metadata_store::embedded::EmbeddedStore;
use metadata_store::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest};
use serde_json::{Value, json};
use vocabulary::WallTime;

/// Bundles of a namespace that nobody configured (`defaultNumberOfNamespaceBundles`).
const BUNDLES: u64 = 4;

/// Where the clients and the other clusters find this one.
pub struct ClusterUrls {
    /// `http://host:port`.
    pub web: String,
    /// `pulsar://host:port`.
    pub binary: String,
}

/// Writes what is missing.
pub fn prepare(
    store: &mut EmbeddedStore,
    now: WallTime,
    cluster: &str,
    urls: &ClusterUrls,
) -> Result<(), MetadataError> {
    let keys = [
        (
            format!("/admin/clusters/{cluster}"),
            json!({"serviceUrl": urls.web, "brokerServiceUrl": urls.binary, "brokerClientTlsEnabled": false}),
        ),
        ("/admin/policies/public".to_owned(), tenant(cluster)),
        (
            "/admin/policies/public/default".to_owned(),
            namespace(cluster),
        ),
        ("/admin/policies/pulsar".to_owned(), tenant(cluster)),
        (
            "/admin/policies/pulsar/system".to_owned(),
            namespace(cluster),
        ),
    ];
    let requests = keys
        .into_iter()
        .enumerate()
        .map(|(ticket, (path, value))| MetadataRequest::Put {
            ticket: ticket as u64,
            path,
            value: Bytes::from(value.to_string()),
            expect: Expect::Absent,
            kind: KeyKind::Persistent,
        })
        .collect();
    for reply in store.turn(now, requests) {
        match reply {
            MetadataReply::Put {
                result: Err(MetadataError::BadVersion(..)),
                ..
            } => {}
            MetadataReply::Put {
                result: Err(error), ..
            } => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn tenant(cluster: &str) -> Value {
    json!({"adminRoles": [], "allowedClusters": [cluster]})
}

/// The fields that Pulsar itself always writes; a reader takes defaults for the rest.
fn namespace(cluster: &str) -> Value {
    json!({
        "auth_policies": {
            "namespace_auth": {}, "destination_auth": {}, "subscription_auth_roles": {}
        },
        "replication_clusters": [cluster],
        "bundles": {"boundaries": boundaries(), "numBundles": BUNDLES},
        "backlog_quota_map": {},
        "clusterDispatchRate": {}, "topicDispatchRate": {}, "subscriptionDispatchRate": {},
        "replicatorDispatchRate": {}, "clusterSubscribeRate": {}, "publishMaxMessageRate": {},
        "latency_stats_sample_rate": {},
        "deleted": false,
        "encryption_required": false,
        "subscription_auth_mode": "None",
        "offload_threshold": -1,
        "offload_threshold_in_seconds": -1,
        "schema_auto_update_compatibility_strategy": null,
        "schema_compatibility_strategy": "UNDEFINED",
        "is_allow_auto_update_schema": true,
        "schema_validation_enforced": false,
        "subscription_types_enabled": [],
        "properties": {}
    })
}

/// The 32-bit hash range cut into equal bundles, as Pulsar writes it.
fn boundaries() -> Vec<String> {
    let step = (1_u64 << 32) / BUNDLES;
    (0..=BUNDLES)
        .map(|bundle| format!("0x{:08x}", (bundle * step).min(0xffff_ffff)))
        .collect()
}
