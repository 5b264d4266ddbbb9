//! The oracle: a real Apache Pulsar 4.0.8 and Hulse are asked the same calls. Pulsar must say what the table says it said,
//! Hulse too, except where `docs/differences.md` gives a reason.
//!
//! The kit in `oracle/` fetches Pulsar's jars with Maven once. It is a reference: nothing of it is in the product.

use crate::broker::Broker;
use crate::place::Place;
use crate::report::Report;
use crate::run::{is_there, must};
use crate::sims;
use answers::conversation::{self, Conversation};
use answers::{Answered, Asker, Differences, Mismatch, Row, Table, mismatches, normal};
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where the calls are, with what Pulsar answers.
const TABLE: &str = "app/hulse/tests/data/admin-of-pulsar-4.0.8.tsv";

/// Where the conversations are, with what Pulsar answers.
const CONVERSATIONS: &str = "conversations/oracle/pulsar-4.0.8.txt";

/// Where the differences are.
const DIFFERENCES: &str = "docs/differences.md";

/// The jars of Pulsar are some 330 MB.
const LONG: Duration = Duration::from_secs(900);

/// For a tool of ours.
const SHORT: Duration = Duration::from_secs(60);

/// Asks both. `write`: instead of being compared, Pulsar's answers are written into the table.
pub fn ask(place: &Place, hulse: Option<PathBuf>, write: bool, report: &mut Report) -> Result<()> {
    for program in ["java", "mvn", "curl", "bc"] {
        if !is_there(program) {
            let why = format!("{program} is needed to run Apache Pulsar and is not on the PATH");
            report.skip("oracle", &why);
            return Ok(());
        }
    }
    let tool = match hulse {
        Some(program) => program,
        None => {
            sims::build(place)?;
            place.release("hulse")
        }
    };
    report.step("oracle: Apache Pulsar and Hulse answer alike", || {
        let pulsar = Pulsar::start(place)?;
        let data = place.scratch("oracle-hulse")?;
        let hulse = Broker::start(&tool, &data)?;
        let table = place.root.join(TABLE);
        let text = std::fs::read_to_string(&table)?;
        let mut rows = Table::parse(&text).map_err(|why| anyhow!("{TABLE}: {why}"))?;
        let visit = Visit {
            tool,
            urls: [pulsar.url.clone(), hulse.url.clone()],
            webs: [pulsar.web.clone(), web_of(&hulse.http)],
        };
        let said = place.root.join(CONVERSATIONS);
        let mut talks = conversation::parse(&std::fs::read_to_string(&said)?)
            .map_err(|why| anyhow!("{CONVERSATIONS}: {why}"))?;
        if write {
            visit.write(&mut rows)?;
            std::fs::write(&table, rows.to_text())?;
            for talk in &mut talks {
                talk.write_down(&visit.binary(0))?;
            }
            std::fs::write(&said, conversation::to_text(&talks))?;
            println!("{TABLE} and {CONVERSATIONS} are Pulsar's answers now");
            return Ok(());
        }
        let page = std::fs::read_to_string(place.root.join(DIFFERENCES))?;
        let differences =
            Differences::parse(&page).map_err(|why| anyhow!("{DIFFERENCES}: {why}"))?;
        let calls = visit.compare(&rows, &differences.clone().of_calls())?;
        let talks = visit.talk(&talks, &differences.of_conversations())?;
        let problems: Vec<String> = calls.into_iter().chain(talks).collect();
        ensure!(
            problems.is_empty(),
            "{} fields are not as they should be (mend them, or give the reason in {DIFFERENCES}):\n{}",
            problems.len(),
            problems.join("\n")
        );
        Ok(())
    });
    Ok(())
}

fn web_of(url: &str) -> String {
    url.trim_start_matches("http://").to_owned()
}

/// Two brokers that are asked side by side: Pulsar, then Hulse.
struct Visit {
    tool: PathBuf,
    urls: [String; 2],
    webs: [String; 2],
}

impl Visit {
    fn compare(&self, table: &Table, differences: &Differences) -> Result<Vec<String>> {
        let mut met = BTreeSet::new();
        let mut problems = Vec::new();
        let mut askers = [Asker::new(&self.webs[0]), Asker::new(&self.webs[1])];
        let mut count = 0;
        for (number, row) in table.rows.iter().enumerate() {
            if row.is_send() {
                self.send(row, &self.urls)?;
                continue;
            }
            count += 1;
            let [pulsar, hulse] = &mut askers;
            let found = against(row, &ask_one(pulsar, row)?);
            let line = number + 2;
            for one in found {
                problems.push(format!("line {line}: Pulsar itself: {}", told(row, &one)));
            }
            let found = against(row, &ask_one(hulse, row)?);
            for one in differences.unexplained(&row.name(), found, &mut met) {
                problems.push(format!("line {line}: {}", told(row, &one)));
            }
        }
        for difference in differences.stale(&met) {
            problems.push(format!(
                "{DIFFERENCES} lists a difference that is none any more: {} {}",
                difference.call, difference.field
            ));
        }
        println!(
            "{count} calls asked of both; {} differences have a reason",
            differences.all.len()
        );
        Ok(problems)
    }

