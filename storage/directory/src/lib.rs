//! Owns: what is above single topics: clusters, tenants, namespaces and their policies, partitioned topics, lists of topics.
//! Never: opens a topic; knows who asks (a page or a command) or how the metadata store is reached.
//! Told: a [`Question`], then replies of the metadata store. Says: requests to the store, then an answer or a [`No`].
//! Read first: [`errand`], then [`view`] (how decisions read), then the files of the questions.
//!
//! Paths and values are Pulsar's (BROKER.md B2, B3, B19), so that other tools may read and write the same nodes. Every
//! change is a compare-and-set; one that comes too late is decided again on what is there now.
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

pub mod errand;
pub mod view;

mod clusters;
pub mod pattern;
pub mod watchers;

mod namespaces;
mod paths;
mod permissions;
mod policies;
mod tenants;
mod topics;

pub use errand::{Errand, Step};
pub use view::{No, Why};
pub use watchers::Watchers;

#[cfg(test)]
mod directory_tests;
#[cfg(test)]
mod watchers_tests;

use serde_json::Value;
use vocabulary::{NamespaceName, TopicName};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum Question {
    /// The names of all clusters.
    Clusters,
    /// What is known of a cluster.
    Cluster { cluster: String },
    /// Makes a cluster known, or changes what is known of it.
    PutCluster {
        cluster: String,
        data: Value,
        must_be_new: bool,
    },
    /// Forgets a cluster.
    DeleteCluster { cluster: String },
    /// The names of all tenants.
    Tenants,
    /// A tenant's TenantInfo.
    Tenant { tenant: String },
    /// Makes a tenant, or changes it.
    PutTenant {
        tenant: String,
        info: Value,
        must_be_new: bool,
    },
    /// Removes a tenant without namespaces.
    DeleteTenant { tenant: String },
    /// The namespaces of a tenant, `tenant/namespace`.
    Namespaces { tenant: String },
    /// The policies of a namespace, whole.
    Policies { namespace: NamespaceName },
    /// Makes a namespace with these policies (none: the defaults).
    CreateNamespace {
        namespace: NamespaceName,
        policies: Option<Value>,
        default_cluster: String,
        bundles: u32,
    },
    /// Removes a namespace without topics.
    DeleteNamespace { namespace: NamespaceName },
    /// One field of a namespace's policies.
    Policy {
        namespace: NamespaceName,
        field: &'static str,
    },
    /// Sets one field of a namespace's policies (null: removes it).
    SetPolicy {
        namespace: NamespaceName,
        field: &'static str,
        value: Value,
    },
    /// Sets one entry of fields of a namespace's policies that are maps (null: removes it).
    SetPolicyEntry {
        namespace: NamespaceName,
        fields: Vec<&'static str>,
        key: String,
        value: Value,
    },
    /// Who may do what in a namespace or with one of its topics: actions by role.
    Permissions {
        namespace: NamespaceName,
        topic: Option<String>,
    },
    /// Sets what a role may do in a namespace or with one of its topics (null: nothing more).
    SetPermission {
        namespace: NamespaceName,
        topic: Option<String>,
        role: String,
        actions: Value,
    },
    /// The topics of a namespace: every partition of the partitioned ones, and the others; without system topics
    /// unless asked for. A namespace that is not there has none, or is refused.
    Topics {
        namespace: NamespaceName,
        with_system_topics: bool,
        must_exist: bool,
    },
    /// The partitioned topics of a namespace.
    PartitionedTopics {
        namespace: NamespaceName,
        persistent: bool,
    },
    /// Makes a topic without partitions.
    CreateTopic { topic: TopicName },
    /// Makes a partitioned topic with all its partitions.
    CreatePartitioned {
        topic: TopicName,
        partitions: u32,
        most: u32,
        properties: Value,
    },
    /// Whether a topic may be deleted as one without partitions; no change.
    ExpectPlain { topic: TopicName },
    /// Marks a partitioned topic as being deleted, so that no partition is made again; or takes the mark away. Answer: the
    /// number of its partitions.
    MarkPartitioned { topic: TopicName, deleted: bool },
    /// Forgets a partitioned topic that is marked; its partitions are deleted already.
    ForgetPartitioned { topic: TopicName },
    /// Adds partitions to a partitioned topic.
    UpdatePartitions {
        topic: TopicName,
        partitions: u32,
        most: u32,
    },
}
