//! `city`: power cuts, syncs left out, and the life of a city, from seeds.

use city::programs::arguments::{self, Command};
use city::programs::{cuts, cuts_of_one, run, run_one, syncs};
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = match arguments::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(why) => {
            eprintln!("{why}\n{}", arguments::USAGE);
            return ExitCode::from(2);
        }
    };
    let kept = match command {
        Command::Cuts { count } => cuts(count),
        Command::CutsOfOne {
            seed,
            trace,
            without,
        } => cuts_of_one(seed, trace, without),
        Command::Syncs { seeds } => syncs(seeds),
        Command::Run { seeds } => run(seeds),
        Command::RunOne { seed, trace } => run_one(seed, trace),
    };
    if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
