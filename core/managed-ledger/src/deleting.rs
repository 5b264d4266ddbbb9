//! Deleting a log for good.
//!
//! It is closed first, so that nothing is under way. Then the list is marked by compare-and-set: from here on there is no
//! way back, and whoever opens the log finishes the work. Then the cursors go, each with its ledger, then the ledgers,
//! and the node with the list last: so at any moment everything that is still there is named by something.

use crate::forms::cursor_node::CursorNode;
use crate::forms::ledger_list::LedgerList;
use crate::machine::{ManagedLedger, Phase};
use crate::node_write::{NodeWrite, Progress};
use crate::storage::{Answer, Call, Fault, Tag};
use crate::turn::{Effect, Owner, TRIES_MAX, Turn};
use letters::{LogError, LogReply};
use vocabulary::Now;

/// The property of a list whose log is being deleted.
const MARK: &str = "hulse.deleting";

/// How far a deletion is.
#[derive(Debug)]
pub(crate) struct Deleting {
    /// It was begun by an earlier owner and found when the log was opened: whether the log is to be made anew.
    opening: Option<bool>,
    step: Step,
    tries: u32,
    /// Names of cursors' nodes that are still there.
    cursors: Vec<String>,
    /// Ledgers that are still there.
    ledgers: Vec<i64>,
}

#[derive(Debug)]
enum Step {
    Marking(NodeWrite),
    /// Cursors' names are being read.
    Listing(Tag),
    /// The last cursor's node is being read.
    Reading(Tag),
    /// The last cursor's ledger is being deleted.
    Emptying(Tag, i64),
    /// The last cursor's node is being removed.
    Removing(Tag),
    /// The last ledger is being deleted.
    Sweeping(Tag),
    /// The list's node is being removed.
    Ending(Tag),
    /// It was not clear whether the list's node is gone.
    Looking(Tag),
}

/// Whether a stored list says that its log is being deleted.
pub(crate) fn is_marked(list: &LedgerList) -> bool {
    list.properties.iter().any(|(key, _)| key == MARK)
}

impl ManagedLedger {
    /// The topic wants its log deleted.
    pub(crate) fn delete(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if !matches!(self.phase, Phase::Open) {
            let error = LogError::Io(format!("the log of {} is not open", self.topic));
            return effects.push(Effect::Reply(LogReply::Deleted { result: Err(error) }));
        }
        self.doomed = true;
        self.close(now, effects);
    }

    /// Everything is closed: the list is marked.
    pub(crate) fn begin_deleting(&mut self, now: Now, effects: &mut Vec<Effect>) {
        self.list.properties.push((MARK.to_owned(), String::new()));
        let (path, value) = (self.path.clone(), self.list.encode());
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let expect = Some(self.version);
        let write = NodeWrite::begin(&mut turn, Owner::Log, path, value, expect, Vec::new());
        self.delete_from(Step::Marking(write), None);
    }

    /// The list that was found at opening is marked: what somebody began is finished first.
    pub(crate) fn finish_deleting(&mut self, now: Now, create: bool, effects: &mut Vec<Effect>) {
        self.delete_from(Step::Listing(0), Some(create));
        self.list_doomed_cursors(now, effects);
    }

    fn delete_from(&mut self, step: Step, opening: Option<bool>) {
        self.phase = Phase::Deleting(Deleting {
            opening,
            step,
            tries: 0,
            cursors: Vec::new(),
            ledgers: self.list.ledgers.iter().map(|one| one.ledger).collect(),
        });
    }

    /// Storage answered a call of the deletion.
    pub(crate) fn deleting_answered(
        &mut self,
        now: Now,
        answer: Answer,
        effects: &mut Vec<Effect>,
    ) {
        let Phase::Deleting(deleting) = &mut self.phase else {
            return;
        };
        let tag = answer.tag();
        let fault = match (&mut deleting.step, answer) {
            (Step::Marking(write), answer) => {
                let mut turn = Turn {
                    now,
                    tags: &mut self.tags,
                    effects,
                };
                match write.answered(&mut turn, answer) {
                    Progress::Pending => return,
                    Progress::Done(version) => {
                        self.version = version;
                        return self.list_doomed_cursors(now, effects);
                    }
                    Progress::Taken(text) => {
                        return self.stop_deleting(LogError::Fenced(text), effects);
                    }
                    Progress::Stalled(fault) => {
                        let error = fault.to_log_error(self.topic.as_str());
                        return self.stop_deleting(error, effects);
                    }
                }
            }
            (Step::Listing(asked), Answer::Listed { result, .. }) if tag == Some(*asked) => {
                match result {
                    Ok(names) => {
                        deleting.cursors = names;
                        return self.delete_next(now, effects);
                    }
                    Err(fault) => fault,
                }
            }
            (Step::Reading(asked), Answer::Got { result, .. }) if tag == Some(*asked) => {
                match result {
                    Ok(None) => {
                        deleting.cursors.pop();
                        return self.delete_next(now, effects);
                    }
                    Ok(Some((value, version))) => {
                        // One that cannot be understood names no ledger that we could delete.
                        let ledger = match CursorNode::decode(&value) {
                            Ok(CursorNode::InLedger { ledger, .. }) => Some(ledger),
                            _ => None,
                        };
                        return self.delete_cursor_at(now, version, ledger, effects);
                    }
                    Err(fault) => fault,
                }
            }
            (Step::Emptying(asked, version), Answer::Deleted { result, .. })
                if tag == Some(*asked) =>
            {
                let version = *version;
                match result {
                    Ok(()) | Err(Fault::Missing(_)) => {
                        return self.delete_cursor_at(now, version, None, effects);
                    }
                    Err(fault) => fault,
                }
            }
            (Step::Removing(asked), Answer::NodeDeleted { result, .. }) if tag == Some(*asked) => {
                match result {
                    Ok(()) => {
                        deleting.cursors.pop();
                        return self.delete_next(now, effects);
                    }
                    // It is read again: gone, or at another version after a call that happened late.
                    Err(fault) => fault,
                }
            }
            (Step::Sweeping(asked), Answer::Deleted { result, .. }) if tag == Some(*asked) => {
                match result {
                    Ok(()) | Err(Fault::Missing(_)) => {
                        deleting.ledgers.pop();
                        return self.delete_next(now, effects);
                    }
                    Err(fault) => fault,
                }
            }
            (Step::Ending(asked), Answer::NodeDeleted { result, .. }) if tag == Some(*asked) => {
                match result {
                    Ok(()) => return self.deleted(now, effects),
                    Err(fault) => fault,
                }
            }
            (Step::Looking(asked), Answer::Got { result, .. }) if tag == Some(*asked) => {
                match result {
                    Ok(None) => return self.deleted(now, effects),
                    Ok(Some((_, version))) if version == self.version => {
                        return self.end_node(now, effects);
                    }
                    Ok(Some((_, version))) => {
                        let text = format!("{} is at version {version}", self.path);
                        return self.stop_deleting(LogError::Fenced(text), effects);
                    }
                    Err(fault) => fault,
                }
            }
            _ => return,
        };
        self.delete_again(now, &fault, effects);
    }

