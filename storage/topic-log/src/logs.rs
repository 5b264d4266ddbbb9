//! All topic logs of one shard.
//!
//! A ticket given to a store says whose it is: the number of the log in the upper half (never used
//! again, bit 63 clear), the number of the call in the lower; bit 31 of that marks a read. Number 0 is
//! nobody's log: there the lower half numbers a `Find` and which of its three nodes is meant.

use crate::cache::TailCache;
use crate::find::{self, Find};
use crate::read::{Next, Read};
use crate::refusal;
use crate::settings::{Settings, Stats};
use crate::translate;
use bytes::Bytes;
use foldhash::fast::FixedState;
use ledger_store::{LedgerReply, LedgerRequest};
use letters::log::Ticket;
use letters::{LogError, LogReply, LogRequest};
use managed_ledger::{Answer, Call, Input, ManagedLedger, Tag};
use metadata_store::{MetadataReply, MetadataRequest};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use vocabulary::{Moment, Now, TopicName};

/// What a shard's logs want done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask the ledger store.
    Ledger(LedgerRequest),
    /// Ask the metadata store.
    Metadata(MetadataRequest),
    /// Tell a topic.
    Reply(TopicName, LogReply),
    /// Call [`TopicLogs::handle_time`] then.
    WakeAt(Moment),
}

/// The logs.
#[derive(Debug)]
pub struct TopicLogs {
    settings: Arc<managed_ledger::Settings>,
    /// Never walked.
    numbers: HashMap<TopicName, u32, FixedState>,
    logs: BTreeMap<u32, Log>,
    next_number: u32,
    /// Which log writes to a ledger. Never walked.
    writers: HashMap<i64, u32, FixedState>,
    wakes: BTreeSet<(Moment, u32)>,
    finds: BTreeMap<u32, Find>,
    next_find: u32,
    cache: TailCache,
    /// What a machine said last; kept for its room.
    said: Vec<managed_ledger::Effect>,
    /// Of logs that are gone.
    counts_gone: managed_ledger::Counts,
}

#[derive(Debug)]
struct Log {
    topic: TopicName,
    machine: ManagedLedger,
    /// Bodies of appends not yet answered, in order.
    bodies: VecDeque<Bytes>,
    reads: BTreeMap<u32, Read>,
    next_read: u32,
    wake_at: Option<Moment>,
    ledgers: BTreeSet<i64>,
}

const READ_BIT: u32 = 1 << 31;

impl TopicLogs {
    /// None are open.
    #[must_use]
    pub fn new(settings: Settings) -> TopicLogs {
        TopicLogs {
            settings: Arc::new(settings.managed_ledger),
            numbers: HashMap::with_hasher(FixedState::default()),
            logs: BTreeMap::new(),
            next_number: 1,
            writers: HashMap::with_hasher(FixedState::default()),
            wakes: BTreeSet::new(),
            finds: BTreeMap::new(),
            next_find: 0,
            cache: TailCache::new(settings.cache_bytes),
            said: Vec::new(),
            counts_gone: managed_ledger::Counts::default(),
        }
    }

    /// Takes a request of a topic.
    pub fn handle_request(
        &mut self,
        now: Now,
        topic: &TopicName,
        request: LogRequest,
        effects: &mut Vec<Effect>,
    ) {
        match request {
            LogRequest::Find { ticket } => self.find(topic, ticket, effects),
            LogRequest::Open { create } => self.open(now, topic, create, effects),
            request => match self.numbers.get(topic).copied() {
                Some(number) => self.handle_open(now, number, request, effects),
                None => {
                    let reply = refusal::of(request, &not_open(topic));
                    effects.extend(reply.map(|reply| Effect::Reply(topic.clone(), reply)));
                }
            },
        }
    }

