//! The keys that a fresh metadata store needs before a topic can be made: a tenant and a namespace. (The program's own
//! first start writes more, for people and for Pulsar's tools.)

use bytes::Bytes;
use metadata_store::{
    EmbeddedStore, Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest,
};
use vocabulary::WallTime;

const KEYS: [(&str, &str); 2] = [
    (
        "/admin/policies/public",
        r#"{"adminRoles":[],"allowedClusters":["standalone"]}"#,
    ),
    (
        "/admin/policies/public/default",
        r#"{"bundles":{"boundaries":["0x00000000","0xffffffff"],"numBundles":1},"replication_clusters":["standalone"]}"#,
    ),
];

/// Writes what is missing.
///
/// # Errors
/// The store said no.
pub fn prepare(store: &mut EmbeddedStore, now: WallTime) -> Result<(), MetadataError> {
    let puts = (0..)
        .zip(KEYS)
        .map(|(ticket, (path, value))| MetadataRequest::Put {
            ticket,
            path: path.to_owned(),
            value: Bytes::from_static(value.as_bytes()),
            expect: Expect::Absent,
            kind: KeyKind::Persistent,
        });
    for reply in store.turn(now, puts.collect()) {
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
