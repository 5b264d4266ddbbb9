use super::acks::ConfirmedAcks;
use super::confirmed::Confirmed;
use super::door::Door;
use super::order::Order;
use super::receipts::Receipts;
use super::*;
use crate::violation::Violation;
use bytes::Bytes;
use letters::{
    AckId, AckKind, AddConsumer, Delivery, InitialPosition, SessionLetter, SubscriptionType,
    ToSession, ToTopic, TopicLetter,
};
use vocabulary::{AckSet, SessionId, TopicName};

fn name(text: &str) -> SubscriptionName {
    SubscriptionName {
        topic: 0,
        name: text.into(),
    }
}

fn message(number: u64) -> MessageName {
    MessageName {
        producer: 1,
        number,
    }
}

fn delivery(entry: i64, ack_set: Option<AckSet>) -> Delivery {
    Delivery {
        position: Position::new(1, entry),
        redelivery_count: 0,
        ack_set,
        permits: 1,
        epoch: None,
        entry: Bytes::new(),
    }
}

fn without(size: u32, gone: &[u32]) -> AckSet {
    let mut set = AckSet::full(size);
    gone.iter().for_each(|index| set.clear(*index));
    set
}

#[test]
fn a_payload_names_its_message() {
    assert_eq!(
        MessageName::of_payload(b"1#20 and more"),
        Some(MessageName {
            producer: 1,
            number: 20
        })
    );
    assert_eq!(MessageName::of_payload(b"whatever"), None);
}

#[test]
fn a_confirmed_message_is_missed_by_those_who_were_there_before_it() {
    let mut history = Confirmed::default();
    history.subscribed(&name("early"));
    history.sent(0, message(0));
    history.subscribed(&name("late"));
    assert!(history.missing().is_empty(), "not confirmed");
    assert!(history.receipt(message(0)));
    assert!(!history.receipt(message(0)));
    assert_eq!(history.missing(), [(name("early"), message(0))]);
    assert!(history.finish().is_err());
    assert_eq!(history.received(&name("early"), message(0)), Ok(true));
    assert_eq!(history.received(&name("early"), message(0)), Ok(false));
    assert!(history.finish().is_ok());
    assert!(
        history.received(&name("early"), message(7)).is_err(),
        "made up"
    );
}

#[test]
fn first_sights_come_in_order() {
    let mut order = Order::default();
    assert!(order.first_received(&name("s"), message(3)).is_ok());
    assert!(order.first_received(&name("s"), message(5)).is_ok());
    assert!(order.first_received(&name("other"), message(1)).is_ok());
    assert!(order.first_received(&name("s"), message(4)).is_err());
}

#[test]
fn confirmed_acks_are_remembered_to_the_batch_index() {
    let mut acks = ConfirmedAcks::default();
    let ack = |entry, remaining| AckId {
        position: Position::new(1, entry),
        remaining,
    };
    acks.confirmed(
        &name("s"),
        AckKind::Individual,
        &[ack(5, Some(without(4, &[1])))],
    );
    assert!(
        acks.delivered(&name("s"), &delivery(5, Some(without(4, &[1]))))
            .is_ok()
    );
    assert!(
        acks.delivered(&name("s"), &delivery(5, Some(without(4, &[1, 2]))))
            .is_ok()
    );
    assert!(
        acks.delivered(&name("s"), &delivery(5, Some(without(4, &[2]))))
            .is_err()
    );
    assert!(acks.delivered(&name("s"), &delivery(5, None)).is_err());
    assert!(acks.delivered(&name("s"), &delivery(4, None)).is_ok());
    assert!(acks.delivered(&name("other"), &delivery(5, None)).is_ok());
    acks.confirmed(
        &name("s"),
        AckKind::Cumulative,
        &[ack(7, Some(without(4, &[0, 1])))],
    );
    assert!(acks.delivered(&name("s"), &delivery(6, None)).is_err());
    assert!(
        acks.delivered(&name("s"), &delivery(7, Some(without(4, &[0, 1]))))
            .is_ok()
    );
    assert!(acks.delivered(&name("s"), &delivery(7, None)).is_err());
    acks.confirmed(&name("s"), AckKind::Individual, &[ack(7, None)]);
    assert!(
        acks.delivered(&name("s"), &delivery(7, Some(without(4, &[0, 1]))))
            .is_err()
    );
}

#[test]
fn a_receipt_holds_in_every_later_life() {
    let mut receipts = Receipts::default();
    let place = |entry, index| MessagePlace {
        position: Position::new(1, entry),
        index,
    };
    receipts.confirmed(&name("s"), place(5, 1), 2);
    assert!(receipts.received(&name("s"), place(5, 1), 2).is_ok());
    assert!(receipts.received(&name("s"), place(5, 0), 3).is_ok());
    assert!(receipts.received(&name("s"), place(5, 1), 3).is_err());
    receipts.confirmed_through(&name("s"), place(7, 1), 3);
    assert!(receipts.received(&name("s"), place(6, 9), 3).is_ok());
    assert!(receipts.received(&name("s"), place(6, 9), 4).is_err());
    assert!(receipts.received(&name("s"), place(7, 1), 4).is_err());
    assert!(receipts.received(&name("s"), place(7, 2), 4).is_ok());
}

