//! The client and the broker's session in one thread, with a topic that keeps its entries in a list.

mod street;

use bytes::Bytes;
use client_session::{
    Ack, ClientAsk, ClientEvent, CreateProducer, InitialPosition, MessageId, OutMessage, SubType,
    Subscribe,
};
use letters::{Refusal, RefusalCode};
use street::Street;
use vocabulary::Position;

fn create(producer_id: u64) -> ClientAsk {
    ClientAsk::CreateProducer(CreateProducer {
        producer_id,
        topic: "t".to_owned(),
        name: None,
    })
}

fn subscribe(consumer_id: u64, queue_size: u32, says_took: bool) -> ClientAsk {
    ClientAsk::Subscribe(Subscribe {
        consumer_id,
        topic: "t".to_owned(),
        subscription: "s".to_owned(),
        subscription_type: SubType::Shared,
        initial_position: InitialPosition::Earliest,
        queue_size,
        name: "c".to_owned(),
        says_took,
    })
}

fn message(text: &str) -> OutMessage {
    let properties = vec![("which".to_owned(), text.to_owned())];
    OutMessage {
        payload: Bytes::copy_from_slice(text.as_bytes()),
        properties,
        key: Some("k".to_owned()),
    }
}

fn send(token: u64, text: &str) -> ClientAsk {
    ClientAsk::Send {
        producer_id: 1,
        token,
        messages: vec![message(text)],
        batch: false,
    }
}

fn send_batch(token: u64, texts: &[&str]) -> ClientAsk {
    let messages = texts.iter().map(|text| message(text)).collect();
    ClientAsk::Send {
        producer_id: 1,
        token,
        messages,
        batch: true,
    }
}

fn sent(events: &[ClientEvent]) -> Vec<u64> {
    let tokens = events.iter().filter_map(|event| match event {
        ClientEvent::Sent { token, .. } => Some(*token),
        _ => None,
    });
    tokens.collect()
}

fn texts(events: &[ClientEvent]) -> Vec<String> {
    let texts = events.iter().filter_map(|event| match event {
        ClientEvent::Message(message) => {
            Some(String::from_utf8_lossy(&message.payload).into_owned())
        }
        _ => None,
    });
    texts.collect()
}

fn ids(events: &[ClientEvent]) -> Vec<MessageId> {
    let ids = events.iter().filter_map(|event| match event {
        ClientEvent::Message(message) => Some(message.id),
        _ => None,
    });
    ids.collect()
}

#[test]
fn messages_are_published_consumed_and_acked() {
    let mut street = Street::connected();
    street.ask(create(1));
    street.ask(send(10, "one"));
    street.ask(send_batch(11, &["two", "three"]));
    let events = street.take_events();
    assert!(matches!(events[0], ClientEvent::Ready { .. }));
    assert!(matches!(&events[1], ClientEvent::ProducerCreated { name, .. } if name == "made-1"));
    assert_eq!(sent(&events), [10, 11]);

    street.ask(subscribe(1, 100, false));
    let events = street.take_events();
    assert_eq!(texts(&events), ["one", "two", "three"]);
    let ClientEvent::Message(last) = events.last().expect("a message") else {
        panic!("{events:?}")
    };
    assert_eq!(last.properties()[0].value(), "three");
    assert_eq!((last.key(), last.sequence_id()), (Some("k"), 2));
    assert_eq!(last.id.batch, Some((1, 2)));

    let ack = Ack::Individual(ids(&events));
    street.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack,
        receipt: Some(77),
    });
    let confirmed = ClientEvent::AckConfirmed {
        consumer_id: 1,
        token: 77,
        error: None,
    };
    assert_eq!(street.take_events(), [confirmed]);
    assert!(street.topic.unacked().is_empty());

    street.ask(ClientAsk::CloseConsumer(1));
    street.ask(ClientAsk::CloseProducer(1));
    assert_eq!(
        street.take_events(),
        [
            ClientEvent::ConsumerClosed { consumer_id: 1 },
            ClientEvent::ProducerClosed { producer_id: 1 }
        ]
    );
    assert_eq!(street.session_handles(), (0, 0));
}

#[test]
fn what_is_asked_before_there_is_a_connection_is_done_when_there_is_one() {
    let mut street = Street::new();
    street.ask(create(1));
    street.ask(send(10, "one"));
    street.ask(subscribe(1, 100, false));
    assert!(street.take_events().is_empty());
    street.connect();
    let events = street.take_events();
    assert_eq!(sent(&events), [10]);
    assert_eq!(texts(&events), ["one"]);
}

