//! The list of differences between Hulse's answers and Pulsar's: the table in `docs/differences.md`.
//!
//! ```text
//! | `GET persistent/…/stats` | `subscriptions.s.field` | why |
//! ```
//! The first cell names calls of the table of answers (`*` at its end: all that begin so), the second a field with all
//! that is below it (`status`, `body`, or the way to it; `*`: all fields). Other tables of the page are for people only.

use crate::Mismatch;
use std::collections::BTreeSet;

/// How the names of steps of conversations begin.
const CONVERSATION: &str = "conversation ";

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which calls.
    pub call: String,
    /// Which field.
    pub field: String,
}

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// In order.
    pub all: Vec<Difference>,
}

impl Differences {
    /// Reads the page.
    ///
    /// # Errors
    /// Names a line that is no difference with a reason.
    pub fn parse(page: &str) -> Result<Differences, String> {
        let lines = page.lines().filter(|line| line.starts_with("| `"));
        let all = lines.map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            match cells[..] {
                [call, field, why] if !why.is_empty() => Ok(Difference {
                    call: call.trim_matches('`').to_owned(),
                    field: field.trim_matches('`').to_owned(),
                }),
                _ => Err(format!("not `call`, `field` and a reason: {line}")),
            }
        });
        Ok(Differences {
            all: all.collect::<Result<_, _>>()?,
        })
    }

    /// Those of HTTP calls.
    #[must_use]
    pub fn of_calls(mut self) -> Differences {
        self.all.retain(|one| !one.call.starts_with(CONVERSATION));
        self
    }

    /// Those of conversations.
    #[must_use]
    pub fn of_conversations(mut self) -> Differences {
        self.all.retain(|one| one.call.starts_with(CONVERSATION));
        self
    }

    /// What of these nobody has given a reason for. The numbers of the lines that did are added to `met`.
    pub fn unexplained(
        &self,
        name: &str,
        found: Vec<Mismatch>,
        met: &mut BTreeSet<usize>,
    ) -> Vec<Mismatch> {
        let is_unexplained = |mismatch: &Mismatch| {
            let mut explained = false;
            for (number, difference) in self.all.iter().enumerate() {
                if difference.is_of(name) && difference.covers(&mismatch.field) {
                    met.insert(number);
                    explained = true;
                }
            }
            !explained
        };
        found.into_iter().filter(is_unexplained).collect()
    }

    /// Lines that explain nothing any more.
    #[must_use]
    pub fn stale(&self, met: &BTreeSet<usize>) -> Vec<&Difference> {
        let numbered = self.all.iter().enumerate();
        let unmet = numbered.filter(|(number, _)| !met.contains(number));
        unmet.map(|(_, difference)| difference).collect()
    }
}

impl Difference {
    fn is_of(&self, name: &str) -> bool {
        match self.call.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => self.call == name,
        }
    }

    fn covers(&self, field: &str) -> bool {
        let below = field.strip_prefix(self.field.as_str());
        self.field == "*" || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}
