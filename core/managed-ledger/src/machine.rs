//! One managed ledger: an endless log made of ledgers, of which the last one takes entries.
//!
//! A log that is never written to makes no ledger: opening costs one read and one write of its node,
//! the first append makes the first ledger. (Pulsar makes one at once; a client cannot tell.)

use crate::cursor_keeper::{CursorKeeper, Wish};
use crate::deleting::Deleting;
use crate::forms::ledger_list::LedgerList;
use crate::list_work::Step;
use crate::opening::Opening;
use crate::properties::Properties;
use crate::reading::{self, Run};
use crate::roll::CurrentLedger;
use crate::settings::Settings;
use crate::storage::{Answer, Fault};
use crate::turn::{Effect, Owner, TRIES_MAX, Tags, Turn};
use bytes::Bytes;
use letters::log::{CursorRecord, Ticket};
use letters::{LogError, LogReply};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use vocabulary::{Moment, Now, Position, TopicName};

/// What a topic asks of its log; the text of [`letters::LogRequest`] says how it is answered.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "named after the requests of the topic-log seam"
)]
pub enum Input {
    Append {
        ticket: Ticket,
        body: Bytes,
    },
    CreateCursor {
        ticket: Ticket,
        name: String,
        snapshot: Bytes,
    },
    SaveCursor {
        ticket: Ticket,
        name: String,
        record: CursorRecord,
    },
    DeleteCursor {
        ticket: Ticket,
        name: String,
    },
    SetProperty {
        ticket: Ticket,
        key: String,
        value: String,
    },
    Trim {
        up_to: Position,
    },
    Delete,
    Close,
}

/// The machine.
#[derive(Debug)]
pub struct ManagedLedger {
    pub(crate) topic: TopicName,
    pub(crate) path: String,
    pub(crate) settings: Arc<Settings>,
    pub(crate) tags: Tags,
    pub(crate) phase: Phase,
    /// The list as it should be; as it is stored unless `unlisted` or a write is under way.
    pub(crate) list: LedgerList,
    /// The version of the list's node.
    pub(crate) version: i64,
    /// The stored list is behind.
    pub(crate) unlisted: bool,
    pub(crate) current: Option<CurrentLedger>,
    pub(crate) step: Step,
    /// Storage failed repeatedly in this step: leave it alone until then.
    pub(crate) paused_until: Option<Moment>,
    /// A ledger is kept by its age alone until then.
    pub(crate) trim_again_at: Option<Moment>,
    /// Appends for which there is no ledger at the moment.
    pub(crate) waiting: VecDeque<(Ticket, Bytes)>,
    /// Appends that came after `Close`, while earlier ones still wait: refused in their turn.
    pub(crate) late: Vec<Ticket>,
    pub(crate) properties: Properties,
    /// Ledgers that are no longer in the list, to be deleted when it is stored so.
    pub(crate) dropped: Vec<i64>,
    /// Nobody needs anything up to here.
    pub(crate) consumed: Option<Position>,
    pub(crate) cursors: BTreeMap<Arc<str>, CursorKeeper>,
    pub(crate) counts: Counts,
    /// It is closed in order to be deleted.
    pub(crate) doomed: bool,
}

/// How a log lives.
#[derive(Debug)]
pub(crate) enum Phase {
    Opening(Opening),
    Open,
    Closing,
    Deleting(Deleting),
    /// Closed, lost, or never opened: nothing is done any more.
    Gone,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ledgers left for a new one.
    pub rolls: u64,
    /// Ledgers removed because everything in them was consumed.
    pub trims: u64,
}

/// A log seen closely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogDetails {
    /// In order.
    pub ledgers: Vec<LedgerDetails>,
    /// Where the records of each cursor lie, if it has a ledger of its own.
    pub cursor_ledgers: Vec<(String, i64)>,
    /// The version of the node of the list.
    pub version: i64,
}