#[test]
fn unconfirmed_messages_are_sent_again_in_order() {
    let mut street = Street::connected();
    street.ask(create(1));
    street.topic.holds_receipts = true;
    for (token, text) in (10..).zip(["a", "b", "c"]) {
        street.ask(send(token, text));
    }
    street.topic.holds_receipts = false;
    street.lose_connection();
    street.ask(send(13, "d"));
    assert_eq!(sent(&street.take_events()), [0u64; 0]);
    street.topic.entries.clear();
    street.connect();
    let events = street.take_events();
    assert_eq!(sent(&events), [10, 11, 12, 13]);
    assert_eq!(street.topic.sequence_ids(), [0, 1, 2, 3]);
    assert_eq!(street.topic.epochs, [0, 1]);
    assert_eq!(street.topic.names, ["made-1", "made-1"]);
}

#[test]
fn a_consumer_comes_back_with_all_its_permits() {
    let mut street = Street::connected();
    street.ask(create(1));
    street.ask(subscribe(1, 10, true));
    for token in 0..15 {
        street.ask(send(token, "m"));
    }
    // The application took nothing, so no more than the queue comes.
    assert_eq!(texts(&street.take_events()).len(), 10);
    street.lose_connection();
    street.connect();
    let events = street.take_events();
    assert_eq!(texts(&events).len(), 10);
    assert!(events.contains(&ClientEvent::Subscribed {
        consumer_id: 1,
        incarnation: 2
    }));
    // Permits of the first incarnation are void; of this one they count, half of the queue at a time.
    street.ask(ClientAsk::Took {
        consumer_id: 1,
        incarnation: 1,
        permits: 10,
    });
    street.ask(ClientAsk::Took {
        consumer_id: 1,
        incarnation: 2,
        permits: 4,
    });
    assert_eq!(texts(&street.take_events()).len(), 0);
    street.ask(ClientAsk::Took {
        consumer_id: 1,
        incarnation: 2,
        permits: 1,
    });
    assert_eq!(texts(&street.take_events()).len(), 5);
}

#[test]
fn parts_of_a_batch_are_acked_as_such() {
    let mut street = Street::connected();
    street.ask(create(1));
    street.ask(send_batch(1, &["a", "b", "c"]));
    street.ask(subscribe(1, 100, false));
    let ids = ids(&street.take_events());
    street.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Individual(vec![ids[1]]),
        receipt: None,
    });
    street.ask(ClientAsk::Redeliver {
        consumer_id: 1,
        positions: vec![],
    });
    assert_eq!(texts(&street.take_events()), ["a", "c"]);
    street.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Individual(vec![ids[0], ids[2]]),
        receipt: None,
    });
    assert!(street.topic.unacked().is_empty());
}

#[test]
fn a_cumulative_ack_within_a_batch_leaves_the_rest() {
    let mut street = Street::connected();
    street.ask(create(1));
    street.ask(send(1, "first"));
    street.ask(send_batch(2, &["a", "b", "c"]));
    street.ask(subscribe(1, 100, false));
    let ids = ids(&street.take_events());
    street.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Cumulative(ids[2]),
        receipt: None,
    });
    street.ask(ClientAsk::Redeliver {
        consumer_id: 1,
        positions: vec![],
    });
    assert_eq!(texts(&street.take_events()), ["c"]);
}

#[test]
fn permits_add_up() {
    let mut street = Street::connected();
    street.ask(create(1));
    street.ask(subscribe(1, 7, false));
    for token in 0..50 {
        street.ask(send_batch(token, &["a", "b", "c"]));
        street.ask(send(100 + token, "d"));
        if token % 5 == 0 {
            let some = ids(&street.take_events());
            let ack = Ack::Individual(some.into_iter().step_by(2).collect());
            street.ask(ClientAsk::Ack {
                consumer_id: 1,
                ack,
                receipt: None,
            });
            street.ask(ClientAsk::Redeliver {
                consumer_id: 1,
                positions: vec![],
            });
        }
    }
    // At rest: what was granted is what was taken, plus a queue, less what waits for the next FLOW.
    let outstanding = street.topic.granted - street.topic.taken;
    assert!(
        (4..=7).contains(&outstanding),
        "{outstanding} permits are outstanding of a queue of 7"
    );
}

