//! The ladder of permits: whatever comes, what the broker debited is what goes back.

use super::*;
use pulsar_wire::batch::BatchBuilder;
use pulsar_wire::entry::encode_entry;
use pulsar_wire::proto::MessageIdData;

fn metadata() -> MessageMetadata {
    MessageMetadata {
        producer_name: Some("p".to_owned()),
        sequence_id: Some(7),
        publish_time: Some(1),
        ..Default::default()
    }
}

fn batch_of(payloads: &[&str], says: i32) -> Bytes {
    let mut batch = BatchBuilder::new();
    for payload in payloads {
        batch.push(SingleMessageMetadata::default(), payload.as_bytes());
    }
    encode_entry(
        &MessageMetadata {
            num_messages_in_batch: Some(says),
            ..metadata()
        },
        &batch.finish(),
    )
}

fn message(permits: Option<u32>, ack_set: &[i64]) -> CommandMessage {
    let id = MessageIdData {
        ledger_id: Some(3),
        entry_id: Some(4),
        ..Default::default()
    };
    CommandMessage {
        consumer_id: Some(1),
        message_id: Some(id),
        ack_set: ack_set.to_vec(),
        message_permits: permits,
        ..Default::default()
    }
}

fn arrive(command: &CommandMessage, entry: &Bytes) -> Arrival {
    take_apart(command, entry, 1).expect("possible permits")
}

fn texts(arrival: &Arrival) -> Vec<&[u8]> {
    arrival
        .messages
        .iter()
        .map(|message| &message.payload[..])
        .collect()
}

#[test]
fn a_single_message_costs_one() {
    let entry = encode_entry(&metadata(), b"hello");
    for said in [None, Some(1)] {
        let arrival = arrive(&message(said, &[]), &entry);
        assert_eq!((arrival.permits, texts(&arrival)), (1, vec![&b"hello"[..]]));
        assert_eq!(
            arrival.messages[0].id,
            MessageId {
                position: Position::new(3, 4),
                batch: None
            }
        );
        assert_eq!(arrival.messages[0].sequence_id(), 7);
    }
}

#[test]
fn a_batch_of_one_is_a_batch() {
    let arrival = arrive(&message(Some(1), &[]), &batch_of(&["a"], 1));
    assert_eq!(arrival.messages[0].id.batch, Some((0, 1)));
}

#[test]
fn part_of_a_batch_costs_what_is_left_of_it() {
    let entry = batch_of(&["a", "b", "c"], 3);
    for said in [None, Some(2)] {
        // Bits beyond the batch count for nothing.
        let arrival = arrive(&message(said, &[0b1101]), &entry);
        assert_eq!(
            (arrival.permits, texts(&arrival)),
            (2, vec![&b"a"[..], b"c"])
        );
        assert!(arrival.problem.is_none());
        assert_eq!(arrival.messages[1].sequence_id(), 9);
    }
    assert_eq!(arrive(&message(None, &[]), &entry).permits, 3);
}

#[test]
fn impossible_permits_are_the_brokers_fault() {
    let entry = batch_of(&["a", "b"], 2);
    for permits in [0, 1 << 31, u32::MAX] {
        assert!(
            take_apart(&message(Some(permits), &[]), &entry, 1).is_err(),
            "{permits}"
        );
    }
}

#[test]
fn possible_permits_that_do_not_fit_are_settled_and_nothing_is_delivered() {
    let entry = batch_of(&["a", "b", "c"], 3);
    for (permits, ack_set) in [(2, &[][..]), (4, &[]), (3, &[0b110]), ((1 << 31) - 1, &[])] {
        let arrival = arrive(&message(Some(permits), ack_set), &entry);
        assert_eq!((arrival.permits, arrival.messages.len()), (permits, 0));
        assert!(
            arrival
                .problem
                .is_some_and(|problem| problem.validation_error.is_none())
        );
    }
}

#[test]
fn a_damaged_entry_costs_what_the_broker_says_or_one() {
    let mut entry = batch_of(&["a", "b", "c"], 3).to_vec();
    let last = entry.len() - 1;
    entry[last] ^= 1;
    let entry = Bytes::from(entry);
    for (said, cost) in [(None, 1), (Some(3), 3)] {
        let arrival = arrive(&message(said, &[]), &entry);
        assert_eq!((arrival.permits, arrival.messages.len()), (cost, 0));
        let problem = arrival.problem.expect("a problem");
        assert_eq!(
            problem.validation_error,
            Some(ValidationError::ChecksumMismatch)
        );
    }
    assert_eq!(
        arrive(&message(None, &[]), &Bytes::from_static(b"\0")).permits,
        1
    );
}

#[test]
fn a_batch_that_ends_early_delivers_what_is_there_and_costs_all() {
    let arrival = arrive(&message(Some(3), &[]), &batch_of(&["a"], 3));
    assert_eq!((arrival.permits, texts(&arrival)), (3, vec![&b"a"[..]]));
    let problem = arrival.problem.expect("a problem");
    assert_eq!(
        problem.validation_error,
        Some(ValidationError::BatchDeSerializeError)
    );
}

#[test]
fn a_batch_of_nothing_is_unreadable() {
    for says in [0, -1, i32::MAX] {
        let arrival = arrive(&message(None, &[-1]), &batch_of(&["a"], says));
        assert_eq!((arrival.permits, arrival.messages.len()), (1, 0), "{says}");
    }
}

#[test]
fn messages_compacted_away_are_skipped_and_their_permits_stay_in_the_sum() {
    let mut batch = BatchBuilder::new();
    batch.push(
        SingleMessageMetadata {
            compacted_out: Some(true),
            ..Default::default()
        },
        b"old",
    );
    batch.push(SingleMessageMetadata::default(), b"new");
    let entry = encode_entry(
        &MessageMetadata {
            num_messages_in_batch: Some(2),
            ..metadata()
        },
        &batch.finish(),
    );
    let arrival = arrive(&message(Some(2), &[]), &entry);
    assert_eq!((arrival.permits, texts(&arrival)), (2, vec![&b"new"[..]]));
}

#[test]
fn what_only_the_application_can_read_comes_whole_with_all_its_permits() {
    let compression = Some(CompressionType::Lz4 as i32);
    let compressed = MessageMetadata {
        num_messages_in_batch: Some(3),
        compression,
        ..metadata()
    };
    let arrival = arrive(
        &message(Some(2), &[0b011]),
        &encode_entry(&compressed, b"?"),
    );
    let whole = &arrival.messages[0];
    assert_eq!(
        (arrival.permits, whole.permits, whole.id.batch),
        (2, 2, None)
    );
    assert_eq!(whole.ack_set, Some(AckSet::from_wire(&[0b011])));
}
