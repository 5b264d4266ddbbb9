use super::*;

fn named(key: &str) -> SingleMessageMetadata {
    SingleMessageMetadata {
        partition_key: Some(key.into()),
        ..Default::default()
    }
}

fn three() -> Bytes {
    let mut builder = BatchBuilder::new();
    builder.push(named("a"), b"one");
    builder.push(
        SingleMessageMetadata {
            null_value: Some(true),
            ..named("b")
        },
        b"",
    );
    builder.push(named("c"), b"three");
    assert_eq!(builder.count(), 3);
    let size = builder.size_bytes();
    let batch = builder.finish();
    assert_eq!(batch.len(), size);
    batch
}

#[test]
fn what_was_built_is_walked() {
    let batch = three();
    let messages: Vec<_> = BatchWalk::new(batch.clone(), 3)
        .map(Result::unwrap)
        .collect();
    let payloads: Vec<_> = messages
        .iter()
        .map(|message| &message.payload[..])
        .collect();
    assert_eq!(payloads, [&b"one"[..], b"", b"three"]);
    let keys: Vec<_> = messages
        .iter()
        .map(|message| message.metadata.partition_key())
        .collect();
    assert_eq!(keys, ["a", "b", "c"]);
    assert!(messages[1].metadata.null_value());
    // No copies: the last payload is the batch's end.
    assert_eq!(
        messages[2].payload.as_ptr(),
        batch[batch.len() - 5..].as_ptr()
    );
}

#[test]
fn the_walk_ends_at_the_count_and_shows_the_rest() {
    let batch = three();
    let mut walk = BatchWalk::new(batch, 2);
    assert_eq!(walk.by_ref().filter(Result::is_ok).count(), 2);
    assert!(!walk.rest().is_empty());
    assert_eq!(walk.next(), None);
}

#[test]
fn every_cut_ends_the_walk_with_one_error() {
    let batch = three();
    for length in 0..batch.len() {
        let results: Vec<_> = BatchWalk::new(batch.slice(..length), 3).collect();
        let (last, before) = results.split_last().unwrap();
        assert!(last.is_err(), "{length}");
        assert!(before.iter().all(Result::is_ok), "{length}");
        assert_eq!(last.as_ref().unwrap_err().index as usize, before.len());
    }
}

#[test]
fn a_count_beyond_the_batch_is_an_error_not_an_allocation() {
    let results: Vec<_> = BatchWalk::new(three(), u32::MAX).collect();
    assert_eq!(results.len(), 4);
    let error = results[3].as_ref().unwrap_err();
    assert_eq!(error.problem, BatchProblem::Truncated { part: "length" });
    assert_eq!(
        error.to_string(),
        "message 3 of a batch of 4294967295: the batch ends within its length"
    );
}

fn problem_of(metadata: &SingleMessageMetadata) -> BatchProblem {
    let mut bytes = BytesMut::new();
    bytes.put_u32(metadata.encoded_len() as u32);
    metadata.encode(&mut bytes).unwrap();
    BatchWalk::new(bytes.freeze(), 1)
        .next()
        .unwrap()
        .unwrap_err()
        .problem
}

#[test]
fn bad_metadata_is_named() {
    let negative = SingleMessageMetadata {
        payload_size: Some(-1),
        ..Default::default()
    };
    assert_eq!(problem_of(&negative), BatchProblem::NegativeSize(-1));
    let missing = MissingField {
        message: "SingleMessageMetadata",
        field: "payload_size",
    };
    assert_eq!(problem_of(&named("a")), BatchProblem::MissingField(missing));
    let garbage = Bytes::from_static(&[0, 0, 0, 1, 0xff]);
    let error = BatchWalk::new(garbage, 1).next().unwrap().unwrap_err();
    assert!(matches!(error.problem, BatchProblem::Undecodable(_)));
}

#[test]
fn the_golden_batch_holds_a_and_bc() {
    let golden = include_str!("../tests/golden/golden-frames.tsv");
    let row = golden
        .lines()
        .find(|row| row.starts_with("SEND_BATCH2"))
        .unwrap();
    let mut builder = BatchBuilder::new();
    for (sequence_id, payload) in [(5, "a"), (6, "bc")] {
        let metadata = SingleMessageMetadata {
            sequence_id: Some(sequence_id),
            ..Default::default()
        };
        builder.push(metadata, payload.as_bytes());
    }
    let hex: String = builder
        .finish()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert!(row.contains(&hex), "{hex}");
}
