//! A topic's log in memory, which answers when told to and fails when told to.

use bytes::Bytes;
use letters::log::{CursorRecord, TopicFacts};
use letters::{LogError, LogReply, LogRequest, SavedCursor, StoredEntry};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use vocabulary::Position;

#[derive(Debug)]
pub struct MemoryLog {
    pub requests: VecDeque<LogRequest>,
    pub facts: TopicFacts,
    pub is_open: bool,
    pub entries: BTreeMap<Position, Bytes>,
    pub cursors: BTreeMap<String, SavedCursor>,
    pub properties: BTreeMap<String, String>,
    pub damaged: BTreeSet<Position>,
    pub trims: Vec<Position>,
    pub saves: u64,
    pub entries_per_ledger: i64,
    /// The next answers of these kinds are failures.
    pub appends_to_fail: u32,
    pub saves_to_fail: u32,
    pub reads_to_fail: u32,
    pub deletes_to_fail: u32,
    pub open_error: Option<LogError>,
    pub find_error: Option<LogError>,
    last: Position,
}

impl MemoryLog {
    pub fn new() -> MemoryLog {
        MemoryLog {
            requests: VecDeque::new(),
            facts: TopicFacts {
                exists: false,
                namespace_exists: true,
                partitions: None,
            },
            is_open: false,
            entries: BTreeMap::new(),
            cursors: BTreeMap::new(),
            properties: BTreeMap::new(),
            damaged: BTreeSet::new(),
            trims: Vec::new(),
            saves: 0,
            entries_per_ledger: i64::MAX,
            appends_to_fail: 0,
            saves_to_fail: 0,
            reads_to_fail: 0,
            deletes_to_fail: 0,
            open_error: None,
            find_error: None,
            last: Position::new(0, -1),
        }
    }

    /// The machine died: what was not answered may or may not have happened; here it did not.
    pub fn crash(&mut self) {
        self.requests.clear();
        self.is_open = false;
    }

    /// Answers one request, by its index among those that wait.
    pub fn answer(&mut self, index: usize) -> Option<LogReply> {
        let request = self.requests.remove(index)?;
        Some(match request {
            LogRequest::Find { ticket } => {
                let result = self.find_error.clone().map_or(Ok(self.facts), Err);
                LogReply::Found { ticket, result }
            }
            LogRequest::Open { create } => self.open(create),
            LogRequest::Append { ticket, body, .. } => self.append(ticket, body),
            LogRequest::Read {
                ticket,
                from,
                until,
                entries_max,
                bytes_max,
            } => self.read(ticket, from, until, entries_max, bytes_max),
            LogRequest::ReadAt { ticket, positions } => self.read_at(ticket, &positions),
            LogRequest::CreateCursor {
                ticket,
                name,
                snapshot,
            } => {
                let fails = take(&mut self.saves_to_fail);
                if !fails {
                    let cursor = SavedCursor {
                        name: name.clone(),
                        snapshot,
                        deltas: Vec::new(),
                        lost: None,
                    };
                    self.cursors.insert(name.clone(), cursor);
                }
                LogReply::CursorSaved {
                    ticket,
                    name,
                    result: outcome(fails),
                }
            }
            LogRequest::SaveCursor {
                ticket,
                name,
                record,
            } => self.save(ticket, name, record),
            LogRequest::DeleteCursor { ticket, name } => {
                let fails = take(&mut self.deletes_to_fail);
                if !fails {
                    self.cursors.remove(&name);
                }
                LogReply::CursorDeleted {
                    ticket,
                    name,
                    result: outcome(fails),
                }
            }
            LogRequest::SetProperty { ticket, key, value } => {
                let fails = take(&mut self.saves_to_fail);
                if !fails {
                    self.properties.insert(key, value);
                }
                LogReply::PropertySet {
                    ticket,
                    result: outcome(fails),
                }
            }
            LogRequest::Trim { up_to } => {
                self.trims.push(up_to);
                return None;
            }
            LogRequest::Delete => {
                assert!(self.is_open, "deleted while not open");
                self.is_open = false;
                let fails = take(&mut self.deletes_to_fail);
                if !fails {
                    self.facts.exists = false;
                    self.entries.clear();
                    self.cursors.clear();
                    self.properties.clear();
                }
                LogReply::Deleted {
                    result: outcome(fails),
                }
            }
            LogRequest::Close => {
                assert!(self.is_open, "closed while not open");
                self.is_open = false;
                LogReply::Closed
            }
        })
    }

