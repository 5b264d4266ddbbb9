//! A store in memory that keeps every promise of the seam and not one more.
//!
//! [`MemoryStore::well_behaved`] answers at once and in order. [`MemoryStore::adversary`] does all
//! that a real store may do to its asker: late answers, answers out of order across paths, time-outs
//! of calls that happened, will happen or never happen, other writers in between, lost sessions.
//! What it does is decided by the dice it is handed, so a seed repeats it.

use crate::seam::{Expect, KeyKind, MetadataError, MetadataReply, MetadataRequest, MetadataStore};
use crate::tree::{SessionId, Tree};
use crate::watch::Watches;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use vocabulary::WallTime;
use world::Dice;

/// The session of the other writer that [`MemoryStore::interfere`] plays.
const OTHER_WRITER: SessionId = SessionId::MAX;

/// How much trouble an adversary makes; all numbers are chances out of 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A request, a reply or a notification waits one more turn. More than 900 counts as 900.
    pub delay: u64,
    /// A call is answered with `Timeout`: two thirds of them happen, by then or later (but before any
    /// later request on the same path), a third never happens.
    pub timeout: u64,
    /// Another writer rewrites the key, with the same value, right before a change of it is carried out.
    pub other_writer: u64,
    /// The session is lost, per turn.
    pub session_loss: u64,
    /// A notification comes once more.
    pub doubled_notice: u64,
}

impl Trouble {
    /// Late and out of order, but every answer is a straight one.
    #[must_use]
    pub fn only_late() -> Trouble {
        Trouble {
            delay: 400,
            timeout: 0,
            other_writer: 0,
            session_loss: 0,
            doubled_notice: 200,
        }
    }

    /// All of it.
    #[must_use]
    pub fn everything() -> Trouble {
        Trouble {
            delay: 400,
            timeout: 150,
            other_writer: 100,
            session_loss: 10,
            doubled_notice: 200,
        }
    }
}

struct Waiting {
    request: MetadataRequest,
    /// A `Timeout` has gone out already; the effect is still to come.
    answered: bool,
}

/// The store. One asker; see [`MemoryStore::interfere`] for what others do.
pub struct MemoryStore {
    tree: Tree,
    /// `None`: well behaved.
    trouble: Option<Trouble>,
    watches: Watches,
    wall: WallTime,
    session: SessionId,
    connected: bool,
    /// Sessions that are lost, with ephemeral keys that still show.
    going: Vec<SessionId>,
    /// Requests in the order they came (well behaved).
    inbox: Vec<MetadataRequest>,
    /// By path asked about: requests not yet carried out (adversary).
    lanes: BTreeMap<String, VecDeque<Waiting>>,
    /// By path asked about: answers not yet handed out (adversary).
    answers: BTreeMap<String, VecDeque<MetadataReply>>,
    /// Paths of keys that changed, not yet told.
    notices: Vec<String>,
    /// `SessionLost` and `SessionEstablished`, to be told in the next turn.
    session_news: Vec<MetadataReply>,
}

impl MemoryStore {
    /// Answers everything in the next turn, in order.
    #[must_use]
    pub fn well_behaved() -> MemoryStore {
        MemoryStore::new(None)
    }

    /// Makes trouble.
    #[must_use]
    pub fn adversary(trouble: Trouble) -> MemoryStore {
        MemoryStore::new(Some(Trouble {
            delay: trouble.delay.min(900),
            ..trouble
        }))
    }

    fn new(trouble: Option<Trouble>) -> MemoryStore {
        MemoryStore {
            tree: Tree::default(),
            trouble,
            watches: Watches::default(),
            wall: WallTime(0),
            session: 1,
            connected: true,
            going: Vec::new(),
            inbox: Vec::new(),
            lanes: BTreeMap::new(),
            answers: BTreeMap::new(),
            notices: Vec::new(),
            session_news: Vec::new(),
        }
    }

    /// What time keys are written at from now on (0 until told).
    pub fn tell_time(&mut self, wall: WallTime) {
        self.wall = wall;
    }

