//! Running programs.

use crate::place::{Place, cargo};
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// More than any download or build of ours should take.
pub const LONG: Duration = Duration::from_secs(600);

/// Runs cargo with its output shown; anything but success is an error.
pub fn cargo_shown(place: &Place, arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let mut command = Command::new(cargo());
    command.args(arguments).current_dir(&place.root);
    for (key, value) in environment {
        command.env(key, value);
    }
    let status = command.status().context("cargo could not be run")?;
    if !status.success() {
        bail!("cargo {} ended with {status}", arguments.join(" "));
    }
    Ok(())
}

/// What a program printed, and whether it succeeded.
pub struct Outcome {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// Whether the exit code was 0.
    pub success: bool,
}

/// Runs a command to its end with its output collected; kills it when it takes longer than `limit`.
pub fn collected(command: &mut Command, limit: Duration) -> Result<Outcome> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{name} could not be started"))?;
    let output = drain(child.stdout.take());
    let errors = drain(child.stderr.take());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > limit {
            child.kill().ok();
            child.wait().ok();
            let shown = output.join().unwrap_or_default();
            bail!(
                "{name} did not end within {} s; it had printed:\n{shown}",
                limit.as_secs()
            );
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let output = output.join().unwrap_or_default();
    let errors = errors.join().unwrap_or_default();
    Ok(Outcome {
        output,
        errors,
        success: status.success(),
    })
}

/// Like [`collected`], but anything except success is an error that shows what was printed.
pub fn must(command: &mut Command, limit: Duration) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let outcome = collected(command, limit)?;
    if !outcome.success {
        bail!("{name} failed:\n{}\n{}", outcome.output, outcome.errors);
    }
    Ok(outcome.output)
}

/// Whether a program is there at all.
pub fn is_there(program: impl AsRef<OsStr>) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// Runs `make` unless `done` exists; makes `done` afterwards.
pub fn once(done: &Path, make: impl FnOnce() -> Result<()>) -> Result<()> {
    if !done.exists() {
        make()?;
        std::fs::write(done, "")
            .with_context(|| format!("{} cannot be written", done.display()))?;
    }
    Ok(())
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).ok();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
