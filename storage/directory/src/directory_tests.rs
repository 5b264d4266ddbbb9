use crate::pattern::TopicPattern;
use crate::{Errand, No, Question, Step, Why};
use bytes::Bytes;
use metadata_store::memory::MemoryStore;
use metadata_store::{Expect, KeyKind, MetadataReply, MetadataRequest};
use serde_json::{Value, json};
use sim_world::SimDice;
use vocabulary::{NamespaceName, TopicName};

/// A store, and whoever asks it.
struct World {
    store: MemoryStore,
    dice: SimDice,
}

impl World {
    fn new() -> World {
        let mut world = World {
            store: MemoryStore::well_behaved(),
            dice: SimDice::new(1),
        };
        world.put("/admin/clusters/standalone", "{}");
        world.put(
            "/admin/policies/public",
            r#"{"allowedClusters":["standalone"]}"#,
        );
        world.put("/admin/policies/public/default", "{}");
        world
    }

    fn turn(&mut self, requests: Vec<MetadataRequest>) -> Vec<MetadataReply> {
        self.store.submit(requests);
        self.store.turn(&mut self.dice)
    }

    fn put(&mut self, path: &str, value: &'static str) {
        self.turn(vec![MetadataRequest::Put {
            ticket: 0,
            path: path.to_owned(),
            value: Bytes::from_static(value.as_bytes()),
            expect: Expect::Anything,
            kind: KeyKind::Persistent,
        }]);
    }

    fn ask(&mut self, question: Question) -> Result<Value, No> {
        let mut errand = Errand::new(question);
        let mut step = errand.go_on(Vec::new());
        loop {
            match step {
                Step::Ask(requests) => step = errand.go_on(self.turn(requests)),
                Step::Done(result) => return result,
            }
        }
    }

    fn refused(&mut self, question: Question) -> (Why, String) {
        let no = self.ask(question).expect_err("a no");
        (no.why, no.text)
    }
}

fn namespace(text: &str) -> NamespaceName {
    NamespaceName::parse(text).unwrap()
}

fn topic(text: &str) -> TopicName {
    TopicName::parse(text).unwrap()
}

fn topics_of(text: &str) -> Question {
    Question::Topics {
        namespace: namespace(text),
        with_system_topics: false,
        must_exist: true,
    }
}

fn partitioned(text: &str, partitions: u32) -> Question {
    Question::CreatePartitioned {
        topic: topic(text),
        partitions,
        most: 0,
        properties: Value::Null,
    }
}

fn update(text: &str, partitions: u32) -> Question {
    Question::UpdatePartitions {
        topic: topic(text),
        partitions,
        most: 10,
    }
}

#[test]
fn a_tenant_and_its_namespaces_come_and_go() {
    let mut world = World::new();
    let put = |tenant: &str, info: Value, must_be_new| Question::PutTenant {
        tenant: tenant.to_owned(),
        info,
        must_be_new,
    };
    let info = json!({"allowedClusters": ["standalone"]});
    let conflict = |text: &str| (Why::Conflict, text.to_owned());
    let condition = |text: &str| (Why::Precondition, text.to_owned());
    let missing = |text: &str| (Why::NotFound, text.to_owned());
    world.ask(put("t1", info.clone(), true)).unwrap();
    assert_eq!(
        world.refused(put("t1", info.clone(), true)),
        conflict("Tenant already exist")
    );
    assert_eq!(
        world.refused(put("t2", json!({}), true)),
        condition("Clusters cannot be null")
    );
    assert_eq!(
        world.refused(put("t2", json!({"allowedClusters": []}), true)),
        condition("Clusters cannot be empty or blank")
    );
    assert_eq!(
        world.refused(put("t2", json!({"allowedClusters": ["nope"]}), true)),
        condition("Clusters do not exist")
    );
    assert_eq!(
        world.refused(put("t x", info.clone(), true)),
        condition("Tenant name is not valid")
    );
    assert_eq!(
        world.refused(put("t2", info, false)),
        missing("Tenant t2 not found")
    );
    assert_eq!(
        world.ask(Question::Tenants).unwrap(),
        json!(["public", "t1"])
    );

    let create = |name: &str, policies| Question::CreateNamespace {
        namespace: namespace(name),
        policies,
        default_cluster: "standalone".to_owned(),
        bundles: 4,
    };
    assert_eq!(
        world.refused(create("none/n", None)),
        missing("Tenant does not exist")
    );
    world.ask(create("t1/n", None)).unwrap();
    assert_eq!(
        world.refused(create("t1/n", None)),
        conflict("Namespace already exists")
    );
    let retention = json!({"retentionTimeInMinutes": 10, "retentionSizeInMB": 5});
    let given = json!({"retention_policies": retention});
    world.ask(create("t1/n2", Some(given))).unwrap();
    let list = Question::Namespaces {
        tenant: "t1".to_owned(),
    };
    assert_eq!(world.ask(list).unwrap(), json!(["t1/n", "t1/n2"]));
    let policies = Question::Policies {
        namespace: namespace("t1/n2"),
    };
    let policies = world.ask(policies).unwrap();
    assert_eq!(policies["retention_policies"], retention);
    assert_eq!(policies["replication_clusters"], json!(["standalone"]));
    // As Pulsar splits it.
    assert_eq!(
        policies["bundles"],
        json!({"boundaries": ["0x00000000", "0x40000000", "0x80000000", "0xc0000000", "0xffffffff"], "numBundles": 4})
    );
    assert_eq!(policies["is_allow_auto_update_schema"], json!(true));

    let delete_tenant = || Question::DeleteTenant {
        tenant: "t1".to_owned(),
    };
    let delete = |name: &str| Question::DeleteNamespace {
        namespace: namespace(name),
    };
    assert_eq!(
        world.refused(delete_tenant()),
        conflict("The tenant still has active namespaces")
    );
    world
        .ask(Question::CreateTopic {
            topic: topic("t1/n/x"),
        })
        .unwrap();
    assert_eq!(
        world.refused(delete("t1/n")),
        conflict("Cannot delete non empty namespace")
    );
    world.ask(delete("t1/n2")).unwrap();
    assert_eq!(
        world.refused(delete("t1/n2")),
        missing("Namespace t1/n2 does not exist.")
    );
}