    /// Takes a reply of the ledger store.
    pub fn handle_ledger(&mut self, now: Now, reply: LedgerReply, effects: &mut Vec<Effect>) {
        let Some(ticket) = translate::ledger_ticket(&reply) else {
            let LedgerReply::Appended { ledger, .. } = &reply else {
                return;
            };
            let Some(number) = self.writers.get(ledger).copied() else {
                return;
            };
            return self.answer(now, number, translate::ledger_answer(reply, 0), effects);
        };
        let (number, tag) = split(ticket);
        match reply {
            LedgerReply::Read { result, .. } if tag & READ_BIT != 0 => {
                let Some(log) = self.logs.get_mut(&number) else {
                    return;
                };
                let Some(mut read) = log.reads.remove(&tag) else {
                    return;
                };
                let next = read.answered(number, &log.machine, &mut self.cache, result);
                self.go_on_reading(number, read, next, effects);
            }
            reply => self.answer(now, number, translate::ledger_answer(reply, tag), effects),
        }
    }

    /// Takes a reply of the metadata store.
    pub fn handle_metadata(&mut self, now: Now, reply: MetadataReply, effects: &mut Vec<Effect>) {
        let Some(ticket) = translate::metadata_ticket(&reply) else {
            return;
        };
        let (number, tag) = split(ticket);
        if number == 0 {
            return self.found(tag, reply, effects);
        }
        if let Some(answer) = translate::metadata_answer(reply, tag) {
            self.answer(now, number, answer, effects);
        }
    }

    /// The time that [`Effect::WakeAt`] named has come, or any other.
    pub fn handle_time(&mut self, now: Now, effects: &mut Vec<Effect>) {
        while let Some((at, number)) = self.wakes.first().copied()
            && at <= now.moment
        {
            self.wakes.pop_first();
            if let Some(log) = self.logs.get_mut(&number) {
                log.wake_at = None;
            }
            self.drive(number, effects, |machine, out| machine.time_came(now, out));
        }
        if let Some((at, _)) = self.wakes.first() {
            effects.push(Effect::WakeAt(*at));
        }
    }

