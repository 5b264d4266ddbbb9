//! Two topics under logs that make trouble, with crashes at any point, held against what was confirmed.

use super::LogsUnderTest;
use super::bench::{namespace, topic};
use bytes::Bytes;
use letters::log::CursorRecord;
use letters::{LogError, LogReply, LogRequest};
use std::collections::{BTreeMap, VecDeque};
use vocabulary::{Position, TopicName};
use world::Dice;

const CURSOR: &str = "sub";
const STEPS: usize = 300;
/// Turns in which a log must come to rest.
const TURNS_MAX: usize = 5_000;

/// What happened in a storm, so that a test can see that it was one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    /// Entries stored.
    pub stored: u64,
    /// Appends that failed.
    pub not_stored: u64,
    /// Cursor records kept.
    pub saved: u64,
    /// Entries read and compared.
    pub read: u64,
    /// Crashes, losses of the log, failed openings.
    pub ends: u64,
}

#[derive(Default)]
struct Topic {
    open: Open,
    appended: BTreeMap<u64, Bytes>,
    unanswered: VecDeque<u64>,
    confirmed: BTreeMap<Position, Bytes>,
    trimmed: Option<Position>,
    cursor: Option<Vec<u64>>,
    /// Every record ever asked for, with whether it was a snapshot.
    records: BTreeMap<u64, bool>,
    cursor_made: bool,
    needs_snapshot: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    #[default]
    No,
    Asked,
    Yes,
}

struct Storm<'a> {
    logs: &'a mut dyn LogsUnderTest,
    dice: &'a mut dyn Dice,
    topics: BTreeMap<TopicName, Topic>,
    next_ticket: u64,
    score: Score,
}

/// Runs one storm. The dice decide what is asked and when it crashes; the logs bring their own trouble.
pub fn storm(logs: &mut dyn LogsUnderTest, dice: &mut dyn Dice) -> Score {
    logs.create_namespace(&namespace("public/default"));
    let names = [
        "persistent://public/default/a",
        "persistent://public/default/b",
    ];
    let topics = names.map(|name| (topic(name), Topic::default())).into();
    let mut storm = Storm {
        logs,
        dice,
        topics,
        next_ticket: 0,
        score: Score::default(),
    };
    for _ in 0..STEPS {
        storm.step();
        storm.carry_on();
    }
    storm.come_to_rest();
    storm.score
}

