//! Who may do what in a namespace or with one of its topics: a part of the namespace's policies.

use crate::policies;
use crate::view::{Halt, Verdict, View, Why, answer, no};
use serde_json::{Map, Value};
use vocabulary::NamespaceName;

/// Pulsar's actions.
const ACTIONS: [&str; 6] = [
    "consume",
    "functions",
    "packages",
    "produce",
    "sinks",
    "sources",
];

/// Of a topic, what its namespace allows counts too.
pub(crate) fn list(
    view: &mut View,
    namespace: &NamespaceName,
    topic: Option<&str>,
) -> Result<Verdict, Halt> {
    let (stored, _) = policies::stored(view, namespace)?;
    let all = stored.get("auth_policies");
    let of_namespace = all.and_then(|all| all.get("namespace_auth"));
    let mut roles = object(of_namespace);
    if let Some(topic) = topic {
        let topics = all.and_then(|all| all.get("destination_auth"));
        for (role, actions) in object(topics.and_then(|topics| topics.get(topic))) {
            let before = roles.remove(&role);
            let both = [before, Some(actions)].into_iter().flatten();
            let both = both.flat_map(|actions| texts(&actions));
            roles.insert(role, sorted(both.collect()));
        }
    }
    answer(Value::Object(roles))
}

pub(crate) fn set(
    view: &mut View,
    namespace: &NamespaceName,
    topic: Option<&str>,
    role: &str,
    actions: &Value,
) -> Result<Verdict, Halt> {
    let (mut stored, version) = policies::stored(view, namespace)?;
    let wanted = texts(actions);
    if let Some(wrong) = wanted
        .iter()
        .find(|action| !ACTIONS.contains(&action.as_str()))
    {
        return no(
            Why::Precondition,
            format!(
                "There is no action {wrong}: choose among {}",
                ACTIONS.join(", ")
            ),
        );
    }
    let mut all = object(stored.get("auth_policies"));
    let part = match topic {
        None => "namespace_auth",
        Some(_) => "destination_auth",
    };
    let mut roles = object(all.get(part));
    match topic {
        None => put(&mut roles, role, wanted),
        Some(topic) => {
            let mut of_topic = object(roles.get(topic));
            put(&mut of_topic, role, wanted);
            roles.insert(topic.to_owned(), Value::Object(of_topic));
        }
    }
    all.insert(part.to_owned(), Value::Object(roles));
    for part in [
        "namespace_auth",
        "destination_auth",
        "subscription_auth_roles",
    ] {
        all.entry(part).or_insert_with(|| Value::Object(Map::new()));
    }
    policies::put_field(&mut stored, "auth_policies", Value::Object(all));
    policies::write(namespace, &stored, version)
}

fn put(roles: &mut Map<String, Value>, role: &str, actions: Vec<String>) {
    match actions.is_empty() {
        true => drop(roles.remove(role)),
        false => drop(roles.insert(role.to_owned(), sorted(actions))),
    }
}

fn object(value: Option<&Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(fields)) => fields.clone(),
        _ => Map::new(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn sorted(mut actions: Vec<String>) -> Value {
    actions.sort();
    actions.dedup();
    Value::from(actions)
}
