use crate::first_start::{ClusterUrls, prepare};
use metadata_store::embedded::{EmbeddedStore, Settings};
use metadata_store::{Expect, KeyKind, MetadataReply, MetadataRequest};
use serde_json::Value;
use sim_world::SimDisk;
use vocabulary::WallTime;

fn urls() -> ClusterUrls {
    ClusterUrls {
        web: "http://h:8080".to_owned(),
        binary: "pulsar://h:6650".to_owned(),
    }
}

fn value(store: &mut EmbeddedStore, path: &str) -> Option<(Value, i64)> {
    let get = MetadataRequest::Get {
        ticket: 0,
        path: path.to_owned(),
    };
    match store.turn(WallTime(1), vec![get]).remove(0) {
        MetadataReply::Got {
            result: Ok(found), ..
        } => found.map(|(bytes, stat)| (serde_json::from_slice(&bytes).unwrap(), stat.version)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fresh_store_gets_pulsars_keys() {
    let disk = SimDisk::new();
    let mut store = EmbeddedStore::open(&disk, &Settings::default()).unwrap();
    prepare(&mut store, WallTime(1), "c", &urls()).unwrap();
    let (cluster, _) = value(&mut store, "/admin/clusters/c").unwrap();
    assert_eq!(cluster["brokerServiceUrl"], "pulsar://h:6650");
    for tenant in ["public", "pulsar"] {
        let (tenant, _) = value(&mut store, &format!("/admin/policies/{tenant}")).unwrap();
        assert_eq!(tenant["allowedClusters"][0], "c");
    }
    for namespace in ["public/default", "pulsar/system"] {
        let (policies, _) = value(&mut store, &format!("/admin/policies/{namespace}")).unwrap();
        assert_eq!(policies["replication_clusters"][0], "c");
        let boundaries = policies["bundles"]["boundaries"].as_array().unwrap();
        assert_eq!(boundaries.len(), 5);
        assert_eq!(
            (&boundaries[0], &boundaries[4]),
            (&"0x00000000".into(), &"0xffffffff".into())
        );
    }
}

#[test]
fn later_starts_change_nothing_that_is_there() {
    let disk = SimDisk::new();
    let mut store = EmbeddedStore::open(&disk, &Settings::default()).unwrap();
    let changed = MetadataRequest::Put {
        ticket: 0,
        path: "/admin/policies/public".to_owned(),
        value: r#"{"adminRoles":["me"]}"#.into(),
        expect: Expect::Absent,
        kind: KeyKind::Persistent,
    };
    store.turn(WallTime(1), vec![changed]);
    for _ in 0..2 {
        prepare(&mut store, WallTime(1), "c", &urls()).unwrap();
        let (tenant, version) = value(&mut store, "/admin/policies/public").unwrap();
        assert_eq!((tenant["adminRoles"][0].as_str(), version), (Some("me"), 0));
        assert_eq!(
            value(&mut store, "/admin/policies/public/default")
                .unwrap()
                .1,
            0
        );
    }
}