#[test]
fn one_policy_is_set_shown_and_removed() {
    let mut world = World::new();
    let get = || Question::Policy {
        namespace: namespace("public/default"),
        field: "message_ttl_in_seconds",
    };
    let set = |value| Question::SetPolicy {
        namespace: namespace("public/default"),
        field: "message_ttl_in_seconds",
        value,
    };
    assert_eq!(world.ask(get()).unwrap(), Value::Null);
    world.ask(set(json!(60))).unwrap();
    assert_eq!(world.ask(get()).unwrap(), json!(60));
    world.ask(set(Value::Null)).unwrap();
    assert_eq!(world.ask(get()).unwrap(), Value::Null);
    let long = Value::from("x".repeat(1 << 20));
    assert_eq!(world.refused(set(long)).0, Why::Precondition);
}

#[test]
fn a_partitioned_topic_has_its_partitions_from_the_beginning() {
    let mut world = World::new();
    world.ask(partitioned("p", 3)).unwrap();
    let names = |count: u32| -> Vec<String> {
        let names =
            (0..count).map(|index| format!("persistent://public/default/p-partition-{index}"));
        names.collect()
    };
    assert_eq!(
        world.ask(topics_of("public/default")).unwrap(),
        json!(names(3))
    );
    let list = Question::PartitionedTopics {
        namespace: namespace("public/default"),
        persistent: true,
    };
    assert_eq!(
        world.ask(list).unwrap(),
        json!(["persistent://public/default/p"])
    );
    let exists = (Why::Conflict, "This topic already exists".to_owned());
    assert_eq!(world.refused(partitioned("p", 3)), exists);
    assert_eq!(
        world.refused(Question::CreateTopic { topic: topic("p") }),
        exists
    );
    assert_eq!(world.refused(partitioned("q", 0)).0, Why::NotAcceptable);
    assert_eq!(
        world.refused(partitioned("q-partition-1", 2)).0,
        Why::Precondition
    );
    assert_eq!(
        world.refused(partitioned("public/none/q", 2)),
        (Why::NotFound, "Namespace not found".to_owned())
    );
    assert_eq!(
        world.refused(update("p", 2)),
        (
            Why::Unprocessable,
            "Desired partitions 2 can't be less than the current partitions 3.".to_owned()
        )
    );
    assert_eq!(world.refused(update("p", 11)).0, Why::NotAcceptable);
    assert_eq!(
        world.refused(update("none", 5)),
        (
            Why::Conflict,
            "Topic persistent://public/default/none is not the partitioned topic.".to_owned()
        )
    );
    world.ask(update("p", 5)).unwrap();
    assert_eq!(
        world.ask(topics_of("public/default")).unwrap(),
        json!(names(5))
    );
}

#[test]
fn a_partition_is_made_only_where_its_parent_has_it() {
    let mut world = World::new();
    world.ask(partitioned("p", 2)).unwrap();
    let create = |name: &str| Question::CreateTopic { topic: topic(name) };
    assert_eq!(world.refused(create("p-partition-2")).0, Why::Precondition);
    assert_eq!(world.refused(create("q-partition-0")).0, Why::Precondition);
    assert_eq!(world.refused(create("p-partition-1")).0, Why::Conflict);
    world.ask(create("q")).unwrap();
}

#[test]
fn system_topics_are_not_listed() {
    let mut world = World::new();
    for name in ["a", "__change_events", "a-sub__transaction_pending_ack"] {
        world
            .ask(Question::CreateTopic { topic: topic(name) })
            .unwrap();
    }
    assert_eq!(
        world.ask(topics_of("public/default")).unwrap(),
        json!(["persistent://public/default/a"])
    );
}

