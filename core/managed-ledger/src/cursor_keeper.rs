//! Keeping one cursor: its node and its cursor ledger.
//!
//! A new cursor costs one metadata write: a small first snapshot lies in the node. The first change
//! makes a cursor ledger. A ledger takes the node's place only after the snapshot in it is durable,
//! and the ledger before it goes only after that; so at any moment what the node names is complete.

mod answers;

use crate::forms::cursor_node::CursorNode;
use crate::node_write::NodeWrite;
use crate::record::{Kind, State};
use crate::record_ledger::RecordLedger;
use crate::settings::Settings;
use crate::storage::{Answer, Call, Tag};
use crate::turn::{Owner, Turn};
use bytes::Bytes;
use letters::log::{CursorRecord, Ticket};
use letters::{LogError, LogReply};
use std::collections::VecDeque;
use std::sync::Arc;

/// One cursor of an open log.
#[derive(Debug)]
pub(crate) struct CursorKeeper {
    name: Arc<str>,
    owner: Owner,
    path: String,
    custom: Vec<(String, Vec<u8>)>,
    settings: Arc<Settings>,
    /// The node's version; `None`: there is none.
    version: Option<i64>,
    /// Values that a write of ours may have left in the node.
    unsure: Vec<Bytes>,
    /// With what a new cursor ledger must begin if the first record for it is a delta.
    held: Option<State>,
    /// The cursor ledger that the node names.
    home: Option<i64>,
    /// Ledgers that the node may name instead, by a write of ours.
    doubtful: Vec<i64>,
    open: Option<RecordLedger>,
    /// A record was lost: only a snapshot helps.
    broken: bool,
    work: Work,
    wishes: VecDeque<Wish>,
}

impl CursorKeeper {
    /// The cursor ledger that the node names.
    pub(crate) fn home(&self) -> Option<i64> {
        self.home
    }
}

/// What a topic wants of a cursor.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    Create {
        ticket: Ticket,
        snapshot: Bytes,
    },
    Save {
        ticket: Ticket,
        record: CursorRecord,
    },
    Delete {
        ticket: Ticket,
    },
    /// Nothing comes after it.
    Close,
}

/// How the cursor fares.
#[derive(Debug, PartialEq)]
pub(crate) enum Fate {
    /// Goes on.
    Kept,
    /// There is nothing more to keep.
    Ended,
    /// Somebody else wrote here.
    Taken(String),
}

#[derive(Debug)]
enum Work {
    Idle,
    /// The first snapshot goes into the node.
    Noting {
        write: NodeWrite,
        ticket: Ticket,
        state: State,
    },
    /// A new ledger is being made.
    Creating {
        waits_for: Tag,
        tries: u32,
        ticket: Ticket,
        records: Records,
    },
    /// What it must begin with is being written.
    Filling {
        ledger: RecordLedger,
        /// The snapshot with which it begins, if the node has room for it.
        fallback: Option<Bytes>,
        ticket: Ticket,
    },
    /// The node is being pointed at it.
    Pointing {
        write: NodeWrite,
        ledger: RecordLedger,
        ticket: Ticket,
    },
    /// The node is being removed: read first, then deleted at the version found.
    Removing {
        waits_for: Tag,
        tries: u32,
        ticket: Ticket,
    },
    Sealing {
        waits_for: Tag,
    },
    Ended,
}

type Records = Vec<(Kind, Bytes)>;

impl CursorKeeper {
    /// A cursor that does not exist yet.
    pub(crate) fn new(
        name: Arc<str>,
        path: String,
        topic: &str,
        settings: Arc<Settings>,
    ) -> CursorKeeper {
        let custom = vec![
            ("application".to_owned(), b"pulsar".to_vec()),
            ("component".to_owned(), b"managed-ledger".to_vec()),
            (
                "pulsar/managed-ledger".to_owned(),
                topic.as_bytes().to_vec(),
            ),
            ("pulsar/cursor".to_owned(), name.as_bytes().to_vec()),
        ];
        CursorKeeper {
            owner: Owner::Cursor(name.clone()),
            name,
            path,
            custom,
            settings,
            version: None,
            unsure: Vec::new(),
            held: None,
            home: None,
            doubtful: Vec::new(),
            open: None,
            broken: false,
            work: Work::Idle,
            wishes: VecDeque::new(),
        }
    }

