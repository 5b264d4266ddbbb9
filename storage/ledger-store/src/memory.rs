//! A store in memory that keeps the seam's contract and not a hair more: an adversary for those who ask it.
//!
//! With [`Trouble`] it answers late, ledgers overtake each other, reads overtake appends, and calls end in
//! `Timeout` that did happen, or did not. Appends of one ledger are never reordered. After an append that
//! timed out the writer is broken: every later append times out too, and what was carried out of them is a
//! prefix (BookKeeper's handle behaves so); whoever wants to know recovers the ledger.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use world::Dice;

use crate::seam::{Entry, LedgerError, LedgerReply, LedgerRequest, LedgerStore};

/// How bad it gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// A request waits for up to this many turns.
    pub delay_turns_max: u64,
    /// So many calls in a thousand are answered with `Timeout`.
    pub timeouts_per_thousand: u64,
}

/// The store. Memory: all that was appended and not deleted, and all that waits.
#[derive(Debug, Default)]
pub struct MemoryLedgerStore {
    trouble: Trouble,
    is_full: bool,
    last_id: i64,
    ledgers: BTreeMap<i64, Ledger>,
    lanes: BTreeMap<Lane, VecDeque<Waiting>>,
    arrivals: u64,
    turns: u64,
}

/// Requests in one lane keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    Ledger(i64),
    /// A request that need not wait for any other.
    Alone(u64),
}

#[derive(Debug)]
struct Waiting {
    request: LedgerRequest,
    /// Turns to wait; drawn when first seen.
    due: Option<u64>,
}

#[derive(Debug, Default)]
struct Ledger {
    entries: Vec<Bytes>,
    state: State,
    /// An append timed out.
    writer_broken: bool,
    /// One of them was not carried out, so none behind it may be.
    writer_stuck: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// Open, but its writer is gone.
    Orphaned,
    Sealed,
    /// Sealed by a recovery.
    Fenced,
}

impl MemoryLedgerStore {
    /// An empty store.
    pub fn new(trouble: Trouble) -> MemoryLedgerStore {
        MemoryLedgerStore {
            trouble,
            ..MemoryLedgerStore::default()
        }
    }

    /// From now on there is, or is no, room for entries.
    pub fn set_full(&mut self, is_full: bool) {
        self.is_full = is_full;
    }

    /// From now on it gets this bad.
    pub fn set_trouble(&mut self, trouble: Trouble) {
        self.trouble = trouble;
    }