#[test]
fn a_refusal_that_may_pass_is_tried_again_and_others_are_told() {
    let mut street = Street::connected();
    street.topic.refuses = Some(Refusal::new(RefusalCode::ServiceNotReady, "not yet"));
    street.ask(create(1));
    street.ask(subscribe(1, 10, false));
    street.take_events();
    street.topic.refuses = None;
    street.pass_millis(100);
    let events = street.take_events();
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ClientEvent::ProducerCreated { .. })),
        "{events:?}"
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ClientEvent::Subscribed { .. })),
        "{events:?}"
    );

    street.topic.refuses = Some(Refusal::new(RefusalCode::ProducerBusy, "name taken"));
    street.ask(create(2));
    let events = street.take_events();
    assert!(
        matches!(
            &events[..],
            [ClientEvent::ProducerFailed { producer_id: 2, .. }]
        ),
        "{events:?}"
    );
    // Who was in before meets its own ghost, and waits until it is gone.
    street.lose_connection();
    street.connect();
    street.topic.refuses = None;
    street.pass_millis(500);
    assert!(
        street
            .take_events()
            .contains(&ClientEvent::ProducerReopened { producer_id: 1 })
    );
}

#[test]
fn a_topic_that_throws_its_clients_out_gets_them_back() {
    let mut street = Street::connected();
    street.ask(create(1));
    street.ask(subscribe(1, 10, false));
    street.take_events();
    street.throw_everybody_out();
    street.ask(send(1, "kept"));
    assert!(street.take_events().is_empty());
    street.pass_millis(100);
    let events = street.take_events();
    assert_eq!(sent(&events), [1]);
    assert_eq!(texts(&events), ["kept"]);
}

#[test]
fn a_failed_write_closes_the_producer_and_sends_everything_again() {
    let mut street = Street::connected();
    street.ask(create(1));
    street.topic.fails_writes = true;
    street.ask(send(1, "a"));
    street.ask(send(2, "b"));
    street.topic.fails_writes = false;
    street.pass_millis(100);
    assert_eq!(sent(&street.take_events()), [1, 2]);
    assert_eq!(street.topic.sequence_ids(), [0, 1]);
}

#[test]
fn a_message_that_is_too_large_fails_alone() {
    let mut street = Street::connected();
    street.ask(create(1));
    let large = OutMessage {
        payload: vec![0; 6 * 1024 * 1024].into(),
        ..OutMessage::default()
    };
    street.ask(ClientAsk::Send {
        producer_id: 1,
        token: 1,
        messages: vec![large],
        batch: false,
    });
    street.ask(send(2, "small"));
    let events = street.take_events();
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ClientEvent::SendFailed { token: 1, .. })),
        "{events:?}"
    );
    assert_eq!(sent(&events), [2]);
}

#[test]
fn sends_are_bounded() {
    let mut street = Street::new();
    street.ask(create(1));
    for token in 0..1001 {
        street.ask(send(token, "m"));
    }
    let events = street.take_events();
    assert!(
        matches!(&events[..], [ClientEvent::SendFailed { token: 1000, .. }]),
        "{events:?}"
    );
}

#[test]
fn both_sides_stay_connected_while_nothing_is_said_and_notice_when_the_other_is_gone() {
    let mut street = Street::connected();
    street.take_events();
    for _ in 0..20 {
        street.pass_millis(30_000);
    }
    assert!(street.take_events().is_empty());
    street.cut_the_wire();
    street.pass_millis(30_000);
    street.pass_millis(30_000);
    assert_eq!(street.closes, 2);
    assert_eq!(street.take_events(), [ClientEvent::Disconnected]);
}

#[test]
fn closing_is_answered_without_a_connection_too() {
    let mut street = Street::new();
    street.ask(create(1));
    street.ask(send(5, "never"));
    street.ask(ClientAsk::CloseProducer(1));
    street.ask(ClientAsk::CloseConsumer(9));
    let events = street.take_events();
    assert!(matches!(
        events[0],
        ClientEvent::SendFailed { token: 5, .. }
    ));
    assert_eq!(
        events[1..],
        [
            ClientEvent::ProducerClosed { producer_id: 1 },
            ClientEvent::ConsumerClosed { consumer_id: 9 }
        ]
    );
}

#[test]
fn an_ack_that_cannot_be_confirmed_says_so() {
    let mut street = Street::new();
    let id = MessageId {
        position: Position::new(1, 1),
        batch: None,
    };
    street.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Individual(vec![id]),
        receipt: Some(3),
    });
    let events = street.take_events();
    assert!(
        matches!(
            events[..],
            [ClientEvent::AckConfirmed {
                token: 3,
                error: Some(_),
                ..
            }]
        ),
        "{events:?}"
    );
}
