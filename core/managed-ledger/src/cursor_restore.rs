//! Finding a cursor's saved state: its node; if that names a cursor ledger, the last entry there,
//! which names the entry where the newest snapshot begins; from there on everything.

use crate::forms::cursor_node::CursorNode;
use crate::record::{self, Kind, Part, State};
use crate::storage::{Answer, Call, Fault, Tag};
use crate::turn::{Owner, TRIES_MAX, Turn};
use bytes::Bytes;
use letters::LogError;

/// How much of a cursor ledger is read at a time.
const READ_BYTES_MAX: usize = 4 * 1024 * 1024;

/// One cursor being restored.
#[derive(Debug)]
pub(crate) struct CursorRestore {
    owner: Owner,
    path: String,
    step: Step,
    waits_for: Tag,
    tries: u32,
    version: i64,
    ledger: i64,
    /// The ledger named by the node at this version was not there.
    missing_at: Option<i64>,
}

#[derive(Debug)]
enum Step {
    Node,
    Recover,
    /// Reading this one entry, up to which the ledger counts.
    Last(i64),
    /// Reading from the snapshot on.
    Records {
        base: i64,
        last: i64,
        entries: Vec<Bytes>,
    },
}

/// What was found.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) state: State,
    /// The node's version.
    pub(crate) version: i64,
    /// The cursor ledger, if there is one.
    pub(crate) ledger: Option<i64>,
}

/// How far it is.
#[derive(Debug, PartialEq)]
pub(crate) enum Restored {
    /// Not there yet.
    Pending,
    /// The state.
    Found(Found),
    /// The cursor is gone.
    Absent,
    /// It cannot be restored.
    Failed(LogError),
}

impl CursorRestore {
    /// Begins with reading the node.
    pub(crate) fn begin(turn: &mut Turn, owner: Owner, path: String) -> CursorRestore {
        let mut restore = CursorRestore {
            owner,
            path,
            step: Step::Node,
            waits_for: 0,
            tries: 0,
            version: 0,
            ledger: -1,
            missing_at: None,
        };
        restore.ask(turn);
        restore
    }

    /// The cursor's node.
    pub(crate) fn into_path(self) -> String {
        self.path
    }

    /// Takes the answer to the call it waits for.
    pub(crate) fn answered(&mut self, turn: &mut Turn, answer: Answer) -> Restored {
        if answer.tag() != Some(self.waits_for) {
            return Restored::Pending;
        }
        let next = match answer {
            Answer::Got { result, .. } => result.map(|found| self.node(found)),
            Answer::Recovered { result, .. } => result.map(|(last, _)| self.recovered(last)),
            Answer::Read { result, .. } => result.map(|entries| self.read(entries)),
            _ => return Restored::Pending,
        };
        match next {
            Ok(Ok(None)) => {
                self.tries = 0;
                self.ask(turn);
                Restored::Pending
            }
            Ok(Ok(Some(restored))) => restored,
            Ok(Err(text)) => Restored::Failed(self.damaged(&text)),
            Err(fault) => self.failed(turn, &fault),
        }
    }

    fn ask(&mut self, turn: &mut Turn) {
        let (ledger, bytes_max) = (self.ledger, READ_BYTES_MAX);
        self.waits_for = turn.call(&self.owner, |tag| match &self.step {
            Step::Node => Call::GetNode {
                tag,
                path: self.path.clone(),
            },
            Step::Recover => Call::RecoverLedger { tag, ledger },
            Step::Last(entry) => Call::ReadLedger {
                tag,
                ledger,
                first: *entry,
                last: *entry,
                bytes_max,
            },
            Step::Records {
                base,
                last,
                entries,
            } => Call::ReadLedger {
                tag,
                ledger,
                first: base + entries.len() as i64,
                last: *last,
                bytes_max,
            },
        });
    }

    fn node(&mut self, found: Option<(Bytes, i64)>) -> Result<Option<Restored>, String> {
        let Some((value, version)) = found else {
            return Ok(Some(Restored::Absent));
        };
        if self.missing_at == Some(version) {
            return Err(format!("its cursor ledger {} does not exist", self.ledger));
        }
        self.version = version;
        match CursorNode::decode(&value).map_err(|error| error.to_string())? {
            CursorNode::Here(snapshot) => {
                let state = State {
                    snapshot,
                    deltas: Vec::new(),
                };
                Ok(Some(Restored::Found(Found {
                    state,
                    version,
                    ledger: None,
                })))
            }
            CursorNode::InLedger(ledger) => {
                self.ledger = ledger;
                self.step = Step::Recover;
                Ok(None)
            }
        }
    }

    fn recovered(&mut self, last: i64) -> Result<Option<Restored>, String> {
        if last < 0 {
            return Err(format!("cursor ledger {} is empty", self.ledger));
        }
        self.step = Step::Last(last);
        Ok(None)
    }

    fn read(&mut self, bodies: Vec<Bytes>) -> Result<Option<Restored>, String> {
        match &mut self.step {
            Step::Last(last) => {
                let last = *last;
                let body = bodies.into_iter().next().ok_or("storage gave no entry")?;
                let part = Part::decode(last, body).map_err(|text| self.in_ledger(&text))?;
                self.step = match part.kind {
                    // The newest snapshot was never completed: what came before it counts.
                    Kind::Snapshot if part.is_followed() && part.base == 0 => {
                        return Err(self.in_ledger("its only snapshot is incomplete"));
                    }
                    Kind::Snapshot if part.is_followed() => Step::Last(part.base - 1),
                    _ => Step::Records {
                        base: part.base,
                        last,
                        entries: Vec::new(),
                    },
                };
                Ok(None)
            }
            Step::Records {
                base,
                last,
                entries,
            } => {
                if bodies.is_empty() {
                    return Err(self.in_ledger("storage gave no entry"));
                }
                entries.extend(bodies);
                let (base, count) = (*base, *last - *base + 1);
                if (entries.len() as i64) < count {
                    return Ok(None);
                }
                entries.truncate(count as usize);
                let state = record::assemble(base, std::mem::take(entries))
                    .map_err(|text| self.in_ledger(&text))?;
                Ok(Some(Restored::Found(Found {
                    state,
                    version: self.version,
                    ledger: Some(self.ledger),
                })))
            }
            Step::Node | Step::Recover => Ok(None),
        }
    }

    fn failed(&mut self, turn: &mut Turn, fault: &Fault) -> Restored {
        match fault {
            // A former owner may have moved the cursor to another ledger since the node was read.
            Fault::Missing(_) if !matches!(self.step, Step::Node) => {
                self.missing_at = Some(self.version);
                self.step = Step::Node;
            }
            Fault::Missing(text) | Fault::Damaged(text) | Fault::Refused(text) => {
                let text = self.in_ledger(text);
                return Restored::Failed(self.damaged(&text));
            }
            Fault::Taken(_) | Fault::Full(_) | Fault::Unsure(_) | Fault::Io(_) => {}
        }
        self.tries += 1;
        if self.tries >= TRIES_MAX {
            return Restored::Failed(fault.to_log_error(&self.path));
        }
        self.ask(turn);
        Restored::Pending
    }

    fn in_ledger(&self, text: &str) -> String {
        format!("cursor ledger {}: {text}", self.ledger)
    }

    fn damaged(&self, text: &str) -> LogError {
        LogError::Damaged(format!("{}: {text}", self.path))
    }
}
