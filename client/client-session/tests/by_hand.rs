//! What a broker may do that ours does not, command by command.

mod hand;

use client_session::{
    Ack, ClientAsk, ClientEvent, ClientInput, ClientSettings, CreateProducer, MessageId,
};
use hand::*;
use pulsar_wire::proto::base_command::Cmd;
use pulsar_wire::proto::*;
use std::time::Duration;
use vocabulary::Position;

#[test]
fn the_waits_between_connections_double_until_one_is_accepted() {
    let mut hand = Hand::with(ClientSettings::default());
    hand.tell(ClientInput::PeerGone);
    hand.tell(ClientInput::PeerGone);
    hand.tell(ClientInput::Connected);
    hand.tell(ClientInput::PeerGone);
    hand.tell(ClientInput::Connected);
    hand.hear(connected());
    hand.tell(ClientInput::PeerGone);
    assert_eq!(
        hand.reconnects,
        [100, 200, 400, 100].map(Duration::from_millis)
    );
}

#[test]
fn what_is_no_answer_to_connect_ends_the_connection() {
    let error = CommandError {
        request_id: Some(u64::MAX),
        error: Some(6),
        message: Some("not yet".to_owned()),
    };
    for command in [Cmd::Error(error), Cmd::Pong(CommandPong {})] {
        let mut hand = Hand::with(ClientSettings::default());
        hand.tell(ClientInput::Connected);
        hand.hear(command);
        assert_eq!((hand.closes.len(), hand.reconnects.len()), (1, 1));
    }
}

#[test]
fn a_connect_without_answer_ends_the_connection() {
    let mut hand = Hand::with(ClientSettings::default());
    hand.tell(ClientInput::Connected);
    hand.wait(29_999);
    assert!(hand.closes.is_empty());
    hand.wait(1);
    assert_eq!((hand.closes.len(), hand.reconnects.len()), (1, 1));
}

#[test]
fn a_ping_is_answered() {
    let mut hand = Hand::open();
    hand.hear(Cmd::Ping(CommandPing {}));
    assert_eq!(hand.last(), &Cmd::Pong(CommandPong {}));
}

#[test]
fn a_command_only_clients_send_ends_the_connection() {
    let mut hand = Hand::open();
    hand.hear(connected());
    assert_eq!((hand.closes.len(), hand.reconnects.len()), (1, 1));
}

#[test]
fn outdated_messages_are_dropped_and_their_permits_given_back() {
    let mut hand = Hand::open();
    hand.ask(ClientAsk::Redeliver {
        consumer_id: 1,
        positions: vec![],
    });
    let Cmd::RedeliverUnacknowledgedMessages(asked) = hand.last() else {
        panic!("{:?}", hand.sent)
    };
    assert_eq!(asked.consumer_epoch, Some(1));
    hand.clear();
    hand.hear_message(message(2, 0), entry(&["a", "b"]));
    assert!(hand.events.is_empty());
    assert_eq!(
        hand.last(),
        &Cmd::Flow(CommandFlow {
            consumer_id: Some(1),
            message_permits: Some(2)
        })
    );
    hand.hear_message(message(2, 1), entry(&["a", "b"]));
    assert_eq!(hand.events.len(), 2);
}

#[test]
fn a_message_that_costs_nothing_ends_the_connection() {
    let mut hand = Hand::open();
    hand.hear_message(message(0, 0), entry(&["a"]));
    assert_eq!((hand.closes.len(), hand.reconnects.len()), (1, 1));
    assert_eq!(hand.events, [ClientEvent::Disconnected]);
}

#[test]
fn an_unreadable_entry_is_acked_as_such_and_its_permits_given_back() {
    let mut hand = Hand::open();
    let mut damaged = entry(&["a", "b"]).to_vec();
    damaged[5] ^= 1;
    hand.hear_message(message(2, 0), damaged.into());
    let Some(Cmd::Ack(ack)) = hand.sent[0].command.cmd.as_ref() else {
        panic!("{:?}", hand.sent)
    };
    assert_eq!(
        ack.validation_error(),
        command_ack::ValidationError::ChecksumMismatch
    );
    assert_eq!(
        hand.last(),
        &Cmd::Flow(CommandFlow {
            consumer_id: Some(1),
            message_permits: Some(2)
        })
    );
    assert!(
        matches!(
            &hand.events[..],
            [ClientEvent::Unreadable { consumer_id: 1, .. }]
        ),
        "{:?}",
        hand.events
    );
}