/// A door in front of one topic.
struct AtTheDoor {
    door: Door,
    topic: TopicName,
}

impl AtTheDoor {
    fn with_consumers(kind: SubscriptionType, ids: &[u64]) -> AtTheDoor {
        let topic = TopicName::parse("persistent://public/default/t").expect("a name");
        let mut at = AtTheDoor {
            door: Door::default(),
            topic,
        };
        ids.iter().for_each(|id| at.come_in(kind, *id));
        at
    }

    fn come_in(&mut self, kind: SubscriptionType, id: u64) {
        self.tell(TopicLetter::AddConsumer(Box::new(AddConsumer {
            request_id: id,
            consumer_id: id,
            subscription: "s".to_owned(),
            subscription_type: kind,
            name: String::new(),
            priority_level: 0,
            durable: true,
            initial_position: InitialPosition::Earliest,
            start: None,
            start_rollback_seconds: None,
            force_topic_creation: true,
            epoch: None,
            metadata: Vec::new(),
            read_compacted: false,
            takes_any_schema: false,
            client_version: String::new(),
            address: String::new(),
        })));
        self.hear(SessionLetter::Subscribed {
            request_id: id,
            consumer_id: id,
        })
        .expect("no promise broken");
        self.tell(TopicLetter::Flow {
            consumer_id: id,
            permits: 2,
        });
    }

    fn tell(&mut self, letter: TopicLetter) {
        let letter = ToTopic {
            topic: self.topic.clone(),
            session: SessionId(1),
            letter,
        };
        self.door.letter_in(0, &letter);
    }

    fn hear(&mut self, letter: SessionLetter) -> Result<(), Violation> {
        self.door.letter_out(&ToSession {
            session: SessionId(1),
            letter,
        })?;
        self.door.turn_over()
    }

    fn deliver(&mut self, consumer_id: u64, entry: i64) -> Result<(), Violation> {
        self.hear(SessionLetter::Deliver {
            consumer_id,
            deliveries: vec![delivery(entry, None)],
        })
    }
}

#[test]
fn nothing_is_sent_beyond_the_permits_nor_to_nobody() {
    let mut at = AtTheDoor::with_consumers(SubscriptionType::Shared, &[1]);
    assert!(at.deliver(2, 0).is_err(), "nobody");
    assert!(at.deliver(1, 0).is_ok());
    assert!(at.deliver(1, 1).is_ok());
    assert_eq!(
        at.deliver(1, 2).expect_err("too many").check,
        permits::CHECK
    );
    at.tell(TopicLetter::SessionGone);
    assert!(at.deliver(1, 3).is_err(), "gone");
}

#[test]
fn an_ack_counts_once_it_is_answered_also_after_the_house_died() {
    let mut at = AtTheDoor::with_consumers(SubscriptionType::Shared, &[1]);
    let ack = |request| TopicLetter::Ack {
        consumer_id: 1,
        request_id: Some(request),
        kind: AckKind::Individual,
        ids: vec![AckId {
            position: Position::new(1, 0),
            remaining: None,
        }],
    };
    at.tell(ack(8));
    assert!(at.deliver(1, 0).is_ok(), "not answered yet");
    at.hear(SessionLetter::AckDone {
        request_id: 8,
        consumer_id: 1,
        refusal: None,
    })
    .expect("fine");
    at.door.house_died();
    at.come_in(SubscriptionType::Shared, 1);
    assert_eq!(at.deliver(1, 0).expect_err("undone").check, acks::CHECK);
}

#[test]
fn one_is_active_and_only_that_one_gets_entries() {
    let mut at = AtTheDoor::with_consumers(SubscriptionType::Failover, &[1, 2]);
    let told = |consumer_id, is_active| SessionLetter::ActiveConsumerChanged {
        consumer_id,
        is_active,
    };
    assert_eq!(
        at.deliver(1, 0).expect_err("nobody is").check,
        active::CHECK
    );
    assert!(at.hear(told(1, true)).is_ok());
    assert!(at.deliver(1, 0).is_ok());
    assert!(at.deliver(2, 0).is_err());
    assert!(at.hear(told(2, true)).is_err(), "two at the end of a turn");
    assert!(at.hear(told(1, false)).is_ok());
    assert!(at.deliver(2, 0).is_ok());
    assert!(
        at.hear(SessionLetter::ConsumerLeft {
            request_id: 1,
            consumer_id: 2
        })
        .is_ok()
    );
    assert!(at.hear(told(1, true)).is_ok());
}
