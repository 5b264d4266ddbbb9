//! Writing a metadata node by compare-and-set until it is known whether that happened.
//!
//! A call that was not answered in time may have happened, so its node is read again: our value at a
//! newer version means that it did; the old version means that it did not and may be tried again;
//! anything else was written by somebody else.

use crate::storage::{Answer, Call, Fault, Tag};
use crate::turn::{Owner, TRIES_MAX, Turn};
use bytes::Bytes;

/// One write.
#[derive(Debug)]
pub(crate) struct NodeWrite {
    owner: Owner,
    path: String,
    value: Bytes,
    /// The version the node must be at; `None`: it must be absent.
    expect: Option<i64>,
    /// Values of our own writes of which we do not know whether they happened.
    unsure: Vec<Bytes>,
    waits_for: Tag,
    tries: u32,
}

/// How far it is.
#[derive(Debug, PartialEq)]
pub(crate) enum Progress {
    /// Not there yet.
    Pending,
    /// It happened; this is the new version.
    Done(i64),
    /// Somebody else wrote the node.
    Taken(String),
    /// Storage failed too often in a row; [`NodeWrite::again`] goes on.
    Stalled(Fault),
}

impl NodeWrite {
    /// Begins. `unsure`: values of earlier writes to this node whose fate is unknown.
    pub(crate) fn begin(
        turn: &mut Turn,
        owner: Owner,
        path: String,
        value: Bytes,
        expect: Option<i64>,
        unsure: Vec<Bytes>,
    ) -> NodeWrite {
        let mut write = NodeWrite {
            owner,
            path,
            value,
            expect,
            unsure,
            waits_for: 0,
            tries: 0,
        };
        write.put(turn);
        write
    }

    /// Goes on after [`Progress::Stalled`].
    pub(crate) fn again(&mut self, turn: &mut Turn) {
        self.tries = 0;
        self.read(turn);
    }

    /// After [`Progress::Stalled`], for a writer that gives up: the values that may be in the node.
    pub(crate) fn into_unsure(self) -> Vec<Bytes> {
        self.unsure
    }

    /// Takes the answer to the call it waits for; others are not its own.
    pub(crate) fn answered(&mut self, turn: &mut Turn, answer: Answer) -> Progress {
        if answer.tag() != Some(self.waits_for) {
            return Progress::Pending;
        }
        match answer {
            Answer::Put { result, .. } => self.was_put(turn, result),
            Answer::Got { result, .. } => self.was_read(turn, result),
            _ => Progress::Pending,
        }
    }

    fn was_put(&mut self, turn: &mut Turn, result: Result<i64, Fault>) -> Progress {
        match result {
            Ok(version) => Progress::Done(version),
            Err(Fault::Taken(text)) if self.unsure.is_empty() => Progress::Taken(text),
            Err(Fault::Taken(_)) => {
                self.read(turn);
                Progress::Pending
            }
            Err(fault) => {
                self.unsure.push(self.value.clone());
                self.read_unless_tired(turn, fault)
            }
        }
    }

    fn was_read(
        &mut self,
        turn: &mut Turn,
        result: Result<Option<(Bytes, i64)>, Fault>,
    ) -> Progress {
        match result {
            Ok(found) if found.as_ref().map(|(_, version)| *version) == self.expect => {
                self.unsure.clear();
                self.put(turn);
                Progress::Pending
            }
            Ok(Some((value, version))) if value == self.value && self.unsure.contains(&value) => {
                Progress::Done(version)
            }
            Ok(Some((value, version))) if self.unsure.contains(&value) => {
                self.expect = Some(version);
                self.unsure.clear();
                self.put(turn);
                Progress::Pending
            }
            Ok(Some((_, version))) => {
                Progress::Taken(format!("{} is at version {version}", self.path))
            }
            Ok(None) => Progress::Taken(format!("{} is gone", self.path)),
            Err(fault) => self.read_unless_tired(turn, fault),
        }
    }

    fn read_unless_tired(&mut self, turn: &mut Turn, fault: Fault) -> Progress {
        self.tries += 1;
        if self.tries >= TRIES_MAX {
            return Progress::Stalled(fault);
        }
        self.read(turn);
        Progress::Pending
    }

    fn put(&mut self, turn: &mut Turn) {
        let (path, value, expect) = (self.path.clone(), self.value.clone(), self.expect);
        self.waits_for = turn.call(&self.owner, |tag| Call::PutNode {
            tag,
            path,
            value,
            expect,
        });
    }

    fn read(&mut self, turn: &mut Turn) {
        let path = self.path.clone();
        self.waits_for = turn.call(&self.owner, |tag| Call::GetNode { tag, path });
    }
}
