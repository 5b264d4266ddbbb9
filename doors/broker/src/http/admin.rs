//! The admin surface over the directory: clusters, tenants, namespaces and their policies, topics by name.

use super::Pages;
use super::answer::Answer;
use super::policies::{acts, notice};
use super::topics::TopicPath;
use axum::http::Method;
use directory::{No, Question, Why};
use letters::RefusalCode;
use serde_json::{Value, json};
use vocabulary::name::url_decode;
use vocabulary::{Domain, NamespaceName, TopicName};

/// A request that may change something.
pub(super) struct Call<'a> {
    pub method: &'a Method,
    pub query: &'a str,
    pub body: &'a [u8],
}

/// Bundles of a namespace that nobody configured (`defaultNumberOfNamespaceBundles`).
const BUNDLES: u32 = 4;

impl Pages {
    /// The answer to a path of the admin surface; `None`: it is none of these, or the method is not its own.
    pub(super) async fn admin(&self, segments: &[&str], call: &Call<'_>) -> Option<Answer> {
        let method = call.method.as_str();
        let method = if method == "HEAD" { "GET" } else { method };
        Some(match (method, segments) {
            ("GET", ["clusters"]) => self.told(Question::Clusters).await,
            ("GET", ["clusters", cluster]) => {
                let cluster = (*cluster).to_owned();
                self.told(Question::Cluster { cluster }).await
            }
            ("PUT" | "POST", ["clusters", cluster]) => self.put_cluster(cluster, call).await,
            ("GET", ["clusters", cluster, what]) => return self.cluster_page(cluster, what).await,
            ("DELETE", ["clusters", cluster]) => {
                let cluster = (*cluster).to_owned();
                self.done(Question::DeleteCluster { cluster }).await
            }
            ("GET", ["tenants"]) => self.told(Question::Tenants).await,
            ("GET", ["tenants", tenant]) => {
                let tenant = (*tenant).to_owned();
                self.told(Question::Tenant { tenant }).await
            }
            ("PUT" | "POST", ["tenants", tenant]) => self.put_tenant(tenant, call).await,
            ("DELETE", ["tenants", _]) if is_forced(call) => {
                Answer::refused(405, "Broker doesn't allow forced deletion of tenants")
            }
            ("DELETE", ["tenants", tenant]) => {
                let tenant = (*tenant).to_owned();
                self.done(Question::DeleteTenant { tenant }).await
            }
            ("GET", ["namespaces", tenant]) => {
                let tenant = (*tenant).to_owned();
                self.told(Question::Namespaces { tenant }).await
            }
            (_, ["brokers", rest @ ..]) => return self.broker_page(method, rest).await,
            (_, ["schemas", tenant, namespace, topic, rest @ ..]) => {
                let domain = "persistent";
                let path = TopicPath {
                    domain,
                    tenant,
                    namespace,
                    topic,
                };
                return self.schema_page(method, &path, rest, call).await;
            }
            (_, ["namespaces", tenant, namespace, rest @ ..]) => {
                return self.namespace(method, tenant, namespace, rest, call).await;
            }
            (
                "GET",
                [
                    domain @ ("persistent" | "non-persistent"),
                    tenant,
                    namespace,
                ],
            ) => self.topics_in(domain, tenant, namespace, call.query).await,
            (
                "GET",
                [
                    domain @ ("persistent" | "non-persistent"),
                    tenant,
                    namespace,
                    "partitioned",
                ],
            ) => match name_of(tenant, namespace) {
                Ok(namespace) => {
                    let persistent = *domain == "persistent";
                    self.told(Question::PartitionedTopics {
                        namespace,
                        persistent,
                    })
                    .await
                }
                Err(answer) => answer,
            },
            (
                _,
                [
                    domain @ ("persistent" | "non-persistent"),
                    tenant,
                    namespace,
                    topic,
                    rest @ ..,
                ],
            ) => {
                let path = TopicPath {
                    domain,
                    tenant,
                    namespace,
                    topic,
                };
                return self.topic(method, &path, rest, call).await;
            }
            _ => return None,
        })
    }

