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
    /// What the node has for the case that the ledger cannot be read.
    fallback: Bytes,
}

/// Why a cursor cannot be restored as it was.
#[derive(Debug)]
enum Flaw {
    /// Its ledger, or what is in it, is gone: what the node remembers must do. Older is safe: messages come twice.
    Lost(String),
    /// What is there is not understood; perhaps a newer version wrote it. Nothing is touched.
    Strange(String),
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
    /// The ledger cannot be read, and why: the state is an older one, or empty.
    pub(crate) lost: Option<String>,
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
            fallback: Bytes::new(),
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
            Ok(Err(Flaw::Lost(text))) => self.lost(text),
            Ok(Err(Flaw::Strange(text))) => Restored::Failed(self.damaged(&text)),
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

    fn node(&mut self, found: Option<(Bytes, i64)>) -> Result<Option<Restored>, Flaw> {
        let Some((value, version)) = found else {
            return Ok(Some(Restored::Absent));
        };
        if self.missing_at == Some(version) {
            let text = format!("its cursor ledger {} does not exist", self.ledger);
            return Err(Flaw::Lost(text));
        }
        self.version = version;
        match CursorNode::decode(&value).map_err(|error| Flaw::Strange(error.to_string()))? {
            CursorNode::Here(snapshot) => {
                let state = State {
                    snapshot,
                    deltas: Vec::new(),
                };
                Ok(Some(Restored::Found(Found {
                    state,
                    version,
                    ledger: None,
                    lost: None,
                })))
            }
            CursorNode::InLedger { ledger, fallback } => {
                self.ledger = ledger;
                self.fallback = fallback.unwrap_or_default();
                self.step = Step::Recover;
                Ok(None)
            }
        }
    }

    fn recovered(&mut self, last: i64) -> Result<Option<Restored>, Flaw> {
        if last < 0 {
            return Err(Flaw::Lost(self.in_ledger("it is empty")));
        }
        self.step = Step::Last(last);
        Ok(None)
    }

    fn read(&mut self, bodies: Vec<Bytes>) -> Result<Option<Restored>, Flaw> {
        match &mut self.step {
            Step::Last(last) => {
                let last = *last;
                let body = bodies.into_iter().next();
                let body = body.ok_or_else(|| Flaw::Strange("storage gave no entry".to_owned()))?;
                let part = Part::decode(last, body).map_err(|text| {
                    Flaw::Strange(format!("cursor ledger {}: {text}", self.ledger))
                })?;
                self.step = match part.kind {
                    // The newest snapshot was never completed: what came before it counts.
                    Kind::Snapshot if part.is_followed() && part.base == 0 => {
                        return Err(Flaw::Lost(
                            self.in_ledger("its only snapshot is incomplete"),
                        ));
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
                    return Err(Flaw::Strange(self.in_ledger("storage gave no entry")));
                }
                entries.extend(bodies);
                let (base, count) = (*base, *last - *base + 1);
                if (entries.len() as i64) < count {
                    return Ok(None);
                }
                entries.truncate(count as usize);
                let state = record::assemble(base, std::mem::take(entries))
                    .map_err(|text| Flaw::Strange(self.in_ledger(&text)))?;
                Ok(Some(Restored::Found(Found {
                    state,
                    version: self.version,
                    ledger: Some(self.ledger),
                    lost: None,
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
            Fault::Damaged(text) if !matches!(self.step, Step::Node) => {
                let text = self.in_ledger(text);
                return self.lost(text);
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

    fn lost(&mut self, why: String) -> Restored {
        Restored::Found(Found {
            state: State {
                snapshot: std::mem::take(&mut self.fallback),
                deltas: Vec::new(),
            },
            version: self.version,
            ledger: Some(self.ledger),
            lost: Some(why),
        })
    }

    fn in_ledger(&self, text: &str) -> String {
        format!("cursor ledger {}: {text}", self.ledger)
    }

    fn damaged(&self, text: &str) -> LogError {
        LogError::Damaged(format!("{}: {text}", self.path))
    }
}
