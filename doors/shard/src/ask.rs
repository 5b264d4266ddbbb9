//! Questions about a shard itself: what people and dashboards want to know, and the farewell.

use crate::{Shard, ShardOutputs, Work};
use desk::DeskInput;
use managed_ledger::LogDetails;
use topic::{TopicDetails, TopicStats};
use topic_log::Stats as TopicLogStats;
use vocabulary::{NamespaceName, Now, TopicName};

/// A question. `id` is echoed.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum ShardAsk {
    /// Are you taking turns? Answer: `Here`.
    Ping { id: u64 },
    /// The figures of all topics in memory. Answer: `Figures`.
    Figures { id: u64 },
    /// The figures of one topic. Answer: `Topic`.
    Topic { id: u64, topic: TopicName },
    /// The names of the namespace's non-persistent topics that have producers or consumers. Answer: `Passing`.
    Passing { id: u64, namespace: NamespaceName },
    /// The process is about to end: tell everyone, save everything. No answer; [`Shard::is_idle`] tells when.
    Shutdown,
}

/// An answer.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each variant's text explains its fields")]
pub enum ShardAnswer {
    /// To `Ping`.
    Here { id: u64 },
    /// To `Figures`.
    Figures {
        id: u64,
        topics: Vec<TopicFigures>,
        logs: TopicLogStats,
    },
    /// To `Topic`; `None` if it is not in memory.
    Topic {
        id: u64,
        figures: Option<Box<CloseFigures>>,
    },
    /// To `Passing`, sorted.
    Passing { id: u64, topics: Vec<String> },
}

/// One topic's figures, seen closely.
#[derive(Clone, Debug)]
pub struct CloseFigures {
    /// What its own room counts.
    pub stats: TopicStats,
    /// More of that.
    pub details: TopicDetails,
    /// What its log knows.
    pub log: LogDetails,
}

/// One topic's figures.
#[derive(Clone, Debug)]
pub struct TopicFigures {
    /// Which.
    pub topic: TopicName,
    /// What its own room counts.
    pub stats: TopicStats,
}

impl Shard {
    /// True when nothing is in memory that is not saved: after `Shutdown`, the time to go.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.desk.is_idle() && self.schemas.is_idle()
    }

    pub(crate) fn asked(&mut self, _now: Now, ask: ShardAsk, outputs: &mut ShardOutputs) {
        match ask {
            ShardAsk::Ping { id } => outputs.answers.push(ShardAnswer::Here { id }),
            ShardAsk::Figures { id } => {
                let mut topics: Vec<TopicFigures> = self
                    .desk
                    .topics()
                    .map(|topic| TopicFigures {
                        topic: topic.name().clone(),
                        stats: topic.stats(),
                    })
                    .collect();
                topics.sort_by(|a, b| a.topic.cmp(&b.topic));
                outputs.answers.push(ShardAnswer::Figures {
                    id,
                    topics,
                    logs: self.logs.stats(),
                });
            }
            ShardAsk::Topic { id, topic } => {
                let figures = self.desk.topic(&topic).map(|found| {
                    Box::new(CloseFigures {
                        stats: found.stats(),
                        details: found.details(),
                        log: self.logs.details(&topic).unwrap_or_default(),
                    })
                });
                outputs.answers.push(ShardAnswer::Topic { id, figures });
            }
            ShardAsk::Passing { id, namespace } => {
                let here = self.desk.topics().filter(|topic| topic.passes_now());
                let here = here.filter(|topic| topic.name().namespace() == &namespace);
                let mut topics: Vec<String> = here.map(|topic| topic.name().to_string()).collect();
                topics.sort();
                outputs.answers.push(ShardAnswer::Passing { id, topics });
            }
            ShardAsk::Shutdown => self.work.push_back(Work::Desk(DeskInput::ShutdownBegan)),
        }
    }
}
