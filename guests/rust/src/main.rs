//! The Rust client `pulsar`, unmodified, as a guest of a running broker.
//!
//! ```text
//! guest PULSAR_URL HTTP_URL KEYS_DIR [scenario ...]   against a broker that somebody else runs
//! guest --own HULSE_BINARY KEYS_DIR [scenario ...]    starts its own, where the scenario needs to kill it
//! ```
//!
//! Prints a line per scenario, `ok NAME`, `gap NAME: what the client lacks` or `FAILED NAME: why`, and ends with 1 if
//! any failed.

mod acks;
mod asking;
mod place;
mod positions;
mod producers;
mod subscriptions;

use place::Place;
use std::process::ExitCode;

/// What went wrong.
type Problem = Box<dyn std::error::Error + Send + Sync>;
/// What every scenario gives back.
type Outcome = Result<(), Problem>;

/// Scenarios against one broker.
const VISITS: [&str; 20] = [
    "exclusive",
    "shared",
    "failover",
    "access_modes",
    "wait_for_exclusive",
    "readers",
    "seek",
    "partitions_by_key",
    "pattern",
    "cumulative",
    "batches",
    "negative_ack",
    "dead_letters",
    "last_message_id",
    "compressions",
    "schemas",
    "unsubscribe",
    "names_and_properties",
    "thousand_producers",
    "non_persistent",
];

/// Scenarios with a broker of their own.
const OWN_VISITS: [&str; 1] = ["kill_with_resend"];

/// What the client lacks, by the scenario that it cannot play.
const GAPS: [(&str, &str); 6] = [
    (
        "batches_and_partial_acks",
        "the Rust client acknowledges a batch only as a whole",
    ),
    ("retry_topic", "the Rust client has no retry topics"),
    (
        "zero_queue",
        "the Rust client takes a receiver queue of 0 for one of 1000",
    ),
    (
        "chunks",
        "the Rust client neither cuts messages into chunks nor puts them together",
    ),
    (
        "seek_chunks",
        "the Rust client neither cuts messages into chunks nor puts them together",
    ),
    ("encryption", "the Rust client does not encrypt"),
];

async fn play(name: &str, place: &mut Place) -> Outcome {
    match name {
        "exclusive" => subscriptions::exclusive(place).await,
        "shared" => subscriptions::shared(place).await,
        "failover" => subscriptions::failover(place).await,
        "partitions_by_key" => subscriptions::partitions_by_key(place).await,
        "pattern" => subscriptions::pattern(place).await,
        "unsubscribe" => subscriptions::unsubscribe(place).await,
        "non_persistent" => subscriptions::non_persistent(place).await,
        "cumulative" => acks::cumulative(place).await,
        "batches" => acks::batches(place).await,
        "negative_ack" => acks::negative_ack(place).await,
        "dead_letters" => acks::dead_letters(place).await,
        "readers" => positions::readers(place).await,
        "seek" => positions::seek(place).await,
        "last_message_id" => positions::last_message_id(place).await,
        "access_modes" => producers::access_modes(place).await,
        "wait_for_exclusive" => producers::wait_for_exclusive(place).await,
        "compressions" => producers::compressions(place).await,
        "schemas" => producers::schemas(place).await,
        "names_and_properties" => producers::names_and_properties(place).await,
        "thousand_producers" => producers::thousand_producers(place).await,
        "kill_with_resend" => producers::kill_with_resend(place).await,
        other => Err(format!("there is no scenario {other}").into()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, http, _keys, wanted @ ..] = arguments.as_slice() else {
        eprintln!(
            "usage: guest PULSAR_URL HTTP_URL KEYS_DIR [scenario ...] | guest --own HULSE_BINARY KEYS_DIR [scenario ...]"
        );
        return ExitCode::from(2);
    };
    let own = url == "--own";
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    let mut code = ExitCode::SUCCESS;
    let visits = if own { &OWN_VISITS[..] } else { &VISITS[..] };
    for name in visits.iter().filter(|name| is_wanted(name)) {
        let outcome = async {
            let mut place = match own {
                true => Place::own(http).await?,
                false => Place::of(url, http),
            };
            play(name, &mut place).await
        };
        match outcome.await {
            Ok(()) => println!("ok {name}"),
            Err(problem) => {
                println!("FAILED {name}: {}", problem.to_string().replace('\n', " "));
                code = ExitCode::FAILURE;
            }
        }
    }
    for (name, why) in GAPS.iter().filter(|(name, _)| !own && is_wanted(name)) {
        println!("gap {name}: {why}");
    }
    code
}
