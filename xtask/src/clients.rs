//! docs/clients.md: which client was seen to do what, made from the lines the guests print.

use crate::invited::{GUESTS, JAVA_VERSION};
use crate::place::Place;
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

#[cfg(test)]
mod clients_tests;

/// What the page promises of every client, and the scenario that shows it. A client without a line for one of them
/// is an error: it either plays the scenario or says what it lacks.
const ROWS: [(&str, &str); 21] = [
    ("Exclusive subscriptions", "exclusive"),
    ("Shared subscriptions", "shared"),
    ("Failover subscriptions", "failover"),
    ("Access modes of producers", "access_modes"),
    ("Readers", "readers"),
    ("Seek by id and by time", "seek"),
    ("Seek to a message in chunks", "seek_chunks"),
    ("Partitions, routing by key", "partitions_by_key"),
    ("Topics by pattern", "pattern"),
    ("Cumulative acknowledgement", "cumulative"),
    ("Acknowledgement within a batch", "batches_and_partial_acks"),
    ("Dead-letter topic of the client", "dead_letters"),
    ("Retry topic of the client", "retry_topic"),
    ("Receiver queue of zero", "zero_queue"),
    ("Last message id", "last_message_id"),
    ("Chunks of large messages", "chunks"),
    ("Encryption", "encryption"),
    ("Schemas", "schemas"),
    ("1 000 producers on one connection", "thousand_producers"),
    ("Restart of the broker under load", "kill_with_resend"),
    ("Non-persistent topics", "non_persistent"),
];

/// What the guests said, by guest and scenario.
#[derive(Default)]
pub struct Played(BTreeMap<(&'static str, String), Said>);

enum Said {
    Ok,
    Lacks(String),
    Failed,
}

impl Played {
    /// Keeps the lines of one guest.
    pub fn take(&mut self, guest: &'static str, output: &str) {
        for line in output.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (name, why) = rest.split_once(": ").unwrap_or((rest, ""));
            let said = match word {
                "ok" => Said::Ok,
                "gap" => Said::Lacks(why.to_owned()),
                "FAILED" => Said::Failed,
                _ => continue,
            };
            self.0.insert((guest, name.to_owned()), said);
        }
    }

    fn of(&self, guest: &'static str, scenario: &str) -> Option<&Said> {
        self.0.get(&(guest, scenario.to_owned()))
    }
}

/// Compares the page with what was played, or writes it.
pub fn page(place: &Place, played: &Played, write: bool) -> Result<()> {
    let titles = GUESTS.map(|guest| Ok((guest, title(place, guest)?)));
    let titles: Vec<(&str, String)> = titles.into_iter().collect::<Result<_>>()?;
    let made = text(&titles, played)?;
    let path = place.root.join("docs/clients.md");
    if write {
        return std::fs::write(&path, made)
            .with_context(|| format!("{} cannot be written", path.display()));
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    if kept != made {
        bail!("it says something else; 'cargo xtask guests --write' writes what they did:\n{made}");
    }
    Ok(())
}

fn text(titles: &[(&'static str, String)], played: &Played) -> Result<String> {
    let mut out = String::from(
        "# Clients\n\n\
         What unmodified clients were seen to do with Hulse. `cargo xtask guests --write` makes this page by letting \
         each play\nevery scenario in `guests/`; every test run plays them again and compares. A gap is something \
         that the client itself\nlacks, with Apache Pulsar too.\n\n| |",
    );
    for (_, title) in titles {
        write!(out, " {title} |")?;
    }
    out.push_str("\n| --- |");
    out.push_str(&" --- |".repeat(titles.len()));
    out.push('\n');
    let mut notes: Vec<String> = Vec::new();
    for (what, scenario) in ROWS {
        write!(out, "| {what} |")?;
        for (guest, _) in titles {
            let cell = match played.of(guest, scenario) {
                Some(Said::Ok) => "yes".to_owned(),
                Some(Said::Failed) => "**fails**".to_owned(),
                Some(Said::Lacks(why)) => {
                    let note = notes.iter().position(|known| known == why);
                    let note = note.unwrap_or_else(|| {
                        notes.push(why.clone());
                        notes.len() - 1
                    });
                    format!("gap ({})", note + 1)
                }
                None => bail!("{guest} neither plays '{scenario}' nor says what it lacks"),
            };
            write!(out, " {cell} |")?;
        }
        out.push('\n');
    }
    out.push_str("\n## Gaps\n\n");
    for (at, note) in notes.iter().enumerate() {
        writeln!(out, "{}. {note}", at + 1)?;
    }
    out.push_str("\n## Also played\n\n");
    for (guest, title) in titles {
        let others: BTreeSet<&str> = played
            .0
            .iter()
            .filter(|((who, _), said)| who == guest && matches!(said, Said::Ok))
            .map(|((_, name), _)| name.as_str())
            .filter(|name| !ROWS.iter().any(|(_, row)| row == name))
            .collect();
        let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        writeln!(out, "- {title}: {}", others.join(", "))?;
    }
    Ok(out)
}

/// How a guest is called in the page. The newest Python client bears no version: the page must not change with it.
fn title(place: &Place, guest: &str) -> Result<String> {
    let version = |file: &str, before: &str| -> Result<String> {
        let path = place.root.join(file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let rest = text.split(before).nth(1).unwrap_or_default();
        let version: String = rest
            .chars()
            .take_while(|letter| letter.is_ascii_digit() || *letter == '.')
            .collect();
        ensure!(!version.is_empty(), "{file} names no version of its client");
        Ok(version)
    };
    Ok(match guest {
        "java" => format!("Java {JAVA_VERSION}"),
        "go" => {
            let file = "guests/go/go.mod";
            format!("Go {}", version(file, "pulsar-client-go v")?)
        }
        "rust" => {
            let file = "guests/rust/Cargo.lock";
            format!("Rust {}", version(file, "name = \"pulsar\"\nversion = \"")?)
        }
        "node" => {
            let (file, before) = (
                "guests/node/package-lock.json",
                "\"node_modules/pulsar-flex\": {\n      \"version\": \"",
            );
            format!("Node pulsar-flex {}", version(file, before)?)
        }
        "python-new" => "Python, newest".to_owned(),
        _ => guest.replace("python-", "Python "),
    })
}
