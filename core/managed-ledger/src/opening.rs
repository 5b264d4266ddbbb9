//! Opening a log.
//!
//! Read the node; recover the ledgers that no writer sealed, which fences that writer; write the list
//! back, which claims the log: a former owner's next write of the list finds another version and it
//! knows that it has lost. Then the cursors. If somebody else writes in between, begin again.

use crate::cursor_keeper::CursorKeeper;
use crate::cursor_restore::{CursorRestore, Found, Restored};
use crate::deleting::is_marked;
use crate::forms::ledger_list::LedgerList;
use crate::machine::{ManagedLedger, Phase};
use crate::node_write::{NodeWrite, Progress};
use crate::storage::{Answer, Call, Fault, Tag};
use crate::turn::{Effect, Owner, TRIES_MAX, Turn};
use bytes::Bytes;
use letters::log::SavedCursor;
use letters::{LogError, LogReply};
use std::collections::BTreeMap;
use std::sync::Arc;
use vocabulary::Now;
use vocabulary::name::url_decode;

/// How often opening begins again because somebody else wrote the node.
const RESTARTS_MAX: u32 = 10;

/// How far opening is.
#[derive(Debug)]
pub(crate) struct Opening {
    create: bool,
    step: OpeningStep,
    tries: u32,
    restarts: u32,
    /// The log was made just now, so it has no cursors.
    is_new: bool,
    found: Vec<SavedCursor>,
}

#[derive(Debug)]
enum OpeningStep {
    /// Reading the list.
    List(Tag),
    /// Looking whether the namespace exists.
    Namespace(Tag),
    /// Recovering ledgers, by the number of the call.
    Ledgers(BTreeMap<Tag, i64>),
    Claim(NodeWrite),
    CursorNames(Tag),
    Cursors(BTreeMap<Arc<str>, CursorRestore>),
}

impl Opening {
    pub(crate) fn begin(turn: &mut Turn, path: String, create: bool) -> Opening {
        let waits_for = turn.call(&Owner::Log, |tag| Call::GetNode { tag, path });
        Opening {
            create,
            step: OpeningStep::List(waits_for),
            tries: 0,
            restarts: 0,
            is_new: false,
            found: Vec::new(),
        }
    }
}

impl ManagedLedger {
    pub(crate) fn opening_answered(
        &mut self,
        now: Now,
        owner: &Owner,
        answer: Answer,
        effects: &mut Vec<Effect>,
    ) {
        let Phase::Opening(opening) = &mut self.phase else {
            return;
        };
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let tag = answer.tag();
        match (&mut opening.step, answer) {
            (OpeningStep::List(waits_for), Answer::Got { result, .. })
                if tag == Some(*waits_for) =>
            {
                self.list_read(now, result, effects);
            }
            (OpeningStep::Namespace(waits_for), Answer::Got { result, .. })
                if tag == Some(*waits_for) =>
            {
                self.namespace_read(now, result, effects);
            }
            (OpeningStep::Ledgers(asked), Answer::Recovered { result, .. }) => {
                if let Some(ledger) = tag.and_then(|tag| asked.remove(&tag)) {
                    self.ledger_recovered(now, ledger, result, effects);
                }
            }
            (OpeningStep::Claim(write), answer) => {
                let progress = write.answered(&mut turn, answer);
                self.claimed(now, progress, effects);
            }
            (OpeningStep::CursorNames(waits_for), Answer::Listed { result, .. })
                if tag == Some(*waits_for) =>
            {
                self.cursors_listed(now, result, effects);
            }
            (OpeningStep::Cursors(restores), answer) => {
                if let Owner::Cursor(name) = owner
                    && let Some(restore) = restores.get_mut(name)
                {
                    let restored = restore.answered(&mut turn, answer);
                    self.cursor_restored(name, restored, effects);
                }
            }
            _ => {}
        }
    }

    /// What stood in the way is deleted.
    pub(crate) fn open_again(&mut self, now: Now, create: bool, effects: &mut Vec<Effect>) {
        self.list = LedgerList::default();
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let opening = Opening::begin(&mut turn, self.path.clone(), create);
        self.phase = Phase::Opening(opening);
    }

    fn go_on(&mut self, step: OpeningStep) {
        if let Phase::Opening(opening) = &mut self.phase {
            opening.step = step;
        }
    }

    fn read_list(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let path = self.path.clone();
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let waits_for = turn.call(&Owner::Log, |tag| Call::GetNode { tag, path });
        self.go_on(OpeningStep::List(waits_for));
    }

