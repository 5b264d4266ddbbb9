//! How a decision reads the store: as if everything were there already.
//!
//! What was not read yet pauses the decision; it is asked for, and the decision is made again from its beginning. So a
//! decision is straight code over a consistent set of reads, and a lost compare-and-set is decided again in the same
//! way, with fresh reads.

use bytes::Bytes;
use metadata_store::{Expect, KeyKind, MetadataRequest};
use serde_json::Value;
use std::collections::BTreeMap;

/// A value and its version; `None`: the key is not there.
pub(crate) type Node = Option<(Bytes, i64)>;

/// Why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// What is asked for is not there.
    NotFound,
    /// It is there already, or something that depends on it is.
    Conflict,
    /// The name or the value cannot be.
    Precondition,
    /// A number that is too small or too large.
    NotAcceptable,
    /// A change that cannot be made to what is there.
    Unprocessable,
    /// What is stored cannot be read, or the store failed.
    Storage,
}

/// A no.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct No {
    /// What kind.
    pub why: Why,
    /// For people; Pulsar's words where clients and scripts look at them.
    pub text: String,
}

impl No {
    pub(crate) fn new(why: Why, text: impl Into<String>) -> No {
        No {
            why,
            text: text.into(),
        }
    }
}

/// Why a decision ended early.
pub(crate) enum Halt {
    /// Something was not read yet.
    Unread,
    /// The decision is no.
    No(No),
}

impl From<No> for Halt {
    fn from(no: No) -> Halt {
        Halt::No(no)
    }
}

/// What a decision came to: changes to be made in order, all or the decision is made again; then the answer.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub writes: Vec<Write>,
    pub answer: Value,
}

/// A change.
#[derive(Debug)]
pub(crate) struct Write {
    pub path: String,
    /// `None`: the key goes.
    pub value: Option<Bytes>,
    pub expect: Expect,
    /// Somebody having been faster is fine.
    pub may_be_there: bool,
}

impl Write {
    pub fn new(path: String, value: Bytes) -> Write {
        Write {
            path,
            value: Some(value),
            expect: Expect::Absent,
            may_be_there: false,
        }
    }

    pub fn over(path: String, version: i64, value: Bytes) -> Write {
        Write {
            expect: Expect::Version(version),
            ..Write::new(path, value)
        }
    }

    pub fn removal(path: String, version: i64) -> Write {
        Write {
            path,
            value: None,
            expect: Expect::Version(version),
            may_be_there: false,
        }
    }

    pub fn request(&self, ticket: u64) -> MetadataRequest {
        match &self.value {
            Some(value) => MetadataRequest::Put {
                ticket,
                path: self.path.clone(),
                value: value.clone(),
                expect: self.expect,
                kind: KeyKind::Persistent,
            },
            None => MetadataRequest::Delete {
                ticket,
                path: self.path.clone(),
                expect: self.expect,
            },
        }
    }
}

/// A verdict without changes.
pub(crate) fn answer(value: impl Into<Value>) -> Result<Verdict, Halt> {
    Ok(Verdict {
        writes: Vec::new(),
        answer: value.into(),
    })
}

/// A verdict that changes something and has nothing to say.
pub(crate) fn change(writes: Vec<Write>) -> Result<Verdict, Halt> {
    Ok(Verdict {
        writes,
        answer: Value::Null,
    })
}

pub(crate) fn no<T>(why: Why, text: impl Into<String>) -> Result<T, Halt> {
    Err(Halt::No(No::new(why, text)))
}

/// What was read so far, and what is wanted next.
#[derive(Debug, Default)]
pub(crate) struct View {
    nodes: BTreeMap<String, Node>,
    children: BTreeMap<String, Vec<String>>,
    pub wanted: Vec<MetadataRequest>,
}

impl View {
    /// A key's value.
    pub fn node(&mut self, path: &str) -> Result<Node, Halt> {
        match self.nodes.get(path) {
            Some(node) => Ok(node.clone()),
            None => {
                self.wanted.push(MetadataRequest::Get {
                    ticket: 0,
                    path: path.to_owned(),
                });
                Err(Halt::Unread)
            }
        }
    }

    /// A key's value as JSON, and its version.
    pub fn json(&mut self, path: &str) -> Result<Option<(Value, i64)>, Halt> {
        let Some((value, version)) = self.node(path)? else {
            return Ok(None);
        };
        match serde_json::from_slice(&value) {
            Ok(json) => Ok(Some((json, version))),
            Err(error) => no(Why::Storage, format!("{path} is not JSON: {error}")),
        }
    }

    /// The names of the keys below a key, sorted.
    pub fn children(&mut self, path: &str) -> Result<Vec<String>, Halt> {
        match self.children.get(path) {
            Some(names) => Ok(names.clone()),
            None => {
                self.wanted.push(MetadataRequest::Children {
                    ticket: 0,
                    path: path.to_owned(),
                });
                Err(Halt::Unread)
            }
        }
    }

    pub fn learn_node(&mut self, path: String, node: Node) {
        self.nodes.insert(path, node);
    }

    pub fn learn_children(&mut self, path: String, mut names: Vec<String>) {
        names.sort();
        self.children.insert(path, names);
    }

    /// Everything is read again.
    pub fn forget(&mut self) {
        self.nodes.clear();
        self.children.clear();
    }
}