impl Storm<'_> {
    fn step(&mut self) {
        let names: Vec<TopicName> = self.topics.keys().cloned().collect();
        let Some(name) = names.get(self.dice.below(names.len() as u64) as usize) else {
            return;
        };
        match self.dice.below(100) {
            0..45 => self.append(name),
            45..65 => self.save(name),
            65..75 => self.read(name),
            75..79 => self.trim(name),
            79..81 => self.submit(name, LogRequest::Close),
            81..84 => self.crash(),
            _ => {}
        }
        for name in &names {
            self.open(name);
        }
    }

    fn ticket(&mut self) -> u64 {
        self.next_ticket += 1;
        self.next_ticket
    }

    fn submit(&mut self, name: &TopicName, request: LogRequest) {
        let Some(topic) = self
            .topics
            .get_mut(name)
            .filter(|topic| topic.open == Open::Yes)
        else {
            return;
        };
        if matches!(request, LogRequest::Close) {
            topic.open = Open::Asked;
        }
        self.logs.submit(name, request);
    }

    fn open(&mut self, name: &TopicName) {
        let Some(topic) = self
            .topics
            .get_mut(name)
            .filter(|topic| topic.open == Open::No)
        else {
            return;
        };
        topic.open = Open::Asked;
        self.logs.submit(name, LogRequest::Open { create: true });
    }

    fn append(&mut self, name: &TopicName) {
        for _ in 0..self.dice.below(5) {
            let ticket = self.ticket();
            let Some(topic) = self
                .topics
                .get_mut(name)
                .filter(|topic| topic.open == Open::Yes)
            else {
                return;
            };
            let body = Bytes::from(format!("{}-{ticket}", name.local()));
            topic.appended.insert(ticket, body.clone());
            topic.unanswered.push_back(ticket);
            self.submit(
                name,
                LogRequest::Append {
                    ticket,
                    body,
                    messages: 1,
                },
            );
        }
    }

    fn save(&mut self, name: &TopicName) {
        let ticket = self.ticket();
        let wants_snapshot = self.dice.chance(1, 5);
        let Some(topic) = self
            .topics
            .get_mut(name)
            .filter(|topic| topic.open == Open::Yes)
        else {
            return;
        };
        let (body, cursor) = (Bytes::from(ticket.to_string()), CURSOR.to_owned());
        let is_snapshot = topic.needs_snapshot || wants_snapshot || !topic.cursor_made;
        topic.records.insert(ticket, is_snapshot);
        topic.needs_snapshot = false;
        let request = if !std::mem::replace(&mut topic.cursor_made, true) {
            LogRequest::CreateCursor {
                ticket,
                name: cursor,
                snapshot: body,
            }
        } else {
            let record = if is_snapshot {
                CursorRecord::Snapshot(body)
            } else {
                CursorRecord::Delta(body)
            };
            LogRequest::SaveCursor {
                ticket,
                name: cursor,
                record,
            }
        };
        self.submit(name, request);
    }

    fn read(&mut self, name: &TopicName) {
        let ticket = self.ticket();
        let Some(topic) = self.topics.get(name) else {
            return;
        };
        let which = self.dice.below(topic.confirmed.len() as u64) as usize;
        let from = topic
            .confirmed
            .keys()
            .nth(which)
            .copied()
            .unwrap_or(Position::EARLIEST);
        let entries_max = self.dice.below(6) as u32;
        self.submit(
            name,
            LogRequest::Read {
                ticket,
                from,
                until: Position::LATEST,
                entries_max,
                bytes_max: 40,
            },
        );
    }

    fn trim(&mut self, name: &TopicName) {
        let Some(topic) = self
            .topics
            .get_mut(name)
            .filter(|topic| topic.open == Open::Yes)
        else {
            return;
        };
        let which = self.dice.below(topic.confirmed.len() as u64 / 2 + 1) as usize;
        if let Some(up_to) = topic.confirmed.keys().nth(which).copied() {
            topic.trimmed = topic.trimmed.max(Some(up_to));
            self.submit(name, LogRequest::Trim { up_to });
        }
    }

    fn crash(&mut self) {
        self.logs.crash();
        self.score.ends += 1;
        for topic in self.topics.values_mut() {
            topic.open = Open::No;
            topic.unanswered.clear();
        }
    }

    fn carry_on(&mut self) {
        for (name, reply) in self.logs.turn() {
            let Some(topic) = self.topics.get_mut(&name) else {
                panic!("a reply to nobody: {name}")
            };
            topic.hear(reply, &mut self.score);
        }
    }

    /// With every log open and nothing under way, everything confirmed can be read.
    fn come_to_rest(&mut self) {
        let names: Vec<TopicName> = self.topics.keys().cloned().collect();
        for name in &names {
            self.wait_for_answers(name);
            let found = self.read_all(name);
            let Some(topic) = self.topics.get(name) else {
                continue;
            };
            for (position, body) in topic.kept() {
                assert_eq!(
                    found.get(position),
                    Some(body),
                    "{name}: {position} was stored"
                );
            }
        }
    }

    fn wait_for_answers(&mut self, name: &TopicName) {
        for _ in 0..TURNS_MAX {
            self.open(name);
            let topic = self.topics.get(name);
            if topic.is_some_and(|topic| topic.open == Open::Yes && topic.unanswered.is_empty()) {
                return;
            }
            self.carry_on();
        }
        panic!("{name} does not open, or an append is never answered");
    }

    fn read_all(&mut self, name: &TopicName) -> BTreeMap<Position, Bytes> {
        let (mut from, mut found) = (Position::EARLIEST, BTreeMap::new());
        for _ in 0..TURNS_MAX {
            self.wait_for_answers(name);
            let (ticket, until) = (self.ticket(), Position::LATEST);
            let (entries_max, bytes_max) = (100, 10_000);
            self.submit(
                name,
                LogRequest::Read {
                    ticket,
                    from,
                    until,
                    entries_max,
                    bytes_max,
                },
            );
            match self.answer_to_read(ticket) {
                Some(entries) if entries.is_empty() => return found,
                Some(entries) => {
                    from = entries
                        .last()
                        .map_or(from, |(position, _)| position.after());
                    found.extend(entries);
                }
                None => {}
            }
        }
        panic!("{name} cannot be read to its end");
    }

    fn answer_to_read(&mut self, asked: u64) -> Option<Vec<(Position, Bytes)>> {
        for _ in 0..TURNS_MAX {
            let mut answer = None;
            for (name, reply) in self.logs.turn() {
                if let LogReply::Read { ticket, result, .. } = &reply
                    && *ticket == asked
                {
                    let entries = result.as_ref().ok();
                    answer =
                        Some(entries.map(|found| {
                            found.iter().map(|e| (e.position, e.body.clone())).collect()
                        }));
                }
                if let Some(topic) = self.topics.get_mut(&name) {
                    topic.hear(reply, &mut self.score);
                }
            }
            if let Some(answer) = answer {
                return answer;
            }
        }
        panic!("read {asked} is never answered");
    }
}

