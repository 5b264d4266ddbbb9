//! Everything, in the order in which failures are cheapest to learn of.

use crate::place::Place;
use crate::report::Report;
use crate::run::cargo_shown;
use crate::{check, guests, oracle, readme, sims, strace};
use anyhow::Result;

/// Power cuts in a run on CI.
const CUTS: u64 = 20_000;
/// Seeds of the city in a run on CI.
const SEEDS: u64 = 200;
/// Kills under load in a run on CI.
const KILLS: u32 = 200;

/// Runs it all.
pub fn all(place: &Place, report: &mut Report) -> Result<()> {
    check::all(place, report);
    report.step("cargo test", || {
        cargo_shown(
            place,
            &["test", "--locked", "--workspace", "--no-fail-fast"],
            &[],
        )
    });
    sims::cuts(place, CUTS, report)?;
    sims::city(place, SEEDS, None, report)?;
    strace::receipts_after_syncs(place, report)?;
    guests::visit(place, &[], false, report)?;
    oracle::ask(place, None, false, report)?;
    guests::kills(place, KILLS, 1, report)?;
    readme::tour(place, report)
}