    fn list_read(
        &mut self,
        now: Now,
        result: Result<Option<(Bytes, i64)>, Fault>,
        effects: &mut Vec<Effect>,
    ) {
        let create = matches!(&self.phase, Phase::Opening(opening) if opening.create);
        match result {
            Ok(Some((value, version))) => match LedgerList::decode(&value) {
                Ok(list) => {
                    self.list = list;
                    self.version = version;
                    if is_marked(&self.list) {
                        return self.finish_deleting(now, create, effects);
                    }
                    self.recover_ledgers(now, effects);
                }
                Err(error) => {
                    let error = LogError::Damaged(format!("{}: {error}", self.path));
                    self.fail_to_open(error, effects);
                }
            },
            Ok(None) if create => self.read_namespace(now, effects),
            Ok(None) => self.fail_to_open(LogError::NoSuchTopic(self.topic.to_string()), effects),
            Err(_) if self.may_retry() => self.read_list(now, effects),
            Err(fault) => self.fail_to_open(fault.to_log_error(self.topic.as_str()), effects),
        }
    }

    fn read_namespace(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let path = format!("/admin/policies/{}", self.topic.namespace());
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let waits_for = turn.call(&Owner::Log, |tag| Call::GetNode { tag, path });
        self.go_on(OpeningStep::Namespace(waits_for));
    }

    fn namespace_read(
        &mut self,
        now: Now,
        result: Result<Option<(Bytes, i64)>, Fault>,
        effects: &mut Vec<Effect>,
    ) {
        match result {
            Ok(Some(_)) => {
                if let Phase::Opening(opening) = &mut self.phase {
                    opening.is_new = true;
                }
                self.claim(now, None, effects);
            }
            Ok(None) => {
                self.fail_to_open(
                    LogError::NoSuchNamespace(self.topic.namespace().to_string()),
                    effects,
                );
            }
            Err(_) if self.may_retry() => self.read_namespace(now, effects),
            Err(fault) => self.fail_to_open(fault.to_log_error(self.topic.as_str()), effects),
        }
    }

    /// Ledgers without a number of entries were left open.
    fn recover_ledgers(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let open: Vec<i64> = self
            .list
            .ledgers
            .iter()
            .filter(|listed| listed.entries == 0)
            .map(|l| l.ledger)
            .collect();
        if open.is_empty() {
            return self.claim(now, Some(self.version), effects);
        }
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let asked = open
            .into_iter()
            .map(|ledger| {
                (
                    turn.call(&Owner::Log, |tag| Call::RecoverLedger { tag, ledger }),
                    ledger,
                )
            })
            .collect();
        self.go_on(OpeningStep::Ledgers(asked));
    }

    fn ledger_recovered(
        &mut self,
        now: Now,
        ledger: i64,
        result: Result<(i64, u64), Fault>,
        effects: &mut Vec<Effect>,
    ) {
        match result {
            // Certain: it holds nothing, or is not there at all.
            Ok((-1, _)) | Err(Fault::Missing(_)) => {
                self.list.ledgers.retain(|listed| listed.ledger != ledger);
                self.dropped.push(ledger);
            }
            Ok((last, length)) => {
                if let Some(listed) = self
                    .list
                    .ledgers
                    .iter_mut()
                    .find(|listed| listed.ledger == ledger)
                {
                    listed.entries = last.saturating_add(1);
                    listed.size = i64::try_from(length).unwrap_or(i64::MAX);
                    listed.closed_at_ms = i64::try_from(now.wall.0).unwrap_or(i64::MAX).max(1);
                }
            }
            Err(Fault::Damaged(text)) => {
                return self.fail_to_open(LogError::Damaged(text), effects);
            }
            Err(_) if self.may_retry() => {
                let mut turn = Turn {
                    now,
                    tags: &mut self.tags,
                    effects,
                };
                let tag = turn.call(&Owner::Log, |tag| Call::RecoverLedger { tag, ledger });
                if let Phase::Opening(Opening {
                    step: OpeningStep::Ledgers(asked),
                    ..
                }) = &mut self.phase
                {
                    asked.insert(tag, ledger);
                }
                return;
            }
            Err(fault) => {
                return self.fail_to_open(fault.to_log_error(self.topic.as_str()), effects);
            }
        }
        let done = matches!(&self.phase, Phase::Opening(Opening { step: OpeningStep::Ledgers(asked), .. }) if asked.is_empty());
        if done {
            self.claim(now, Some(self.version), effects);
        }
    }

    fn claim(&mut self, now: Now, expect: Option<i64>, effects: &mut Vec<Effect>) {
        let (path, value) = (self.path.clone(), self.list.encode());
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let write = NodeWrite::begin(&mut turn, Owner::Log, path, value, expect, Vec::new());
        self.go_on(OpeningStep::Claim(write));
    }

