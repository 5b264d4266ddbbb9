//! The city's life: one line for each seed.

use super::story::{Outcome, Story, tell};
use crate::counts::Counts;
use std::time::Instant;

/// Every so many seeds, one is lived twice.
const TWICE_EVERY: u64 = 10;

/// Lives seeds 1 to `seeds`. Says whether every promise was kept.
#[must_use]
pub fn run(seeds: u64) -> bool {
    let began = Instant::now();
    let mut sum = Counts::default();
    for seed in 1..=seeds {
        let outcome = tell(seed, None, &Story::Life, None);
        println!("{}", line(&outcome));
        sum.add_all(&outcome.counts);
        if !is_kept(&outcome) {
            return false;
        }
        if seed % TWICE_EVERY == 1 {
            let again = tell(seed, None, &Story::Life, None);
            if (again.sum, again.lines) != (outcome.sum, outcome.lines) {
                println!(
                    "seed {seed} lived twice gave two different transcripts: compare two `city run --seed {seed} --trace`"
                );
                return false;
            }
            sum.add("seeds lived twice with the same bytes");
        }
    }
    println!("\nin all");
    for (name, count) in sum.iter() {
        println!("{count:>9}  {name}");
    }
    println!(
        "{seeds} seeds in {:.1} s: every promise kept",
        began.elapsed().as_secs_f64()
    );
    true
}

/// Lives one seed.
#[must_use]
pub fn run_one(seed: u64, trace: bool) -> bool {
    let sink = trace.then(|| Box::new(|line: &str| println!("{line}")) as _);
    let outcome = tell(seed, None, &Story::Life, sink);
    println!("{}", line(&outcome));
    println!("{}", outcome.counts);
    is_kept(&outcome)
}

fn line(outcome: &Outcome) -> String {
    let Outcome {
        seed,
        counts,
        confirmed,
        sum,
        lines,
        ..
    } = outcome;
    format!(
        "seed {seed:>5}: {:>5} confirmed, {:>5} received, {:>5} acks confirmed, {:>2} broken links, {:>2} kills, {:>2} power cuts; \
         {lines:>6} lines, sum {sum:016x}",
        confirmed.0,
        counts.of("messages received"),
        confirmed.1,
        counts.of("connections broken"),
        counts.of("kills"),
        counts.of("power cuts"),
    )
}

fn is_kept(outcome: &Outcome) -> bool {
    match outcome.report(&format!("city run --seed {} --trace", outcome.seed)) {
        None => true,
        Some(report) => {
            println!("{report}");
            false
        }
    }
}
