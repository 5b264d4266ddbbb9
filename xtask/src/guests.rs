//! The real clients. What they need is fetched from their registries once and kept under `target/guests`.

use crate::broker::Broker;
use crate::place::Place;
use crate::report::Report;
use crate::run::{Outcome, collected, is_there, must, once};
use crate::sims;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(600);
const JAVA_VERSION: &str = "4.0.13";

/// A client that can be run.
struct Guest {
    name: String,
    program: PathBuf,
    before: Vec<String>,
    script: Vec<String>,
    own: bool,
}

/// The guests visit one running broker side by side, then each plays what needs a broker of its own.
pub fn visit(place: &Place, only: &[String], report: &mut Report) -> Result<()> {
    sims::build(place)?;
    let mut ready = Vec::new();
    for name in ["python-new", "python-3.5.0", "java"] {
        if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
            continue;
        }
        match prepare(place, name) {
            Ok(mut guests) => ready.append(&mut guests),
            Err(why) => report.skip(&format!("guest {name}"), &format!("{why:#}")),
        }
    }
    let data = place.scratch("guests-data")?;
    let broker = Broker::start(&place.release("hulse"), &data)?;
    let keys = place.root.join("guests/keys");
    println!("\n== guests at {} and {}", broker.url, broker.http);
    let outcomes: Vec<(String, Result<Outcome>)> = std::thread::scope(|scope| {
        let mut running = Vec::new();
        for guest in &ready {
            let (place_arguments, keys) = match guest.own {
                true => (
                    vec!["--own".into(), place.release("hulse").into_os_string()],
                    &keys,
                ),
                false => (
                    vec![broker.url.clone().into(), broker.http.clone().into()],
                    &keys,
                ),
            };
            running.push(scope.spawn(move || {
                let mut command = Command::new(&guest.program);
                command
                    .args(&guest.before)
                    .args(&guest.script)
                    .args(place_arguments)
                    .arg(keys);
                (guest.name.clone(), collected(&mut command, LONG))
            }));
        }
        running
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    });
    for (name, outcome) in outcomes {
        judge(&name, outcome, report);
    }
    report.step("docs/status.md tells of this broker", || {
        // The topic that the routes are asked about.
        let mut produce = Command::new(place.release("hulse"));
        produce.args(["produce", "any", "-m", "hello", "--url", &broker.url]);
        must(&mut produce, Duration::from_secs(20))?;
        crate::status::holds(place, &broker.http)
    });
    report.step("the broker ends well after the guests", || broker.stop());
    Ok(())
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

fn prepare(place: &Place, name: &str) -> Result<Vec<Guest>> {
    let both = |program: PathBuf, before: Vec<String>, script: Vec<String>| {
        [false, true]
            .into_iter()
            .map(|own| Guest {
                name: if own {
                    format!("{name} (own broker)")
                } else {
                    name.to_owned()
                },
                program: program.clone(),
                before: before.clone(),
                script: script.clone(),
                own,
            })
            .collect()
    };
    if name == "java" {
        let classpath = java(place)?;
        return Ok(both(
            "java".into(),
            vec!["-cp".into(), classpath],
            vec!["Guest".into()],
        ));
    }
    let python = python(place, name)?;
    let script = place
        .root
        .join("guests/python/guest.py")
        .to_string_lossy()
        .into_owned();
    Ok(both(python, vec![], vec![script]))
}

/// The Python of a virtual environment with the client in it.
pub fn python(place: &Place, name: &str) -> Result<PathBuf> {
    let home = place.guests().join(name);
    std::fs::create_dir_all(&home)?;
    let python = home.join("venv/bin/python");
    once(&home.join("complete"), || {
        must(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(home.join("venv")),
            LONG,
        )
        .context("python3 with its venv module is needed for the Python client")?;
        let package = match name.strip_prefix("python-") {
            Some("new") | None => "pulsar-client".to_owned(),
            Some(version) => format!("pulsar-client=={version}"),
        };
        must(
            Command::new(&python).args(["-m", "pip", "install", "--quiet", &package]),
            LONG,
        )
        .with_context(|| format!("{package} could not be installed from the package index"))?;
        Ok(())
    })?;
    Ok(python)
}

/// The class path of the Java client and our scenarios.
fn java(place: &Place) -> Result<String> {
    for program in ["java", "javac", "mvn"] {
        anyhow::ensure!(
            is_there(program),
            "{program} is needed for the Java client and is not on the PATH"
        );
    }
    let home = place.guests().join(format!("java-{JAVA_VERSION}"));
    std::fs::create_dir_all(&home)?;
    let jars = home.join("lib");
    once(&home.join("complete"), || {
        std::fs::copy(place.root.join("guests/java/pom.xml"), home.join("pom.xml"))?;
        let mut maven = Command::new("mvn");
        maven
            .args(["-B", "-q", "dependency:copy-dependencies"])
            .current_dir(&home);
        must(
            maven.arg(format!("-DoutputDirectory={}", jars.display())),
            LONG,
        )
        .context("the Java client could not be fetched with Maven")?;
        Ok(())
    })?;
    let classes = home.join("classes");
    let mut compile = Command::new("javac");
    compile
        .arg("-cp")
        .arg(format!("{}/*", jars.display()))
        .arg("-d")
        .arg(&classes);
    must(
        compile.args(sources(&place.root.join("guests/java/src"))?),
        LONG,
    )?;
    Ok(format!("{}/*:{}", jars.display(), classes.display()))
}

fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}
