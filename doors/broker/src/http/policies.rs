//! The policies of a namespace that have a path of their own. All are kept and shown; of those on which nothing acts the
//! answer says so.

use super::Pages;
use super::admin::{Call, json_of, query_value, refused};
use super::answer::Answer;
use directory::Question;
use serde_json::{Value, json};
use vocabulary::NamespaceName;

/// Policies of a namespace that have a path of their own: the path's last part, and the field it shows.
const POLICIES: [(&str, &str); 34] = [
    ("bundles", "bundles"),
    (
        "autoSubscriptionCreation",
        "autoSubscriptionCreationOverride",
    ),
    ("autoTopicCreation", "autoTopicCreationOverride"),
    ("allowedClusters", "allowed_clusters"),
    ("entryFilters", "entryFilters"),
    ("offloadDeletionLagMs", "offload_deletion_lag_ms"),
    ("offloadThreshold", "offload_threshold"),
    ("offloadThresholdInSeconds", "offload_threshold_in_seconds"),
    ("resourcegroup", "resource_group_name"),
    ("subscriptionAuthMode", "subscription_auth_mode"),
    ("backlogQuotaMap", "backlog_quota_map"),
    ("compactionThreshold", "compaction_threshold"),
    ("deduplication", "deduplicationEnabled"),
    (
        "deduplicationSnapshotInterval",
        "deduplicationSnapshotIntervalSeconds",
    ),
    ("delayedDelivery", "delayed_delivery_policies"),
    ("encryptionRequired", "encryption_required"),
    ("inactiveTopicPolicies", "inactive_topic_policies"),
    ("isAllowAutoUpdateSchema", "is_allow_auto_update_schema"),
    (
        "maxConsumersPerSubscription",
        "max_consumers_per_subscription",
    ),
    ("maxConsumersPerTopic", "max_consumers_per_topic"),
    ("maxProducersPerTopic", "max_producers_per_topic"),
    ("maxSubscriptionsPerTopic", "max_subscriptions_per_topic"),
    ("maxTopicsPerNamespace", "max_topics_per_namespace"),
    (
        "maxUnackedMessagesPerConsumer",
        "max_unacked_messages_per_consumer",
    ),
    (
        "maxUnackedMessagesPerSubscription",
        "max_unacked_messages_per_subscription",
    ),
    ("messageTTL", "message_ttl_in_seconds"),
    ("offloadPolicies", "offload_policies"),
    ("persistence", "persistence"),
    ("replication", "replication_clusters"),
    ("retention", "retention_policies"),
    (
        "schemaCompatibilityStrategy",
        "schema_compatibility_strategy",
    ),
    ("schemaValidationEnforced", "schema_validation_enforced"),
    (
        "subscriptionExpirationTime",
        "subscription_expiration_time_minutes",
    ),
    ("subscriptionTypesEnabled", "subscription_types_enabled"),
];

/// Policies that only the whole body shows, or that their path only lets one read.
const READ_ONLY: [&str; 2] = ["backlogQuotaMap", "bundles"];

/// Policies that are kept by cluster: the path's last part, and the fields, of which the first is shown.
const BY_CLUSTER: [(&str, &[&str]); 5] = [
    (
        "dispatchRate",
        &["topicDispatchRate", "clusterDispatchRate"],
    ),
    ("publishRate", &["publishMaxMessageRate"]),
    ("replicatorDispatchRate", &["replicatorDispatchRate"]),
    ("subscribeRate", &["clusterSubscribeRate"]),
    ("subscriptionDispatchRate", &["subscriptionDispatchRate"]),
];