    async fn put_cluster(&self, cluster: &str, call: &Call<'_>) -> Answer {
        let data = match json_of(call.body) {
            Ok(data) => data,
            Err(answer) => return answer,
        };
        if data.is_null() {
            return Answer::refused(400, "cluster data is required");
        }
        let put = Question::PutCluster {
            cluster: cluster.to_owned(),
            data,
            must_be_new: call.method == Method::PUT,
        };
        match self.house.clerk.ask(put).await {
            // Pulsar says 200 here, and 204 everywhere else.
            Ok(_) => Answer::nothing(200),
            Err(no) => refused(&no),
        }
    }

    /// What Pulsar keeps of a cluster beside its urls; nothing of it is made here, so there is none.
    async fn cluster_page(&self, cluster: &str, what: &str) -> Option<Answer> {
        let question = Question::Cluster {
            cluster: cluster.to_owned(),
        };
        Some(match (what, self.house.clerk.ask(question).await) {
            ("failureDomains", _) => Answer::json(&json!({})),
            ("peers", Ok(data)) => match data.get("peerClusterNames") {
                Some(peers) if !peers.is_null() => Answer::json(peers),
                _ => Answer::nothing(200),
            },
            ("namespaceIsolationPolicies", Ok(_)) => {
                let text =
                    format!("NamespaceIsolationPolicies for cluster {cluster} does not exist");
                Answer::refused(404, &text)
            }
            ("namespaceIsolationPolicies", Err(no)) if no.why == Why::NotFound => {
                Answer::refused(404, &format!("Cluster {cluster} does not exist."))
            }
            ("peers" | "namespaceIsolationPolicies", Err(no)) => refused(&no),
            _ => return None,
        })
    }

    async fn put_tenant(&self, tenant: &str, call: &Call<'_>) -> Answer {
        match json_of(call.body) {
            Ok(info) => {
                self.done(Question::PutTenant {
                    tenant: tenant.to_owned(),
                    info,
                    must_be_new: call.method == Method::PUT,
                })
                .await
            }
            Err(answer) => answer,
        }
    }