    fn open(&mut self, create: bool) -> LogReply {
        assert!(!self.is_open, "opened twice");
        if let Some(error) = self.open_error.clone() {
            return LogReply::OpenFailed { error };
        }
        if !self.facts.exists && !create {
            return LogReply::OpenFailed {
                error: LogError::NoSuchTopic("t".to_owned()),
            };
        }
        self.facts.exists = true;
        self.is_open = true;
        let mut extent: Vec<(i64, i64)> = Vec::new();
        for position in self.entries.keys() {
            match extent.last_mut() {
                Some(last) if last.0 == position.ledger => last.1 = position.entry,
                _ => extent.push((position.ledger, position.entry)),
            }
        }
        // A new owner writes to a new ledger.
        self.last = Position::new(self.last.ledger + 1, -1);
        LogReply::Opened {
            extent,
            cursors: self.cursors.values().cloned().collect(),
            properties: self.properties.clone().into_iter().collect(),
        }
    }

    fn append(&mut self, ticket: u64, body: Bytes) -> LogReply {
        assert!(self.is_open, "append to a log that is not open");
        if take(&mut self.appends_to_fail) {
            return LogReply::NotStored {
                ticket,
                error: LogError::Io("the disk is gone".to_owned()),
            };
        }
        self.last = match self.last.entry + 1 < self.entries_per_ledger {
            true => self.last.after(),
            false => Position::new(self.last.ledger + 1, 0),
        };
        self.entries.insert(self.last, body);
        LogReply::Stored {
            ticket,
            position: self.last,
        }
    }

    fn read(
        &mut self,
        ticket: u64,
        from: Position,
        until: Position,
        entries_max: u32,
        bytes_max: usize,
    ) -> LogReply {
        assert!(self.is_open, "read of a log that is not open");
        if take(&mut self.reads_to_fail) {
            return LogReply::Read {
                ticket,
                result: outcome(true).map(|()| Vec::new()),
                damaged: Vec::new(),
            };
        }
        let (mut found, mut damaged, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (position, body) in self.entries.range(from..=until) {
            if !found.is_empty()
                && (found.len() >= entries_max as usize || bytes + body.len() > bytes_max)
            {
                break;
            }
            if self.damaged.contains(position) {
                damaged.push(*position);
                continue;
            }
            bytes += body.len();
            found.push(StoredEntry {
                position: *position,
                body: body.clone(),
            });
        }
        LogReply::Read {
            ticket,
            result: Ok(found),
            damaged,
        }
    }

    fn read_at(&mut self, ticket: u64, positions: &[Position]) -> LogReply {
        assert!(self.is_open, "read of a log that is not open");
        if take(&mut self.reads_to_fail) {
            return LogReply::Read {
                ticket,
                result: outcome(true).map(|()| Vec::new()),
                damaged: Vec::new(),
            };
        }
        let (bad, good): (Vec<Position>, Vec<Position>) = positions
            .iter()
            .partition(|position| self.damaged.contains(position));
        let entry = |position: &Position| {
            Some(StoredEntry {
                position: *position,
                body: self.entries.get(position)?.clone(),
            })
        };
        LogReply::Read {
            ticket,
            result: Ok(good.iter().filter_map(entry).collect()),
            damaged: bad,
        }
    }

    fn save(&mut self, ticket: u64, name: String, record: CursorRecord) -> LogReply {
        assert!(self.is_open, "save to a log that is not open");
        self.saves += 1;
        let fails = take(&mut self.saves_to_fail);
        if !fails {
            let cursor = self
                .cursors
                .get_mut(&name)
                .expect("a cursor that was created");
            match record {
                CursorRecord::Snapshot(bytes) => {
                    cursor.snapshot = bytes;
                    cursor.deltas.clear();
                }
                CursorRecord::Delta(bytes) => cursor.deltas.push(bytes),
            }
        }
        LogReply::CursorSaved {
            ticket,
            name,
            result: outcome(fails),
        }
    }
}

fn take(left: &mut u32) -> bool {
    let any = *left > 0;
    *left = left.saturating_sub(1);
    any
}

fn outcome(fails: bool) -> Result<(), LogError> {
    if fails {
        Err(LogError::Io("the disk is gone".to_owned()))
    } else {
        Ok(())
    }
}
