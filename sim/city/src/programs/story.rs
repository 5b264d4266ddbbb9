//! One seed from beginning to end, and what came of it. A panic is an outcome too: it is some room's own assertion.

use crate::city::{City, Mischief};
use crate::counts::Counts;
use crate::transcript::LineSink;
use crate::violation::Violation;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Power cuts of one seed.
pub const CUTS_PER_SEED: u64 = 10;

/// How long life goes on at most until a power cut.
const PATIENCE: Duration = Duration::from_millis(120);

/// How long the city lives before all mischief ends.
pub const CITY_LIFE: Duration = Duration::from_secs(3);

/// What a seed goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Story {
    /// So many power cuts, one after the other.
    Cuts(u64),
    /// The same with every sync of this name left out.
    CutsWithout(u64, String),
    /// So many power cuts, and all names of syncs are counted.
    ListSyncs(u64),
    /// Everything that a network and a machine do to people.
    Life,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// How often what happened.
    pub counts: Counts,
    /// Messages and acks confirmed, as the checkers counted.
    pub confirmed: (u64, u64),
    /// A number that depends on every line of the transcript.
    pub sum: u64,
    /// Lines of the transcript.
    pub lines: u64,
    /// What went wrong.
    pub failure: Option<Failure>,
}

/// A broken promise, with what led to it.
#[derive(Debug)]
pub struct Failure {
    /// Which.
    pub violation: Violation,
    /// The last lines of the transcript.
    pub tail: String,
    /// What topics said of themselves then.
    pub figures: String,
}

/// Lets a seed go through a story.
#[must_use]
pub fn tell(seed: u64, shards: Option<usize>, story: &Story, sink: Option<LineSink>) -> Outcome {
    let mischief = match story {
        Story::Life => Mischief {
            broken_links: 6,
            kills: 1,
            stops: 1,
            power_cuts: 1,
        },
        _ => Mischief {
            broken_links: 2,
            ..Mischief::default()
        },
    };
    let mut city = City::new(seed, shards, mischief, sink);
    let ended = catch_unwind(AssertUnwindSafe(|| go_through(&mut city, story)));
    let violation = match ended {
        Ok(Ok(())) => None,
        Ok(Err(violation)) => Some(violation),
        Err(panic) => Some(Violation::new(
            "assertion in a room",
            text_of(panic.as_ref()),
        )),
    };
    let failure = violation.map(|violation| Failure {
        violation,
        tail: city.transcript().tail(),
        figures: catch_unwind(AssertUnwindSafe(|| city.figures())).unwrap_or_default(),
    });
    Outcome {
        seed,
        counts: city.counts(),
        confirmed: city.confirmed(),
        sum: city.transcript().sum(),
        lines: city.transcript().lines(),
        failure,
    }
}

fn go_through(city: &mut City, story: &Story) -> Result<(), Violation> {
    let cuts = match story {
        Story::Life => {
            city.run_for(CITY_LIFE)?;
            return city.calm_down();
        }
        Story::Cuts(cuts) => *cuts,
        Story::CutsWithout(cuts, name) => {
            city.skip_syncs(name.clone());
            *cuts
        }
        Story::ListSyncs(cuts) => {
            city.count_syncs();
            *cuts
        }
    };
    for _ in 0..cuts {
        city.live_until_power_cut(PATIENCE)?;
    }
    city.calm_down()
}

impl Outcome {
    /// For people: what is broken, what led to it, how to see it again.
    #[must_use]
    pub fn report(&self, again: &str) -> Option<String> {
        let failure = self.failure.as_ref()?;
        Some(format!(
            "{}\n\ntopics:\n{}\n\nseed {}: BROKEN PROMISE: {}\nsee it again: {again}",
            failure.tail, failure.figures, self.seed, failure.violation
        ))
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no text").to_owned()
}