    /// Tells of changes under a prefix from now on; see [`Watches`].
    pub fn watch(&mut self, prefix: &str) -> Result<(), MetadataError> {
        self.watches.watch(prefix)
    }

    /// Takes requests; they are answered in some later [`turn`](MemoryStore::turn).
    pub fn submit(&mut self, requests: Vec<MetadataRequest>) {
        if self.trouble.is_none() {
            self.inbox.extend(requests);
            return;
        }
        for request in requests {
            let lane = self.lanes.entry(request.path().to_owned()).or_default();
            lane.push_back(Waiting {
                request,
                answered: false,
            });
        }
    }

    /// Carries out what its mood lets it, and answers. The dice are rolled by an adversary only.
    pub fn turn(&mut self, dice: &mut dyn Dice) -> Vec<MetadataReply> {
        match self.trouble {
            None => self.straight_turn(),
            Some(trouble) => self.troubled_turn(trouble, dice),
        }
    }

    /// Nothing waits in it: every request is answered, every notification told, every lost session cleaned up.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let at_rest = self.inbox.is_empty() && self.lanes.is_empty() && self.answers.is_empty();
        at_rest
            && self.notices.is_empty()
            && self.session_news.is_empty()
            && self.connected
            && self.going.is_empty()
    }

    /// What is really in it, for tests that compare.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Another asker writes (`Some`) or removes (`None`) a key, right now and whatever is there.
    pub fn interfere(&mut self, path: &str, value: Option<Bytes>) -> Result<(), MetadataError> {
        match value {
            Some(value) => {
                self.tree.put(
                    path,
                    value,
                    Expect::Anything,
                    KeyKind::Persistent,
                    OTHER_WRITER,
                    self.wall,
                )?;
                self.note_change(path.to_owned());
            }
            None => {
                if self.tree.delete(path, Expect::Anything)? {
                    self.note_change(path.to_owned());
                }
            }
        }
        Ok(())
    }

    /// The session is lost, right now. Requests that were not carried out yet time out and never
    /// happen; the session's ephemeral keys go (an adversary takes its time); a new session follows.
    pub fn lose_session(&mut self) {
        if !self.connected {
            return;
        }
        self.connected = false;
        self.going.push(self.session);
        self.session_news.push(MetadataReply::SessionLost);
        for (path, lane) in std::mem::take(&mut self.lanes) {
            for waiting in lane.into_iter().filter(|waiting| !waiting.answered) {
                self.answer(&path, timed_out(&waiting.request));
            }
        }
        for request in std::mem::take(&mut self.inbox) {
            let path = request.path().to_owned();
            self.answer(&path, timed_out(&request));
        }
    }

    fn straight_turn(&mut self) -> Vec<MetadataReply> {
        let mut replies: Vec<MetadataReply> = std::mem::take(&mut self.answers)
            .into_values()
            .flatten()
            .collect();
        if !self.connected {
            self.clean_up(|_| true);
            self.establish();
        }
        replies.append(&mut self.session_news);
        for request in std::mem::take(&mut self.inbox) {
            replies.push(self.carry_out(&request));
        }
        replies.extend(
            std::mem::take(&mut self.notices)
                .into_iter()
                .map(|path| MetadataReply::Changed { path }),
        );
        replies
    }

    fn troubled_turn(&mut self, trouble: Trouble, dice: &mut dyn Dice) -> Vec<MetadataReply> {
        if self.connected && dice.chance(trouble.session_loss, 1000) {
            self.lose_session();
        } else if !self.connected && !dice.chance(trouble.delay, 1000) {
            self.establish();
        }
        self.clean_up(|_| !dice.chance(trouble.delay, 1000));
        let mut paths: Vec<String> = self.lanes.keys().cloned().collect();
        shuffle(&mut paths, dice);
        for path in paths {
            self.run_lane(&path, trouble, dice);
        }
        let mut replies = std::mem::take(&mut self.session_news);
        self.hand_out_answers(&mut replies, trouble, dice);
        self.hand_out_notices(&mut replies, trouble, dice);
        replies
    }

    fn run_lane(&mut self, path: &str, trouble: Trouble, dice: &mut dyn Dice) {
        let mut lane = self.lanes.remove(path).unwrap_or_default();
        while !dice.chance(trouble.delay, 1000) {
            let Some(mut waiting) = lane.pop_front() else {
                break;
            };
            if waiting.answered {
                self.carry_out(&waiting.request);
            } else if !self.connected {
                self.answer(path, timed_out(&waiting.request));
            } else if dice.chance(trouble.timeout, 1000) {
                self.answer(path, timed_out(&waiting.request));
                if dice.chance(2, 3) {
                    // Its effect is still to come, perhaps within this turn.
                    waiting.answered = true;
                    lane.push_front(waiting);
                }
            } else {
                if waiting.request.is_change() && dice.chance(trouble.other_writer, 1000) {
                    self.rewrite_by_another(path);
                }
                let reply = self.carry_out(&waiting.request);
                self.answer(path, reply);
            }
        }
        if !lane.is_empty() {
            self.lanes.insert(path.to_owned(), lane);
        }
    }

    fn rewrite_by_another(&mut self, path: &str) {
        if let Ok(Some((value, _))) = self.tree.get(path) {
            // The key is there and its path is one, so this cannot fail.
            let _ = self.interfere(path, Some(value));
        }
    }

    fn hand_out_answers(
        &mut self,
        replies: &mut Vec<MetadataReply>,
        trouble: Trouble,
        dice: &mut dyn Dice,
    ) {
        let mut paths: Vec<String> = self.answers.keys().cloned().collect();
        shuffle(&mut paths, dice);
        for path in paths {
            let mut answers = self.answers.remove(&path).unwrap_or_default();
            while !dice.chance(trouble.delay, 1000) {
                let Some(answer) = answers.pop_front() else {
                    break;
                };
                replies.push(answer);
            }
            if !answers.is_empty() {
                self.answers.insert(path, answers);
            }
        }
    }

    fn hand_out_notices(
        &mut self,
        replies: &mut Vec<MetadataReply>,
        trouble: Trouble,
        dice: &mut dyn Dice,
    ) {
        let mut notices = std::mem::take(&mut self.notices);
        shuffle(&mut notices, dice);
        for path in notices {
            if dice.chance(trouble.delay, 1000) {
                self.notices.push(path);
                continue;
            }
            if dice.chance(trouble.doubled_notice, 1000) {
                self.notices.push(path.clone());
            }
            replies.push(MetadataReply::Changed { path });
        }
    }

    fn carry_out(&mut self, request: &MetadataRequest) -> MetadataReply {
        let (reply, changed) = self.tree.carry_out(request, self.session, self.wall);
        if let Some(path) = changed {
            self.note_change(path);
        }
        reply
    }

    fn establish(&mut self) {
        self.session += 1;
        self.connected = true;
        self.session_news.push(MetadataReply::SessionEstablished);
    }

    fn clean_up(&mut self, mut now: impl FnMut(SessionId) -> bool) {
        for session in std::mem::take(&mut self.going) {
            if !now(session) {
                self.going.push(session);
                continue;
            }
            for path in self.tree.end_session(session) {
                self.note_change(path);
            }
        }
    }

    fn answer(&mut self, path: &str, reply: MetadataReply) {
        self.answers
            .entry(path.to_owned())
            .or_default()
            .push_back(reply);
    }

    fn note_change(&mut self, path: String) {
        if self.watches.covers(&path) {
            self.notices.push(path);
        }
    }
}

impl MetadataStore for MemoryStore {
    fn submit(&mut self, requests: Vec<MetadataRequest>) {
        MemoryStore::submit(self, requests);
    }
}

fn timed_out(request: &MetadataRequest) -> MetadataReply {
    request.failed(MetadataError::Timeout(request.path().to_owned()))
}

fn shuffle<T>(items: &mut [T], dice: &mut dyn Dice) {
    for upper in (1..items.len()).rev() {
        let other = usize::try_from(dice.below(upper as u64 + 1)).unwrap_or(0);
        items.swap(upper, other);
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod memory_tests;