    async fn namespace(
        &self,
        method: &str,
        tenant: &str,
        namespace: &str,
        rest: &[&str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        let namespace = match name_of(tenant, namespace) {
            Ok(namespace) => namespace,
            Err(answer) => return Some(answer),
        };
        Some(match (method, rest) {
            ("GET", []) => self.told(Question::Policies { namespace }).await,
            ("PUT", []) => match json_of(call.body) {
                Ok(policies) => self.create_namespace(namespace, policies).await,
                Err(answer) => answer,
            },
            ("DELETE", []) if is_forced(call) => {
                Answer::refused(405, "Broker doesn't allow forced deletion of namespaces")
            }
            ("DELETE", []) => self.done(Question::DeleteNamespace { namespace }).await,
            ("GET", ["topics"]) => {
                let mut pairs = call.query.split('&');
                let mode = pairs
                    .find_map(|pair| pair.strip_prefix("mode="))
                    .unwrap_or("");
                match mode.to_ascii_uppercase().as_str() {
                    "NON_PERSISTENT" => self.passing(&namespace).await,
                    "ALL" => self.all_topics(namespace, call.query).await,
                    _ => self.told(topics_of(namespace, call.query)).await,
                }
            }
            ("PUT", ["unload"]) => self.unload_namespace(&namespace, None).await,
            ("PUT", [bundle, "unload"]) => self.unload_namespace(&namespace, Some(bundle)).await,
            (_, ["permissions", rest @ ..]) => {
                return self.permissions(method, namespace, None, rest, call).await;
            }
            (_, what) => return self.policy_page(method, namespace, what, call).await,
        })
    }

    async fn create_namespace(&self, namespace: NamespaceName, policies: Value) -> Answer {
        let given = policies.as_object().into_iter().flatten();
        let idle: Vec<&str> = given
            .filter(|(field, value)| !value.is_null() && !acts(field))
            .map(|(field, _)| field.as_str())
            .collect();
        let notice = notice(&namespace, &idle);
        let answer = self
            .done(Question::CreateNamespace {
                namespace,
                policies: Some(policies.clone()),
                default_cluster: self.house.settings.cluster.clone(),
                bundles: BUNDLES,
            })
            .await;
        answer.with_notice(notice)
    }

    async fn topics_in(&self, domain: &str, tenant: &str, namespace: &str, query: &str) -> Answer {
        match name_of(tenant, namespace) {
            Ok(namespace) if domain == "non-persistent" => self.passing(&namespace).await,
            Ok(namespace) => self.told(topics_of(namespace, query)).await,
            Err(answer) => answer,
        }
    }

    /// The non-persistent topics that are in use.
    async fn passing(&self, namespace: &NamespaceName) -> Answer {
        match self.house.passing(namespace).await {
            Some(names) => Answer::json(&names),
            None => Answer::refused(503, "the topics' desks do not answer in time"),
        }
    }

    async fn all_topics(&self, namespace: NamespaceName, query: &str) -> Answer {
        let Some(mut names) = self.house.passing(&namespace).await else {
            return Answer::refused(503, "the topics' desks do not answer in time");
        };
        match self.house.clerk.ask(topics_of(namespace, query)).await {
            Ok(kept) => {
                let kept = kept.as_array().into_iter().flatten();
                names.extend(kept.filter_map(Value::as_str).map(str::to_owned));
                names.sort();
                Answer::json(&names)
            }
            Err(no) => refused(&no),
        }
    }

    async fn topic(
        &self,
        method: &str,
        path: &TopicPath<'_>,
        rest: &[&str],
        call: &Call<'_>,
    ) -> Option<Answer> {
        let topic = match path.name() {
            Ok(topic) => topic,
            Err(answer) => return Some(answer),
        };
        if let ["permissions", rest @ ..] = rest {
            let namespace = topic.namespace().clone();
            let topic = Some(topic.to_string());
            return self.permissions(method, namespace, topic, rest, call).await;
        }
        match (method, rest) {
            ("PUT", []) | ("PUT" | "POST", ["partitions"]) => {}
            ("DELETE", [] | ["partitions"]) => {
                return self.delete_topic(path, rest, call.query).await;
            }
            _ => return self.topic_page(method, &topic, rest, call).await,
        }
        let question = match (method, rest) {
            ("PUT", []) => Question::CreateTopic { topic },
            _ => {
                let (partitions, properties) = match partitions_of(call.body) {
                    Ok(partitions) => partitions,
                    Err(answer) => return Some(answer),
                };
                let most = self.house.settings.partitions_per_topic_max;
                match method {
                    "PUT" => Question::CreatePartitioned {
                        topic,
                        partitions,
                        most,
                        properties,
                    },
                    _ => Question::UpdatePartitions {
                        topic,
                        partitions,
                        most,
                    },
                }
            }
        };
        Some(self.done(question).await)
    }

    async fn delete_topic(
        &self,
        path: &TopicPath<'_>,
        rest: &[&str],
        query: &str,
    ) -> Option<Answer> {
        let topic = match path.name() {
            Ok(topic) => topic,
            Err(answer) => return Some(answer),
        };
        let force = query_value(query, "force").as_deref() == Some("true");
        Some(match rest {
            [] => self.delete_plain(topic, force).await,
            ["partitions"] => self.delete_partitioned(topic, force).await,
            _ => return None,
        })
    }

    async fn delete_plain(&self, topic: TopicName, force: bool) -> Answer {
        let expected = Question::ExpectPlain {
            topic: topic.clone(),
        };
        if let Err(no) = self.house.clerk.ask(expected).await {
            return refused(&no);
        }
        match self.finder.delete(topic, force).await {
            Ok(()) => Answer::nothing(204),
            Err(refusal) => Answer::refusal(&refusal),
        }
    }

    /// In two phases: the mark keeps clients that come back from making partitions again while the others are deleted. A
    /// partition that is in use ends it and takes the mark away. What a crash interrupts is finished by asking again.
    async fn delete_partitioned(&self, topic: TopicName, force: bool) -> Answer {
        let mark = |deleted| Question::MarkPartitioned {
            topic: topic.clone(),
            deleted,
        };
        let partitions = match self.house.clerk.ask(mark(true)).await {
            Ok(count) => count.as_u64().unwrap_or_default(),
            Err(no) => return refused(&no),
        };
        // Partitions that are not stored end with their last user.
        let kept = match topic.domain() {
            Domain::Persistent => 0..u32::try_from(partitions).unwrap_or_default(),
            Domain::NonPersistent => 0..0,
        };
        for partition in kept.filter_map(|index| topic.partition_name(index).ok()) {
            match self.finder.delete(partition, force).await {
                Ok(()) => {}
                Err(refusal) if refusal.code == RefusalCode::TopicNotFound => {}
                Err(refusal) => {
                    // If the mark stays, the next try finds it and goes on.
                    drop(self.house.clerk.ask(mark(false)).await);
                    return Answer::refusal(&refusal);
                }
            }
        }
        self.done(Question::ForgetPartitioned { topic }).await
    }

    /// The answer as JSON. Nothing to say is said with an empty body, as Pulsar does.
    pub(super) async fn told(&self, question: Question) -> Answer {
        match self.house.clerk.ask(question).await {
            Ok(Value::Null) => Answer::nothing(200),
            Ok(value) => Answer::json(&value),
            Err(no) => refused(&no),
        }
    }

    /// 204 when it is done.
    pub(super) async fn done(&self, question: Question) -> Answer {
        match self.house.clerk.ask(question).await {
            Ok(_) => Answer::nothing(204),
            Err(no) => refused(&no),
        }
    }
}

fn topics_of(namespace: NamespaceName, query: &str) -> Question {
    let with_system_topics = query_value(query, "includeSystemTopic").as_deref() == Some("true");
    Question::Topics {
        namespace,
        with_system_topics,
        must_exist: true,
    }
}

fn name_of(tenant: &str, namespace: &str) -> Result<NamespaceName, Answer> {
    NamespaceName::new(tenant, namespace)
        .map_err(|_| Answer::refused(412, "Namespace name is not valid"))
}

/// A body as JSON; none is null.
pub(super) fn json_of(body: &[u8]) -> Result<Value, Answer> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body)
        .map_err(|error| Answer::refused(400, &format!("the body is not JSON: {error}")))
}

