//! Topic logs in memory, for tests of those who use the seam: they keep its promises and not one more.
//!
//! [`MemoryLogs::well_behaved`] answers everything in the next turn. [`MemoryLogs::adversary`] is late,
//! out of order across topics, says `NotStored` of appends that a crash then brings back, loses cursor
//! records, changes ledgers, and tells a topic that its log is lost. Within one topic answers to appends
//! keep their order. [`MemoryLogs::crash`] is a power cut: what was not answered may be there or not.
//! What it does is decided by the dice it is handed, so a seed repeats it.

mod kept;

use kept::Kept;
use letters::log::{CursorRecord, TopicFacts};
use letters::{LogError, LogReply, LogRequest};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use vocabulary::{NamespaceName, Position, TopicName};
use world::Dice;

/// How much trouble it makes; all numbers are chances out of 1000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// A topic's requests, or its answers, wait one more turn. More than 900 counts as 900.
    pub delay: u64,
    /// An append fails, and with it all that wait behind it.
    pub not_stored: u64,
    /// A cursor record fails; it may be there or not.
    pub not_saved: u64,
    /// A read fails.
    pub not_read: u64,
    /// An entry goes to a new ledger.
    pub roll: u64,
    /// The log is lost, per turn in which it is asked something.
    pub lost: u64,
}

impl Trouble {
    /// Late, with many ledgers, but every answer is a straight one.
    #[must_use]
    pub fn only_late() -> Trouble {
        Trouble {
            delay: 400,
            roll: 200,
            ..Trouble::default()
        }
    }

    /// All of it.
    #[must_use]
    pub fn everything() -> Trouble {
        Trouble {
            delay: 400,
            not_stored: 50,
            not_saved: 50,
            not_read: 50,
            roll: 200,
            lost: 10,
        }
    }
}

/// The logs.
#[derive(Debug, Default)]
pub struct MemoryLogs {
    trouble: Trouble,
    namespaces: BTreeSet<String>,
    partitioned: BTreeMap<String, u32>,
    kept: BTreeMap<TopicName, Kept>,
    open: BTreeSet<TopicName>,
    requests: BTreeMap<TopicName, VecDeque<LogRequest>>,
    replies: BTreeMap<TopicName, VecDeque<LogReply>>,
    last_ledger: i64,
}

impl MemoryLogs {
    /// Answers everything in the next turn, in order.
    #[must_use]
    pub fn well_behaved() -> MemoryLogs {
        MemoryLogs::default()
    }

    /// Makes trouble.
    #[must_use]
    pub fn adversary(trouble: Trouble) -> MemoryLogs {
        MemoryLogs {
            trouble: Trouble {
                delay: trouble.delay.min(900),
                ..trouble
            },
            ..MemoryLogs::default()
        }
    }

    /// From now on this namespace exists.
    pub fn create_namespace(&mut self, namespace: &NamespaceName) {
        self.namespaces.insert(namespace.to_string());
    }

    /// From now on this topic has so many partitions.
    pub fn create_partitioned(&mut self, topic: &TopicName, partitions: u32) {
        self.partitioned.insert(topic.to_string(), partitions);
    }

    /// From now on this entry cannot be read.
    pub fn damage(&mut self, topic: &TopicName, position: Position) {
        self.kept
            .entry(topic.clone())
            .or_default()
            .damaged
            .insert(position);
    }

    /// Takes a request; it is answered in some later [`turn`](MemoryLogs::turn).
    pub fn submit(&mut self, topic: &TopicName, request: LogRequest) {
        self.requests
            .entry(topic.clone())
            .or_default()
            .push_back(request);
    }