#[test]
fn a_receipt_from_the_future_means_that_something_was_lost() {
    let mut hand = Hand::open();
    hand.send(1);
    hand.send(2);
    hand.hear(receipt(1));
    assert_eq!((hand.closes.len(), hand.reconnects.len()), (1, 1));
    assert_eq!(hand.client.pending_sends(), 2);
}

#[test]
fn a_late_receipt_says_nothing_new() {
    let mut hand = Hand::open();
    hand.send(1);
    hand.send(2);
    hand.hear(receipt(0));
    hand.hear(receipt(0));
    assert_eq!(
        (
            hand.events.len(),
            hand.client.pending_sends(),
            hand.closes.len()
        ),
        (1, 1, 0)
    );
}

#[test]
fn a_message_that_is_not_allowed_fails_alone_and_a_terminated_topic_fails_all() {
    let mut hand = Hand::open();
    for token in 1..=3 {
        hand.send(token);
    }
    hand.hear(send_error(0, ServerError::NotAllowedError));
    assert!(
        matches!(&hand.events[..], [ClientEvent::SendFailed { token: 1, .. }]),
        "{:?}",
        hand.events
    );
    hand.clear();
    hand.hear(send_error(1, ServerError::TopicTerminatedError));
    let [first, second, last] = &hand.events[..] else {
        panic!("{:?}", hand.events)
    };
    assert!(matches!(first, ClientEvent::SendFailed { token: 2, .. }));
    assert!(matches!(second, ClientEvent::SendFailed { token: 3, .. }));
    assert!(matches!(
        last,
        ClientEvent::ProducerFailed { producer_id: 1, .. }
    ));
}

#[test]
fn a_topic_that_cannot_be_served_here_is_given_up() {
    let mut hand = Hand::open();
    let create = |producer_id| CreateProducer {
        producer_id,
        topic: "parted".to_owned(),
        name: None,
    };
    hand.ask(ClientAsk::CreateProducer(create(2)));
    hand.found(3);
    assert!(
        matches!(
            &hand.events[..],
            [ClientEvent::ProducerFailed { producer_id: 2, .. }]
        ),
        "{:?}",
        hand.events
    );
    hand.clear();
    hand.ask(ClientAsk::CreateProducer(create(3)));
    let request_id = hand.last_request();
    hand.hear(Cmd::PartitionMetadataResponse(
        CommandPartitionedTopicMetadataResponse {
            request_id: Some(request_id),
            response: Some(0),
            ..Default::default()
        },
    ));
    hand.hear(lookup_response(hand.last_request(), 0));
    let [
        ClientEvent::ProducerFailed {
            producer_id: 3,
            error,
        },
    ] = &hand.events[..]
    else {
        panic!("{:?}", hand.events)
    };
    assert!(error.message.contains("pulsar://other:6650"), "{error}");
}

#[test]
fn a_producer_that_has_to_wait_waits_as_long_as_it_takes() {
    let mut hand = Hand::open();
    hand.ask(ClientAsk::CreateProducer(CreateProducer {
        producer_id: 2,
        topic: "t".to_owned(),
        name: None,
    }));
    hand.found(0);
    let request_id = hand.last_request();
    let Cmd::ProducerSuccess(ready) = producer_success(request_id) else {
        unreachable!()
    };
    hand.hear(Cmd::ProducerSuccess(CommandProducerSuccess {
        producer_ready: Some(false),
        ..ready.clone()
    }));
    for _ in 0..3 {
        hand.wait(29_000);
        hand.hear(Cmd::Pong(CommandPong {}));
    }
    assert!(hand.events.is_empty());
    hand.hear(Cmd::ProducerSuccess(ready));
    assert!(
        matches!(
            &hand.events[..],
            [ClientEvent::ProducerCreated { producer_id: 2, .. }]
        ),
        "{:?}",
        hand.events
    );
}

