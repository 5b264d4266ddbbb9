//! Bodies of recent entries, so that who reads the tail never touches storage.
//!
//! Two shelves, so that a reader of old entries does not push out the tail: what was appended gets
//! three quarters of the budget, what was read from storage one quarter. The oldest goes first.
//!
//! A body is a slice of the buffer in which its frame came from the socket, and would keep that whole
//! buffer alive. How large it is cannot be asked, so small bodies ([`COPY_BYTES_MAX`]) are always
//! copied: that costs less than 100 ns, and the budget then counts what is really kept. A larger body
//! is most of its buffer, or one of the few in it.

use bytes::Bytes;
use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};
use vocabulary::Position;

/// Bodies up to this size are copied when they are kept.
pub const COPY_BYTES_MAX: usize = 4 * 1024;
/// What an entry costs beside its body, about.
const OVERHEAD_BYTES: usize = 120;

/// Which log, and where in it. Numbers of logs are not used again, so what a closed log leaves here
/// is never found and goes with its age.
type Key = (u32, Position);

/// The cache of one shard.
#[derive(Debug)]
pub struct TailCache {
    /// Never walked.
    entries: HashMap<Key, Bytes, FixedState>,
    appended: Shelf,
    read: Shelf,
    /// Reads of entries that were there, and that were not.
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

#[derive(Debug)]
struct Shelf {
    budget_bytes: usize,
    bytes: usize,
    order: VecDeque<(Key, usize)>,
}

impl TailCache {
    /// An empty one that keeps about so many bytes at most.
    #[must_use]
    pub fn new(budget_bytes: usize) -> TailCache {
        let read = budget_bytes / 4;
        let shelf = |budget_bytes| Shelf {
            budget_bytes,
            bytes: 0,
            order: VecDeque::new(),
        };
        TailCache {
            entries: HashMap::with_hasher(FixedState::default()),
            appended: shelf(budget_bytes - read),
            read: shelf(read),
            hits: 0,
            misses: 0,
        }
    }

    /// A body as it should be kept for long.
    #[must_use]
    pub fn detached(body: &Bytes) -> Bytes {
        if body.len() <= COPY_BYTES_MAX {
            Bytes::copy_from_slice(body)
        } else {
            body.clone()
        }
    }

    /// Keeps an entry that was just stored; its body is [`detached`](TailCache::detached) already.
    pub fn keep_appended(&mut self, log: u32, position: Position, body: Bytes) {
        self.appended.keep(&mut self.entries, (log, position), body);
    }

    /// Keeps an entry that was just read from storage.
    pub fn keep_read(&mut self, log: u32, position: Position, body: &Bytes) {
        self.read.keep(
            &mut self.entries,
            (log, position),
            TailCache::detached(body),
        );
    }

    /// An entry's body.
    #[must_use]
    pub fn get(&self, log: u32, position: Position) -> Option<Bytes> {
        self.entries.get(&(log, position)).cloned()
    }

    /// Bytes kept, with what keeping them costs.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.appended.bytes + self.read.bytes
    }

    /// Entries kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Shelf {
    fn keep(&mut self, entries: &mut HashMap<Key, Bytes, FixedState>, key: Key, body: Bytes) {
        let cost = body.len() + OVERHEAD_BYTES;
        if cost > self.budget_bytes || entries.contains_key(&key) {
            return;
        }
        entries.insert(key, body);
        self.order.push_back((key, cost));
        self.bytes += cost;
        while self.bytes > self.budget_bytes
            && let Some((key, cost)) = self.order.pop_front()
        {
            entries.remove(&key);
            self.bytes -= cost;
        }
    }
}
