//! A topic that answers one letter at a time, and keeps no message.

use bytes::Bytes;
use letters::{Delivery, Refusal, RefusalCode, SessionLetter, TopicLetter};
use pulsar_wire::entry::encode_entry;
use pulsar_wire::proto::MessageMetadata;
use std::collections::{BTreeSet, VecDeque};
use vocabulary::Position;

#[derive(Default)]
pub struct Topic {
    pub inbox: VecDeque<TopicLetter>,
    pub producers: BTreeSet<u64>,
    pub consumers: BTreeSet<u64>,
}

impl Topic {
    /// Answers the oldest letter, well or with a refusal.
    pub fn answer(&mut self, well: bool) -> Option<SessionLetter> {
        let letter = self.inbox.pop_front()?;
        let refusal = Refusal::new(RefusalCode::ServiceNotReady, "no");
        Some(match letter {
            TopicLetter::FindTopic { request_id, .. } if well => SessionLetter::TopicFound {
                request_id,
                partitions: 0,
            },
            TopicLetter::FindTopic { request_id, .. } => SessionLetter::TopicRefused {
                request_id,
                refusal,
            },
            TopicLetter::Prepare { request_id, .. } => SessionLetter::Prepared {
                request_id,
                is_blank: if well { Ok(true) } else { Err(refusal) },
            },
            TopicLetter::AddProducer(add) if well => {
                self.producers.insert(add.producer_id);
                SessionLetter::ProducerReady {
                    request_id: add.request_id,
                    producer_id: add.producer_id,
                    name: "p".to_owned(),
                    last_sequence_id: -1,
                    topic_epoch: None,
                    ready: true,
                }
            }
            TopicLetter::AddProducer(add) => {
                let (request_id, producer_id) = (add.request_id, add.producer_id);
                SessionLetter::ProducerRefused {
                    request_id,
                    producer_id,
                    refusal,
                }
            }
            TopicLetter::Publish(publish) => {
                let (producer_id, sequence_id) = (publish.producer_id, publish.sequence_id);
                let (highest_sequence_id, position) = (None, Position::new(1, 1));
                match (self.producers.contains(&producer_id), well) {
                    (false, _) => SessionLetter::Dropped { producer_id },
                    (true, true) => SessionLetter::Stored {
                        producer_id,
                        sequence_id,
                        highest_sequence_id,
                        position,
                    },
                    (true, false) => SessionLetter::NotStored {
                        producer_id,
                        sequence_id,
                        highest_sequence_id,
                        refusal,
                    },
                }
            }
            TopicLetter::CloseProducer {
                request_id,
                producer_id,
            } => {
                self.producers.remove(&producer_id);
                SessionLetter::ProducerLeft {
                    request_id,
                    producer_id,
                }
            }
            TopicLetter::AddConsumer(add) => {
                let (request_id, consumer_id) = (add.request_id, add.consumer_id);
                if well {
                    self.consumers.insert(consumer_id);
                    SessionLetter::Subscribed {
                        request_id,
                        consumer_id,
                    }
                } else {
                    SessionLetter::SubscribeRefused {
                        request_id,
                        consumer_id,
                        refusal,
                    }
                }
            }
            TopicLetter::Ack {
                consumer_id,
                request_id: Some(request_id),
                ..
            } => SessionLetter::AckDone {
                request_id,
                consumer_id,
                refusal: (!well).then_some(refusal),
            },
            TopicLetter::CloseConsumer {
                request_id,
                consumer_id,
            } => {
                self.consumers.remove(&consumer_id);
                SessionLetter::ConsumerLeft {
                    request_id,
                    consumer_id,
                }
            }
            TopicLetter::Unsubscribe {
                request_id,
                consumer_id,
                ..
            } if well && self.consumers.remove(&consumer_id) => SessionLetter::Unsubscribed {
                request_id,
                consumer_id,
            },
            TopicLetter::Seek {
                request_id,
                consumer_id,
                ..
            } if well => SessionLetter::SeekDone {
                request_id,
                consumer_id,
            },
            TopicLetter::GetLastMessageId {
                request_id,
                consumer_id,
            } if well => SessionLetter::LastMessageId {
                request_id,
                consumer_id,
                position: Position::new(1, 1),
                batch_index: None,
                mark: Position::EARLIEST,
            },
            TopicLetter::Unsubscribe { request_id, .. }
            | TopicLetter::Seek { request_id, .. }
            | TopicLetter::GetLastMessageId { request_id, .. }
            | TopicLetter::ReadConsumerStats { request_id, .. } => SessionLetter::RequestRefused {
                request_id,
                refusal,
            },
            TopicLetter::SessionGone => {
                self.producers.clear();
                self.consumers.clear();
                return None;
            }
            _ => return None,
        })
    }
}

pub fn delivery(topic: usize) -> Delivery {
    Delivery {
        position: Position::new(topic as i64, 0),
        redelivery_count: 0,
        ack_set: None,
        permits: 1,
        epoch: None,
        entry: entry(),
    }
}

pub fn entry() -> Bytes {
    let metadata = MessageMetadata {
        producer_name: Some("p".to_owned()),
        sequence_id: Some(0),
        publish_time: Some(1),
        ..Default::default()
    };
    encode_entry(&metadata, b"hello")
}
