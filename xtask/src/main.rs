//! The one way in: `cargo xtask check`, `test`, `guests`, `oracle`, `kills`, `cuts`, `sim`, `strace`, `readme`.
//!
//! `cargo xtask test` runs everything, says plainly what it skipped and why, and ends with a line
//! `N passed, N failed, N skipped`. With `CI=true` a skip is a failure.

mod broker;
mod check;
mod clients;
mod configuration;
mod guests;
mod invited;
mod oracle;
mod place;
mod readme;
mod report;
mod run;
mod sims;
mod status;
mod strace;
mod tests;

use anyhow::Result;
use clap::{Parser, Subcommand};
use place::Place;
use report::Report;
use std::process::ExitCode;

/// Checks, tests and simulations of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Formatting, lints, documentation.
    Check,
    /// Everything: check, all Rust tests, power cuts, the city, the guests, the kills, the README.
    Test,
    /// The real clients against a running broker.
    Guests {
        /// Only these: python-new, python-3.5.0, java, go, rust, node.
        #[arg(long)]
        only: Vec<String>,
        /// Writes docs/clients.md from what they did.
        #[arg(long, conflicts_with = "only")]
        write: bool,
    },
    /// The same calls to a real Apache Pulsar and to Hulse, their answers compared.
    Oracle {
        /// Writes Pulsar's answers into the table of calls instead.
        #[arg(long)]
        write: bool,
        /// This program instead of a release build.
        #[arg(long)]
        hulse: Option<std::path::PathBuf>,
    },
    /// Kills the broker again and again under the load of the Java client.
    Kills {
        /// How often.
        #[arg(long, default_value_t = 200)]
        count: u32,
        /// Decides the moments of the kills.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Cuts the power of a simulated machine again and again.
    Cuts {
        /// How often.
        #[arg(long, default_value_t = 20_000)]
        count: u64,
    },
    /// A broker and its clients in one thread, from seeds.
    Sim {
        /// How many seeds.
        #[arg(long, default_value_t = 200)]
        seeds: u64,
        /// Just this one, with its trace.
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Shows with strace that each receipt leaves after the sync that covers it.
    Strace,
    /// Runs every block of the README's tour.
    Readme,
    /// Makes docs/status.md and docs/configuration.md from their tables.
    Status,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(report) => report.close(),
        Err(problem) => {
            eprintln!("xtask: {problem:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<Report> {
    let place = Place::find()?;
    let mut report = Report::default();
    match arguments.task {
        Task::Check => check::all(&place, &mut report),
        Task::Test => tests::all(&place, &mut report)?,
        Task::Guests { only, write } => guests::visit(&place, &only, write, &mut report)?,
        Task::Oracle { write, hulse } => oracle::ask(&place, hulse, write, &mut report)?,
        Task::Kills { count, seed } => guests::kills(&place, count, seed, &mut report)?,
        Task::Cuts { count } => sims::cuts(&place, count, &mut report)?,
        Task::Sim { seeds, seed } => sims::city(&place, seeds, seed, &mut report)?,
        Task::Strace => strace::receipts_after_syncs(&place, &mut report)?,
        Task::Readme => readme::tour(&place, &mut report)?,
        Task::Status => status::write(&place, &mut report)?,
    }
    Ok(report)
}
