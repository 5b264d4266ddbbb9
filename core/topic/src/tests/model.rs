//! A naive model of a topic with one producer and a few consumers of one subscription, beside a real one.

mod checks;
mod moves;

use super::world::{World, chunk_entry, entry, marker, subscribe};
use letters::{AckId, AckKind, Delivery, LogRequest, SessionLetter, SubscriptionType, TopicLetter};
use pulsar_wire::entry::EntryHeaders;
use pulsar_wire::peek::peek;
use std::collections::{BTreeMap, BTreeSet};
use vocabulary::{AckSet, Position};

const CONSUMERS: u64 = 3;
const BATCH_MAX: u8 = 4;
const CHUNKS: i32 = 3;

/// What the model knows of one consumer.
#[derive(Default)]
struct Seat {
    granted: i64,
    emitted: i64,
    /// Delivered and not acknowledged: what was delivered of each entry.
    held: BTreeMap<Position, AckSet>,
    unwritten: u64,
    /// What was delivered since the last reset (Exclusive and Failover).
    given: BTreeSet<Position>,
}

pub struct Model {
    world: World,
    kind: SubscriptionType,
    seats: BTreeMap<u64, Seat>,
    next_sequence_id: u64,
    /// Batch size of each entry that was confirmed to the producer.
    stored: BTreeMap<Position, u32>,
    /// What nobody ever acknowledged of an entry, for entries somebody acknowledged anything of: the least that must
    /// come. After a crash more may come.
    left: BTreeMap<Position, AckSet>,
    /// As `left`, but only what is confirmed to be on disk.
    confirmed: BTreeMap<Position, AckSet>,
    /// Acks whose receipt is waited for.
    receipts: BTreeMap<u64, BTreeMap<Position, AckSet>>,
    next_request_id: u64,
    delivered: BTreeSet<Position>,
    /// Who was told last that it is the active consumer.
    active: Option<u64>,
    /// A read may have failed and wait for its next attempt.
    reads_troubled: bool,
    /// Where a seek under way goes.
    seeking: Option<Position>,
    sizes: BTreeMap<u64, u32>,
    chunks_sent: BTreeMap<u8, i32>,
}

impl Model {
    pub fn new(kind: SubscriptionType) -> Model {
        let mut world = World::with(|settings| {
            settings.unacked_per_consumer_max = 12;
            settings.unacked_per_subscription_max = 20;
            settings.round_robin_entries_max = 2;
            settings.read_entries_max = 5;
        });
        world.log.entries_per_ledger = 7;
        world.prompt_writers = false;
        let mut model = Model {
            world,
            kind,
            seats: BTreeMap::new(),
            next_sequence_id: 0,
            stored: BTreeMap::new(),
            left: BTreeMap::new(),
            confirmed: BTreeMap::new(),
            receipts: BTreeMap::new(),
            next_request_id: 0,
            delivered: BTreeSet::new(),
            active: None,
            reads_troubled: false,
            seeking: None,
            sizes: BTreeMap::new(),
            chunks_sent: BTreeMap::new(),
        };
        model.begin();
        model
    }

    /// A producer and a consumer are there, so that the subscription keeps everything.
    fn begin(&mut self) {
        self.world.prompt_log = true;
        self.world.producer(900, 1, Some("p"));
        self.join(1);
        self.world.prompt_log = false;
        self.listen();
    }

    pub fn step(&mut self, (what, which, how): (u8, u8, u8)) {
        let session = u64::from(which) % CONSUMERS + 1;
        match what % 16 {
            0..=2 => self.publish(which, how),
            3..=5 => self.answer(which),
            6 if how >= 220 => self.seek(session, which),
            6 if how < 20 => self.unsubscribe(session),
            6 => self.quiet_down(),
            7 => self.join(session),
            8 => self.leave(session, how),
            9 if how >= 192 => self.flow(session, 50),
            9 => self.flow(session, u32::from(how % 6) + 1),
            10 | 11 => self.ack(session, how, what >= 128),
            12 => self.redeliver(session, how),
            13 => self.written(session),
            14 => self.world.advance(u64::from(how) * 10),
            _ => self.trouble(which, how),
        }
        self.listen();
        self.check();
    }

    /// A message, a batch, a chunk or a marker.
    fn publish(&mut self, which: u8, how: u8) {
        let sequence_id = self.next_sequence_id;
        self.next_sequence_id += 1;
        let body = match how {
            240.. => marker(),
            200.. => {
                let sent = self.chunks_sent.entry(which % 3).or_default();
                *sent += 1;
                let message = format!("{}-{}", which % 3, (*sent - 1) / CHUNKS);
                chunk_entry(&message, (*sent - 1) % CHUNKS, CHUNKS)
            }
            _ => entry(sequence_id, i32::from(how % BATCH_MAX) + 1),
        };
        self.sizes.insert(sequence_id, size_of(&body));
        self.world.publish_entry(900, 1, sequence_id, body);
    }

