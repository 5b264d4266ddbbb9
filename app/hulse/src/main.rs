//! The one binary: reads the configuration, opens doors; or visits a broker from the terminal.

mod config;
mod configuration;
mod exit;
mod standalone;

mod consume;
mod link;
mod produce;
mod record;
mod show;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
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
    Standalone(ConfigurationArguments),
    /// Show every setting: its value, where it comes from, its default, and whether it acts
    Config(ConfigArguments),
    /// Send messages to a topic: those given with -m, or the lines of stdin
    Produce(ProduceArguments),
    /// Show the messages of a subscription, a line each, and acknowledge them
    Consume(ConsumeArguments),
    /// Stand between clients and a broker, and write down what they say
    Record(RecordArguments),
}

/// What `hulse standalone` takes.
#[derive(Args)]
pub struct ConfigurationArguments {
    /// Where everything that lasts is kept [default: data]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// A configuration file with Pulsar's keys, such as its standalone.conf
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting, over what the file and the environment (`PULSAR_PREFIX_KEY`) say; may be given more than once
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

/// What `hulse config` takes.
#[derive(Args)]
pub struct ConfigArguments {
    #[command(flatten)]
    configuration: ConfigurationArguments,
    /// Show every key of Pulsar's, not only those that act or were given
    #[arg(long, conflicts_with = "changed")]
    all: bool,
    /// Show only what differs from its default
    #[arg(long)]
    changed: bool,
    /// Show it as JSON
    #[arg(long)]
    json: bool,
}

/// What `hulse produce` takes.
#[derive(Args)]
pub struct ProduceArguments {
    /// The topic: a short name, or persistent://tenant/namespace/topic
    topic: String,
    /// A message; may be given more than once
    #[arg(short, long = "message", value_name = "TEXT")]
    messages: Vec<String>,
    /// How often to send what -m says
    #[arg(short = 'n', long = "times", value_name = "N", default_value_t = 1)]
    times: u64,
    /// The partition key of all messages
    #[arg(short, long, value_name = "KEY")]
    key: Option<String>,
    /// Where the broker is
    #[arg(long, value_name = "URL", default_value = DEFAULT_URL)]
    url: String,
}

/// What `hulse consume` takes.
#[derive(Args)]
pub struct ConsumeArguments {
    /// The topic: a short name, or persistent://tenant/namespace/topic
    topic: String,
    /// The subscription; made if it is not there
    #[arg(short, long, value_name = "NAME")]
    subscription: String,
    /// How its messages are shared out among consumers
    #[arg(short = 't', long = "type", value_enum, default_value_t = SubscriptionKind::Exclusive)]
    kind: SubscriptionKind,
    /// Stop after so many messages [default: never]
    #[arg(short = 'n', long = "messages", value_name = "N")]
    messages: Option<u64>,
    /// Where a new subscription begins
    #[arg(short, long, value_enum, default_value_t = Position::Latest)]
    position: Position,
    /// Show place, key and properties before each message
    #[arg(short, long)]
    long: bool,
    /// Where the broker is
    #[arg(long, value_name = "URL", default_value = DEFAULT_URL)]
    url: String,
}

/// What `hulse record` takes.
#[derive(Args)]
pub struct RecordArguments {
    /// Where clients connect to instead of the broker
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:6660")]
    listen: String,
    /// Where the broker is
    #[arg(long, value_name = "URL", default_value = DEFAULT_URL)]
    to: String,
    /// Where to write; must not be there yet [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// How messages are shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SubscriptionKind {
    /// To one consumer; there can be no other
    Exclusive,
    /// Each to one of many
    Shared,
    /// To one of many, while it is there
    Failover,
}

/// Where a new subscription begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Position {
    /// At the first message still there
    Earliest,
    /// After the last message
    Latest,
}

const DEFAULT_URL: &str = "pulsar://localhost:6650";

fn main() -> ExitCode {
    start_log();
    match CommandLine::parse().command {
        None => {
            // A closed terminal is no reason to complain.
            let _ = CommandLine::command().print_help();
            ExitCode::SUCCESS
        }
        Some(Command::Standalone(arguments)) => standalone::run(&arguments),
        Some(Command::Config(arguments)) => configuration::run(&arguments),
        Some(Command::Produce(arguments)) => produce::run(&arguments),
        Some(Command::Consume(arguments)) => consume::run(&arguments),
        Some(Command::Record(arguments)) => record::run(&arguments),
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
