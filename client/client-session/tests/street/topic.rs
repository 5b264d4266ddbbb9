//! The least a topic can be: a list of entries and one Shared subscription.

use bytes::Bytes;
use letters::{
    AckId, AckKind, Delivery, Refusal, RefusalCode, SessionLetter, ToTopic, TopicLetter,
};
use pulsar_wire::entry::EntryHeaders;
use pulsar_wire::peek::peek;
use std::collections::BTreeMap;
use vocabulary::{AckSet, Position};

#[derive(Default)]
pub struct Topic {
    pub entries: Vec<Bytes>,
    /// What is not acked, by entry.
    remaining: BTreeMap<usize, AckSet>,
    consumer: Option<Consumer>,
    producers: Vec<u64>,
    pub holds_receipts: bool,
    pub fails_writes: bool,
    pub refuses: Option<Refusal>,
    /// Of PRODUCER, as they came.
    pub epochs: Vec<u64>,
    pub names: Vec<String>,
    /// Sums over all FLOWs and deliveries.
    pub granted: i64,
    pub taken: i64,
}

struct Consumer {
    id: u64,
    permits: i64,
    next: usize,
}

impl Topic {
    pub fn take(&mut self, letter: ToTopic) -> Vec<SessionLetter> {
        assert_eq!(letter.topic.as_str(), "persistent://public/default/t");
        let mut answers = self.answer(letter.letter);
        answers.extend(self.deliver());
        answers
    }

    fn answer(&mut self, letter: TopicLetter) -> Vec<SessionLetter> {
        vec![match letter {
            TopicLetter::FindTopic { request_id, .. } => SessionLetter::TopicFound {
                request_id,
                partitions: 0,
            },
            other @ (TopicLetter::Prepare { .. }
            | TopicLetter::Schema { .. }
            | TopicLetter::PublishesDropped { .. }
            | TopicLetter::DeleteTopic { .. }
            | TopicLetter::DoTask { .. }) => {
                panic!("this client never asks for it: {other:?}")
            }
            TopicLetter::AddProducer(add) => {
                let (request_id, producer_id) = (add.request_id, add.producer_id);
                if let Some(refusal) = self.refuses.clone() {
                    return vec![SessionLetter::ProducerRefused {
                        request_id,
                        producer_id,
                        refusal,
                    }];
                }
                let name = add.name.unwrap_or_else(|| format!("made-{producer_id}"));
                self.producers.push(producer_id);
                self.epochs.push(add.epoch);
                self.names.push(name.clone());
                let (last_sequence_id, topic_epoch, ready) = (-1, None, true);
                SessionLetter::ProducerReady {
                    request_id,
                    producer_id,
                    name,
                    last_sequence_id,
                    topic_epoch,
                    ready,
                }
            }
            TopicLetter::Publish(publish) => {
                let (producer_id, sequence_id) = (publish.producer_id, publish.sequence_id);
                let highest_sequence_id = publish.highest_sequence_id;
                if self.fails_writes {
                    let refusal = Refusal::new(RefusalCode::PersistenceError, "no");
                    return vec![SessionLetter::NotStored {
                        producer_id,
                        sequence_id,
                        highest_sequence_id,
                        refusal,
                    }];
                }
                let position = Position::new(3, self.entries.len() as i64);
                self.remaining
                    .insert(self.entries.len(), AckSet::full(publish.messages));
                self.entries.push(publish.entry);
                if self.holds_receipts {
                    return vec![];
                }
                SessionLetter::Stored {
                    producer_id,
                    sequence_id,
                    highest_sequence_id,
                    position,
                }
            }
            TopicLetter::CloseProducer {
                request_id,
                producer_id,
            } => {
                self.producers.retain(|id| *id != producer_id);
                SessionLetter::ProducerLeft {
                    request_id,
                    producer_id,
                }
            }
            TopicLetter::AddConsumer(add) => {
                let (request_id, consumer_id) = (add.request_id, add.consumer_id);
                if let Some(refusal) = self.refuses.clone() {
                    return vec![SessionLetter::SubscribeRefused {
                        request_id,
                        consumer_id,
                        refusal,
                    }];
                }
                self.consumer = Some(Consumer {
                    id: consumer_id,
                    permits: 0,
                    next: 0,
                });
                (self.granted, self.taken) = (0, 0);
                SessionLetter::Subscribed {
                    request_id,
                    consumer_id,
                }
            }
            TopicLetter::Flow { permits, .. } => {
                self.granted += i64::from(permits);
                if let Some(consumer) = &mut self.consumer {
                    consumer.permits += i64::from(permits);
                }
                return vec![];
            }
            TopicLetter::Ack {
                consumer_id,
                request_id,
                kind,
                ids,
            } => {
                ids.iter().for_each(|id| self.ack(kind, id));
                let Some(request_id) = request_id else {
                    return vec![];
                };
                SessionLetter::AckDone {
                    request_id,
                    consumer_id,
                    refusal: None,
                }
            }
            TopicLetter::Redeliver { .. } => {
                if let Some(consumer) = &mut self.consumer {
                    consumer.next = 0;
                }
                return vec![];
            }
            TopicLetter::CloseConsumer {
                request_id,
                consumer_id,
            } => {
                self.consumer = None;
                SessionLetter::ConsumerLeft {
                    request_id,
                    consumer_id,
                }
            }
            TopicLetter::SessionGone => {
                self.consumer = None;
                self.producers.clear();
                return vec![];
            }
            // This client asks none of these.
            TopicLetter::Unsubscribe { .. }
            | TopicLetter::Seek { .. }
            | TopicLetter::GetLastMessageId { .. }
            | TopicLetter::ReadConsumerStats { .. } => return vec![],
            TopicLetter::Written { .. } | TopicLetter::StillHere { .. } => return vec![],
        }]
    }

