//! Owns: one desk with the logs of its topics, their schemas, and the ledger store below them, and the order in which they talk.
//! Never: waits, starts a thread, opens a file. The broker's threads and the simulator both drive it, turn by turn.
//! Told: [`ShardInput`]s. Says: [`ShardOutputs`].
//! Read first: [`Shard::turn`].
//!
//! ```text
//!   letters in ──▶ desk ──▶ topic-log ──▶ local ledger store ──▶ bookie requests out
//!   letters out ◀── │  ◀───────│───▶ metadata requests out ◀──────│
//!                   bookie and metadata replies come back in, bottom up
//! ```

mod ask;
mod schemas;

pub use ask::{CloseFigures, ShardAnswer, ShardAsk, TopicFigures};

use bookie::local::{LocalEffect, LocalLedgerStore};
use bookie::{BookieReply, BookieRequest};
use desk::{Desk, DeskEffect, DeskInput};
use letters::{ToSession, ToTopic, TopicLetter};
use metadata_store::{MetadataReply, MetadataRequest};
use schema_registry::Registry;
use std::collections::VecDeque;
use std::sync::Arc;
use topic::{NameSource, TopicSettings};
use topic_log::{Effect as TopicLogEffect, Settings as TopicLogSettings, TopicLogs};
use vocabulary::{Moment, Now, TopicName};

#[cfg(test)]
mod shard_tests;

/// One thing that happened, as a shard is told it.
#[derive(Debug)]
pub enum ShardInput {
    /// A session wrote to a topic of this shard.
    Letter(ToTopic),
    /// The bookie answered.
    Bookie(BookieReply),
    /// The metadata store answered.
    Metadata(MetadataReply),
    /// Somebody asks about the shard itself.
    Ask(ShardAsk),
    /// The moment of [`ShardOutputs::wake_at`] is here.
    TimeCame,
}

/// What a turn produced. The owner takes it all before the next turn.
#[derive(Debug, Default)]
pub struct ShardOutputs {
    /// For sessions, in order.
    pub letters: Vec<ToSession>,
    /// For the bookie, in order.
    pub bookie: Vec<BookieRequest>,
    /// For the metadata store, in order.
    pub metadata: Vec<MetadataRequest>,
    /// What an operator should read, with the topic it is about.
    pub reports: Vec<(TopicName, String)>,
    /// Answers to asks.
    pub answers: Vec<ShardAnswer>,
    /// When the shard wants [`ShardInput::TimeCame`] at the latest; the newest value counts.
    pub wake_at: Option<Moment>,
}

/// How a shard is set up.
#[derive(Clone, Debug)]
pub struct ShardSettings {
    /// For topics.
    pub topic: Arc<TopicSettings>,
    /// Where generated producer names come from; this shard's own.
    pub names: Arc<NameSource>,
    /// For their logs.
    pub log: TopicLogSettings,
}

/// One desk with its logs and its ledger store.
pub struct Shard {
    desk: Desk,
    logs: TopicLogs,
    schemas: Registry,
    ledgers: LocalLedgerStore,
    logs_wake_at: Option<Moment>,
    work: VecDeque<Work>,
    desk_effects: Vec<DeskEffect>,
    log_effects: Vec<TopicLogEffect>,
    local_effects: Vec<LocalEffect>,
}

/// What is still to be carried between the rooms in this turn, first come first served.
enum Work {
    Desk(DeskInput),
    Log(TopicName, letters::LogRequest),
    Ledger(ledger_store::LedgerRequest),
    LedgerAnswer(ledger_store::LedgerReply),
}

impl Shard {
    /// A shard over a ledger store on this machine's bookie.
    #[must_use]
    pub fn new(settings: ShardSettings, ledgers: LocalLedgerStore) -> Shard {
        Shard {
            desk: Desk::new(settings.topic, settings.names),
            logs: TopicLogs::new(settings.log),
            schemas: Registry::new(),
            ledgers,
            logs_wake_at: None,
            work: VecDeque::new(),
            desk_effects: Vec::new(),
            log_effects: Vec::new(),
            local_effects: Vec::new(),
        }
    }