    /// Nothing waits in it.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.requests.is_empty() && self.replies.is_empty()
    }

    /// Carries out what its mood lets it, and answers.
    pub fn turn(&mut self, dice: &mut dyn Dice) -> Vec<(TopicName, LogReply)> {
        for topic in shuffled(self.requests.keys().cloned().collect(), dice) {
            while !dice.chance(self.trouble.delay, 1000) {
                let Some(request) = self.next_request(&topic) else {
                    break;
                };
                self.carry_out(&topic, request, dice);
            }
        }
        let mut told = Vec::new();
        for topic in shuffled(self.replies.keys().cloned().collect(), dice) {
            let Some(mut waiting) = self.replies.remove(&topic) else {
                continue;
            };
            while !waiting.is_empty() && !dice.chance(self.trouble.delay, 1000) {
                told.extend(waiting.pop_front().map(|reply| (topic.clone(), reply)));
            }
            if !waiting.is_empty() {
                self.replies.insert(topic, waiting);
            }
        }
        told
    }

    /// The power is cut: answers under way are gone, and of the appends and cursor records that were not
    /// answered some happened, the earlier ones first.
    pub fn crash(&mut self, dice: &mut dyn Dice) {
        for (topic, requests) in std::mem::take(&mut self.requests) {
            let Some(kept) = self.kept.get_mut(&topic) else {
                continue;
            };
            if !self.open.contains(&topic) {
                continue;
            }
            for request in requests {
                match request {
                    LogRequest::Append { body, .. } => kept.ghosts.push(body),
                    LogRequest::SaveCursor { name, record, .. } => {
                        kept.may_save(name, record, dice)
                    }
                    _ => {}
                }
            }
        }
        for kept in self.kept.values_mut() {
            kept.bring_back_ghosts(&mut self.last_ledger, dice);
            kept.broken.clear();
        }
        self.open.clear();
        self.replies.clear();
    }

    fn next_request(&mut self, topic: &TopicName) -> Option<LogRequest> {
        let waiting = self.requests.get_mut(topic)?;
        let request = waiting.pop_front();
        if waiting.is_empty() {
            self.requests.remove(topic);
        }
        request
    }

    fn say(&mut self, topic: &TopicName, reply: LogReply) {
        self.replies
            .entry(topic.clone())
            .or_default()
            .push_back(reply);
    }

    fn carry_out(&mut self, topic: &TopicName, request: LogRequest, dice: &mut dyn Dice) {
        match request {
            LogRequest::Find { ticket } => {
                let facts = TopicFacts {
                    exists: self.kept.contains_key(topic),
                    namespace_exists: self.namespaces.contains(topic.namespace().as_str()),
                    // Of a partition: how many its topic has.
                    partitions: self.partitioned.get(topic.base()).copied(),
                };
                self.say(
                    topic,
                    LogReply::Found {
                        ticket,
                        result: Ok(facts),
                    },
                );
            }
            LogRequest::Open { create } => {
                let reply = self.open(topic, create);
                self.say(topic, reply);
            }
            request if !self.open.contains(topic) => {
                let error = LogError::Io(format!("the log of {topic} is not open"));
                self.fail(topic, request, &error);
            }
            request if dice.chance(self.trouble.lost, 1000) => self.lose(topic, request),
            request => self.carry_out_open(topic, request, dice),
        }
    }

    fn open(&mut self, topic: &TopicName, create: bool) -> LogReply {
        let failed = |error| LogReply::OpenFailed { error };
        if self.open.contains(topic) {
            return failed(LogError::Io(format!("the log of {topic} is open already")));
        }
        if !self.kept.contains_key(topic) {
            if !create {
                return failed(LogError::NoSuchTopic(topic.to_string()));
            }
            if !self.namespaces.contains(topic.namespace().as_str()) {
                return failed(LogError::NoSuchNamespace(topic.namespace().to_string()));
            }
        }
        self.open.insert(topic.clone());
        let kept = self.kept.entry(topic.clone()).or_default();
        kept.ledger = None;
        let cursors = kept.cursors.values().cloned().collect();
        LogReply::Opened {
            extent: kept.extent(),
            cursors,
            properties: kept.properties.clone().into_iter().collect(),
        }
    }

    fn carry_out_open(&mut self, topic: &TopicName, request: LogRequest, dice: &mut dyn Dice) {
        let trouble = self.trouble;
        let Some(kept) = self.kept.get_mut(topic) else {
            return;
        };
        let late = || LogError::Timeout("made to fail".to_owned());
        match request {
            LogRequest::Append { ticket, body, .. } if dice.chance(trouble.not_stored, 1000) => {
                kept.ghosts.push(body);
                self.say(
                    topic,
                    LogReply::NotStored {
                        ticket,
                        error: late(),
                    },
                );
                self.fail_appends_behind(topic, &late());
            }
            LogRequest::Append { ticket, body, .. } => {
                let position =
                    kept.store(body, &mut self.last_ledger, dice.chance(trouble.roll, 1000));
                self.say(topic, LogReply::Stored { ticket, position });
            }
            request @ (LogRequest::Read { .. } | LogRequest::ReadAt { .. })
                if dice.chance(trouble.not_read, 1000) =>
            {
                self.fail(topic, request, &late());
            }
            LogRequest::Read {
                ticket,
                from,
                until,
                entries_max,
                bytes_max,
            } => {
                let (entries, damaged) = kept.read(from, until, entries_max, bytes_max);
                self.say(
                    topic,
                    LogReply::Read {
                        ticket,
                        result: Ok(entries),
                        damaged,
                    },
                );
            }
            LogRequest::ReadAt {
                ticket,
                mut positions,
            } => {
                positions.sort_unstable();
                positions.dedup();
                let (damaged, fine): (Vec<_>, Vec<_>) = positions
                    .into_iter()
                    .partition(|position| kept.damaged.contains(position));
                let entries = fine
                    .into_iter()
                    .filter_map(|position| kept.entry(position))
                    .collect();
                self.say(
                    topic,
                    LogReply::Read {
                        ticket,
                        result: Ok(entries),
                        damaged,
                    },
                );
            }
            LogRequest::CreateCursor {
                ticket,
                name,
                snapshot,
            } => {
                let result = kept.create_cursor(&name, snapshot);
                self.say(
                    topic,
                    LogReply::CursorSaved {
                        ticket,
                        name,
                        result,
                    },
                );
            }
            LogRequest::SaveCursor {
                ticket,
                name,
                record,
            } if dice.chance(trouble.not_saved, 1000) => {
                if !(kept.broken.contains(&name) && matches!(record, CursorRecord::Delta(_))) {
                    kept.may_save(name.clone(), record, dice);
                }
                kept.broken.insert(name.clone());
                self.say(
                    topic,
                    LogReply::CursorSaved {
                        ticket,
                        name,
                        result: Err(late()),
                    },
                );
            }
            LogRequest::SaveCursor {
                ticket,
                name,
                record,
            } => {
                let result = kept.save(&name, record);
                self.say(
                    topic,
                    LogReply::CursorSaved {
                        ticket,
                        name,
                        result,
                    },
                );
            }
            LogRequest::DeleteCursor { ticket, name } => {
                kept.cursors.remove(&name);
                kept.broken.remove(&name);
                self.say(
                    topic,
                    LogReply::CursorDeleted {
                        ticket,
                        name,
                        result: Ok(()),
                    },
                );
            }
            LogRequest::SetProperty { ticket, key, value } => {
                let fails = dice.chance(trouble.not_saved, 1000);
                if !fails || dice.chance(500, 1000) {
                    kept.properties.insert(key, value);
                }
                let result = if fails { Err(late()) } else { Ok(()) };
                self.say(topic, LogReply::PropertySet { ticket, result });
            }
            LogRequest::Trim { up_to } => {
                if let Some(first) = kept.trim(up_to) {
                    self.say(topic, LogReply::Trimmed { first });
                }
            }
            LogRequest::Delete => {
                self.kept.remove(topic);
                self.open.remove(topic);
                self.say(topic, LogReply::Deleted { result: Ok(()) });
            }
            LogRequest::Close => {
                kept.ghosts.clear();
                kept.broken.clear();
                self.open.remove(topic);
                self.say(topic, LogReply::Closed);
            }
            LogRequest::Find { .. } | LogRequest::Open { .. } => {}
        }
    }

    fn fail_appends_behind(&mut self, topic: &TopicName, error: &LogError) {
        let waiting = self.requests.remove(topic).unwrap_or_default();
        let mut left = VecDeque::new();
        for request in waiting {
            match request {
                LogRequest::Append { ticket, body, .. } => {
                    if let Some(kept) = self.kept.get_mut(topic) {
                        kept.ghosts.push(body);
                    }
                    self.say(
                        topic,
                        LogReply::NotStored {
                            ticket,
                            error: error.clone(),
                        },
                    );
                }
                other => left.push_back(other),
            }
        }
        if !left.is_empty() {
            self.requests.insert(topic.clone(), left);
        }
    }

    /// Another owner took the log: everything that waits fails.
    fn lose(&mut self, topic: &TopicName, request: LogRequest) {
        let error = LogError::Fenced(topic.to_string());
        self.open.remove(topic);
        if let Some(kept) = self.kept.get_mut(topic) {
            kept.ghosts.clear();
            kept.broken.clear();
        }
        let waiting = self.requests.remove(topic).unwrap_or_default();
        for request in std::iter::once(request).chain(waiting) {
            // `Lost` is the answer to `Close`, too.
            if !matches!(request, LogRequest::Close | LogRequest::Delete) {
                self.fail(topic, request, &error);
            }
        }
        self.say(topic, LogReply::Lost { error });
    }

    fn fail(&mut self, topic: &TopicName, request: LogRequest, error: &LogError) {
        if let Some(reply) = crate::refusal::of(request, error) {
            self.say(topic, reply);
        }
    }
}

fn shuffled(mut topics: Vec<TopicName>, dice: &mut dyn Dice) -> Vec<TopicName> {
    for at in (1..topics.len()).rev() {
        topics.swap(at, dice.below(at as u64 + 1) as usize);
    }
    topics
}
