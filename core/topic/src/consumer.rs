//! One consumer: its permits, what is on its way to it, and what it holds unacknowledged.

use crate::dispatch::permits::Price;
use crate::turn::Seat;
use letters::{AddConsumer, Delivery, StoredEntry, to_topic::UNWRITTEN_BYTES_MAX};
use std::collections::BTreeMap;
use vocabulary::{Position, WallTime};

/// A consumer that was admitted. Lives as long as its seat: what it was granted dies with it.
#[derive(Debug)]
pub(crate) struct Consumer {
    pub seat: Seat,
    pub name: String,
    pub priority_level: i32,
    /// Only Exclusive and Failover use it.
    pub epoch: Option<u64>,
    /// It does not settle which schema the topic has.
    pub takes_any_schema: bool,
    /// Messages it may still get; negative by up to a batch.
    pub permits: i64,
    /// Granted while it was blocked; counted into `permits` when it no longer is.
    pub parked_permits: u64,
    /// It holds too many unacknowledged messages.
    pub blocked: bool,
    /// Bytes delivered that its connection has not taken yet.
    pub unwritten_bytes: u64,
    /// What it holds (Shared only).
    pub pending: BTreeMap<Position, Pending>,
    /// Messages in `pending`.
    pub unacked: u64,
    pub totals: ConsumerTotals,
    pub facts: ConsumerFacts,
}

/// An entry delivered and not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Messages of the entry.
    pub batch_size: u32,
    /// Messages of it that this consumer was given and has not acknowledged.
    pub left: u32,
    /// Size of the entry.
    pub bytes: u32,
}

/// Sums over the consumer's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConsumerTotals {
    pub granted: u64,
    pub messages_out: u64,
    pub entries_out: u64,
    pub bytes_out: u64,
    pub redelivered: u64,
    /// Messages, or entries where that is all that is known.
    pub acked: u64,
}

/// What the consumer said of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConsumerFacts {
    pub metadata: Vec<(String, String)>,
    pub client_version: String,
    pub address: String,
    pub connected_since: WallTime,
}

impl Consumer {
    pub fn new(seat: Seat, add: AddConsumer, connected_since: WallTime) -> Consumer {
        Consumer {
            seat,
            name: add.name,
            priority_level: add.priority_level,
            epoch: add.epoch,
            takes_any_schema: add.takes_any_schema,
            permits: 0,
            parked_permits: 0,
            blocked: false,
            unwritten_bytes: 0,
            pending: BTreeMap::new(),
            unacked: 0,
            totals: ConsumerTotals::default(),
            facts: ConsumerFacts {
                metadata: add.metadata,
                client_version: add.client_version,
                address: add.address,
                connected_since,
            },
        }
    }

    /// FLOW came. A blocked consumer's grant is put aside.
    pub fn grant(&mut self, permits: u32) {
        self.totals.granted += u64::from(permits);
        if self.blocked {
            self.parked_permits += u64::from(permits);
        } else {
            self.permits += i64::from(permits);
        }
    }

    /// The connection has taken so much.
    pub fn written(&mut self, bytes: u64) {
        self.unwritten_bytes = self.unwritten_bytes.saturating_sub(bytes);
    }

    /// Whether it can get anything now.
    pub fn is_available(&self) -> bool {
        self.permits > 0 && !self.blocked && self.unwritten_bytes < UNWRITTEN_BYTES_MAX
    }

    /// Whether it can get an entry of this size now: within the byte credit, or alone.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        let within = self.unwritten_bytes.saturating_add(bytes as u64) <= UNWRITTEN_BYTES_MAX;
        self.is_available() && (self.unwritten_bytes == 0 || within)
    }

    /// Bytes that may still be sent on their way.
    pub fn credit_bytes(&self) -> u64 {
        UNWRITTEN_BYTES_MAX.saturating_sub(self.unwritten_bytes)
    }

    /// Debits an entry that will be emitted, and only such: the one price goes into everything.
    pub fn debit(&mut self, entry: StoredEntry, price: Price, redelivery_count: u32) -> Delivery {
        let bytes = entry.body.len() as u64;
        self.permits -= i64::from(price.permits);
        self.unwritten_bytes += bytes;
        self.totals.messages_out += u64::from(price.permits);
        self.totals.entries_out += 1;
        self.totals.bytes_out += bytes;
        self.totals.redelivered += u64::from(redelivery_count > 0);
        Delivery {
            position: entry.position,
            redelivery_count,
            ack_set: price.ack_set,
            permits: price.permits,
            epoch: self.epoch,
            entry: entry.body,
        }
    }

    /// Remembers a delivered entry as unacknowledged (Shared only).
    pub fn hold(&mut self, position: Position, pending: Pending) {
        self.unacked += u64::from(pending.left);
        let before = self.pending.insert(position, pending);
        // Invariant: an entry that a consumer holds is not delivered again before it was given back.
        assert!(
            before.is_none(),
            "{position} was delivered twice to the consumer that holds it"
        );
    }

    /// Gives up an entry, acknowledged or to be delivered again.
    pub fn release(&mut self, position: Position) -> Option<Pending> {
        let pending = self.pending.remove(&position)?;
        self.unacked -= u64::from(pending.left);
        Some(pending)
    }

    /// Part of an entry was acknowledged: `left` messages remain. Answers how many went.
    pub fn release_part(&mut self, position: Position, left: u32) -> u32 {
        let Some(pending) = self.pending.get_mut(&position) else {
            return 0;
        };
        let gone = pending.left.saturating_sub(left);
        pending.left -= gone;
        self.unacked -= u64::from(gone);
        gone
    }

    /// Granted = emitted + available, and what is held adds up.
    pub fn check(&self) {
        let accounted = self.permits + self.parked_permits as i64 + self.totals.messages_out as i64;
        // Invariant: permits are neither lost nor made (PIP-491).
        assert!(
            self.totals.granted as i64 == accounted,
            "consumer {:?}: granted {}, accounted for {accounted}",
            self.seat,
            self.totals.granted
        );
        let held: u64 = self
            .pending
            .values()
            .map(|pending| u64::from(pending.left))
            .sum();
        // Invariant: the unacked count is the sum of what is pending.
        assert!(
            held == self.unacked,
            "consumer {:?}: unacked {}, holds {held}",
            self.seat,
            self.unacked
        );
        // Invariant: permits are parked only while blocked.
        assert!(
            self.blocked || self.parked_permits == 0,
            "consumer {:?} has parked permits",
            self.seat
        );
    }
}
