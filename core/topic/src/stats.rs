//! What people and metrics may see of a topic. A plain copy: looking changes nothing.

use crate::Topic;
use crate::consumer::Consumer;
use crate::producers::Producer;
use crate::subscription::Subscription;
use cursor::Extent;
use letters::{AccessMode, SubscriptionType};
use vocabulary::{ConsumerId, Position, ProducerId, SessionId, WallTime};

/// A topic at one moment. Counts are since the topic was loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicStats {
    /// Whether its log is open.
    pub is_open: bool,
    /// The last entry stored.
    pub last_position: Option<Position>,
    /// Messages stored.
    pub messages_in: u64,
    /// Entries stored (a batch is one).
    pub entries_in: u64,
    /// Bytes of entries stored.
    pub bytes_in: u64,
    /// Messages that came to a non-persistent topic and that nobody had permits for, summed over its subscriptions.
    pub messages_dropped: u64,
    /// Appends that failed.
    pub publish_failures: u64,
    /// Bytes of entries on their way to the log.
    pub pending_bytes: u64,
    /// Producers and consumers that wait to be admitted.
    pub newcomers: usize,
    /// By session, then id.
    pub producers: Vec<ProducerStats>,
    /// By name.
    pub subscriptions: Vec<SubscriptionStats>,
}

/// A producer.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "the names say it; counts are since it connected"
)]
pub struct ProducerStats {
    pub session: SessionId,
    pub producer_id: ProducerId,
    pub name: String,
    pub user_provided_name: bool,
    pub epoch: u64,
    /// Who may publish beside it.
    pub access_mode: AccessMode,
    pub pending: u64,
    pub messages_in: u64,
    pub entries_in: u64,
    pub bytes_in: u64,
    /// Dropped on its connection, which had too many under way (non-persistent topics).
    pub messages_dropped: u64,
    pub encrypted: bool,
    pub metadata: Vec<(String, String)>,
    pub client_version: String,
    pub address: String,
    pub connected_since: WallTime,
}

/// A subscription.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriptionStats {
    /// Its name.
    pub name: String,
    /// Whether it is kept; a reader's is in memory only.
    pub is_durable: bool,
    /// How it is shared; `None` until the first consumer.
    pub kind: Option<SubscriptionType>,
    /// Every entry up to here is acknowledged.
    pub mark: Position,
    /// As `mark`, on disk.
    pub durable_mark: Position,
    /// Entries not acknowledged.
    pub backlog_entries: u64,
    /// Entries acknowledged ahead of the mark.
    pub acked_ahead_entries: u64,
    /// Messages delivered and not acknowledged (Shared only).
    pub unacked_messages: u64,
    /// Too many of those: nothing new is delivered.
    pub blocked_on_unacked: bool,
    /// Entries to be delivered again, chunks that wait for their consumer included.
    pub replay_entries: usize,
    /// Messages delivered.
    pub messages_out: u64,
    /// Bytes delivered.
    pub bytes_out: u64,
    /// Messages for which nobody had permits (non-persistent topics).
    pub messages_dropped: u64,
    /// Acks that named no entry.
    pub acks_ignored: u64,
    /// Entries acknowledged by the broker: markers, emptied batches.
    pub acked_by_broker: u64,
    /// Times a damaged entry was met and skipped.
    pub damaged_entries_met: u64,
    /// Cursor records saved.
    pub cursor_saves: u64,
    /// Cursor records not saved.
    pub cursor_save_failures: u64,
    /// The active consumer (Exclusive and Failover).
    pub active: Option<(SessionId, ConsumerId)>,
    /// In the order that decides among them.
    pub consumers: Vec<ConsumerStats>,
}

