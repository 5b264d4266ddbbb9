//! Many power cuts, over many seeds, on two threads.

use super::story::{CUTS_PER_SEED, Outcome, Story, tell};
use crate::counts::Counts;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Threads; each takes the next seed.
const THREADS: usize = 2;

/// Seeds between two lines of progress.
const SEEDS_PER_LINE: u64 = 200;

/// Cuts the power some times, from one seed. Says whether every promise was kept.
#[must_use]
pub fn cuts_of_one(seed: u64, trace: bool, without: Option<String>) -> bool {
    let sink = trace.then(|| Box::new(|line: &str| println!("{line}")) as _);
    let story = match without {
        None => Story::Cuts(CUTS_PER_SEED),
        Some(name) => Story::CutsWithout(CUTS_PER_SEED, name),
    };
    let outcome = tell(seed, None, &story, sink);
    println!("seed {seed}: {}", outcome.counts);
    is_kept(&outcome)
}

/// Cuts the power `count` times. Says whether every promise was kept.
#[must_use]
pub fn cuts(count: u64) -> bool {
    let began = Instant::now();
    let mut sum = Counts::default();
    let mut confirmed = (0, 0);
    let mut seeds = 0;
    let kept = on_all_threads(count.div_ceil(CUTS_PER_SEED), |outcome| {
        sum.add_all(&outcome.counts);
        confirmed.0 += outcome.confirmed.0;
        confirmed.1 += outcome.confirmed.1;
        seeds += 1;
        if seeds % SEEDS_PER_LINE == 0 {
            println!(
                "{} power cuts in {:.0} s",
                sum.of("power cuts"),
                began.elapsed().as_secs_f64()
            );
        }
        is_kept(outcome)
    });
    print_sum(&sum, confirmed, seeds);
    println!(
        "{} power cuts in {:.1} s: {}",
        sum.of("power cuts"),
        began.elapsed().as_secs_f64(),
        verdict(kept)
    );
    kept
}

/// Tells the stories of seeds 1 to `seeds`, until one breaks a promise.
fn on_all_threads(seeds: u64, mut take: impl FnMut(&Outcome) -> bool) -> bool {
    let next = AtomicU64::new(1);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let (next, stop, sender) = (&next, &stop, sender.clone());
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > seeds
                        || sender
                            .send(tell(seed, None, &Story::Cuts(CUTS_PER_SEED), None))
                            .is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut kept = true;
        for outcome in receiver {
            if kept && !take(&outcome) {
                kept = false;
                stop.store(true, Ordering::Relaxed);
            }
        }
        kept
    })
}

fn is_kept(outcome: &Outcome) -> bool {
    match outcome.report(&format!("city cuts --seed {} --trace", outcome.seed)) {
        None => true,
        Some(report) => {
            println!("{report}");
            false
        }
    }
}

fn print_sum(sum: &Counts, confirmed: (u64, u64), seeds: u64) {
    println!(
        "\n{seeds} seeds; messages confirmed: {}, acks confirmed: {}",
        confirmed.0, confirmed.1
    );
    println!(
        "openings: {}, of them cut while opening: {}",
        sum.of("openings"),
        sum.of("cuts while opening")
    );
    println!("the power went");
    for (name, count) in sum.iter() {
        if let Some(operation) = name.strip_prefix("cut at ") {
            println!("{count:>8}  with {operation}");
        }
    }
    println!(
        "{:>8}  between two operations",
        sum.of("cut between operations")
    );
    println!("and besides");
    for (name, count) in sum
        .iter()
        .filter(|(name, _)| !name.starts_with("cut ") && *name != "power cuts")
    {
        println!("{count:>8}  {name}");
    }
}

fn verdict(kept: bool) -> &'static str {
    if kept {
        "every promise kept"
    } else {
        "A PROMISE IS BROKEN"
    }
}