impl Topic {
    fn hear(&mut self, reply: LogReply, score: &mut Score) {
        match reply {
            LogReply::Opened {
                extent, cursors, ..
            } => {
                self.open = Open::Yes;
                self.check_extent(&extent);
                let cursor = cursors.into_iter().find(|cursor| cursor.name == CURSOR);
                let records = cursor.map(|cursor| {
                    let records = std::iter::once(&cursor.snapshot).chain(&cursor.deltas);
                    records
                        .filter_map(|record| String::from_utf8_lossy(record).parse().ok())
                        .collect()
                });
                self.check_cursor(records);
            }
            LogReply::OpenFailed { error } => {
                let is_passing = matches!(
                    error,
                    LogError::Timeout(_) | LogError::Io(_) | LogError::Fenced(_)
                );
                assert!(is_passing, "opening may fail, but not like this: {error}");
                self.ended(score);
            }
            LogReply::Stored { ticket, position } => {
                assert_eq!(
                    self.unanswered.pop_front(),
                    Some(ticket),
                    "answers come in the order of the appends"
                );
                let last = self.confirmed.last_key_value().map(|(last, _)| *last);
                assert!(Some(position) > last, "{position} comes after {last:?}");
                let body = self.appended.get(&ticket).cloned().unwrap_or_default();
                self.confirmed.insert(position, body);
                score.stored += 1;
            }
            LogReply::NotStored { ticket, .. } => {
                assert_eq!(
                    self.unanswered.pop_front(),
                    Some(ticket),
                    "answers come in the order of the appends"
                );
                score.not_stored += 1;
            }
            LogReply::Read {
                result: Ok(entries),
                damaged,
                ..
            } => {
                assert!(damaged.is_empty(), "nothing is damaged: {damaged:?}");
                for entry in entries {
                    if let Some(body) = self.confirmed.get(&entry.position) {
                        assert_eq!(
                            body, &entry.body,
                            "{} reads back as it was stored",
                            entry.position
                        );
                        score.read += 1;
                    }
                }
            }
            LogReply::CursorSaved {
                ticket,
                result: Ok(()),
                ..
            } => {
                if self.records.get(&ticket) == Some(&true) {
                    self.cursor = Some(Vec::new());
                }
                self.cursor.get_or_insert_default().push(ticket);
                score.saved += 1;
            }
            LogReply::CursorSaved { .. } => {
                self.needs_snapshot = true;
                self.cursor_made = self.cursor.is_some();
            }
            LogReply::Trimmed { first } => {
                assert!(
                    self.kept().all(|(position, _)| *position >= first),
                    "needed entries before {first} are gone"
                );
            }
            LogReply::Lost { .. } => self.ended(score),
            LogReply::Closed => {
                assert!(
                    self.unanswered.is_empty(),
                    "every append is answered before the log is closed"
                );
                self.open = Open::No;
            }
            LogReply::Read { .. }
            | LogReply::Found { .. }
            | LogReply::CursorDeleted { .. }
            | LogReply::Deleted { .. }
            | LogReply::PropertySet { .. } => {}
        }
    }

    fn ended(&mut self, score: &mut Score) {
        self.open = Open::No;
        score.ends += 1;
    }

    fn kept(&self) -> impl Iterator<Item = (&Position, &Bytes)> {
        self.confirmed
            .iter()
            .filter(|(position, _)| Some(**position) > self.trimmed)
    }

    fn check_extent(&self, extent: &[(i64, i64)]) {
        assert!(
            extent.is_sorted_by(|a, b| a.0 < b.0),
            "ledgers come in order: {extent:?}"
        );
        for (position, _) in self.kept() {
            let holds =
                |(ledger, last): &(i64, i64)| *ledger == position.ledger && position.entry <= *last;
            assert!(
                extent.iter().any(holds),
                "stored entry {position} is not in {extent:?}"
            );
        }
    }

    /// What is found holds every confirmed record since the newest confirmed snapshot, or begins with a
    /// snapshot asked for after them; and nothing that was never asked for.
    fn check_cursor(&mut self, found: Option<Vec<u64>>) {
        if let Some(confirmed) = &self.cursor {
            let found = found.as_deref().unwrap_or_default();
            let newer = found.first() > confirmed.last();
            let holds_all = confirmed.iter().all(|record| found.contains(record));
            assert!(
                newer || holds_all,
                "records {confirmed:?} were kept, but the cursor is {found:?}"
            );
            assert!(
                found.iter().all(|record| self.records.contains_key(record)),
                "{found:?} was never asked for"
            );
            assert!(
                found.is_sorted_by(|a, b| a < b),
                "records come in order: {found:?}"
            );
        }
        self.cursor_made = found.is_some();
        self.needs_snapshot = false;
        self.cursor = found;
    }
}