/// A ledger of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerDetails {
    /// Its id.
    pub ledger: i64,
    /// Entries that are confirmed.
    pub entries: u64,
    /// Sum of their bytes.
    pub bytes: u64,
    /// It takes entries.
    pub is_open: bool,
}

impl ManagedLedger {
    /// Begins to open the log of a topic; creates it if `create` and its namespace exists. Ends in
    /// the reply `Opened` or `OpenFailed`.
    #[must_use]
    pub fn open(
        now: Now,
        topic: &TopicName,
        create: bool,
        settings: Arc<Settings>,
        effects: &mut Vec<Effect>,
    ) -> ManagedLedger {
        let mut tags = Tags::default();
        let path = ManagedLedger::path_of(topic);
        let mut turn = Turn {
            now,
            tags: &mut tags,
            effects,
        };
        let opening = Opening::begin(&mut turn, path.clone(), create);
        ManagedLedger {
            topic: topic.clone(),
            path,
            settings,
            tags,
            phase: Phase::Opening(opening),
            list: LedgerList::default(),
            version: 0,
            unlisted: false,
            current: None,
            step: Step::Idle,
            paused_until: None,
            trim_again_at: None,
            waiting: VecDeque::new(),
            late: Vec::new(),
            properties: Properties::default(),
            dropped: Vec::new(),
            consumed: None,
            cursors: BTreeMap::new(),
            counts: Counts::default(),
            doomed: false,
        }
    }

    /// The metadata path of a topic's list of ledgers.
    #[must_use]
    pub fn path_of(topic: &TopicName) -> String {
        format!("/managed-ledgers/{}", topic.persistence_name())
    }

