//! Tenants: who administers them, and which clusters they may use.

use crate::paths::{POLICIES, cluster, is_entity, tenant as path_of};
use crate::view::{Halt, Verdict, View, Why, Write, answer, change, no};
use bytes::Bytes;
use serde_json::{Value, json};

pub(crate) fn list(view: &mut View) -> Result<Verdict, Halt> {
    answer(view.children(POLICIES)?)
}

pub(crate) fn get(view: &mut View, tenant: &str) -> Result<Verdict, Halt> {
    match found(view, tenant)? {
        Some((info, _)) => answer(info),
        None => no(Why::NotFound, "Tenant does not exist"),
    }
}

pub(crate) fn put(
    view: &mut View,
    tenant: &str,
    info: &Value,
    must_be_new: bool,
) -> Result<Verdict, Halt> {
    if !is_entity(tenant) {
        return no(Why::Precondition, "Tenant name is not valid");
    }
    if info.is_null() {
        return no(Why::Precondition, "TenantInfo is null");
    }
    let info = json!({
        "adminRoles": names(info, "adminRoles")?,
        "allowedClusters": clusters(view, info)?,
    });
    let value = Bytes::from(info.to_string());
    let path = path_of(tenant);
    match (view.node(&path)?, must_be_new) {
        (Some(_), true) => no(Why::Conflict, "Tenant already exist"),
        (None, false) => no(Why::NotFound, format!("Tenant {tenant} not found")),
        (Some((_, version)), false) => change(vec![Write::over(path, version, value)]),
        (None, true) => change(vec![Write::new(path, value)]),
    }
}

pub(crate) fn delete(view: &mut View, tenant: &str) -> Result<Verdict, Halt> {
    let Some((_, version)) = found(view, tenant)? else {
        return no(Why::NotFound, "Tenant doesn't exist");
    };
    let path = path_of(tenant);
    if !view.children(&path)?.is_empty() {
        return no(Why::Conflict, "The tenant still has active namespaces");
    }
    change(vec![Write::removal(path, version)])
}

/// A tenant's info and its version.
pub(crate) fn found(view: &mut View, tenant: &str) -> Result<Option<(Value, i64)>, Halt> {
    match is_entity(tenant) {
        true => view.json(&path_of(tenant)),
        false => Ok(None),
    }
}

fn clusters(view: &mut View, info: &Value) -> Result<Vec<String>, Halt> {
    if info.get("allowedClusters").is_none_or(Value::is_null) {
        return no(Why::Precondition, "Clusters cannot be null");
    }
    let allowed = names(info, "allowedClusters")?;
    if allowed.is_empty() || allowed.iter().any(|name| name.trim().is_empty()) {
        return no(Why::Precondition, "Clusters cannot be empty or blank");
    }
    for name in &allowed {
        if !is_entity(name) || view.node(&cluster(name))?.is_none() {
            return no(Why::Precondition, "Clusters do not exist");
        }
    }
    Ok(allowed)
}

fn names(info: &Value, field: &str) -> Result<Vec<String>, Halt> {
    let Some(list) = info.get(field).filter(|list| !list.is_null()) else {
        return Ok(Vec::new());
    };
    let names = list.as_array().and_then(|list| {
        let names = list.iter().map(|name| name.as_str().map(str::to_owned));
        names.collect::<Option<Vec<String>>>()
    });
    match names {
        Some(names) => Ok(names),
        None => no(Why::Precondition, format!("{field} is not a list of names")),
    }
}