    /// Whether requests wait for an answer.
    pub fn is_idle(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Lets some time pass; returns what was answered in it.
    pub fn turn(&mut self, dice: &mut dyn Dice) -> Vec<LedgerReply> {
        self.turns += 1;
        let mut replies = Vec::new();
        let mut lanes = std::mem::take(&mut self.lanes);
        let mut order: Vec<Lane> = lanes.keys().copied().collect();
        if self.trouble.delay_turns_max > 0 {
            for at in (1..order.len()).rev() {
                order.swap(at, dice.below(at as u64 + 1) as usize);
            }
        }
        for lane in order {
            let Some(waiting) = lanes.get_mut(&lane) else {
                continue;
            };
            while let Some(first) = waiting.front_mut() {
                let delay_max = self.trouble.delay_turns_max;
                let now = self.turns;
                let due = *first
                    .due
                    .get_or_insert_with(|| now + dice.below(delay_max + 1));
                if due > now {
                    break;
                }
                if let Some(waiting) = waiting.pop_front() {
                    replies.push(self.answer(waiting.request, dice));
                }
            }
        }
        lanes.retain(|_, waiting| !waiting.is_empty());
        self.lanes = lanes;
        replies
    }

    /// The asker's process died and another one starts: what waits is carried out or not, a prefix in each
    /// lane, and never answered; open ledgers have no writer any more.
    pub fn restart(&mut self, dice: &mut dyn Dice) {
        for (_, waiting) in std::mem::take(&mut self.lanes) {
            let keep = dice.below(waiting.len() as u64 + 1) as usize;
            for waiting in waiting.into_iter().take(keep) {
                self.carry_out(waiting.request);
            }
        }
        for ledger in self.ledgers.values_mut() {
            if ledger.state == State::Open {
                ledger.state = State::Orphaned;
            }
        }
    }

    fn answer(&mut self, request: LedgerRequest, dice: &mut dyn Dice) -> LedgerReply {
        if let LedgerRequest::Append { ledger, .. } = request
            && self
                .ledgers
                .get(&ledger)
                .is_some_and(|found| found.writer_broken && found.state == State::Open)
        {
            return self.time_out(request, dice);
        }
        if dice.chance(self.trouble.timeouts_per_thousand, 1000) {
            return self.time_out(request, dice);
        }
        self.carry_out(request)
    }

    fn time_out(&mut self, request: LedgerRequest, dice: &mut dyn Dice) -> LedgerReply {
        let happens = dice.chance(1, 2);
        let text = || LedgerError::Timeout("the answer was lost on the way".into());
        if let LedgerRequest::Append { ledger, .. } = request
            && let Some(found) = self.ledgers.get_mut(&ledger)
            && found.state == State::Open
        {
            found.writer_broken = true;
            found.writer_stuck |= !happens;
            if found.writer_stuck {
                return refuse(request, text());
            }
        }
        if happens {
            self.carry_out(request.clone());
        }
        refuse(request, text())
    }

    fn carry_out(&mut self, request: LedgerRequest) -> LedgerReply {
        match request {
            LedgerRequest::Create { ticket, .. } => {
                self.last_id += 1;
                self.ledgers.insert(self.last_id, Ledger::default());
                LedgerReply::Created {
                    ticket,
                    result: Ok(self.last_id),
                }
            }
            LedgerRequest::Recover { ticket, ledger } => LedgerReply::Recovered {
                ticket,
                ledger,
                result: self.recover(ledger),
            },
            LedgerRequest::Append {
                ledger,
                entry,
                body,
                ..
            } => LedgerReply::Appended {
                ledger,
                entry,
                result: self.append(ledger, entry, body),
            },
            LedgerRequest::Read {
                ticket,
                ledger,
                first,
                last,
                bytes_max,
            } => LedgerReply::Read {
                ticket,
                ledger,
                first,
                result: self.read(ledger, first, last, bytes_max),
            },
            LedgerRequest::Seal {
                ticket,
                ledger,
                last_entry,
                ..
            } => LedgerReply::Sealed {
                ticket,
                ledger,
                result: self.seal(ledger, last_entry),
            },
            LedgerRequest::Delete { ticket, ledger } => {
                self.ledgers.remove(&ledger);
                LedgerReply::Deleted {
                    ticket,
                    ledger,
                    result: Ok(()),
                }
            }
        }
    }

    fn find(&mut self, ledger: i64) -> Result<&mut Ledger, LedgerError> {
        self.ledgers
            .get_mut(&ledger)
            .ok_or(LedgerError::NoSuchLedger(ledger))
    }

    fn recover(&mut self, ledger: i64) -> Result<(i64, u64), LedgerError> {
        let found = self.find(ledger)?;
        if found.state != State::Sealed {
            found.state = State::Fenced;
        }
        Ok((found.last(), found.length()))
    }

    fn append(&mut self, ledger: i64, entry: i64, body: Bytes) -> Result<(), LedgerError> {
        let is_full = self.is_full;
        let not_open = || LedgerError::NotAllowed(ledger, "it is not open for writing here".into());
        let found = self.ledgers.get_mut(&ledger).ok_or_else(not_open)?;
        match found.state {
            State::Open => {}
            State::Fenced => return Err(LedgerError::Fenced(ledger)),
            State::Sealed | State::Orphaned => return Err(not_open()),
        }
        let next = found.last() + 1;
        if entry != next {
            let text = format!("entry {entry} was sent where {next} comes next");
            return Err(LedgerError::NotAllowed(ledger, text));
        }
        if is_full {
            return Err(LedgerError::Full("made to be full".into()));
        }
        found.entries.push(body);
        Ok(())
    }

    fn read(
        &mut self,
        ledger: i64,
        first: i64,
        last: i64,
        bytes_max: usize,
    ) -> Result<Vec<Entry>, LedgerError> {
        if first < 0 || last < first {
            return Err(LedgerError::NotAllowed(
                ledger,
                format!("there are no entries {first} to {last}"),
            ));
        }
        let found = self.find(ledger)?;
        if first > found.last() {
            return Err(LedgerError::NoSuchEntry(ledger, first));
        }
        let mut entries: Vec<Entry> = Vec::new();
        let mut bytes = 0;
        for (entry, body) in (0..).zip(&found.entries).skip(first as usize) {
            bytes += body.len();
            if entry > last || (!entries.is_empty() && bytes > bytes_max) {
                break;
            }
            let body = body.clone();
            entries.push(Entry { entry, body });
        }
        Ok(entries)
    }

    fn seal(&mut self, ledger: i64, last_entry: i64) -> Result<(), LedgerError> {
        let not_open = || LedgerError::NotAllowed(ledger, "it is not open for writing here".into());
        let found = self.ledgers.get_mut(&ledger).ok_or_else(not_open)?;
        match found.state {
            State::Open if found.last() == last_entry && !found.writer_broken => {
                found.state = State::Sealed;
                Ok(())
            }
            State::Fenced => Err(LedgerError::Fenced(ledger)),
            State::Open => {
                let text = format!(
                    "it cannot be sealed after entry {last_entry}: that is not the last confirmed one"
                );
                Err(LedgerError::NotAllowed(ledger, text))
            }
            State::Sealed | State::Orphaned => Err(not_open()),
        }
    }
}

impl Ledger {
    fn last(&self) -> i64 {
        self.entries.len() as i64 - 1
    }