    /// The log answers something: appends in order, all else in any.
    fn answer(&mut self, which: u8) {
        let mut appends = 0;
        let answerable: Vec<usize> = (self.world.log.requests.iter().enumerate())
            .filter(|(_, request)| {
                let append = matches!(request, LogRequest::Append { .. });
                appends += u32::from(append);
                !append || appends == 1
            })
            .map(|(index, _)| index)
            .collect();
        if !answerable.is_empty() {
            self.world
                .answer(answerable[usize::from(which) % answerable.len()]);
        }
    }

    /// The log and the connections catch up, so that whatever still waits waits for nothing.
    fn quiet_down(&mut self) {
        loop {
            self.listen();
            for session in 1..=CONSUMERS {
                self.written(session);
            }
            self.listen();
            if self.world.log.requests.is_empty() {
                return;
            }
            self.answer(0);
        }
    }

    fn join(&mut self, session: u64) {
        if !self.seats.contains_key(&session) {
            self.world.subscribe(session, subscribe(1, self.kind));
        }
    }

    fn leave(&mut self, session: u64, how: u8) {
        if how.is_multiple_of(2) {
            self.world.leave(session, 1);
        } else {
            self.world.tell(session, TopicLetter::SessionGone);
        }
        self.seats.remove(&session);
    }

    fn flow(&mut self, session: u64, permits: u32) {
        if let Some(seat) = self.seats.get_mut(&session) {
            seat.granted += i64::from(permits);
            self.world.flow(session, 1, permits);
        }
    }

    fn written(&mut self, session: u64) {
        if let Some(seat) = self.seats.get_mut(&session) {
            let bytes = std::mem::take(&mut seat.unwritten);
            self.world.tell(
                session,
                TopicLetter::Written {
                    consumer_id: 1,
                    bytes,
                },
            );
        }
    }

    fn ack(&mut self, session: u64, how: u8, with_receipt: bool) {
        if !self.seats.contains_key(&session) {
            return;
        }
        let held = |at: &Position| self.seats.values().any(|seat| seat.held.contains_key(at));
        let open = |at: &Position| {
            self.is_wanted(*at) || held(at) || self.kind != SubscriptionType::Shared
        };
        let known: Vec<Position> = self
            .delivered
            .iter()
            .rev()
            .copied()
            .filter(open)
            .take(20)
            .collect();
        if known.is_empty() {
            return;
        }
        let position = known[usize::from(how) % known.len()];
        let size = self.stored.get(&position).copied().unwrap_or(1);
        let cumulative = self.kind != SubscriptionType::Shared && how >= 128;
        let mut remaining = AckSet::default();
        if how.is_multiple_of(3) {
            remaining = AckSet::full(size);
            remaining.clear(u32::from(how) % size);
        }
        let mut acked = BTreeMap::from([(position, remaining.clone())]);
        if cumulative {
            acked.extend(
                self.stored
                    .range(..position)
                    .map(|(before, _)| (*before, AckSet::default())),
            );
        }
        for (position, remaining) in &acked {
            narrow(
                &mut self.left,
                *position,
                remaining,
                self.stored.get(position).copied(),
            );
        }
        for seat in self.seats.values_mut() {
            for (position, remaining) in &acked {
                if let Some(held) = seat.held.get_mut(position) {
                    held.intersect(remaining);
                }
            }
            seat.held.retain(|_, held| !held.is_empty());
        }
        let request_id = with_receipt.then_some(self.next_request_id);
        if with_receipt {
            self.receipts.insert(self.next_request_id, acked);
            self.next_request_id += 1;
        }
        let kind = if cumulative {
            AckKind::Cumulative
        } else {
            AckKind::Individual
        };
        let remaining = (!remaining.is_empty()).then_some(remaining);
        let ids = vec![AckId {
            position,
            remaining,
        }];
        self.world.tell(
            session,
            TopicLetter::Ack {
                consumer_id: 1,
                request_id,
                kind,
                ids,
            },
        );
    }

    fn redeliver(&mut self, session: u64, how: u8) {
        let Some(seat) = self.seats.get_mut(&session) else {
            return;
        };
        let named: Vec<Position> = match how % 2 {
            0 => Vec::new(),
            _ => self
                .delivered
                .iter()
                .copied()
                .skip(usize::from(how) % 5)
                .step_by(3)
                .collect(),
        };
        if self.kind == SubscriptionType::Shared {
            seat.held
                .retain(|position, _| !named.is_empty() && !named.contains(position));
        }
        seat.given.clear();
        self.world.redeliver(session, 1, &named, None);
    }

    fn trouble(&mut self, which: u8, how: u8) {
        match which % 4 {
            0 => self.world.log.saves_to_fail = u32::from(how % 2),
            1 => {
                self.world.log.reads_to_fail = u32::from(how % 3);
                self.reads_troubled = true;
            }
            2 if how < 40 => self.crash(),
            2 => self.fail_appends(),
            _ => {
                self.world.log.reads_to_fail = 0;
                self.world.advance(12_000);
                self.reads_troubled = false;
            }
        }
    }