#[test]
fn a_producer_whose_opening_takes_too_long_is_closed_and_opened_again() {
    let mut hand = Hand::open();
    hand.ask(ClientAsk::CreateProducer(CreateProducer {
        producer_id: 2,
        topic: "t".to_owned(),
        name: None,
    }));
    hand.found(0);
    let late = hand.last_request();
    hand.wait(29_999);
    hand.hear(Cmd::Pong(CommandPong {}));
    hand.wait(1);
    let close = hand.last_request();
    assert!(matches!(hand.last(), Cmd::CloseProducer(close) if close.producer_id() == 2));
    hand.hear(producer_success(late));
    assert!(hand.events.is_empty(), "{:?}", hand.events);
    hand.hear(success(close));
    hand.wait(100);
    assert!(
        matches!(hand.last(), Cmd::PartitionMetadata(_)),
        "{:?}",
        hand.last()
    );
}

#[test]
fn a_close_without_answer_is_done_when_the_time_is_up() {
    let mut hand = Hand::open();
    hand.ask(ClientAsk::CloseConsumer(1));
    hand.wait(29_000);
    hand.hear(Cmd::Pong(CommandPong {}));
    assert!(hand.events.is_empty());
    hand.wait(1_000);
    assert_eq!(
        hand.events,
        [ClientEvent::ConsumerClosed { consumer_id: 1 }]
    );
}

#[test]
fn what_is_closing_takes_no_more_sends() {
    let mut hand = Hand::open();
    hand.ask(ClientAsk::CloseProducer(1));
    hand.send(1);
    assert!(
        matches!(&hand.events[..], [ClientEvent::SendFailed { token: 1, .. }]),
        "{:?}",
        hand.events
    );
}

#[test]
fn an_ack_without_answer_says_so() {
    let mut hand = Hand::open();
    let id = MessageId {
        position: Position::new(1, 1),
        batch: None,
    };
    hand.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Individual(vec![id]),
        receipt: Some(8),
    });
    hand.wait(29_000);
    hand.hear(Cmd::Pong(CommandPong {}));
    assert!(hand.events.is_empty());
    hand.wait(1_000);
    let unconfirmed = |event: &ClientEvent| {
        matches!(
            event,
            ClientEvent::AckConfirmed {
                token: 8,
                error: Some(_),
                ..
            }
        )
    };
    assert!(
        matches!(&hand.events[..], [event] if unconfirmed(event)),
        "{:?}",
        hand.events
    );
}

#[test]
fn a_client_that_does_not_ack_parts_of_batches_acks_with_the_last_or_the_entry_before() {
    let mut hand = Hand::with(ClientSettings {
        batch_index_acks: false,
        ..ClientSettings::default()
    });
    hand.tell(ClientInput::Connected);
    hand.hear(connected());
    hand.ask(subscribe());
    hand.found(0);
    hand.hear(success(hand.last_request()));
    hand.clear();
    let id = |index| MessageId {
        position: Position::new(3, 4),
        batch: Some((index, 2)),
    };
    hand.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Individual(vec![id(1)]),
        receipt: None,
    });
    assert!(hand.sent.is_empty());
    hand.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Individual(vec![id(0)]),
        receipt: None,
    });
    hand.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Cumulative(id(0)),
        receipt: None,
    });
    hand.ask(ClientAsk::Ack {
        consumer_id: 1,
        ack: Ack::Cumulative(id(1)),
        receipt: None,
    });
    let acked = hand.sent.iter().map(|frame| match &frame.command.cmd {
        Some(Cmd::Ack(ack)) => (
            ack.message_id[0].entry_id(),
            ack.message_id[0].ack_set.clone(),
        ),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        acked.collect::<Vec<_>>(),
        [(4, vec![]), (3, vec![]), (4, vec![])]
    );
}