fn is_forced(call: &Call<'_>) -> bool {
    query_value(call.query, "force").as_deref() == Some("true")
}

/// The value of a key of a query.
pub(super) fn query_value(query: &str, key: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == key)?;
    url_decode(value)
}

/// A number, or `{"partitions": number, "properties": {}}`.
fn partitions_of(body: &[u8]) -> Result<(u32, Value), Answer> {
    let body = json_of(body)?;
    let (number, properties) = match &body {
        Value::Object(fields) => (
            fields.get("partitions").cloned().unwrap_or_default(),
            fields.get("properties").cloned().unwrap_or(json!({})),
        ),
        number => (number.clone(), json!({})),
    };
    match number.as_i64() {
        Some(number) if number <= 0 => Ok((0, properties)),
        Some(number) => Ok((u32::try_from(number).unwrap_or(u32::MAX), properties)),
        None => Err(Answer::refused(
            400,
            &format!("the body is no number of partitions: {body}"),
        )),
    }
}

pub(super) fn refused(no: &No) -> Answer {
    let status = match no.why {
        Why::NotFound => 404,
        Why::NotAcceptable => 406,
        Why::Conflict => 409,
        Why::Precondition => 412,
        Why::Unprocessable => 422,
        Why::Storage => 500,
    };
    Answer::refused(status, &no.text)
}