impl Pages {
    /// The answer to a path below a namespace that is about a policy; `None`: it is none of these.
    pub(super) async fn policy_page(
        &self,
        method: &str,
        namespace: NamespaceName,
        rest: &[&str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        Some(match (method, rest) {
            ("POST" | "DELETE", ["backlogQuota"]) => self.set_backlog_quota(namespace, call).await,
            ("DELETE", ["removeOffloadPolicies"]) => {
                let field = "offload_policies";
                self.set_policy(namespace, field, Value::Null).await
            }
            (_, ["properties"]) => return self.properties_of(method, namespace, call).await,
            (_, ["property", key, rest @ ..]) => {
                return self.property_of(method, namespace, key, rest).await;
            }
            (_, [policy]) => match BY_CLUSTER.iter().find(|(path, _)| path == policy) {
                Some((_, fields)) => {
                    return self
                        .policy_by_cluster(method, namespace, fields, call)
                        .await;
                }
                None => return self.plain_policy(method, namespace, policy, call).await,
            },
            _ => return None,
        })
    }

    async fn plain_policy(
        &self,
        method: &str,
        namespace: NamespaceName,
        policy: &str,
        call: &Call<'_>,
    ) -> Option<Answer> {
        let found = POLICIES.iter().find(|(path, _)| *path == policy);
        let (path, field) = *found?;
        if method != "GET" && READ_ONLY.contains(&path) {
            return None;
        }
        Some(match method {
            "GET" => self.told(Question::Policy { namespace, field }).await,
            "POST" | "PUT" => {
                let value = json_of(call.body);
                let value = value.and_then(|value| fitting(path, value));
                match value {
                    Ok(value) => self.set_policy(namespace, field, value).await,
                    Err(answer) => answer,
                }
            }
            "DELETE" => self.set_policy(namespace, field, Value::Null).await,
            _ => return None,
        })
    }

    async fn policy_by_cluster(
        &self,
        method: &str,
        namespace: NamespaceName,
        fields: &[&'static str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        let cluster = self.house.settings.cluster.clone();
        let value = match method {
            "GET" => {
                let field = fields.first().copied()?;
                let question = Question::Policy { namespace, field };
                return Some(match self.house.clerk.ask(question).await {
                    Ok(all) => shown(all.get(&cluster)),
                    Err(no) => refused(&no),
                });
            }
            "POST" => match json_of(call.body) {
                Ok(value) => value,
                Err(answer) => return Some(answer),
            },
            "DELETE" => Value::Null,
            _ => return None,
        };
        Some(self.set_entry(namespace, fields, cluster, value).await)
    }

    /// One entry of policies that are maps; null removes it.
    async fn set_entry(
        &self,
        namespace: NamespaceName,
        fields: &[&'static str],
        key: String,
        value: Value,
    ) -> Answer {
        let idle: Vec<&str> = fields
            .iter()
            .copied()
            .filter(|field| !acts(field))
            .collect();
        let notice = match value.is_null() {
            true => None,
            false => notice(&namespace, &idle),
        };
        let question = Question::SetPolicyEntry {
            namespace,
            fields: fields.to_vec(),
            key,
            value,
        };
        self.done(question).await.with_notice(notice)
    }

    /// `backlogQuotaType`: what is limited, the bytes of a backlog or the age of its first message.
    async fn set_backlog_quota(&self, namespace: NamespaceName, call: &Call<'_>) -> Answer {
        let kind = query_value(call.query, "backlogQuotaType");
        let kind = kind.unwrap_or_else(|| "destination_storage".to_owned());
        if !matches!(kind.as_str(), "destination_storage" | "message_age") {
            let text = format!("{kind} is no backlogQuotaType: destination_storage or message_age");
            return Answer::refused(412, &text);
        }
        let value = match call.method.as_str() {
            "DELETE" => Ok(Value::Null),
            _ => json_of(call.body).and_then(|value| quota(&namespace, value)),
        };
        match value {
            Ok(value) => {
                self.set_entry(namespace, &["backlog_quota_map"], kind, value)
                    .await
            }
            Err(answer) => answer,
        }
    }

    async fn properties_of(
        &self,
        method: &str,
        namespace: NamespaceName,
        call: &Call<'_>,
    ) -> Option<Answer> {
        let field = "properties";
        let value = match method {
            "GET" => return Some(self.told(Question::Policy { namespace, field }).await),
            "DELETE" => Value::Null,
            "PUT" | "POST" => match json_of(call.body) {
                Ok(value) => value,
                Err(answer) => return Some(answer),
            },
            _ => return None,
        };
        let question = Question::SetPolicy {
            namespace,
            field,
            value,
        };
        Some(self.done(question).await)
    }

    async fn property_of(
        &self,
        method: &str,
        namespace: NamespaceName,
        key: &str,
        rest: &[&str],
    ) -> Option<Answer> {
        let field = "properties";
        let value = match (method, rest) {
            ("GET" | "DELETE", []) => {
                let question = Question::Policy {
                    namespace: namespace.clone(),
                    field,
                };
                let before = match self.house.clerk.ask(question).await {
                    Ok(all) => match all.get(key).and_then(Value::as_str) {
                        Some(value) => Answer::text(value.to_owned()),
                        None => return Some(Answer::nothing(200)),
                    },
                    Err(no) => return Some(refused(&no)),
                };
                if method == "GET" {
                    return Some(before);
                }
                // A deletion answers what there was.
                let key = key.to_owned();
                let gone = self.set_entry(namespace, &[field], key, Value::Null).await;
                return Some(match gone.is_done() {
                    true => before,
                    false => gone,
                });
            }
            ("PUT", [value]) => json!(value),
            _ => return None,
        };
        let key = key.to_owned();
        Some(self.set_entry(namespace, &[field], key, value).await)
    }

    /// A policy that nothing acts on is kept and shown like the others; the answer says so, and so does the log.
    async fn set_policy(
        &self,
        namespace: NamespaceName,
        field: &'static str,
        value: Value,
    ) -> Answer {
        let is_idle = !value.is_null() && !acts(field);
        let notice = is_idle.then(|| notice(&namespace, &[field])).flatten();
        let answer = self
            .done(Question::SetPolicy {
                namespace,
                field,
                value,
            })
            .await;
        answer.with_notice(notice)
    }

    /// Who may do what: kept and shown. Nobody is asked who they are, so it keeps nobody from anything.
    pub(super) async fn permissions(
        &self,
        method: &str,
        namespace: NamespaceName,
        topic: Option<String>,
        rest: &[&str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        Some(match (method, rest) {
            ("GET", []) => self.told(Question::Permissions { namespace, topic }).await,
            ("GET", ["subscription"]) if topic.is_none() => {
                match self.house.clerk.ask(Question::Policies { namespace }).await {
                    Ok(policies) => {
                        Answer::json(&policies["auth_policies"]["subscription_auth_roles"])
                    }
                    Err(no) => refused(&no),
                }
            }
            ("POST", [role]) => match json_of(call.body) {
                Ok(actions) => {
                    let notice = notice(&namespace, &["auth_policies"]);
                    let question = Question::SetPermission {
                        namespace,
                        topic,
                        role: (*role).to_owned(),
                        actions,
                    };
                    self.done(question).await.with_notice(notice)
                }
                Err(answer) => answer,
            },
            ("DELETE", [role]) => {
                let question = Question::SetPermission {
                    namespace,
                    topic,
                    role: (*role).to_owned(),
                    actions: Value::Null,
                };
                self.done(question).await
            }
            _ => return None,
        })
    }
}

/// Nothing to say is said with an empty body, as Pulsar does.
fn shown(value: Option<&Value>) -> Answer {
    match value {
        None | Some(Value::Null) => Answer::nothing(200),
        Some(value) => Answer::json(value),
    }
}

/// A value that Pulsar would take too, or what is wrong with it in Pulsar's words.
fn fitting(policy: &str, value: Value) -> Result<Value, Answer> {
    let refused = |text: String| Err(Answer::refused(412, &text));
    match (policy, &value) {
        ("messageTTL", value) if !value.is_i64() => {
            let text = format!("a message TTL is a number of seconds, not {value}");
            Err(Answer::refused(400, &text))
        }
        ("messageTTL", value) if value.as_i64().is_some_and(|seconds| seconds < 0) => {
            refused("Invalid value for message TTL, message TTL must >= 0".to_owned())
        }
        ("autoTopicCreation", value) => {
            let kind = value.get("topicType").and_then(Value::as_str);
            match kind {
                Some(kind) if !matches!(kind, "partitioned" | "non-partitioned") => {
                    refused(format!(
                        "Invalid configuration for autoTopicCreationOverride. the detail is Unknown topic type [{kind}]"
                    ))
                }
                _ => Ok(value.clone()),
            }
        }
        _ => Ok(value),
    }
}

/// What can happen to who publishes beyond a quota, or to the oldest messages.
const QUOTA_POLICIES: [&str; 3] = [
    "producer_request_hold",
    "producer_exception",
    "consumer_backlog_eviction",
];

/// A backlog quota as Pulsar shows it: its older name for the limit beside the newer one.
fn quota(namespace: &NamespaceName, value: Value) -> Result<Value, Answer> {
    let Value::Object(mut fields) = value else {
        return Err(Answer::refused(400, "a backlog quota is an object"));
    };
    let policy = fields.get("policy").and_then(Value::as_str);
    if !policy.is_some_and(|policy| QUOTA_POLICIES.contains(&policy)) {
        let text = format!(
            "Set namespace[{namespace}] backlog quota failed because the data validation failed. the attribute policy \
             cannot be null"
        );
        return Err(Answer::refused(400, &text));
    }
    let size = fields.get("limitSize").or_else(|| fields.get("limit"));
    let size = size.and_then(Value::as_i64).unwrap_or(0);
    fields.insert("limit".to_owned(), json!(size));
    fields.insert("limitSize".to_owned(), json!(size));
    fields.entry("limitTime").or_insert_with(|| json!(0));
    Ok(Value::Object(fields))
}

/// Fields of a namespace's policies that something here acts on, or that say nothing more than what is so anyway.
pub(super) fn acts(field: &str) -> bool {
    matches!(
        field,
        "bundles" | "replication_clusters" | "deleted" | "properties"
    )
}

pub(super) fn notice(namespace: &NamespaceName, idle: &[&str]) -> Option<String> {
    if idle.is_empty() {
        return None;
    }
    let fields = idle.join(", ");
    tracing::warn!(
        "policies of namespace {namespace} that do not act in this version were stored: {fields}"
    );
    Some(format!("stored, not acting in this version: {fields}"))
}