    /// Has the conversations with both.
    fn talk(&self, talks: &[Conversation], differences: &Differences) -> Result<Vec<String>> {
        let mut met = BTreeSet::new();
        let mut problems = Vec::new();
        let mut count = 0;
        for talk in talks {
            for (name, found) in talk.compare(&self.binary(0))? {
                problems.extend(found.iter().map(|one| step(&name, "Pulsar itself: ", one)));
            }
            for (name, found) in talk.compare(&self.binary(1))? {
                count += 1;
                let left = differences.unexplained(&name, found, &mut met);
                problems.extend(left.iter().map(|one| step(&name, "", one)));
            }
        }
        for difference in differences.stale(&met) {
            problems.push(format!(
                "{DIFFERENCES} lists a difference that is none any more: {} {}",
                difference.call, difference.field
            ));
        }
        println!(
            "{count} commands said to both in {} conversations",
            talks.len()
        );
        Ok(problems)
    }

    /// Where one of both listens.
    fn binary(&self, which: usize) -> String {
        let url = self.urls.get(which).map_or("", String::as_str);
        url.trim_start_matches("pulsar://").to_owned()
    }

    /// Takes Pulsar's answers into the table.
    fn write(&self, table: &mut Table) -> Result<()> {
        let mut pulsar = Asker::new(&self.webs[0]);
        for row in &mut table.rows {
            if row.is_send() {
                self.send(row, &self.urls[..1])?;
                continue;
            }
            let said = ask_one(&mut pulsar, row)?;
            row.status = said.status;
            row.answer = normal(&said.body);
        }
        Ok(())
    }

    /// Publishes with our own tool, which speaks to both.
    fn send(&self, row: &Row, urls: &[String]) -> Result<()> {
        for url in urls {
            let mut command = Command::new(&self.tool);
            command.args(["produce", &row.path, "--url", url]);
            for message in row.messages() {
                command.args(["-m", message]);
            }
            must(&mut command, SHORT)?;
        }
        Ok(())
    }
}

fn ask_one(asker: &mut Asker, row: &Row) -> Result<Answered> {
    asker
        .ask(row)
        .with_context(|| format!("{} was not answered", row.name()))
}

fn against(row: &Row, said: &Answered) -> Vec<Mismatch> {
    mismatches((row.status, &row.answer), (said.status, &said.body))
}

fn step(name: &str, who: &str, one: &Mismatch) -> String {
    format!(
        "{who}{name}: {} is {}, not {}",
        one.field, one.found, one.expected
    )
}

fn told(row: &Row, one: &Mismatch) -> String {
    format!(
        "{} {}: {} is {}, not {}",
        row.name(),
        row.body,
        one.field,
        one.found,
        one.expected
    )
}

/// A Pulsar for the time of a comparison; stopped when dropped.
struct Pulsar {
    kit: PathBuf,
    directory: PathBuf,
    url: String,
    web: String,
}

impl Pulsar {
    fn start(place: &Place) -> Result<Pulsar> {
        let [binary, web] = [free_port()?, free_port()?];
        let pulsar = Pulsar {
            kit: place.root.join("oracle/pulsar"),
            directory: place.scratch("oracle-pulsar")?,
            url: format!("pulsar://127.0.0.1:{binary}"),
            web: format!("127.0.0.1:{web}"),
        };
        let ports = [
            format!("brokerServicePort={binary}"),
            format!("webServicePort={web}"),
        ];
        let mut command = kit(&pulsar.kit, "start", &pulsar.directory);
        let said = must(command.args(ports), LONG).context("Apache Pulsar did not start")?;
        println!("Apache Pulsar 4.0.8: {}", said.trim());
        Ok(pulsar)
    }
}

impl Drop for Pulsar {
    fn drop(&mut self) {
        // It has nothing that is worth a gentle end.
        let mut command = kit(&self.kit, "kill", &self.directory);
        if let Err(problem) = must(&mut command, SHORT) {
            eprintln!(
                "Apache Pulsar in {} did not end: {problem:#}",
                self.directory.display()
            );
        }
    }
}

fn kit(kit: &Path, task: &str, directory: &Path) -> Command {
    let mut command = Command::new(kit);
    command.arg(task).arg(directory);
    command
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    Ok(listener.local_addr()?.port())
}
