//! A namespace's policies: stored as they are given, shown with Pulsar's defaults in between.

use crate::paths;
use crate::view::{Halt, Verdict, View, Why, Write, answer, change, no};
use bytes::Bytes;
use serde_json::{Value, json};
use vocabulary::NamespaceName;

/// Longest policies of a namespace that are stored, bytes.
const POLICIES_BYTES_MAX: usize = 512 * 1024;

/// What Pulsar shows for a namespace of which nothing was set.
fn defaults() -> Value {
    json!({
        "auth_policies": {"namespace_auth": {}, "destination_auth": {}, "subscription_auth_roles": {}},
        "replication_clusters": [],
        "allowed_clusters": [],
        "backlog_quota_map": {},
        "clusterDispatchRate": {},
        "topicDispatchRate": {},
        "subscriptionDispatchRate": {},
        "replicatorDispatchRate": {},
        "clusterSubscribeRate": {},
        "publishMaxMessageRate": {},
        "latency_stats_sample_rate": {},
        "deleted": false,
        "encryption_required": false,
        "subscription_auth_mode": "None",
        "offload_threshold": -1,
        "offload_threshold_in_seconds": -1,
        "schema_compatibility_strategy": "UNDEFINED",
        "is_allow_auto_update_schema": true,
        "schema_validation_enforced": false,
        "subscription_types_enabled": [],
        "properties": {},
        "migrated": false,
    })
}

pub(crate) fn whole(view: &mut View, namespace: &NamespaceName) -> Result<Verdict, Halt> {
    let (stored, _) = stored(view, namespace)?;
    let mut policies = merged(stored);
    // Shown by Pulsar where one cluster has the namespace; never stored.
    let clusters = policies.get("replication_clusters");
    let clusters = clusters.and_then(Value::as_array);
    if let Some([only]) = clusters.map(Vec::as_slice) {
        let only = only.clone();
        put_field(&mut policies, "clusterThatCanDeleteNamespace", only);
    }
    answer(policies)
}

fn merged(stored: Value) -> Value {
    let mut policies = defaults();
    if let (Value::Object(policies), Value::Object(stored)) = (&mut policies, stored) {
        policies.extend(stored.into_iter().filter(|(_, value)| !value.is_null()));
    }
    policies
}

pub(crate) fn get(
    view: &mut View,
    namespace: &NamespaceName,
    field: &str,
) -> Result<Verdict, Halt> {
    let (stored, _) = stored(view, namespace)?;
    answer(merged(stored).get(field).cloned().unwrap_or_default())
}

pub(crate) fn set(
    view: &mut View,
    namespace: &NamespaceName,
    field: &str,
    value: &Value,
) -> Result<Verdict, Halt> {
    let (mut policies, version) = stored(view, namespace)?;
    put_field(&mut policies, field, value.clone());
    write(namespace, &policies, version)
}

pub(crate) fn set_entry(
    view: &mut View,
    namespace: &NamespaceName,
    fields: &[&'static str],
    key: &str,
    value: &Value,
) -> Result<Verdict, Halt> {
    let (mut policies, version) = stored(view, namespace)?;
    for field in fields {
        let mut map = match policies.get(field) {
            Some(Value::Object(map)) => Value::Object(map.clone()),
            _ => json!({}),
        };
        put_field(&mut map, key, value.clone());
        put_field(&mut policies, field, map);
    }
    write(namespace, &policies, version)
}

/// Policies on their way to the store.
pub(crate) fn write(
    namespace: &NamespaceName,
    policies: &Value,
    version: i64,
) -> Result<Verdict, Halt> {
    let value = policies.to_string();
    if value.len() > POLICIES_BYTES_MAX {
        let text = format!(
            "The policies of namespace {namespace} would have {} bytes; at most {POLICIES_BYTES_MAX} are kept",
            value.len()
        );
        return no(Why::Precondition, text);
    }
    let path = paths::policies(namespace);
    change(vec![Write::over(path, version, Bytes::from(value))])
}

/// Sets a field of an object; null removes it.
pub(crate) fn put_field(object: &mut Value, field: &str, value: Value) {
    if let Value::Object(fields) = object {
        match value {
            Value::Null => drop(fields.remove(field)),
            value => drop(fields.insert(field.to_owned(), value)),
        }
    }
}

pub(crate) fn stored(view: &mut View, namespace: &NamespaceName) -> Result<(Value, i64), Halt> {
    match view.json(&paths::policies(namespace))? {
        Some((Value::Object(policies), version)) => Ok((Value::Object(policies), version)),
        Some(_) => {
            let path = paths::policies(namespace);
            no(Why::Storage, format!("{path} is not a JSON object"))
        }
        None => no(Why::NotFound, "Namespace does not exist"),
    }
}