    fn length(&self) -> u64 {
        self.entries.iter().map(|body| body.len() as u64).sum()
    }
}

impl LedgerStore for MemoryLedgerStore {
    fn submit(&mut self, requests: Vec<LedgerRequest>) {
        for request in requests {
            self.arrivals += 1;
            let lane = match &request {
                LedgerRequest::Create { .. } | LedgerRequest::Read { .. } => {
                    Lane::Alone(self.arrivals)
                }
                LedgerRequest::Recover { ledger, .. }
                | LedgerRequest::Append { ledger, .. }
                | LedgerRequest::Seal { ledger, .. }
                | LedgerRequest::Delete { ledger, .. } => Lane::Ledger(*ledger),
            };
            let waiting = Waiting { request, due: None };
            self.lanes.entry(lane).or_default().push_back(waiting);
        }
    }
}

/// The reply that says no.
fn refuse(request: LedgerRequest, error: LedgerError) -> LedgerReply {
    match request {
        LedgerRequest::Create { ticket, .. } => LedgerReply::Created {
            ticket,
            result: Err(error),
        },
        LedgerRequest::Recover { ticket, ledger } => LedgerReply::Recovered {
            ticket,
            ledger,
            result: Err(error),
        },
        LedgerRequest::Append { ledger, entry, .. } => LedgerReply::Appended {
            ledger,
            entry,
            result: Err(error),
        },
        LedgerRequest::Read {
            ticket,
            ledger,
            first,
            ..
        } => LedgerReply::Read {
            ticket,
            ledger,
            first,
            result: Err(error),
        },
        LedgerRequest::Seal { ticket, ledger, .. } => LedgerReply::Sealed {
            ticket,
            ledger,
            result: Err(error),
        },
        LedgerRequest::Delete { ticket, ledger } => LedgerReply::Deleted {
            ticket,
            ledger,
            result: Err(error),
        },
    }
}