    /// A cursor that was restored. What was found is held until the next record, which may be a delta
    /// and then has to begin a ledger of its own: the old one is sealed.
    pub(crate) fn restored(
        mut self,
        state: State,
        version: i64,
        ledger: Option<i64>,
    ) -> CursorKeeper {
        self.version = Some(version);
        self.home = ledger;
        self.held = Some(state);
        self
    }

    /// A cursor whose ledger cannot be read: the next record must be a snapshot, and begins a ledger of its own. Then
    /// the unreadable one goes.
    pub(crate) fn restored_without(mut self, version: i64, ledger: i64) -> CursorKeeper {
        self.version = Some(version);
        self.home = Some(ledger);
        self.broken = true;
        self
    }

    /// Takes a wish; wishes are met in order.
    pub(crate) fn wish(&mut self, turn: &mut Turn, wish: Wish) -> Fate {
        self.wishes.push_back(wish);
        self.advance(turn);
        self.fate()
    }

    /// Takes an answer to one of its calls.
    pub(crate) fn answered(&mut self, turn: &mut Turn, answer: Answer) -> Fate {
        if let Answer::Appended {
            ledger,
            entry,
            result,
        } = answer
        {
            if let Err(text) = self.appended(turn, ledger, entry, result) {
                return Fate::Taken(text);
            }
        } else if let Err(text) = self.work_answered(turn, answer) {
            return Fate::Taken(text);
        }
        self.advance(turn);
        self.fate()
    }

    /// The log is lost: everything that waits fails.
    pub(crate) fn lose(&mut self, turn: &mut Turn, error: &LogError) {
        let working = match std::mem::replace(&mut self.work, Work::Ended) {
            Work::Noting { ticket, .. }
            | Work::Creating { ticket, .. }
            | Work::Filling { ticket, .. }
            | Work::Pointing { ticket, .. } => Some(Wish::Create {
                ticket,
                snapshot: Bytes::new(),
            }),
            Work::Removing { ticket, .. } => Some(Wish::Delete { ticket }),
            Work::Idle | Work::Sealing { .. } | Work::Ended => None,
        };
        if let Some(open) = self.open.take() {
            for ticket in open.into_waiting() {
                turn.cursor_saved(ticket, &self.name, Err(error.clone()));
            }
        }
        for wish in working.into_iter().chain(std::mem::take(&mut self.wishes)) {
            match wish {
                Wish::Create { ticket, .. } | Wish::Save { ticket, .. } => {
                    turn.cursor_saved(ticket, &self.name, Err(error.clone()));
                }
                Wish::Delete { ticket } => self.reply_deleted(turn, ticket, Err(error.clone())),
                Wish::Close => {}
            }
        }
    }

    fn fate(&self) -> Fate {
        let nothing_there =
            self.version.is_none() && self.unsure.is_empty() && self.wishes.is_empty();
        match self.work {
            Work::Ended => Fate::Ended,
            Work::Idle if nothing_there => Fate::Ended,
            _ => Fate::Kept,
        }
    }

    /// Meets wishes until one has to wait.
    fn advance(&mut self, turn: &mut Turn) {
        while matches!(self.work, Work::Idle) {
            if self.open.as_ref().is_some_and(RecordLedger::has_failed) {
                self.open = None;
                self.broken = true;
            }
            let busy = self.open.as_ref().is_some_and(RecordLedger::is_busy);
            let moves = match self.wishes.front() {
                None => return,
                Some(Wish::Save { record, .. }) => self.needs_new_ledger(record),
                Some(_) => true,
            };
            if moves && busy {
                return;
            }
            if let Some(wish) = self.wishes.pop_front() {
                self.begin(turn, wish);
            }
        }
    }

    fn needs_new_ledger(&self, record: &CursorRecord) -> bool {
        match (&self.open, record) {
            (None, _) => true,
            (Some(open), CursorRecord::Snapshot(_)) => open.is_grown(&self.settings),
            (Some(_), CursorRecord::Delta(_)) => false,
        }
    }

