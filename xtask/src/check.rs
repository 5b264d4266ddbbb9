//! Formatting, lints, documentation, and what the repository promises about itself.

use crate::place::Place;
use crate::report::Report;
use crate::run::{cargo_shown, must};
use anyhow::{Result, bail};
use std::process::Command;
use std::time::Duration;

/// All checks.
pub fn all(place: &Place, report: &mut Report) {
    report.step("cargo fmt", || {
        cargo_shown(place, &["fmt", "--all", "--check"], &[])
    });
    report.step("cargo clippy", || {
        let arguments = [
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ];
        cargo_shown(place, &arguments, &[])
    });
    report.step("cargo doc", || {
        let arguments = [
            "doc",
            "--locked",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ];
        cargo_shown(place, &arguments, &[("RUSTDOCFLAGS", "-D warnings")])
    });
    report.step("floors", || floors(place));
    report.step("docs/status.md and docs/configuration.md are fresh", || {
        crate::status::are_fresh(place)
    });
}

/// The floors, bottom to top: a crate may use its own floor and those below.
const FLOORS: [&str; 10] = [
    "ground", "wire", "core", "storage", "client", "cluster", "doors", "sim", "tools", "app",
];

/// No crate depends on a floor above its own (dev-dependencies may: tests bring a made-up world).
fn floors(place: &Place) -> Result<()> {
    let mut command = Command::new(crate::place::cargo());
    command.args([
        "tree",
        "--workspace",
        "--edges",
        "normal,build",
        "--prefix",
        "depth",
        "--format",
        " {p}",
    ]);
    command.args(["--depth", "1"]).current_dir(&place.root);
    let tree = must(&mut command, Duration::from_secs(60))?;
    let root = place.root.to_string_lossy().into_owned();
    let floor_of = |line: &str| {
        let path = line.split(&format!("({root}/")).nth(1)?;
        let folder = path.split('/').next()?;
        FLOORS.iter().position(|floor| *floor == folder)
    };
    let mut above = None;
    let mut wrong = Vec::new();
    for line in tree.lines() {
        if line.starts_with('0') {
            above = floor_of(line).map(|floor| (floor, line.to_owned()));
        } else if let (Some((user, who)), Some(used)) = (&above, floor_of(line))
            && used > *user
        {
            wrong.push(format!("{who} uses {line}"));
        }
    }
    if !wrong.is_empty() {
        bail!(
            "crates that use a floor above their own:\n{}",
            wrong.join("\n")
        );
    }
    Ok(())
}