    fn ack(&mut self, kind: AckKind, id: &AckId) {
        let entry = id.position.entry as usize;
        if kind == AckKind::Cumulative {
            self.remaining.retain(|at, _| *at >= entry);
        }
        match &id.remaining {
            None => {
                self.remaining.remove(&entry);
            }
            Some(remaining) => {
                if let Some(known) = self.remaining.get_mut(&entry) {
                    known.intersect(remaining);
                }
                self.remaining.retain(|_, set| !set.is_empty());
            }
        }
    }

    fn deliver(&mut self) -> Vec<SessionLetter> {
        let Some(consumer) = &mut self.consumer else {
            return vec![];
        };
        let mut deliveries = Vec::new();
        while consumer.permits > 0 && consumer.next < self.entries.len() {
            let at = consumer.next;
            consumer.next += 1;
            let Some(remaining) = self.remaining.get(&at) else {
                continue;
            };
            let entry = self.entries[at].clone();
            let size = messages(&entry);
            let permits = remaining.count_within(size);
            consumer.permits -= i64::from(permits);
            self.taken += i64::from(permits);
            deliveries.push(Delivery {
                position: Position::new(3, at as i64),
                redelivery_count: 0,
                ack_set: (permits < size).then(|| remaining.clone()),
                permits,
                epoch: None,
                entry,
            });
        }
        if deliveries.is_empty() {
            return vec![];
        }
        vec![SessionLetter::Deliver {
            consumer_id: consumer.id,
            deliveries,
        }]
    }

    pub fn throw_everybody_out(&mut self) -> Vec<SessionLetter> {
        let producers = self
            .producers
            .drain(..)
            .map(|producer_id| SessionLetter::CloseProducer { producer_id });
        let consumers = self
            .consumer
            .take()
            .map(|consumer| SessionLetter::CloseConsumer {
                consumer_id: consumer.id,
            });
        producers.chain(consumers).collect()
    }

    pub fn unacked(&self) -> Vec<usize> {
        self.remaining.keys().copied().collect()
    }

    pub fn sequence_ids(&self) -> Vec<u64> {
        let of = |entry: &Bytes| {
            let headers = EntryHeaders::parse(entry).expect("an entry");
            peek(headers.metadata).expect("metadata").sequence_id
        };
        self.entries.iter().map(of).collect()
    }
}

fn messages(entry: &Bytes) -> u32 {
    let headers = EntryHeaders::parse(entry).expect("an entry");
    peek(headers.metadata).expect("metadata").message_count()
}
