//! Small versions of what the program does at length.

use city::programs::{Outcome, Story, tell};
use std::sync::{Arc, Mutex};

fn kept(outcome: Outcome) -> Outcome {
    if let Some(report) = outcome.report("run this test again") {
        panic!("{report}");
    }
    outcome
}

/// Every line of a seed's transcript.
fn trace_of(seed: u64, shards: usize, story: &Story) -> String {
    let trace = Arc::new(Mutex::new(String::new()));
    let into = Arc::clone(&trace);
    let sink = move |line: &str| {
        let mut trace = into.lock().expect("nobody panics with it");
        trace.push_str(line);
        trace.push('\n');
    };
    kept(tell(seed, Some(shards), story, Some(Box::new(sink))));
    let trace = trace.lock().expect("nobody panics with it");
    trace.clone()
}

#[test]
fn some_dozens_of_power_cuts_break_no_promise() {
    let (mut cuts, mut confirmed, mut acks, mut in_recovery) = (0, 0, 0, 0);
    for seed in 1..=6 {
        let outcome = kept(tell(seed, None, &Story::Cuts(8), None));
        cuts += outcome.counts.of("power cuts");
        in_recovery += outcome.counts.of("cuts while opening");
        confirmed += outcome.confirmed.0;
        acks += outcome.confirmed.1;
    }
    assert_eq!(cuts, 48);
    assert!(in_recovery > 2, "{in_recovery} cuts while opening");
    assert!(confirmed > 1000, "{confirmed} messages confirmed");
    assert!(acks > 500, "{acks} acks confirmed");
}

#[test]
fn a_handful_of_lives_break_no_promise() {
    for seed in 1..=3 {
        let outcome = kept(tell(seed, None, &Story::Life, None));
        assert!(
            outcome.confirmed.0 > 100,
            "seed {seed}: {:?}",
            outcome.confirmed
        );
        assert!(
            outcome.counts.of("connections broken") > 0,
            "seed {seed}: {}",
            outcome.counts
        );
    }
}

#[test]
fn one_seed_one_trace_byte_for_byte() {
    for shards in [1, 3] {
        for (seed, story) in [(6, Story::Life), (4, Story::Cuts(4))] {
            let first = trace_of(seed, shards, &story);
            assert!(
                first.lines().count() > 200,
                "{} lines",
                first.lines().count()
            );
            assert!(
                first == trace_of(seed, shards, &story),
                "seed {seed} with {shards} shards, {story:?}"
            );
        }
    }
}

#[test]
fn another_seed_gives_another_trace() {
    assert_ne!(
        trace_of(6, 1, &Story::Cuts(1)),
        trace_of(7, 1, &Story::Cuts(1))
    );
}

#[test]
fn without_the_sync_before_a_receipt_a_promise_breaks() {
    let without = Story::CutsWithout(10, "sync_data log/segments/*.seg (entries)".to_owned());
    let broken = (1..=10).find(|seed| tell(*seed, None, &without, None).failure.is_some());
    assert!(broken.is_some());
}

#[test]
fn without_the_sync_of_metadata_a_promise_breaks() {
    let without = Story::CutsWithout(10, "sync_data metadata.redb".to_owned());
    let broken = (1..=10).find(|seed| tell(*seed, None, &without, None).failure.is_some());
    assert!(broken.is_some());
}
