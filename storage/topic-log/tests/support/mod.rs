//! Topic logs over two stores, driven turn by turn.

pub mod machine;
pub mod memory;

use ledger_store::{LedgerReply, LedgerRequest};
use letters::{LogReply, LogRequest};
use metadata_store::{MetadataReply, MetadataRequest};
use std::time::Duration;
use topic_log::suite::LogsUnderTest;
use topic_log::{Effect, Settings, TopicLogs};
use vocabulary::name::url_encode;
use vocabulary::{Moment, NamespaceName, Now, TopicName};

/// The two stores.
pub trait Stores {
    /// Takes requests, lets a little time pass, answers some.
    fn turn(
        &mut self,
        now: Now,
        ledgers: Vec<LedgerRequest>,
        nodes: Vec<MetadataRequest>,
    ) -> (Vec<LedgerReply>, Vec<MetadataReply>);
    /// Writes a node, right now.
    fn put(&mut self, path: &str, value: &str);
    /// The process that asks dies. No answer to what it asked comes any more.
    fn crash(&mut self);
}

pub struct Rig<S> {
    pub stores: S,
    pub logs: TopicLogs,
    settings: Settings,
    millis: u64,
    wake_at: Option<Moment>,
    ledgers: Vec<LedgerRequest>,
    nodes: Vec<MetadataRequest>,
    replies: Vec<(TopicName, LogReply)>,
}

/// Small ledgers, so that much happens to the list.
pub fn small() -> Settings {
    let managed_ledger = managed_ledger::Settings {
        ledger_entries_max: 5,
        rollover_age_min: Duration::ZERO,
        cursor_ledger_entries_max: 8,
        node_snapshot_bytes_max: 64,
        cursor_part_bytes_max: 100_000,
        ..managed_ledger::Settings::default()
    };
    Settings {
        managed_ledger,
        cache_bytes: 4_000,
    }
}

impl<S: Stores> Rig<S> {
    pub fn new(stores: S, settings: Settings) -> Rig<S> {
        Rig {
            stores,
            logs: TopicLogs::new(settings.clone()),
            settings,
            millis: 1_000,
            wake_at: None,
            ledgers: Vec::new(),
            nodes: Vec::new(),
            replies: Vec::new(),
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Ledger(request) => self.ledgers.push(request),
                Effect::Metadata(request) => self.nodes.push(request),
                Effect::Reply(topic, reply) => self.replies.push((topic, reply)),
                Effect::WakeAt(at) => {
                    self.wake_at = Some(self.wake_at.map_or(at, |set| set.min(at)))
                }
            }
        }
    }
}

impl<S: Stores> LogsUnderTest for Rig<S> {
    fn create_namespace(&mut self, namespace: &NamespaceName) {
        self.stores
            .put(&format!("/admin/policies/{namespace}"), "{}");
    }

    fn create_partitioned(&mut self, topic: &TopicName, partitions: u32) {
        let (namespace, domain) = (topic.namespace(), topic.domain().as_str());
        let path = format!(
            "/admin/partitioned-topics/{namespace}/{domain}/{}",
            url_encode(topic.local())
        );
        self.stores.put(
            &path,
            &format!("{{\"partitions\":{partitions},\"deleted\":false,\"properties\":{{}}}}"),
        );
    }

    fn submit(&mut self, topic: &TopicName, request: LogRequest) {
        let mut effects = Vec::new();
        self.logs
            .handle_request(Now::at_millis(self.millis), topic, request, &mut effects);
        self.carry_out(effects);
    }

    fn turn(&mut self) -> Vec<(TopicName, LogReply)> {
        self.millis += 50;
        let now = Now::at_millis(self.millis);
        let mut effects = Vec::new();
        if self.wake_at.is_some_and(|at| at <= now.moment) {
            self.wake_at = None;
            self.logs.handle_time(now, &mut effects);
        }
        let (ledgers, nodes) = (
            std::mem::take(&mut self.ledgers),
            std::mem::take(&mut self.nodes),
        );
        let (ledgers, nodes) = self.stores.turn(now, ledgers, nodes);
        for reply in ledgers {
            self.logs.handle_ledger(now, reply, &mut effects);
        }
        for reply in nodes {
            self.logs.handle_metadata(now, reply, &mut effects);
        }
        self.carry_out(effects);
        std::mem::take(&mut self.replies)
    }

    fn crash(&mut self) {
        self.stores.crash();
        self.logs = TopicLogs::new(self.settings.clone());
        self.wake_at = None;
        self.ledgers.clear();
        self.nodes.clear();
        self.replies.clear();
    }
}
