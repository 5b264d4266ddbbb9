//! Runs every block of the README's tour, as a reader would.
//!
//! A block in the section "Five minutes" whose fence says `sh` or `python` is run. A `sh` block that
//! starts a server (its text begins with `cargo run`) is replaced by the release binary that this run
//! built, and stays in the background; all others must end with 0. A block followed by a fence
//! `text` must print those lines, in that order (`…` stands for anything).

use crate::broker::Broker;
use crate::invited;
use crate::place::Place;
use crate::report::Report;
use crate::run::collected;
use crate::sims;
use anyhow::{Context, Result, bail};
use std::process::Command;
use std::time::Duration;

/// One fenced block.
struct Block {
    language: String,
    text: String,
}

/// Runs the tour.
pub fn tour(place: &Place, report: &mut Report) -> Result<()> {
    sims::build(place)?;
    let python = match invited::python(place, "python-new") {
        Ok(python) => python,
        Err(why) => {
            report.skip("README tour", &format!("{why:#}"));
            return Ok(());
        }
    };
    report.step("every block of the README's tour", || {
        let readme = std::fs::read_to_string(place.root.join("README.md"))
            .context("there is no README.md")?;
        let section = readme
            .split("## Five minutes")
            .nth(1)
            .context("README.md has no section 'Five minutes'")?;
        let section = section.split("\n## ").next().unwrap_or(section);
        let blocks = blocks(section);
        if blocks.len() < 3 {
            bail!("the tour has only {} blocks", blocks.len());
        }
        play(place, &python.to_string_lossy(), &blocks)
    });
    Ok(())
}

fn play(place: &Place, python: &str, blocks: &[Block]) -> Result<()> {
    let folder = place.scratch("readme")?;
    // The reader stands in the repository, where cargo builds into target/release.
    std::fs::create_dir_all(folder.join("target/release"))?;
    std::os::unix::fs::symlink(place.release("hulse"), folder.join("target/release/hulse"))?;
    let mut broker = None;
    let mut at = 0;
    while let Some(block) = blocks.get(at) {
        at += 1;
        let wanted = blocks.get(at).filter(|next| next.language == "text");
        at += usize::from(wanted.is_some());
        if block.text.starts_with("cargo run --release -- standalone") {
            let mut command = Command::new(place.release("hulse"));
            command.arg("standalone").current_dir(&folder);
            broker = Some(
                Broker::start_command(&mut command)
                    .context("the tour's broker, on its usual ports")?,
            );
            continue;
        }
        let output = run_block(place, &folder, python, block)?;
        if let Some(wanted) = wanted {
            compare(&block.text, &output, &wanted.text)?;
        }
    }
    broker.context("the tour starts no broker")?.stop()
}

fn run_block(
    place: &Place,
    folder: &std::path::Path,
    python: &str,
    block: &Block,
) -> Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let python_folder = std::path::Path::new(python)
        .parent()
        .context("python lies in a folder")?;
    let path = format!(
        "{}:{}:{path}",
        place.target.join("release").display(),
        python_folder.display()
    );
    let mut command = match block.language.as_str() {
        "sh" => {
            let mut command = Command::new("bash");
            command.args(["-euo", "pipefail", "-c", &block.text]);
            command
        }
        "python" => {
            let mut command = Command::new(python);
            command.args(["-c", &block.text]);
            command
        }
        other => bail!(
            "the tour has a block of language '{other}', which nobody runs:\n{}",
            block.text
        ),
    };
    let outcome = collected(
        command.env("PATH", path).current_dir(folder),
        Duration::from_secs(120),
    )?;
    if !outcome.success {
        bail!(
            "this block of the tour fails:\n{}\n--\n{}\n{}",
            block.text,
            outcome.output,
            outcome.errors
        );
    }
    Ok(outcome.output)
}

/// Each wanted line must stand in the output, in order; `…` in it stands for anything.
fn compare(what: &str, output: &str, wanted: &str) -> Result<()> {
    let mut lines = output.lines();
    for want in wanted.lines().filter(|line| !line.trim().is_empty()) {
        let pieces: Vec<&str> = want.trim().split('…').collect();
        let fits = |line: &str| {
            let mut rest = line;
            pieces.iter().all(|piece| match rest.find(piece) {
                Some(found) => {
                    rest = &rest[found + piece.len()..];
                    true
                }
                None => false,
            })
        };
        if !lines.any(fits) {
            bail!(
                "this block of the tour:\n{what}\nprinted:\n{output}\nbut the README promises the line:\n{want}"
            );
        }
    }
    Ok(())
}

fn blocks(section: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in section.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block {
                    language: language.trim().to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}
