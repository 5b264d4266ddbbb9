//! What happened, line by line: the last lines for people, all of them where somebody wants them, and a sum over all.

use foldhash::fast::FixedState;
use std::collections::VecDeque;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use vocabulary::Now;

/// Lines kept for a report.
const LAST_LINES: usize = 60;

/// Where lines go.
pub type LineSink = Box<dyn FnMut(&str) + Send>;

/// What happened so far.
pub struct Transcript {
    last: VecDeque<String>,
    lines: u64,
    sum: u64,
    sink: Option<LineSink>,
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transcript({} lines)", self.lines)
    }
}

impl Transcript {
    /// An empty one; each line goes to `sink` too.
    #[must_use]
    pub fn new(sink: Option<LineSink>) -> Transcript {
        Transcript {
            last: VecDeque::new(),
            lines: 0,
            sum: 0,
            sink,
        }
    }

    /// Something happened.
    pub fn say(&mut self, now: Now, what: fmt::Arguments<'_>) {
        let nanos = now.moment.0;
        let line = format!(
            "{:>7}.{:06} ms  {what}",
            nanos / 1_000_000,
            nanos % 1_000_000
        );
        self.lines += 1;
        let mut hasher = FixedState::with_seed(self.sum).build_hasher();
        hasher.write(line.as_bytes());
        self.sum = hasher.finish();
        if let Some(sink) = &mut self.sink {
            sink(&line);
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// A number that depends on every line.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// How many lines there were.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The last lines, one below the other.
    #[must_use]
    pub fn tail(&self) -> String {
        let lines: Vec<&str> = self.last.iter().map(String::as_str).collect();
        lines.join("\n")
    }
}
