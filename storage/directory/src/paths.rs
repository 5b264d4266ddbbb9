//! Where things lie (BROKER.md B2).

use vocabulary::name::{url_decode, url_encode};
use vocabulary::{Domain, NamespaceName, TopicName};

pub(crate) const CLUSTERS: &str = "/admin/clusters";
pub(crate) const POLICIES: &str = "/admin/policies";

pub(crate) fn cluster(name: &str) -> String {
    format!("{CLUSTERS}/{name}")
}

pub(crate) fn tenant(name: &str) -> String {
    format!("{POLICIES}/{name}")
}

pub(crate) fn policies(namespace: &NamespaceName) -> String {
    format!("{POLICIES}/{namespace}")
}

/// What a broker of Pulsar writes about a namespace beside its policies.
pub(crate) fn local_policies(namespace: &NamespaceName) -> String {
    format!("/admin/local-policies/{namespace}")
}

/// The parent of all partitioned topics of a namespace.
pub(crate) fn partitioned_of(namespace: &NamespaceName, domain: Domain) -> String {
    format!("/admin/partitioned-topics/{namespace}/{}", domain.as_str())
}

pub(crate) fn partitioned(topic: &TopicName) -> String {
    let parent = partitioned_of(topic.namespace(), topic.domain());
    format!("{parent}/{}", url_encode(topic.local()))
}

/// The parent of the logs of a namespace's persistent topics.
pub(crate) fn logs_of(namespace: &NamespaceName) -> String {
    format!(
        "/managed-ledgers/{namespace}/{}",
        Domain::Persistent.as_str()
    )
}

/// The log of a persistent topic: that it is there is what makes the topic exist.
pub(crate) fn log(topic: &TopicName) -> String {
    format!("/managed-ledgers/{}", topic.persistence_name())
}

/// The topic whose log a path is; `None` for all other paths, those of cursors too.
pub(crate) fn topic_of_log(path: &str) -> Option<TopicName> {
    let mut parts = path.strip_prefix("/managed-ledgers/")?.split('/');
    let namespace = NamespaceName::new(parts.next()?, parts.next()?).ok()?;
    let domain = parts
        .next()
        .filter(|domain| *domain == Domain::Persistent.as_str())?;
    let local = url_decode(parts.next()?)?;
    if parts.next().is_some() {
        return None;
    }
    TopicName::parse(&format!("{domain}://{namespace}/{local}")).ok()
}

/// Whether Pulsar's grammar allows it as the name of a tenant, namespace or cluster.
pub(crate) fn is_entity(name: &str) -> bool {
    NamespaceName::new(name, "x").is_ok()
}
