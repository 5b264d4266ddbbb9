//! Namespaces: their making and their end.

use crate::paths::{self, partitioned_of};
use crate::policies;
use crate::tenants;
use crate::view::{Halt, Verdict, View, Why, Write, answer, change, no};
use bytes::Bytes;
use serde_json::{Value, json};
use vocabulary::{Domain, NamespaceName};

/// More bundles than any cluster has brokers to share them (Pulsar's own limit).
const BUNDLES_MAX: u32 = 1_000_000;

pub(crate) fn list(view: &mut View, tenant: &str) -> Result<Verdict, Halt> {
    if tenants::found(view, tenant)?.is_none() {
        return no(Why::NotFound, "Tenant not found");
    }
    let names = view.children(&paths::tenant(tenant))?;
    let names = names.iter().map(|name| format!("{tenant}/{name}"));
    answer(names.collect::<Vec<String>>())
}

pub(crate) fn create(
    view: &mut View,
    namespace: &NamespaceName,
    given: Option<&Value>,
    default_cluster: &str,
    bundles: u32,
) -> Result<Verdict, Halt> {
    if tenants::found(view, namespace.tenant())?.is_none() {
        return no(Why::NotFound, "Tenant does not exist");
    }
    let path = paths::policies(namespace);
    if view.node(&path)?.is_some() {
        return no(Why::Conflict, "Namespace already exists");
    }
    let mut stored = match given {
        None | Some(Value::Null) => json!({}),
        Some(Value::Object(fields)) => Value::Object(fields.clone()),
        Some(_) => return no(Why::Precondition, "Policies are not an object"),
    };
    if is_empty(stored.get("replication_clusters")) {
        policies::put_field(
            &mut stored,
            "replication_clusters",
            json!([default_cluster]),
        );
    }
    let count = match stored
        .get("bundles")
        .and_then(|bundles| bundles.get("numBundles"))
    {
        None | Some(Value::Null) => bundles,
        Some(count) => match count.as_u64().and_then(|count| u32::try_from(count).ok()) {
            Some(0) => bundles,
            Some(count) if count <= BUNDLES_MAX => count,
            _ => {
                return no(
                    Why::Precondition,
                    "Invalid number of bundles. Number of bundles has to be in the range of (0, 2^32].",
                );
            }
        },
    };
    let has_boundaries = !is_empty(stored.get("bundles").and_then(|all| all.get("boundaries")));
    if !has_boundaries {
        policies::put_field(&mut stored, "bundles", split(count));
    }
    change(vec![Write::new(path, Bytes::from(stored.to_string()))])
}

fn is_empty(list: Option<&Value>) -> bool {
    list.and_then(Value::as_array).is_none_or(Vec::is_empty)
}

/// The hash space in equal parts (BROKER.md B4).
fn split(count: u32) -> Value {
    let width = (1u64 << 32) / u64::from(count.max(1));
    let mut boundaries: Vec<String> = (0..u64::from(count.max(1)))
        .map(|part| format!("0x{:08x}", part * width))
        .collect();
    boundaries.push("0xffffffff".to_owned());
    json!({"boundaries": boundaries, "numBundles": count})
}

pub(crate) fn delete(view: &mut View, namespace: &NamespaceName) -> Result<Verdict, Halt> {
    let path = paths::policies(namespace);
    let Some((_, version)) = view.node(&path)? else {
        return no(
            Why::NotFound,
            format!("Namespace {namespace} does not exist."),
        );
    };
    let mut things = vec![paths::logs_of(namespace)];
    things.extend(
        [Domain::Persistent, Domain::NonPersistent].map(|domain| partitioned_of(namespace, domain)),
    );
    for parent in things {
        if !view.children(&parent)?.is_empty() {
            return no(Why::Conflict, "Cannot delete non empty namespace");
        }
    }
    let mut writes = vec![Write::removal(path, version)];
    let local = paths::local_policies(namespace);
    if let Some((_, version)) = view.node(&local)? {
        writes.push(Write::removal(local, version));
    }
    change(writes)
}

/// Refuses to go on in a namespace that is not there.
pub(crate) fn expect(view: &mut View, namespace: &NamespaceName, text: &str) -> Result<(), Halt> {
    match view.node(&paths::policies(namespace))? {
        Some(_) => Ok(()),
        None => no(Why::NotFound, text),
    }
}
