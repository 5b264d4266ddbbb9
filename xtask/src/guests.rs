//! The real clients. What they need is fetched from their registries once and kept under `target/guests`.

use crate::broker::Broker;
use crate::clients::{self, Played};
use crate::invited::{GUESTS, Guest, invite, java};
use crate::place::Place;
use crate::report::Report;
use crate::run::{LONG, Outcome, collected, must};
use crate::sims;
use anyhow::{Result, anyhow, ensure};
use std::process::Command;
use std::time::{Duration, Instant};

/// The guests visit one running broker side by side, then each plays what needs a broker of its own. When all came,
/// what they did must be what docs/clients.md says; with `write` it is written there.
pub fn visit(place: &Place, only: &[String], write: bool, report: &mut Report) -> Result<()> {
    for wanted in only {
        ensure!(
            GUESTS.contains(&wanted.as_str()),
            "there is no guest '{wanted}', but {}",
            GUESTS.join(", ")
        );
    }
    sims::build(place)?;
    let begun = Instant::now();
    let mut ready = Vec::new();
    let mut absent = Vec::new();
    for (name, invited) in invite_all(place, only) {
        match invited {
            Some(Ok(guest)) => ready.push(guest),
            Some(Err(why)) => {
                absent.push(name);
                report.skip(&format!("guest {name}"), &format!("{why:#}"));
            }
            None => absent.push(name),
        }
    }
    report.took("guests: fetched and built", begun);
    let data = place.scratch("guests-data")?;
    let broker = Broker::start(&place.release("hulse"), &data)?;
    println!("\n== guests at {} and {}", broker.url, broker.http);
    let mut played = Played::default();
    let common = [broker.url.clone(), broker.http.clone()];
    let binary = place.release("hulse").to_string_lossy().into_owned();
    for (where_to, what) in [
        (common, ""),
        (["--own".to_owned(), binary], " (own broker)"),
    ] {
        let begun = Instant::now();
        let outcomes = side_by_side(place, &ready, &where_to);
        report.took(&format!("guests{what}"), begun);
        for (name, outcome) in outcomes {
            if let Ok(outcome) = &outcome {
                played.take(name, &outcome.output);
            }
            judge(&format!("{name}{what}"), outcome, report);
        }
    }
    report.step("docs/status.md tells of this broker", || {
        // The topic that the routes are asked about.
        let mut produce = Command::new(place.release("hulse"));
        produce.args(["produce", "any", "-m", "hello", "--url", &broker.url]);
        must(&mut produce, Duration::from_secs(20))?;
        crate::status::holds(place, &broker.http)
    });
    report.step("the broker ends well after the guests", || broker.stop());
    match absent.as_slice() {
        [] => report.step("docs/clients.md is what the guests did", || {
            clients::page(place, &played, write)
        }),
        _ if only.is_empty() => report.skip(
            "docs/clients.md is what the guests did",
            &format!("these did not come: {}", absent.join(", ")),
        ),
        _ => {}
    }
    Ok(())
}

/// All at once, since some wait for their registry while others are built.
fn invite_all(place: &Place, only: &[String]) -> Vec<(&'static str, Option<Result<Guest>>)> {
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
    std::thread::scope(|scope| {
        let coming = GUESTS.map(|name| {
            (
                name,
                is_wanted(name).then(|| scope.spawn(move || invite(place, name))),
            )
        });
        let came = coming.map(|(name, thread)| {
            let broken = |_| Err(anyhow!("its preparation broke off"));
            (
                name,
                thread.map(|thread| thread.join().unwrap_or_else(broken)),
            )
        });
        came.into()
    })
}

fn side_by_side(
    place: &Place,
    ready: &[Guest],
    where_to: &[String; 2],
) -> Vec<(&'static str, Result<Outcome>)> {
    let keys = place.root.join("guests/keys");
    std::thread::scope(|scope| {
        let running: Vec<_> = ready
            .iter()
            .map(|guest| {
                let mut command = Command::new(&guest.program);
                command.args(&guest.before).args(where_to).arg(&keys);
                scope.spawn(move || (guest.name, collected(&mut command, LONG)))
            })
            .collect();
        running
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    })
}

/// Kills under load.
pub fn kills(place: &Place, count: u32, seed: u64, report: &mut Report) -> Result<()> {
    sims::build(place)?;
    let classpath = match java(place) {
        Ok(classpath) => classpath,
        Err(why) => {
            report.skip("kills", &format!("{why:#}"));
            return Ok(());
        }
    };
    println!("\n== {count} kills under load");
    let mut command = Command::new("java");
    command
        .args(["-cp", &classpath, "Kills"])
        .arg(place.release("hulse"))
        .arg(place.root.join("guests/keys"));
    command.args([count.to_string(), seed.to_string()]);
    let outcome = collected(&mut command, Duration::from_secs(60 + u64::from(count) * 3));
    if let Ok(outcome) = &outcome {
        print!("{}", outcome.output);
    }
    judge("java", outcome, report);
    Ok(())
}

fn judge(name: &str, outcome: Result<Outcome>, report: &mut Report) {
    match outcome {
        Ok(outcome) => {
            report.take_lines(name, &outcome.output);
            let told = outcome.output.contains("FAILED ");
            if !outcome.success && !told {
                report.fail(
                    name,
                    &format!("it ended badly:\n{}\n{}", outcome.output, outcome.errors),
                );
            } else if told {
                println!("{}", outcome.errors);
            } else if !outcome.output.contains("ok ") {
                report.fail(name, "it played no scenario");
            }
        }
        Err(problem) => report.fail(name, &format!("{problem:#}")),
    }
}
