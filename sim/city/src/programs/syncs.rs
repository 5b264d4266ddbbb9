//! Each sync is needed: left out, on its own, it breaks a promise within some seeds.

use super::story::{CUTS_PER_SEED, Failure, Story, tell};
use crate::counts::Counts;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Seeds whose syncs are listed.
const LISTED_SEEDS: u64 = 30;

/// Threads; each takes the next sync.
const THREADS: usize = 2;

/// Syncs that keep no promise, and why they are there all the same.
const NOT_FOR_SAFETY: [(&str, &str); 1] = [(
    "sync_all log/segments/*.prep",
    "keeps the first commit into a segment from waiting for the whole file; the header's sync covers it again",
)];

/// Seeds for those.
const EXCUSED_SEEDS: u64 = 200;

/// How a sync was found to be needed.
struct Caught {
    seed: u64,
    failure: Failure,
}

/// Leaves out each sync, with up to so many seeds. Says whether each was missed.
#[must_use]
pub fn syncs(seeds: u64) -> bool {
    // Rooms' assertions are among the checks that catch; their words would drown the table.
    std::panic::set_hook(Box::new(|_| {}));
    let names = list();
    println!(
        "left out, the sync is missed by (city cuts --seed SEED --trace --without SYNC shows how)"
    );
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let (names, next, sender) = (&names, &next, sender.clone());
            scope.spawn(move || {
                while let Some((name, count)) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((name, *count, leave_out(name, seeds))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        receiver
            .into_iter()
            .fold(true, |all, (name, count, caught)| {
                print_row(name, count, caught, seeds) && all
            })
    })
}

fn list() -> Vec<(String, u64)> {
    let mut counts = Counts::default();
    for seed in 1..=LISTED_SEEDS {
        counts.add_all(&tell(seed, None, &Story::ListSyncs(CUTS_PER_SEED), None).counts);
    }
    let syncs = counts
        .iter()
        .filter_map(|(name, count)| Some((name.strip_prefix("sync: ")?.to_owned(), count)));
    syncs.collect()
}

fn leave_out(name: &str, seeds: u64) -> Option<Caught> {
    let excused = NOT_FOR_SAFETY.iter().any(|(other, _)| *other == name);
    let seeds = if excused {
        seeds.min(EXCUSED_SEEDS)
    } else {
        seeds
    };
    (1..=seeds).find_map(|seed| {
        let outcome = tell(
            seed,
            None,
            &Story::CutsWithout(CUTS_PER_SEED, name.to_owned()),
            None,
        );
        outcome.failure.map(|failure| Caught { seed, failure })
    })
}

/// Prints how the sync was missed; false if it should have been and was not.
fn print_row(name: &str, count: u64, caught: Option<Caught>, seeds: u64) -> bool {
    let excuse = NOT_FOR_SAFETY.iter().find(|(other, _)| *other == name);
    let (said, is_fine) = match (caught, excuse) {
        (Some(Caught { seed, failure }), None) => {
            let text: String = failure.violation.text.chars().take(90).collect();
            (
                format!("seed {seed}: {}: {text}", failure.violation.check),
                true,
            )
        }
        (Some(Caught { seed, failure }), Some(_)) => {
            let text = failure.violation.text;
            (
                format!("seed {seed}, though it is said to be not for safety: {text}"),
                false,
            )
        }
        (None, Some((_, why))) => (format!("nobody, as expected: {why}"), true),
        (None, None) => (
            format!("NOBODY in {seeds} seeds: superfluous, or the test is too weak"),
            false,
        ),
    };
    println!("  {name:<64} ({count} calls)  {said}");
    is_fine
}