    fn crash(&mut self) {
        self.world.crash();
        self.seats.clear();
        self.receipts.clear();
        self.active = None;
        // What was stored and not confirmed is there as well.
        let there: Vec<(Position, u32)> = (self.world.log.entries.iter())
            .map(|(at, body)| (*at, size_of(body)))
            .collect();
        for (position, size) in there {
            self.know(position, size);
        }
        self.world.log.saves_to_fail = 0;
        self.world.log.reads_to_fail = 0;
        self.reads_troubled = false;
        self.begin();
    }

    fn fail_appends(&mut self) {
        let waiting = |request: &&LogRequest| matches!(request, LogRequest::Append { .. });
        self.world.log.appends_to_fail =
            self.world.log.requests.iter().filter(waiting).count() as u32;
        self.listen();
        while self.world.log.appends_to_fail > 0 {
            self.answer(0);
        }
        self.world.producer(900, 1, Some("p"));
    }

    /// An entry is there.
    fn know(&mut self, position: Position, size: u32) {
        self.stored.insert(position, size);
        if size == 0 {
            // A marker: nobody has to see it.
            self.left.insert(position, AckSet::default());
        }
    }

    fn is_wanted(&self, position: Position) -> bool {
        self.left.get(&position).is_none_or(|left| !left.is_empty())
    }

    /// What the topic said.
    fn listen(&mut self) {
        for (session, letter) in self.world.heard() {
            match letter {
                SessionLetter::Stored {
                    sequence_id,
                    position,
                    ..
                } => {
                    self.know(position, self.sizes[&sequence_id]);
                }
                SessionLetter::Subscribed { .. } => {
                    self.seats.entry(session).or_default();
                }
                SessionLetter::Deliver { deliveries, .. } => {
                    for delivery in deliveries {
                        self.delivered(session, &delivery);
                    }
                }
                SessionLetter::AckDone {
                    request_id,
                    refusal,
                    ..
                } => {
                    let acked = self
                        .receipts
                        .remove(&request_id)
                        .expect("a receipt that was asked for");
                    for (position, remaining) in acked.iter().filter(|_| refusal.is_none()) {
                        narrow(
                            &mut self.confirmed,
                            *position,
                            remaining,
                            self.stored.get(position).copied(),
                        );
                    }
                }
                SessionLetter::CloseConsumer { .. } => {
                    self.seats.remove(&session);
                }
                SessionLetter::SeekDone { .. } => self.moved(),
                SessionLetter::Unsubscribed { .. } => {
                    self.seats.clear();
                    self.begin_anew(Position::EARLIEST);
                }
                SessionLetter::ActiveConsumerChanged { is_active, .. } => {
                    self.seats.entry(session).or_default().given.clear();
                    if is_active {
                        self.active = Some(session);
                    }
                }
                _ => {}
            }
        }
    }

    fn delivered(&mut self, session: u64, delivery: &Delivery) {
        let position = delivery.position;
        let seat = self
            .seats
            .get_mut(&session)
            .expect("a delivery to somebody who is there");
        let size = size_of(&delivery.entry);
        assert!(size > 0, "a marker was delivered");
        self.stored.insert(position, size);
        let set = delivery
            .ack_set
            .clone()
            .unwrap_or_else(|| AckSet::full(size));
        assert_eq!(
            delivery.permits,
            set.count_within(size),
            "the price is what is left"
        );
        assert!(delivery.permits > 0);
        if let Some(confirmed) = self.confirmed.get(&position) {
            for index in 0..size {
                assert!(
                    !set.contains(index) || confirmed.contains(index),
                    "message {index} of {position} was delivered after its ack was confirmed"
                );
            }
        }
        if self.kind != SubscriptionType::Shared {
            assert_eq!(
                self.active,
                Some(session),
                "only the active consumer gets anything"
            );
            let last = seat.given.last();
            assert!(last < Some(&position), "{position} came after {last:?}");
            seat.given.insert(position);
        } else {
            seat.held.insert(position, set);
        }
        seat.emitted += i64::from(delivery.permits);
        seat.unwritten += delivery.entry.len() as u64;
        self.delivered.insert(position);
    }
}

/// Messages of an entry; none of a marker.
fn size_of(body: &[u8]) -> u32 {
    let headers = EntryHeaders::parse(body).unwrap();
    let metadata = peek(headers.metadata).unwrap();
    if metadata.marker_type.is_some() {
        0
    } else {
        metadata.message_count()
    }
}

fn is_chunk(body: &[u8]) -> bool {
    let headers = EntryHeaders::parse(body).unwrap();
    peek(headers.metadata).unwrap().uuid.is_some()
}

/// Keeps of a set only what remains; a set that is not there yet is the whole batch.
fn narrow(
    sets: &mut BTreeMap<Position, AckSet>,
    position: Position,
    remaining: &AckSet,
    size: Option<u32>,
) {
    sets.entry(position)
        .or_insert_with(|| AckSet::full(size.unwrap_or(1)))
        .intersect(remaining);
}