    fn begin(&mut self, turn: &mut Turn, wish: Wish) {
        match wish {
            Wish::Create { ticket, .. } if self.version.is_some() => {
                let error = LogError::Io(format!("cursor {} exists already", self.name));
                turn.cursor_saved(ticket, &self.name, Err(error));
            }
            Wish::Create { ticket, snapshot }
                if snapshot.len() <= self.settings.node_snapshot_bytes_max =>
            {
                let state = State {
                    snapshot: snapshot.clone(),
                    deltas: Vec::new(),
                };
                let write = self.write_node(turn, &CursorNode::Here(snapshot));
                self.work = Work::Noting {
                    write,
                    ticket,
                    state,
                };
            }
            Wish::Create { ticket, snapshot } => {
                self.create(turn, ticket, vec![(Kind::Snapshot, snapshot)], 0)
            }
            Wish::Save { ticket, record } => self.save(turn, ticket, record),
            Wish::Delete { ticket } => self.read_to_remove(turn, ticket, 0),
            Wish::Close => self.close(turn),
        }
    }

    fn save(&mut self, turn: &mut Turn, ticket: Ticket, record: CursorRecord) {
        let needs_new_ledger = self.needs_new_ledger(&record);
        let (kind, body) = match record {
            CursorRecord::Snapshot(body) => (Kind::Snapshot, body),
            CursorRecord::Delta(body) => (Kind::Delta, body),
        };
        if self.version.is_none() {
            let error = LogError::Io(format!(
                "cursor {} does not exist: create it first",
                self.name
            ));
            return turn.cursor_saved(ticket, &self.name, Err(error));
        }
        if self.broken && kind == Kind::Delta {
            let error = "a record before this one was not stored: the next one must be a snapshot";
            return turn.cursor_saved(ticket, &self.name, Err(LogError::Io(error.to_owned())));
        }
        if !needs_new_ledger && let Some(open) = &mut self.open {
            return open.write(turn, &self.owner, &self.settings, kind, &body, Some(ticket));
        }
        let mut records: Records = Vec::new();
        if kind == Kind::Delta {
            // Invariant: without an open ledger and not broken, the state so far is held.
            let held = self
                .held
                .as_ref()
                .expect("the state of a cursor without open ledger is held");
            records.push((Kind::Snapshot, held.snapshot.clone()));
            records.extend(held.deltas.iter().map(|delta| (Kind::Delta, delta.clone())));
        }
        records.push((kind, body));
        self.create(turn, ticket, records, 0);
    }

    fn create(&mut self, turn: &mut Turn, ticket: Ticket, records: Records, tries: u32) {
        let custom = self.custom.clone();
        let waits_for = turn.call(&self.owner, |tag| Call::CreateLedger { tag, custom });
        self.work = Work::Creating {
            waits_for,
            tries,
            ticket,
            records,
        };
    }

    fn write_node(&mut self, turn: &mut Turn, node: &CursorNode) -> NodeWrite {
        let value = node.encode(turn.now.wall);
        let unsure = std::mem::take(&mut self.unsure);
        NodeWrite::begin(
            turn,
            self.owner.clone(),
            self.path.clone(),
            value,
            self.version,
            unsure,
        )
    }

    fn read_to_remove(&mut self, turn: &mut Turn, ticket: Ticket, tries: u32) {
        let path = self.path.clone();
        let waits_for = turn.call(&self.owner, |tag| Call::GetNode { tag, path });
        self.work = Work::Removing {
            waits_for,
            tries,
            ticket,
        };
    }

    fn close(&mut self, turn: &mut Turn) {
        self.work = match &self.open {
            Some(open) => {
                let (last_entry, length) = open.end();
                Work::Sealing {
                    waits_for: turn.seal(&self.owner, open.ledger, last_entry, length),
                }
            }
            None => Work::Ended,
        };
    }

    fn reply_deleted(&self, turn: &mut Turn, ticket: Ticket, result: Result<(), LogError>) {
        turn.reply(LogReply::CursorDeleted {
            ticket,
            name: self.name.to_string(),
            result,
        });
    }
}