    /// A step failed: it is tried again some times, from a read where it is not clear what happened.
    fn delete_again(&mut self, now: Now, fault: &Fault, effects: &mut Vec<Effect>) {
        let Phase::Deleting(deleting) = &mut self.phase else {
            return;
        };
        deleting.tries += 1;
        if deleting.tries >= TRIES_MAX {
            let error = fault.to_log_error(self.topic.as_str());
            return self.stop_deleting(error, effects);
        }
        match deleting.step {
            Step::Listing(_) => self.list_doomed_cursors(now, effects),
            Step::Ending(_) | Step::Looking(_) => {
                let path = self.path.clone();
                let tag = self.deleting_call(now, effects, |tag| Call::GetNode { tag, path });
                self.go_on_deleting(Step::Looking(tag));
            }
            _ => self.delete_step(now, effects),
        }
    }

    fn list_doomed_cursors(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let path = self.path.clone();
        let tag = self.deleting_call(now, effects, |tag| Call::ListNodes { tag, path });
        self.go_on_deleting(Step::Listing(tag));
    }

    /// A step is done.
    fn delete_next(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if let Phase::Deleting(deleting) = &mut self.phase {
            deleting.tries = 0;
        }
        self.delete_step(now, effects);
    }

    fn delete_step(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let Phase::Deleting(deleting) = &self.phase else {
            return;
        };
        if let Some(name) = deleting.cursors.last() {
            let path = format!("{}/{name}", self.path);
            let tag = self.deleting_call(now, effects, |tag| Call::GetNode { tag, path });
            self.go_on_deleting(Step::Reading(tag));
        } else if let Some(ledger) = deleting.ledgers.last().copied() {
            let tag = self.deleting_call(now, effects, |tag| Call::DeleteLedger { tag, ledger });
            self.go_on_deleting(Step::Sweeping(tag));
        } else {
            self.end_node(now, effects);
        }
    }

    /// The last cursor: first its ledger, if it has one, then its node.
    fn delete_cursor_at(
        &mut self,
        now: Now,
        version: i64,
        ledger: Option<i64>,
        effects: &mut Vec<Effect>,
    ) {
        let Phase::Deleting(deleting) = &self.phase else {
            return;
        };
        let name = deleting.cursors.last().cloned().unwrap_or_default();
        let path = format!("{}/{name}", self.path);
        let step = match ledger {
            Some(ledger) => {
                let call = |tag| Call::DeleteLedger { tag, ledger };
                Step::Emptying(self.deleting_call(now, effects, call), version)
            }
            None => {
                let expect = version;
                let call = |tag| Call::DeleteNode { tag, path, expect };
                Step::Removing(self.deleting_call(now, effects, call))
            }
        };
        self.go_on_deleting(step);
    }

    fn end_node(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let (path, expect) = (self.path.clone(), self.version);
        let tag = self.deleting_call(now, effects, |tag| Call::DeleteNode { tag, path, expect });
        self.go_on_deleting(Step::Ending(tag));
    }

    fn deleting_call(
        &mut self,
        now: Now,
        effects: &mut Vec<Effect>,
        build: impl FnOnce(Tag) -> Call,
    ) -> Tag {
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        turn.call(&Owner::Log, build)
    }

    fn go_on_deleting(&mut self, step: Step) {
        if let Phase::Deleting(deleting) = &mut self.phase {
            deleting.step = step;
        }
    }

    fn deleted(&mut self, now: Now, effects: &mut Vec<Effect>) {
        let opening = match &self.phase {
            Phase::Deleting(deleting) => deleting.opening,
            _ => None,
        };
        match opening {
            None => {
                self.phase = Phase::Gone;
                self.refuse_late(effects);
                effects.push(Effect::Reply(LogReply::Deleted { result: Ok(()) }));
            }
            Some(create) => self.open_again(now, create, effects),
        }
    }

    /// It cannot go on. What is left is found by the next opening.
    fn stop_deleting(&mut self, error: LogError, effects: &mut Vec<Effect>) {
        let was_opening =
            matches!(&self.phase, Phase::Deleting(deleting) if deleting.opening.is_some());
        self.phase = Phase::Gone;
        self.refuse_late(effects);
        effects.push(Effect::Reply(match was_opening {
            true => LogReply::OpenFailed { error },
            false => LogReply::Deleted { result: Err(error) },
        }));
    }
}
