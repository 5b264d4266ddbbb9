//! One question on its way through the store to its answer.

use crate::view::{Halt, No, Verdict, View, Why, Write};
use crate::{Question, clusters, namespaces, permissions, policies, tenants, topics};
use metadata_store::{MetadataError, MetadataReply, MetadataRequest};
use serde_json::Value;

/// How often a decision is made anew because somebody else changed what it stands on.
const TRIES_MAX: u32 = 10;

/// A question under way.
#[derive(Debug)]
pub struct Errand {
    question: Question,
    view: View,
    tries: u32,
    /// Changes that were asked for, and the answer if they are made.
    deciding: Option<(Vec<Write>, Value)>,
}

/// What to do next.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// Ask the store all of these, then call [`Errand::go_on`] with the replies, in order.
    Ask(Vec<MetadataRequest>),
    /// The answer: JSON, null where nothing is to be said.
    Done(Result<Value, No>),
}

impl Errand {
    /// A question; begin with `go_on(Vec::new())`.
    #[must_use]
    pub fn new(question: Question) -> Errand {
        Errand {
            question,
            view: View::default(),
            tries: 0,
            deciding: None,
        }
    }

    /// Takes the replies to what was asked last.
    pub fn go_on(&mut self, replies: Vec<MetadataReply>) -> Step {
        if let Some((writes, answer)) = self.deciding.take() {
            return self.written(&writes, answer, replies);
        }
        for reply in replies {
            if let Err(error) = self.learn(reply) {
                return failed(&error);
            }
        }
        self.decide()
    }

    fn learn(&mut self, reply: MetadataReply) -> Result<(), MetadataError> {
        match reply {
            MetadataReply::Got { path, result, .. } => {
                let node = result?.map(|(value, stat)| (value, stat.version));
                self.view.learn_node(path, node);
            }
            MetadataReply::Children { path, result, .. } => {
                self.view.learn_children(path, result?);
            }
            // Nothing else is asked for while reading; news of keys that change are decided by the writes.
            _ => {}
        }
        Ok(())
    }

    fn decide(&mut self) -> Step {
        match decide(&self.question, &mut self.view) {
            Ok(Verdict { writes, answer }) if writes.is_empty() => Step::Done(Ok(answer)),
            Ok(Verdict { writes, answer }) => {
                let requests = writes.iter().map(|write| write.request(0)).collect();
                self.deciding = Some((writes, answer));
                Step::Ask(requests)
            }
            Err(Halt::Unread) => Step::Ask(std::mem::take(&mut self.view.wanted)),
            Err(Halt::No(no)) => Step::Done(Err(no)),
        }
    }

    fn written(&mut self, writes: &[Write], answer: Value, replies: Vec<MetadataReply>) -> Step {
        let mut too_late = false;
        for (write, reply) in writes.iter().zip(replies) {
            let result = match reply {
                MetadataReply::Put { result, .. } => result.map(drop),
                MetadataReply::Deleted { result, .. } => result,
                _ => Ok(()),
            };
            match result {
                Ok(()) => {}
                Err(MetadataError::BadVersion(..)) => too_late |= !write.may_be_there,
                // Somebody made something below it meanwhile.
                Err(MetadataError::NotEmpty(_)) => too_late = true,
                Err(error) => return failed(&error),
            }
        }
        if !too_late {
            return Step::Done(Ok(answer));
        }
        self.tries += 1;
        if self.tries >= TRIES_MAX {
            let text = "others change the same again and again; try again later";
            return Step::Done(Err(No::new(Why::Storage, text)));
        }
        self.view.forget();
        self.decide()
    }
}

fn failed(error: &MetadataError) -> Step {
    Step::Done(Err(No::new(Why::Storage, error.to_string())))
}

fn decide(question: &Question, view: &mut View) -> Result<Verdict, Halt> {
    match question {
        Question::Clusters => clusters::list(view),
        Question::Cluster { cluster } => clusters::get(view, cluster),
        Question::PutCluster {
            cluster,
            data,
            must_be_new,
        } => clusters::put(view, cluster, data, *must_be_new),
        Question::DeleteCluster { cluster } => clusters::delete(view, cluster),
        Question::Tenants => tenants::list(view),
        Question::Tenant { tenant } => tenants::get(view, tenant),
        Question::PutTenant {
            tenant,
            info,
            must_be_new,
        } => tenants::put(view, tenant, info, *must_be_new),
        Question::DeleteTenant { tenant } => tenants::delete(view, tenant),
        Question::Namespaces { tenant } => namespaces::list(view, tenant),
        Question::Policies { namespace } => policies::whole(view, namespace),
        Question::CreateNamespace {
            namespace,
            policies,
            default_cluster,
            bundles,
        } => namespaces::create(
            view,
            namespace,
            policies.as_ref(),
            default_cluster,
            *bundles,
        ),
        Question::DeleteNamespace { namespace } => namespaces::delete(view, namespace),
        Question::Policy { namespace, field } => policies::get(view, namespace, field),
        Question::SetPolicy {
            namespace,
            field,
            value,
        } => policies::set(view, namespace, field, value),
        Question::SetPolicyEntry {
            namespace,
            fields,
            key,
            value,
        } => policies::set_entry(view, namespace, fields, key, value),
        Question::Permissions { namespace, topic } => {
            permissions::list(view, namespace, topic.as_deref())
        }
        Question::SetPermission {
            namespace,
            topic,
            role,
            actions,
        } => permissions::set(view, namespace, topic.as_deref(), role, actions),
        Question::Topics {
            namespace,
            with_system_topics,
            must_exist,
        } => topics::list(view, namespace, *with_system_topics, *must_exist),
        Question::PartitionedTopics {
            namespace,
            persistent,
        } => topics::list_partitioned(view, namespace, *persistent),
        Question::CreateTopic { topic } => topics::create(view, topic),
        Question::CreatePartitioned {
            topic,
            partitions,
            most,
            properties,
        } => topics::create_partitioned(view, topic, *partitions, *most, properties),
        Question::ExpectPlain { topic } => topics::expect_plain(view, topic),
        Question::MarkPartitioned { topic, deleted } => {
            topics::mark_partitioned(view, topic, *deleted)
        }
        Question::ForgetPartitioned { topic } => topics::forget_partitioned(view, topic),
        Question::UpdatePartitions {
            topic,
            partitions,
            most,
        } => topics::update_partitions(view, topic, *partitions, *most),
    }
}