    /// Nothing more will come of it: closed, lost, or not opened.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.phase, Phase::Gone)
    }

    /// `Opened` was said and nothing has ended it: entries can be read.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Closing)
    }

    /// What happened so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// It has a ledger that takes entries.
    #[must_use]
    pub fn has_open_ledger(&self) -> bool {
        self.current.is_some()
    }

    /// What is known of its ledgers and cursors.
    #[must_use]
    pub fn details(&self) -> LogDetails {
        let ledgers = self.list.ledgers.iter().map(|listed| {
            let open = self
                .current
                .as_ref()
                .filter(|open| open.ledger == listed.ledger);
            let (entries, bytes) = match open.map(CurrentLedger::confirmed) {
                Some((last, bytes)) => (last.saturating_add(1).unsigned_abs(), bytes),
                None => (
                    listed.entries.max(0).unsigned_abs(),
                    listed.size.max(0).unsigned_abs(),
                ),
            };
            LedgerDetails {
                ledger: listed.ledger,
                entries,
                bytes,
                is_open: open.is_some(),
            }
        });
        let cursors = self.cursors.iter();
        LogDetails {
            ledgers: ledgers.collect(),
            cursor_ledgers: cursors
                .filter_map(|(name, keeper)| Some((name.to_string(), keeper.home()?)))
                .collect(),
            version: self.version,
        }
    }

    /// The first run of confirmed entries at or after `from` and not after `until`.
    #[must_use]
    pub fn next_run(&self, from: Position, until: Position) -> Option<Run> {
        if !matches!(self.phase, Phase::Open | Phase::Closing) {
            return None;
        }
        let open = self
            .current
            .as_ref()
            .map(|current| (current.ledger, current.confirmed().0));
        reading::next_run(&self.list.ledgers, open, from, until)
    }

    /// Takes what the topic asks.
    pub fn handle(&mut self, now: Now, input: Input, effects: &mut Vec<Effect>) {
        match input {
            Input::Append { ticket, body } => self.append(now, ticket, body, effects),
            Input::CreateCursor {
                ticket,
                name,
                snapshot,
            } => {
                self.wish(now, &name, Wish::Create { ticket, snapshot }, effects);
            }
            Input::SaveCursor {
                ticket,
                name,
                record,
            } => self.wish(now, &name, Wish::Save { ticket, record }, effects),
            Input::DeleteCursor { ticket, name } => {
                self.wish(now, &name, Wish::Delete { ticket }, effects)
            }
            Input::SetProperty { ticket, key, value } => {
                self.set_property(now, ticket, key, value, effects)
            }
            Input::Trim { up_to } => {
                self.consumed = Some(up_to);
                self.advance(now, effects);
            }
            Input::Delete => self.delete(now, effects),
            Input::Close => self.close(now, effects),
        }
    }

    /// Takes an answer of storage.
    pub fn answered(&mut self, now: Now, answer: Answer, effects: &mut Vec<Effect>) {
        let owner = match (&answer, answer.tag()) {
            (_, Some(tag)) => self.tags.take(tag),
            (Answer::Appended { ledger, .. }, None) => self.tags.writer(*ledger).cloned(),
            _ => None,
        };
        match owner {
            None => {}
            Some(Owner::Broom { ledger, tries }) => {
                self.swept(now, ledger, tries, &answer, effects)
            }
            _ if self.is_gone() => {}
            Some(owner) if matches!(self.phase, Phase::Opening(_)) => {
                self.opening_answered(now, &owner, answer, effects)
            }
            Some(Owner::Log) if matches!(self.phase, Phase::Deleting(_)) => {
                self.deleting_answered(now, answer, effects)
            }
            Some(Owner::Log) => match answer {
                Answer::Appended {
                    ledger,
                    entry,
                    result,
                } => self.appended(now, ledger, entry, result, effects),
                answer => self.step_answered(now, answer, effects),
            },
            Some(Owner::Cursor(name)) => self.cursor_answered(now, &name, answer, effects),
        }
    }

    /// When it wants to be told the time, as things are now.
    #[must_use]
    pub fn wake_at(&self) -> Option<Moment> {
        if self.is_gone() {
            return None;
        }
        let roll = self.current.as_ref().and_then(CurrentLedger::roll_at);
        [roll, self.paused_until, self.trim_again_at]
            .into_iter()
            .flatten()
            .min()
    }

    /// The time that [`wake_at`](ManagedLedger::wake_at) named has come, or any other.
    pub fn time_came(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if let Some(current) = &mut self.current
            && current.roll_at().is_some_and(|at| now.moment >= at)
        {
            current.end();
        }
        self.trim_again_at = None;
        self.advance(now, effects);
    }

    fn swept(
        &mut self,
        now: Now,
        ledger: i64,
        tries: u32,
        answer: &Answer,
        effects: &mut Vec<Effect>,
    ) {
        let failed = matches!(answer, Answer::Deleted { result: Err(fault), .. } if !matches!(fault, Fault::Missing(_)));
        if failed && tries + 1 < TRIES_MAX {
            Turn {
                now,
                tags: &mut self.tags,
                effects,
            }
            .sweep(ledger, tries + 1);
        }
    }

    /// Somebody else has the log now.
    pub(crate) fn lose_to_another(&mut self, now: Now, _text: &str, effects: &mut Vec<Effect>) {
        let error = LogError::Fenced(self.topic.to_string());
        self.lose(now, error, effects);
    }

    /// Ends everything: what waits fails, and the topic is told.
    pub(crate) fn lose(&mut self, now: Now, error: LogError, effects: &mut Vec<Effect>) {
        self.phase = Phase::Gone;
        self.step = Step::Idle;
        for ticket in self
            .current
            .take()
            .map(|mut current| current.give_up())
            .unwrap_or_default()
        {
            effects.push(Effect::Reply(LogReply::NotStored {
                ticket,
                error: error.clone(),
            }));
        }
        self.fail_waiting(&error, effects);
        self.fail_properties(&error, effects);
        self.refuse_late(effects);
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        for keeper in self.cursors.values_mut() {
            keeper.lose(&mut turn, &error);
        }
        self.cursors.clear();
        turn.reply(LogReply::Lost { error });
    }
}
