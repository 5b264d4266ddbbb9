//! Power cuts and the city, from the release build.

use crate::place::Place;
use crate::report::Report;
use crate::run::cargo_shown;
use anyhow::{Result, bail};
use std::process::Command;

/// Builds the simulator and the broker.
pub fn build(place: &Place) -> Result<()> {
    cargo_shown(
        place,
        &[
            "build",
            "--locked",
            "--release",
            "--package",
            "hulse",
            "--package",
            "city",
        ],
        &[],
    )
}

/// Cuts the power `count` times, and shows that each sync is needed.
pub fn cuts(place: &Place, count: u64, report: &mut Report) -> Result<()> {
    build(place)?;
    let count = count.to_string();
    report.step(&format!("{count} power cuts"), || {
        city_program(place, &["cuts", "--count", &count])
    });
    report.step("each sync is needed", || city_program(place, &["syncs"]));
    Ok(())
}

/// Runs the city from `seeds` seeds, or one.
pub fn city(place: &Place, seeds: u64, seed: Option<u64>, report: &mut Report) -> Result<()> {
    build(place)?;
    match seed {
        Some(seed) => {
            let seed = seed.to_string();
            report.step(&format!("city, seed {seed}"), || {
                city_program(place, &["run", "--seed", &seed])
            });
        }
        None => {
            let seeds = seeds.to_string();
            report.step(&format!("city, {seeds} seeds"), || {
                city_program(place, &["run", "--seeds", &seeds])
            });
        }
    }
    Ok(())
}

fn city_program(place: &Place, arguments: &[&str]) -> Result<()> {
    let status = Command::new(place.release("city"))
        .args(arguments)
        .status()?;
    if !status.success() {
        bail!("city {} ended with {status}", arguments.join(" "));
    }
    Ok(())
}
