//! What all connections and pages of one broker share.

use crate::asks::Asks;
use crate::clerk::Clerk;
use crate::registry::Registry;
use crate::threads::desk_inbox::DeskInbox;
use crate::{BrokerSettings, counters::Counters};
use os_world::OsClock;
use session::{Gate, SessionSettings};
use shard::{ShardAnswer, ShardAsk};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vocabulary::{Moment, NamespaceName, Now, ShardId, TopicName, WallTime};
use world::Clock;

/// What all connections and pages share. Nothing in it decides anything about a topic.
pub struct House {
    /// As the application gave them.
    pub settings: BrokerSettings,
    /// For sessions.
    pub session_settings: Arc<SessionSettings>,
    /// Who may do what.
    pub gate: Arc<dyn Gate>,
    /// Who is connected.
    pub registry: Arc<Registry>,
    /// One for each shard.
    pub desks: Vec<Arc<DeskInbox>>,
    /// Questions about what is above topics.
    pub clerk: Clerk,
    /// Questions to shards.
    pub asks: Arc<Asks>,
    /// For the metrics page.
    pub counters: Arc<Counters>,
    /// The only clock.
    pub clock: OsClock,
}

impl House {
    /// Both clocks, as the core wants them.
    pub fn now(&self) -> Now {
        read(&self.clock)
    }

    /// The non-persistent topics of a namespace that have producers or consumers, sorted; `None` if a shard does not
    /// answer in time.
    pub async fn passing(&self, namespace: &NamespaceName) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for desk in &self.desks {
            let question = |id| ShardAsk::Passing {
                id,
                namespace: namespace.clone(),
            };
            match self.asks.ask(desk, question).await? {
                ShardAnswer::Passing { topics, .. } => names.extend(topics),
                _ => return None,
            }
        }
        names.sort();
        Some(names)
    }

    /// The desk whose shard has this topic; each topic has one as long as the process lives.
    pub fn shard_of(&self, topic: &TopicName) -> usize {
        ShardId::of(topic, self.desks.len()).index()
    }
}

/// Both clocks, as the core wants them.
pub fn read(clock: &OsClock) -> Now {
    Now {
        moment: Moment(clock.monotonic_ns()),
        wall: WallTime(clock.wall_ms()),
    }
}

/// When, on the system's own clock, a moment will be; now if it is past.
pub fn instant_of(clock: &OsClock, moment: Moment) -> Instant {
    let left = moment.since(Moment(clock.monotonic_ns()));
    // A wait of more than a day may end early: who is woken early does nothing and waits again.
    Instant::now() + left.min(Duration::from_secs(86_400))
}
