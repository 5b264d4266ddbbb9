//! The one binary: reads the configuration, opens doors; or visits a broker from the terminal.

mod config;
mod exit;
mod standalone;

use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// A message broker that speaks Apache Pulsar's protocol, in one program.
#[derive(Parser)]
#[command(name = "hulse", version, about, max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run broker, storage and metadata in this process
    Standalone(StandaloneArguments),
}

/// What `hulse standalone` takes.
#[derive(Args)]
pub struct StandaloneArguments {
    /// Where everything that lasts is kept [default: data]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A configuration file with Pulsar's keys, such as its standalone.conf
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting, over what the file says; may be given more than once
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

fn main() -> ExitCode {
    start_log();
    match CommandLine::parse().command {
        None => {
            // A closed terminal is no reason to complain.
            let _ = CommandLine::command().print_help();
            ExitCode::SUCCESS
        }
        Some(Command::Standalone(arguments)) => standalone::run(&arguments),
    }
}

/// The log goes to stderr; `RUST_LOG` says how much of it.
fn start_log() {
    use std::io::IsTerminal;
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
