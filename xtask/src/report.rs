//! What passed, what failed, what was skipped and why.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The results of a run, in order.
#[derive(Default)]
pub struct Report {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
    times: Vec<(String, Duration)>,
}

impl Report {
    /// Runs one named step, says how long it took, and keeps its result.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> anyhow::Result<()>) {
        println!("\n== {name}");
        let begun = Instant::now();
        let result = work();
        self.times.push((name.to_owned(), begun.elapsed()));
        match result {
            Ok(()) => self.pass(name),
            Err(problem) => self.fail(name, &format!("{problem:#}")),
        }
    }

    /// Keeps how long something took that is no step of its own.
    pub fn took(&mut self, name: &str, begun: Instant) {
        self.times.push((name.to_owned(), begun.elapsed()));
    }

    /// Keeps a success.
    pub fn pass(&mut self, name: &str) {
        println!("ok {name}");
        self.passed += 1;
    }

    /// Keeps a failure.
    pub fn fail(&mut self, name: &str, why: &str) {
        println!("FAILED {name}: {why}");
        self.failed.push(format!("{name}: {why}"));
    }

    /// Keeps a skip; on CI that is a failure.
    pub fn skip(&mut self, name: &str, why: &str) {
        if std::env::var("CI").as_deref() == Ok("true") {
            return self.fail(name, &format!("skipped, which CI does not allow: {why}"));
        }
        println!("SKIPPED {name}: {why}");
        self.skipped.push(format!("{name}: {why}"));
    }

    /// Keeps the lines `ok NAME`, `gap NAME: what the client lacks` and `FAILED NAME: why` that a guest printed. A gap
    /// is none of ours, so it counts as nothing.
    pub fn take_lines(&mut self, who: &str, output: &str) {
        for line in output.lines() {
            if let Some(name) = line.strip_prefix("ok ") {
                self.passed += 1;
                println!("ok {who} {name}");
            } else if let Some(rest) = line.strip_prefix("gap ") {
                println!("gap {who} {rest}");
            } else if let Some(rest) = line.strip_prefix("FAILED ") {
                println!("FAILED {who} {rest}");
                self.failed.push(format!("{who} {rest}"));
            }
        }
    }

    /// Prints the closing lines.
    pub fn close(self) -> ExitCode {
        println!("\n== times");
        for (name, time) in &self.times {
            println!("{:>8.1} s  {name}", time.as_secs_f64());
        }
        for skipped in &self.skipped {
            println!("skipped: {skipped}");
        }
        for failed in &self.failed {
            println!("failed: {failed}");
        }
        println!(
            "\n{} passed, {} failed, {} skipped",
            self.passed,
            self.failed.len(),
            self.skipped.len()
        );
        if self.failed.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