    /// Takes all of `inputs` (leaving it empty), decides, and adds what it says to `outputs`.
    pub fn turn(&mut self, now: Now, inputs: &mut Vec<ShardInput>, outputs: &mut ShardOutputs) {
        for input in inputs.drain(..) {
            match input {
                ShardInput::Letter(ToTopic {
                    topic,
                    session,
                    letter: TopicLetter::Schema { request_id, ask },
                }) => self.schema_asked(now, &topic, session, request_id, ask, outputs),
                ShardInput::Letter(letter) => self
                    .work
                    .push_back(Work::Desk(DeskInput::LetterCame(letter))),
                ShardInput::Bookie(reply) => {
                    self.ledgers.handle_bookie(reply, &mut self.local_effects);
                    self.sort_local_effects(outputs);
                }
                ShardInput::Metadata(reply) => self.metadata_answered(now, reply, outputs),
                ShardInput::Ask(ask) => self.asked(now, ask, outputs),
                ShardInput::TimeCame => {
                    self.work.push_back(Work::Desk(DeskInput::TimeCame));
                    if self.logs_wake_at.is_some_and(|moment| moment <= now.moment) {
                        self.logs_wake_at = None;
                        self.logs.handle_time(now, &mut self.log_effects);
                        self.sort_log_effects(outputs);
                    }
                }
            }
            self.carry_on(now, outputs);
        }
        outputs.wake_at = match (self.desk.wake_at(), self.logs_wake_at) {
            (Some(desk), Some(logs)) => Some(desk.min(logs)),
            (desk, logs) => desk.or(logs),
        };
    }

    /// The desk, for those who look in.
    #[must_use]
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// The logs, for those who look in.
    #[must_use]
    pub fn logs(&self) -> &TopicLogs {
        &self.logs
    }

    fn metadata_answered(&mut self, now: Now, reply: MetadataReply, outputs: &mut ShardOutputs) {
        if LocalLedgerStore::owns(&reply) {
            self.ledgers.handle_metadata(reply, &mut self.local_effects);
            self.sort_local_effects(outputs);
        } else if let Some(reply) = self.schema_metadata_answered(now, reply, outputs) {
            self.logs.handle_metadata(now, reply, &mut self.log_effects);
            self.sort_log_effects(outputs);
        }
    }

    fn carry_on(&mut self, now: Now, outputs: &mut ShardOutputs) {
        while let Some(work) = self.work.pop_front() {
            match work {
                Work::Desk(input) => {
                    self.desk.handle(now, input, &mut self.desk_effects);
                    self.sort_desk_effects(outputs);
                }
                Work::Log(topic, request) => {
                    self.logs
                        .handle_request(now, &topic, request, &mut self.log_effects);
                    self.sort_log_effects(outputs);
                }
                Work::Ledger(request) => {
                    self.ledgers
                        .handle_request(request, &mut self.local_effects);
                    self.sort_local_effects(outputs);
                }
                Work::LedgerAnswer(reply) if self.is_of_schemas(&reply) => {
                    self.schema_ledger_answered(now, reply, outputs);
                }
                Work::LedgerAnswer(reply) => {
                    self.logs.handle_ledger(now, reply, &mut self.log_effects);
                    self.sort_log_effects(outputs);
                }
            }
        }
    }

    fn sort_desk_effects(&mut self, outputs: &mut ShardOutputs) {
        for effect in self.desk_effects.drain(..) {
            match effect {
                DeskEffect::Letter(letter) => outputs.letters.push(letter),
                DeskEffect::Log { topic, request } => {
                    self.work.push_back(Work::Log(topic, request))
                }
                DeskEffect::Report { topic, text } => outputs.reports.push((topic, text)),
            }
        }
    }

    fn sort_log_effects(&mut self, outputs: &mut ShardOutputs) {
        for effect in self.log_effects.drain(..) {
            match effect {
                TopicLogEffect::Ledger(request) => self.work.push_back(Work::Ledger(request)),
                TopicLogEffect::Metadata(request) => outputs.metadata.push(request),
                TopicLogEffect::Reply(topic, reply) => {
                    self.work
                        .push_back(Work::Desk(DeskInput::LogAnswered { topic, reply }));
                }
                TopicLogEffect::WakeAt(moment) => {
                    let earlier = self.logs_wake_at.is_none_or(|set| moment < set);
                    if earlier {
                        self.logs_wake_at = Some(moment);
                    }
                }
            }
        }
    }

    fn sort_local_effects(&mut self, outputs: &mut ShardOutputs) {
        for effect in self.local_effects.drain(..) {
            match effect {
                LocalEffect::Bookie(request) => outputs.bookie.push(request),
                LocalEffect::Metadata(request) => outputs.metadata.push(request),
                LocalEffect::Reply(reply) => self.work.push_back(Work::LedgerAnswer(reply)),
            }
        }
    }
}
