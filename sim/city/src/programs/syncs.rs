//! Each sync is needed: left out, on its own, it breaks a promise within some seeds.

use super::story::{CUTS_PER_SEED, Failure, Story, tell};
use crate::counts::Counts;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Seeds whose syncs are listed.
const LISTED_SEEDS: u64 = 30;

/// Threads; each takes the next sync.
const THREADS: usize = 2;

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
    let results: Mutex<Vec<Option<Option<Caught>>>> =
        Mutex::new(names.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((at, (name, _))) = Some(next.fetch_add(1, Ordering::Relaxed))
                    .and_then(|at| Some((at, names.get(at)?)))
                {
                    let caught = leave_out(name, seeds);
                    if let Ok(mut results) = results.lock() {
                        results[at] = Some(caught);
                    }
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_default();
    print_table(&names, results.into_iter().map(Option::flatten), seeds)
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

fn print_table(
    names: &[(String, u64)],
    caught: impl Iterator<Item = Option<Caught>>,
    seeds: u64,
) -> bool {
    let mut all = true;
    println!("left out, the sync is missed by");
    for ((name, count), caught) in names.iter().zip(caught) {
        match caught {
            Some(Caught { seed, failure }) => {
                let text: String = failure.violation.text.chars().take(90).collect();
                println!(
                    "  {name:<70} ({count} calls)  seed {seed}: {}: {text}",
                    failure.violation.check
                );
            }
            None => {
                all = false;
                println!(
                    "  {name:<70} ({count} calls)  NOBODY in {seeds} seeds: superfluous, or the test is too weak"
                );
            }
        }
    }
    all
}
