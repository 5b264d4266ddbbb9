//! What a checker says when the house broke a promise.

use std::fmt;

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which check found it.
    pub check: &'static str,
    /// What was promised to whom, and what happened instead.
    pub text: String,
}

impl Violation {
    /// A broken promise.
    pub fn new(check: &'static str, text: impl Into<String>) -> Violation {
        Violation {
            check,
            text: text.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.text)
    }
}
