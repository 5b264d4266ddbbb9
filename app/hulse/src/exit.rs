//! What the process says when it ends.

use std::process::ExitCode;

/// Something did not work.
pub const FAILED: u8 = 1;

/// What was asked for makes no sense (clap uses the same number).
pub const USAGE: u8 = 2;

/// Says why, and gives the code to end with.
pub fn with(code: u8, why: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("hulse: {why}");
    ExitCode::from(code)
}