    /// The numbers as they are now. Walks all logs: for a metrics page, not for every turn.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = Stats {
            cache_hits: self.cache.hits,
            cache_misses: self.cache.misses,
            cache_bytes: self.cache.bytes() as u64,
            logs: self.logs.len() as u64,
            ledgers_open: 0,
            rolls: self.counts_gone.rolls,
            trims: self.counts_gone.trims,
        };
        for log in self.logs.values() {
            let counts = log.machine.counts();
            stats.ledgers_open += u64::from(log.machine.has_open_ledger());
            stats.rolls += counts.rolls;
            stats.trims += counts.trims;
        }
        stats
    }

    /// What is known of the ledgers and cursors of a log that is open.
    #[must_use]
    pub fn details(&self, topic: &TopicName) -> Option<managed_ledger::LogDetails> {
        let log = self.logs.get(self.numbers.get(topic)?)?;
        Some(log.machine.details())
    }

    fn find(&mut self, topic: &TopicName, ticket: Ticket, effects: &mut Vec<Effect>) {
        let number = self.next_find;
        self.next_find = (number + 1) & (u32::MAX >> 2);
        for (which, path) in (0..).zip(find::paths(topic)) {
            let ticket = join(0, (number << 2) | which);
            effects.push(Effect::Metadata(MetadataRequest::Get { ticket, path }));
        }
        self.finds.insert(number, Find::new(topic.clone(), ticket));
    }

    fn found(&mut self, tag: u32, reply: MetadataReply, effects: &mut Vec<Effect>) {
        let MetadataReply::Got { path, result, .. } = reply else {
            return;
        };
        let (number, which) = (tag >> 2, tag & 3);
        let Some(find) = self.finds.get_mut(&number) else {
            return;
        };
        if let Some(reply) = find.answered(which, &path, result) {
            effects.push(Effect::Reply(find.topic.clone(), reply));
            self.finds.remove(&number);
        }
    }

    fn open(&mut self, now: Now, topic: &TopicName, create: bool, effects: &mut Vec<Effect>) {
        if self.numbers.contains_key(topic) {
            let error = LogError::Io(format!("the log of {topic} is open already"));
            return effects.push(Effect::Reply(topic.clone(), LogReply::OpenFailed { error }));
        }
        let number = self.free_number();
        let mut out = Vec::new();
        let machine = ManagedLedger::open(now, topic, create, self.settings.clone(), &mut out);
        let log = Log {
            topic: topic.clone(),
            machine,
            bodies: VecDeque::new(),
            reads: BTreeMap::new(),
            next_read: 0,
            wake_at: None,
            ledgers: BTreeSet::new(),
        };
        self.numbers.insert(topic.clone(), number);
        self.logs.insert(number, log);
        self.carry_out(number, &mut out, effects);
    }

    fn free_number(&mut self) -> u32 {
        loop {
            let number = self.next_number;
            self.next_number = if number >= (u32::MAX >> 1) {
                1
            } else {
                number + 1
            };
            if !self.logs.contains_key(&number) {
                return number;
            }
        }
    }

    fn handle_open(
        &mut self,
        now: Now,
        number: u32,
        request: LogRequest,
        effects: &mut Vec<Effect>,
    ) {
        let input = match request {
            LogRequest::Append { ticket, body, .. } => {
                if let Some(log) = self.logs.get_mut(&number) {
                    log.bodies.push_back(TailCache::detached(&body));
                }
                Input::Append { ticket, body }
            }
            LogRequest::Read {
                ticket,
                from,
                until,
                entries_max,
                bytes_max,
            } => {
                return self.read(
                    number,
                    Read::range(ticket, from, until, entries_max, bytes_max),
                    effects,
                );
            }
            LogRequest::ReadAt { ticket, positions } => {
                return self.read(number, Read::exactly(ticket, positions), effects);
            }
            LogRequest::CreateCursor {
                ticket,
                name,
                snapshot,
            } => Input::CreateCursor {
                ticket,
                name,
                snapshot,
            },
            LogRequest::SaveCursor {
                ticket,
                name,
                record,
            } => Input::SaveCursor {
                ticket,
                name,
                record,
            },
            LogRequest::DeleteCursor { ticket, name } => Input::DeleteCursor { ticket, name },
            LogRequest::SetProperty { ticket, key, value } => {
                Input::SetProperty { ticket, key, value }
            }
            LogRequest::Trim { up_to } => Input::Trim { up_to },
            LogRequest::Delete => Input::Delete,
            LogRequest::Close => Input::Close,
            // Answered before; see `handle_request`.
            LogRequest::Find { .. } | LogRequest::Open { .. } => return,
        };
        self.drive(number, effects, |machine, out| {
            machine.handle(now, input, out)
        });
    }

    fn read(&mut self, number: u32, mut read: Read, effects: &mut Vec<Effect>) {
        let Some(log) = self.logs.get_mut(&number) else {
            return;
        };
        let next = match log.machine.is_open() {
            true => read.next(number, &log.machine, &mut self.cache),
            false => read.fail(not_open(&log.topic)),
        };
        self.go_on_reading(number, read, next, effects);
    }

    fn go_on_reading(&mut self, number: u32, read: Read, next: Next, effects: &mut Vec<Effect>) {
        let Some(log) = self.logs.get_mut(&number) else {
            return;
        };
        match next {
            Next::Reply(reply) => effects.push(Effect::Reply(log.topic.clone(), reply)),
            Next::Ask(run, bytes_max) => {
                let tag = READ_BIT | log.next_read;
                log.next_read = (log.next_read + 1) & !READ_BIT;
                log.reads.insert(tag, read);
                effects.push(Effect::Ledger(LedgerRequest::Read {
                    ticket: join(number, tag),
                    ledger: run.ledger,
                    first: run.first,
                    last: run.last,
                    bytes_max,
                }));
            }
        }
    }

    fn answer(&mut self, now: Now, number: u32, answer: Answer, effects: &mut Vec<Effect>) {
        self.drive(number, effects, |machine, out| {
            machine.answered(now, answer, out)
        });
    }

    fn drive(
        &mut self,
        number: u32,
        effects: &mut Vec<Effect>,
        input: impl FnOnce(&mut ManagedLedger, &mut Vec<managed_ledger::Effect>),
    ) {
        let Some(log) = self.logs.get_mut(&number) else {
            return;
        };
        let mut said = std::mem::take(&mut self.said);
        input(&mut log.machine, &mut said);
        self.carry_out(number, &mut said, effects);
        self.said = said;
    }

    fn carry_out(
        &mut self,
        number: u32,
        said: &mut Vec<managed_ledger::Effect>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(log) = self.logs.get_mut(&number) else {
            return;
        };
        for effect in said.drain(..) {
            match effect {
                managed_ledger::Effect::Call(call) => {
                    match &call {
                        Call::Append {
                            ledger, entry: 0, ..
                        } => {
                            self.writers.insert(*ledger, number);
                            log.ledgers.insert(*ledger);
                        }
                        Call::SealLedger { ledger, .. } | Call::DeleteLedger { ledger, .. } => {
                            self.writers.remove(ledger);
                            log.ledgers.remove(ledger);
                        }
                        _ => {}
                    }
                    effects.push(translate::request(call, |tag| join(number, tag)));
                }
                managed_ledger::Effect::Reply(reply) => {
                    match &reply {
                        LogReply::Stored { position, .. } => {
                            if let Some(body) = log.bodies.pop_front() {
                                self.cache.keep_appended(number, *position, body);
                            }
                        }
                        LogReply::NotStored { .. } => drop(log.bodies.pop_front()),
                        LogReply::Closed | LogReply::Deleted { .. } | LogReply::Lost { .. } => {
                            fail_reads(log, &reply, effects)
                        }
                        _ => {}
                    }
                    effects.push(Effect::Reply(log.topic.clone(), reply));
                }
            }
        }
        if log.machine.is_gone() {
            self.forget(number)
        } else {
            self.note_wake(number, effects)
        }
    }

    fn note_wake(&mut self, number: u32, effects: &mut Vec<Effect>) {
        let Some(log) = self.logs.get_mut(&number) else {
            return;
        };
        let wake_at = log.machine.wake_at();
        if wake_at == log.wake_at {
            return;
        }
        if let Some(before) = std::mem::replace(&mut log.wake_at, wake_at) {
            self.wakes.remove(&(before, number));
        }
        if let Some(at) = wake_at {
            self.wakes.insert((at, number));
            if self.wakes.first() == Some(&(at, number)) {
                effects.push(Effect::WakeAt(at));
            }
        }
    }

    fn forget(&mut self, number: u32) {
        let Some(log) = self.logs.remove(&number) else {
            return;
        };
        self.numbers.remove(&log.topic);
        if let Some(at) = log.wake_at {
            self.wakes.remove(&(at, number));
        }
        for ledger in log.ledgers {
            self.writers.remove(&ledger);
        }
        let counts = log.machine.counts();
        self.counts_gone.rolls += counts.rolls;
        self.counts_gone.trims += counts.trims;
    }
}

fn fail_reads(log: &mut Log, reply: &LogReply, effects: &mut Vec<Effect>) {
    let error = match reply {
        LogReply::Lost { error } => error.clone(),
        _ => not_open(&log.topic),
    };
    for (_, mut read) in std::mem::take(&mut log.reads) {
        if let Next::Reply(reply) = read.fail(error.clone()) {
            effects.push(Effect::Reply(log.topic.clone(), reply));
        }
    }
}

fn not_open(topic: &TopicName) -> LogError {
    LogError::Io(format!("the log of {topic} is not open"))
}

fn join(number: u32, tag: Tag) -> u64 {
    (u64::from(number) << 32) | u64::from(tag)
}

fn split(ticket: u64) -> (u32, Tag) {
    ((ticket >> 32) as u32, ticket as u32)
}
