//! Clusters: what is known of this one and of others. Nothing is replicated yet; the records are kept for tools.

use crate::paths::{CLUSTERS, cluster as path_of, is_entity};
use crate::view::{Halt, Verdict, View, Why, Write, answer, change, no};
use bytes::Bytes;
use serde_json::{Value, json};

pub(crate) fn list(view: &mut View) -> Result<Verdict, Halt> {
    answer(view.children(CLUSTERS)?)
}

pub(crate) fn get(view: &mut View, cluster: &str) -> Result<Verdict, Halt> {
    match node_of(view, cluster)? {
        Some((data, _)) => answer(shown(data)),
        None => no(Why::NotFound, "Cluster does not exist"),
    }
}

/// With what Pulsar shows of a cluster of which it was not set.
fn shown(data: Value) -> Value {
    let mut shown = json!({
        "brokerClientTlsEnabled": false,
        "tlsAllowInsecureConnection": false,
        "brokerClientTlsEnabledWithKeyStore": false,
    });
    if let (Value::Object(shown), Value::Object(data)) = (&mut shown, data) {
        shown.extend(data);
    }
    shown
}

pub(crate) fn put(
    view: &mut View,
    cluster: &str,
    data: &Value,
    must_be_new: bool,
) -> Result<Verdict, Halt> {
    if !is_entity(cluster) {
        return no(Why::Precondition, "Cluster name is not valid");
    }
    if !data.is_object() {
        return no(Why::Precondition, "ClusterData is not an object");
    }
    let path = path_of(cluster);
    let value = Bytes::from(data.to_string());
    match (view.node(&path)?, must_be_new) {
        (Some(_), true) => no(Why::Conflict, "Cluster already exists"),
        (None, false) => no(Why::NotFound, "Cluster does not exist"),
        (Some((_, version)), false) => change(vec![Write::over(path, version, value)]),
        (None, true) => change(vec![Write::new(path, value)]),
    }
}

pub(crate) fn delete(view: &mut View, cluster: &str) -> Result<Verdict, Halt> {
    let path = path_of(cluster);
    let node = match is_entity(cluster) {
        true => view.node(&path)?,
        false => None,
    };
    let Some((_, version)) = node else {
        return no(Why::NotFound, "Cluster does not exist");
    };
    for tenant in view.children(crate::paths::POLICIES)? {
        let info = view.json(&crate::paths::tenant(&tenant))?;
        let uses = info.is_some_and(|(info, _)| {
            let allowed = info.get("allowedClusters").and_then(Value::as_array);
            allowed.is_some_and(|names| names.iter().any(|name| name == cluster))
        });
        if uses {
            return no(
                Why::Precondition,
                format!("Cluster not empty: tenant {tenant} may use it"),
            );
        }
    }
    change(vec![Write::removal(path, version)])
}

fn node_of(view: &mut View, cluster: &str) -> Result<Option<(Value, i64)>, Halt> {
    match is_entity(cluster) {
        true => view.json(&path_of(cluster)),
        false => Ok(None),
    }
}
