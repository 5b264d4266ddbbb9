//! One subscription: its cursor, its consumers, and the state of delivering to them.

use crate::TopicSettings;
use crate::consumer::Consumer;
use crate::dispatch::chunks::Chunks;
use crate::dispatch::reader::Reader;
use crate::dispatch::replay::Replay;
use crate::dispatch::shared::RoundRobin;
use crate::dispatch::single_active::Active;
use crate::saving::Saving;
use crate::seek::Seek;
use crate::turn::{Seat, Turn};
use crate::unsubscribe::Deletion;
use cursor::{Cursor, Extent};
use letters::SubscriptionType;
use std::sync::Arc;
use vocabulary::{Moment, Position, TopicName};

/// What a subscription may know of its topic.
pub(crate) struct View<'a> {
    pub topic: &'a TopicName,
    pub settings: &'a TopicSettings,
    pub extent: &'a Extent,
    /// No entry after this one may be read (open transactions will move it).
    pub max_read_position: Position,
}

/// A subscription; one whose cursor is not durable lives as long as its consumers.
#[derive(Debug)]
pub(crate) struct Subscription {
    pub name: Arc<str>,
    pub cursor: Cursor,
    pub saving: Saving,
    /// How it is shared; `None` until the first consumer since the topic was loaded.
    pub kind: Option<SubscriptionType>,
    /// Sorted by priority level; Failover also by name.
    pub consumers: Vec<Consumer>,
    pub reader: Reader,
    pub replay: Replay,
    pub round_robin: RoundRobin,
    pub chunks: Chunks,
    pub active: Active,
    /// Messages its consumers hold (Shared only).
    pub unacked: u64,
    /// Too many: only replays are delivered.
    pub unacked_limit_reached: bool,
    pub totals: SubscriptionTotals,
    /// It is being moved.
    pub seek: Option<Seek>,
    /// It is being deleted.
    pub deletion: Option<Deletion>,
    /// A reader's subscription without its consumer, which its seek disconnected, is kept until then.
    pub abandoned_at: Option<Moment>,
    /// When it wants to be woken, as the topic has noted it.
    pub timer: Option<Moment>,
}

/// Sums since the topic was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SubscriptionTotals {
    pub messages_out: u64,
    pub bytes_out: u64,
    /// Messages for which nobody had permits (non-persistent topics).
    pub messages_dropped: u64,
    /// Acks that named nothing acknowledgeable.
    pub acks_ignored: u64,
    /// Markers and emptied batches acknowledged by the broker.
    pub acked_by_us: u64,
}

impl Subscription {
    pub fn new(name: Arc<str>, cursor: Cursor, saving: Saving) -> Subscription {
        let reader = Reader::at(cursor.mark());
        Subscription {
            name,
            cursor,
            saving,
            kind: None,
            consumers: Vec::new(),
            reader,
            replay: Replay::default(),
            round_robin: RoundRobin::default(),
            chunks: Chunks::default(),
            active: Active::default(),
            unacked: 0,
            unacked_limit_reached: false,
            totals: SubscriptionTotals::default(),
            seek: None,
            deletion: None,
            abandoned_at: None,
            timer: None,
        }
    }

    /// Whether its cursor has been on disk at least once.
    pub fn is_ready(&self) -> bool {
        self.saving.is_created()
    }

    pub fn index_of(&self, seat: Seat) -> Option<usize> {
        self.consumers
            .iter()
            .position(|consumer| consumer.seat == seat)
    }

    pub fn consumer(&mut self, seat: Seat) -> Option<&mut Consumer> {
        self.consumers
            .iter_mut()
            .find(|consumer| consumer.seat == seat)
    }

    /// A consumer was admitted; the first one after none decides how the subscription is shared.
    pub fn join(
        &mut self,
        mut consumer: Consumer,
        kind: SubscriptionType,
        view: &View<'_>,
        turn: &mut Turn<'_>,
    ) {
        self.abandoned_at = None;
        if self.consumers.is_empty() {
            self.kind = Some(kind);
            self.active = Active::default();
            self.rewind();
        }
        if kind == SubscriptionType::Shared {
            // Java sends an epoch always; only the other types have a use for it.
            consumer.epoch = None;
        }
        let seat = consumer.seat;
        let order = |consumer: &Consumer| match kind {
            SubscriptionType::Failover => (consumer.priority_level, consumer.name.clone()),
            _ => (consumer.priority_level, String::new()),
        };
        let place = order(&consumer);
        let at = self
            .consumers
            .partition_point(|other| order(other) <= place);
        self.consumers.insert(at, consumer);
        if self.is_single_active() {
            self.choose_active(Some(seat), view, turn);
        }
    }

    /// A consumer is gone: what it held goes to the others, its permits are gone with it.
    pub fn leave(&mut self, seat: Seat, view: &View<'_>, turn: &mut Turn<'_>) {
        let Some(at) = self.index_of(seat) else {
            return;
        };
        let consumer = self.consumers.remove(at);
        for (position, pending) in consumer.pending {
            self.unacked -= u64::from(pending.left);
            self.replay.add(position, pending.bytes);
        }
        self.disown_chunks(seat);
        if self.consumers.is_empty() {
            self.rewind();
            self.active = Active::default();
        } else if self.is_single_active() {
            self.choose_active(None, view, turn);
        }
        self.unblock_subscription_where_due(view.settings);
    }

    /// All consumers are gone at once, so that nothing is delivered to one who goes next.
    pub fn leave_all(&mut self) {
        self.consumers.clear();
        self.unacked = 0;
        self.unacked_limit_reached = false;
        self.active = Active::default();
        self.rewind();
    }

    pub fn is_single_active(&self) -> bool {
        matches!(
            self.kind,
            Some(SubscriptionType::Exclusive | SubscriptionType::Failover)
        )
    }

    /// Delivery starts again after the mark. Nothing is pending at anybody who would get it twice: Shared
    /// subscriptions rewind only when nobody is connected.
    pub fn rewind(&mut self) {
        self.reader.rewind(self.cursor.mark());
        self.replay.clear_positions();
        self.chunks.clear();
    }

    /// Everything that follows from what just changed: deliveries, records to save.
    pub fn settle(&mut self, view: &View<'_>, turn: &mut Turn<'_>) {
        self.reset_where_due(view, turn);
        self.pump(view, turn);
        self.save_where_due(view, turn);
        self.delete_where_due(turn);
    }

    /// A moment it asked for has come (or an earlier one).
    pub fn time_came(&mut self, turn: &mut Turn<'_>) {
        self.begin_active_when_due(turn);
        if self.reader.retry_at.is_some_and(|at| at <= turn.now.moment) {
            self.reader.retry_at = None;
        }
    }

    /// The next moment at which something is due.
    pub fn next_due(&self) -> Option<Moment> {
        [
            self.active.allowed_at,
            self.reader.retry_at,
            self.saving.due_at().filter(|_| !self.is_halted()),
            self.abandoned_at,
        ]
        .into_iter()
        .flatten()
        .min()
    }
}
