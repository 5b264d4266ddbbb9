//! Delivery: takes entries for whoever has permits, from the replay set first, then from the log.
//!
//! Whatever may free a delivery (a grant, a written batch, a stored entry, an ack, a leaving consumer) ends in
//! [`Subscription::pump`], so that no deliverable entry waits while somebody could take it.

pub(crate) mod chunks;
pub(crate) mod permits;
pub(crate) mod reader;
pub(crate) mod replay;
pub(crate) mod shared;
pub(crate) mod single_active;
pub(crate) mod unacked;

use crate::consumer::Pending;
use crate::subscription::{Subscription, View};
use crate::turn::{Seat, Turn};
use letters::{Delivery, SessionLetter, StoredEntry, SubscriptionType};
use permits::{Price, Verdict, settle};
use std::collections::BTreeMap;

/// Deliveries of one turn, gathered so that each consumer gets one letter.
#[derive(Default)]
pub(crate) struct Outbox {
    deliveries: BTreeMap<Seat, Vec<Delivery>>,
}

impl Outbox {
    fn send(self, turn: &mut Turn<'_>) {
        for ((session, consumer_id), deliveries) in self.deliveries {
            turn.tell(
                session,
                SessionLetter::Deliver {
                    consumer_id,
                    deliveries,
                },
            );
        }
    }
}

/// Where the entry at hand waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Replayed,
    New,
}

impl Subscription {
    /// Delivers and reads as far as permits, credit and limits allow.
    pub fn pump(&mut self, view: &View<'_>, turn: &mut Turn<'_>) {
        if !self.is_ready() || self.is_halted() {
            return;
        }
        self.unpark_chunks();
        let mut outbox = Outbox::default();
        while self.step(view, turn, &mut outbox) {}
        if !outbox.deliveries.is_empty() {
            self.round_robin.end_turn();
        }
        outbox.send(turn);
    }

    /// One step; false when there is nothing to do until something changes.
    fn step(&mut self, view: &View<'_>, turn: &mut Turn<'_>, outbox: &mut Outbox) -> bool {
        if !self.has_taker() {
            return false;
        }
        if !self.replay.held.is_empty() {
            return self.offer(Source::Replayed, view, turn, outbox);
        }
        if self.replay.has_unread() {
            self.read_replay(view, turn);
            return false;
        }
        if self.unacked_limit_reached || self.chunks.is_full() {
            return false;
        }
        if !self.reader.held.is_empty() {
            return self.offer(Source::New, view, turn, outbox);
        }
        self.read_new(view, turn);
        false
    }

    /// Whether any consumer could take an entry now.
    pub(crate) fn has_taker(&self) -> bool {
        match self.kind {
            Some(SubscriptionType::Shared) => self
                .consumers
                .iter()
                .any(|consumer| consumer.is_available()),
            Some(SubscriptionType::Exclusive | SubscriptionType::Failover) => self
                .takes_now()
                .is_some_and(|consumer| consumer.is_available()),
            Some(SubscriptionType::KeyShared) | None => false,
        }
    }

    /// Offers the entry at the head of a queue; false if nobody can take it now.
    fn offer(
        &mut self,
        source: Source,
        view: &View<'_>,
        turn: &mut Turn<'_>,
        outbox: &mut Outbox,
    ) -> bool {
        let queue = match source {
            Source::Replayed => &self.replay.held,
            Source::New => &self.reader.held,
        };
        let Some(entry) = queue.front() else {
            return false;
        };
        let position = entry.position;
        if self.cursor.is_acked(position) {
            self.take_head(source);
            return true;
        }
        match settle(&entry.body, self.cursor.remaining(position).cloned()) {
            Verdict::Marker | Verdict::NothingLeft => {
                self.take_head(source);
                self.ack_by_us(position, view, turn);
            }
            Verdict::Deliver(price) => {
                let bytes = entry.body.len();
                if let Some(owner) = self.owner_of_chunk(&price)
                    && !self
                        .consumers
                        .get(owner)
                        .is_some_and(|consumer| consumer.has_room_for(bytes))
                {
                    self.park_head(source, owner);
                    return true;
                }
                let Some(at) = self
                    .owner_of_chunk(&price)
                    .or_else(|| self.choose(bytes, view.settings))
                else {
                    return false;
                };
                if let Some(entry) = self.take_head(source) {
                    self.emit(at, entry, price, view, outbox);
                }
            }
        }
        true
    }

    /// The index of the Shared consumer that has to get this chunk.
    fn owner_of_chunk(&self, price: &Price) -> Option<usize> {
        let chunk = price
            .chunk
            .as_ref()
            .filter(|_| self.kind == Some(SubscriptionType::Shared))?;
        self.index_of(self.chunks.owner(chunk)?)
    }

    fn park_head(&mut self, source: Source, owner: usize) {
        let Some(seat) = self.consumers.get(owner).map(|consumer| consumer.seat) else {
            return;
        };
        if let Some(entry) = self.take_head(source) {
            self.chunks.park(
                entry.position,
                seat,
                u32::try_from(entry.body.len()).unwrap_or(u32::MAX),
            );
        }
    }

    fn take_head(&mut self, source: Source) -> Option<StoredEntry> {
        match source {
            Source::Replayed => self.replay.held.pop_front(),
            Source::New => self.reader.held.pop_front(),
        }
    }

    /// The index of the consumer that gets an entry of this size.
    pub(crate) fn choose(
        &mut self,
        bytes: usize,
        settings: &crate::TopicSettings,
    ) -> Option<usize> {
        match self.kind {
            Some(SubscriptionType::Shared) => self.whose_turn(bytes, settings),
            Some(SubscriptionType::Exclusive | SubscriptionType::Failover) => {
                let seat = self
                    .takes_now()
                    .filter(|consumer| consumer.has_room_for(bytes))?
                    .seat;
                self.index_of(seat)
            }
            Some(SubscriptionType::KeyShared) | None => None,
        }
    }

    fn emit(
        &mut self,
        at: usize,
        entry: StoredEntry,
        mut price: Price,
        view: &View<'_>,
        outbox: &mut Outbox,
    ) {
        let Some(consumer) = self.consumers.get_mut(at) else {
            return;
        };
        let position = entry.position;
        let redelivery_count = self.replay.count(position);
        self.totals.messages_out += u64::from(price.permits);
        self.totals.bytes_out += entry.body.len() as u64;
        if self.kind == Some(SubscriptionType::Shared) {
            let bytes = u32::try_from(entry.body.len()).unwrap_or(u32::MAX);
            consumer.hold(
                position,
                Pending {
                    batch_size: price.batch_size,
                    left: price.permits,
                    bytes,
                },
            );
            self.unacked += u64::from(price.permits);
            if let Some(chunk) = price.chunk.take() {
                self.chunks.delivered(chunk, consumer.seat);
            }
        }
        let delivery = consumer.debit(entry, price, redelivery_count);
        let seat = consumer.seat;
        outbox.deliveries.entry(seat).or_default().push(delivery);
        self.block_where_due(at, view.settings);
    }
}