    fn claimed(&mut self, now: Now, progress: Progress, effects: &mut Vec<Effect>) {
        let Phase::Opening(opening) = &mut self.phase else {
            return;
        };
        match progress {
            Progress::Pending => {}
            Progress::Taken(text) => {
                opening.restarts += 1;
                opening.is_new = false;
                opening.tries = 0;
                self.dropped.clear();
                self.list = LedgerList::default();
                if opening.restarts > RESTARTS_MAX {
                    return self.fail_to_open(
                        LogError::Io(format!("others keep writing it: {text}")),
                        effects,
                    );
                }
                self.read_list(now, effects);
            }
            Progress::Stalled(fault) => {
                self.fail_to_open(fault.to_log_error(self.topic.as_str()), effects)
            }
            Progress::Done(version) => {
                self.version = version;
                opening.tries = 0;
                let is_new = opening.is_new;
                let mut turn = Turn {
                    now,
                    tags: &mut self.tags,
                    effects,
                };
                for ledger in self.dropped.drain(..) {
                    turn.sweep(ledger, 0);
                }
                if is_new {
                    self.opened(effects)
                } else {
                    self.list_cursors(now, effects)
                }
            }
        }
    }

    fn list_cursors(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let path = self.path.clone();
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let waits_for = turn.call(&Owner::Log, |tag| Call::ListNodes { tag, path });
        self.go_on(OpeningStep::CursorNames(waits_for));
    }

    fn cursors_listed(
        &mut self,
        now: Now,
        result: Result<Vec<String>, Fault>,
        effects: &mut Vec<Effect>,
    ) {
        let leaves = match result {
            Ok(leaves) => leaves,
            Err(_) if self.may_retry() => return self.list_cursors(now, effects),
            Err(fault) => {
                return self.fail_to_open(fault.to_log_error(self.topic.as_str()), effects);
            }
        };
        if leaves.is_empty() {
            return self.opened(effects);
        }
        let mut restores = BTreeMap::new();
        for leaf in leaves {
            let path = format!("{}/{leaf}", self.path);
            let Some(name) = url_decode(&leaf) else {
                return self.fail_to_open(
                    LogError::Damaged(format!("{path}: not the name of a cursor")),
                    effects,
                );
            };
            let name: Arc<str> = name.into();
            let mut turn = Turn {
                now,
                tags: &mut self.tags,
                effects,
            };
            let restore = CursorRestore::begin(&mut turn, Owner::Cursor(name.clone()), path);
            restores.insert(name, restore);
        }
        self.go_on(OpeningStep::Cursors(restores));
    }

    fn cursor_restored(&mut self, name: &Arc<str>, restored: Restored, effects: &mut Vec<Effect>) {
        let Phase::Opening(opening) = &mut self.phase else {
            return;
        };
        let OpeningStep::Cursors(restores) = &mut opening.step else {
            return;
        };
        match restored {
            Restored::Pending => return,
            Restored::Failed(error) => return self.fail_to_open(error, effects),
            Restored::Absent => drop(restores.remove(name)),
            Restored::Found(Found {
                state,
                version,
                ledger,
                lost,
            }) => {
                let path = restores
                    .remove(name)
                    .map(CursorRestore::into_path)
                    .unwrap_or_default();
                opening.found.push(SavedCursor {
                    name: name.to_string(),
                    snapshot: state.snapshot.clone(),
                    deltas: state.deltas.clone(),
                    lost: lost.clone(),
                });
                let keeper = CursorKeeper::new(
                    name.clone(),
                    path,
                    &self.topic.persistence_name(),
                    self.settings.clone(),
                );
                let keeper = match (lost, ledger) {
                    (Some(_), Some(ledger)) => keeper.restored_without(version, ledger),
                    _ => keeper.restored(state, version, ledger),
                };
                self.cursors.insert(name.clone(), keeper);
            }
        }
        if restores.is_empty() {
            self.opened(effects);
        }
    }

    fn opened(&mut self, effects: &mut Vec<Effect>) {
        let Phase::Opening(opening) = &mut self.phase else {
            return;
        };
        let mut cursors = std::mem::take(&mut opening.found);
        cursors.sort_by(|a, b| a.name.cmp(&b.name));
        self.phase = Phase::Open;
        let extent = self
            .list
            .ledgers
            .iter()
            .map(|listed| (listed.ledger, listed.last_entry()))
            .collect();
        let properties = self.list.properties.clone();
        effects.push(Effect::Reply(LogReply::Opened {
            extent,
            cursors,
            properties,
        }));
    }

    fn fail_to_open(&mut self, error: LogError, effects: &mut Vec<Effect>) {
        self.phase = Phase::Gone;
        self.cursors.clear();
        effects.push(Effect::Reply(LogReply::OpenFailed { error }));
    }

    fn may_retry(&mut self) -> bool {
        let Phase::Opening(opening) = &mut self.phase else {
            return false;
        };
        opening.tries += 1;
        opening.tries < TRIES_MAX
    }
}