/// A consumer.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "the names say it; counts are since it connected"
)]
pub struct ConsumerStats {
    pub session: SessionId,
    pub consumer_id: ConsumerId,
    pub name: String,
    pub priority_level: i32,
    pub permits: i64,
    pub parked_permits: u64,
    pub blocked_on_unacked: bool,
    pub unacked_messages: u64,
    pub unwritten_bytes: u64,
    pub messages_out: u64,
    pub entries_out: u64,
    pub bytes_out: u64,
    pub entries_redelivered: u64,
    pub acked: u64,
    pub metadata: Vec<(String, String)>,
    pub client_version: String,
    pub address: String,
    pub connected_since: WallTime,
}

impl Topic {
    /// The topic as it is now.
    #[must_use]
    pub fn stats(&self) -> TopicStats {
        TopicStats {
            is_open: self.is_open(),
            last_position: self.extent.last(),
            messages_in: self.totals.messages_in,
            entries_in: self.totals.entries_in,
            bytes_in: self.totals.bytes_in,
            messages_dropped: self.totals.messages_dropped,
            publish_failures: self.totals.publish_failures,
            pending_bytes: self.producers.appending_bytes,
            newcomers: self.newcomers.len(),
            producers: self.producers.iter().map(of_producer).collect(),
            subscriptions: self
                .subscriptions
                .values()
                .map(|found| of_subscription(found, &self.extent))
                .collect(),
        }
    }
}

fn of_producer(producer: &Producer) -> ProducerStats {
    ProducerStats {
        session: producer.seat.0,
        producer_id: producer.seat.1,
        name: producer.name.clone(),
        user_provided_name: producer.user_provided_name,
        epoch: producer.epoch,
        access_mode: producer.access_mode,
        pending: producer.pending,
        messages_in: producer.messages_in,
        entries_in: producer.entries_in,
        bytes_in: producer.bytes_in,
        messages_dropped: producer.messages_dropped,
        encrypted: producer.encrypted,
        metadata: producer.metadata.clone(),
        client_version: producer.client_version.clone(),
        address: producer.address.clone(),
        connected_since: producer.connected_since,
    }
}

fn of_subscription(subscription: &Subscription, extent: &Extent) -> SubscriptionStats {
    SubscriptionStats {
        name: subscription.name.to_string(),
        is_durable: subscription.cursor.is_durable(),
        kind: subscription.kind,
        mark: subscription.cursor.mark(),
        durable_mark: subscription.saving.durable_mark,
        backlog_entries: subscription.cursor.backlog(extent),
        acked_ahead_entries: subscription.cursor.acked_ahead_count(),
        unacked_messages: subscription.unacked,
        blocked_on_unacked: subscription.unacked_limit_reached,
        replay_entries: subscription.replay.len() + subscription.chunks.parked_count(),
        messages_out: subscription.totals.messages_out,
        bytes_out: subscription.totals.bytes_out,
        messages_dropped: subscription.totals.messages_dropped,
        acks_ignored: subscription.totals.acks_ignored,
        acked_by_broker: subscription.totals.acked_by_us,
        damaged_entries_met: subscription.reader.damaged_met,
        cursor_saves: subscription.saving.saved,
        cursor_save_failures: subscription.saving.failed,
        active: subscription.active.seat,
        consumers: subscription.consumers.iter().map(of_consumer).collect(),
    }
}

fn of_consumer(consumer: &Consumer) -> ConsumerStats {
    ConsumerStats {
        session: consumer.seat.0,
        consumer_id: consumer.seat.1,
        name: consumer.name.clone(),
        priority_level: consumer.priority_level,
        permits: consumer.permits,
        parked_permits: consumer.parked_permits,
        blocked_on_unacked: consumer.blocked,
        unacked_messages: consumer.unacked,
        unwritten_bytes: consumer.unwritten_bytes,
        messages_out: consumer.totals.messages_out,
        entries_out: consumer.totals.entries_out,
        bytes_out: consumer.totals.bytes_out,
        entries_redelivered: consumer.totals.redelivered,
        acked: consumer.totals.acked,
        metadata: consumer.facts.metadata.clone(),
        client_version: consumer.facts.client_version.clone(),
        address: consumer.facts.address.clone(),
        connected_since: consumer.facts.connected_since,
    }
}