#[test]
fn what_somebody_else_changed_meanwhile_is_decided_again() {
    let mut world = World::new();
    let mut errand = Errand::new(Question::SetPolicy {
        namespace: namespace("public/default"),
        field: "a",
        value: json!(1),
    });
    let Step::Ask(reads) = errand.go_on(Vec::new()) else {
        panic!("it reads first")
    };
    let replies = world.turn(reads);
    let Step::Ask(writes) = errand.go_on(replies) else {
        panic!("then it writes")
    };
    world.put("/admin/policies/public/default", r#"{"b":2}"#);
    let replies = world.turn(writes);
    let Step::Ask(reads) = errand.go_on(replies) else {
        panic!("it was too late, and reads again")
    };
    let replies = world.turn(reads);
    let Step::Ask(writes) = errand.go_on(replies) else {
        panic!("and writes again")
    };
    let replies = world.turn(writes);
    assert_eq!(errand.go_on(replies), Step::Done(Ok(Value::Null)));
    let field = |field| Question::Policy {
        namespace: namespace("public/default"),
        field,
    };
    assert_eq!(world.ask(field("a")).unwrap(), json!(1));
    assert_eq!(world.ask(field("b")).unwrap(), json!(2));
}

#[test]
fn damaged_values_are_named() {
    let mut world = World::new();
    world.put("/admin/policies/public/default", "not json");
    let (why, text) = world.refused(Question::Policies {
        namespace: namespace("public/default"),
    });
    assert_eq!(why, Why::Storage);
    assert!(text.contains("/admin/policies/public/default"), "{text}");
    world.put(
        "/admin/partitioned-topics/public/default/persistent/p",
        r#"{"partitions":-1}"#,
    );
    world.put("/admin/policies/public/default", "{}");
    assert_eq!(world.refused(update("p", 5)).0, Why::Storage);
}

#[test]
fn patterns_are_of_names_without_domain_and_partition() {
    let matches =
        |pattern: &str, name: &str| TopicPattern::parse(pattern).unwrap().matches(&topic(name));
    assert!(matches("public/default/a.*", "abc"));
    assert!(matches(
        "persistent://public/default/a.*",
        "abc-partition-7"
    ));
    assert!(!matches("public/default/a", "ab"), "the whole name");
    assert!(matches("public/default/(a|b)", "b-partition-0"));
    assert!(!matches("public/default/b|a", "public/other/a"));
    assert!(TopicPattern::parse("(").is_err());
    assert!(TopicPattern::parse("(?=a)").is_err(), "no look-around");
    let huge = "(a{1000}){1000}";
    assert!(TopicPattern::parse(huge).is_err(), "bounded memory");
}

#[test]
fn entries_of_policies_that_are_maps_come_and_go_alone() {
    let mut world = World::new();
    let set = |key: &str, value| Question::SetPolicyEntry {
        namespace: namespace("public/default"),
        fields: vec!["topicDispatchRate", "clusterDispatchRate"],
        key: key.to_owned(),
        value,
    };
    world.ask(set("here", json!({"rate": 1}))).unwrap();
    world.ask(set("there", json!({"rate": 2}))).unwrap();
    world.ask(set("here", Value::Null)).unwrap();
    for field in ["topicDispatchRate", "clusterDispatchRate"] {
        let get = Question::Policy {
            namespace: namespace("public/default"),
            field,
        };
        assert_eq!(world.ask(get).unwrap(), json!({"there": {"rate": 2}}));
    }
}

#[test]
fn permissions_of_a_topic_stand_beside_those_of_its_namespace() {
    let mut world = World::new();
    let name = || Some("persistent://public/default/t".to_owned());
    let set = |topic, role: &str, actions| Question::SetPermission {
        namespace: namespace("public/default"),
        topic,
        role: role.to_owned(),
        actions,
    };
    let get = |topic| Question::Permissions {
        namespace: namespace("public/default"),
        topic,
    };
    world.ask(set(None, "r", json!(["produce"]))).unwrap();
    world
        .ask(set(name(), "r", json!(["consume", "produce"])))
        .unwrap();
    world.ask(set(name(), "s", json!(["sinks"]))).unwrap();
    assert_eq!(world.ask(get(None)).unwrap(), json!({"r": ["produce"]}));
    let both = json!({"r": ["consume", "produce"], "s": ["sinks"]});
    assert_eq!(world.ask(get(name())).unwrap(), both);
    world.ask(set(name(), "r", Value::Null)).unwrap();
    let rest = json!({"r": ["produce"], "s": ["sinks"]});
    assert_eq!(world.ask(get(name())).unwrap(), rest);
    let (why, text) = world.refused(set(None, "r", json!(["fly"])));
    assert!(why == Why::Precondition && text.contains("fly"), "{text}");
}
