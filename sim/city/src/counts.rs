//! How often each kind of thing happened, so that a seed proves something.

use std::collections::BTreeMap;
use std::fmt;

/// Things by name, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    by_name: BTreeMap<String, u64>,
}

impl Counts {
    /// It happened.
    pub fn add(&mut self, name: &str) {
        self.add_many(name, 1);
    }

    /// It happened so often.
    pub fn add_many(&mut self, name: &str, times: u64) {
        if let Some(count) = self.by_name.get_mut(name) {
            *count += times;
        } else {
            self.by_name.insert(name.to_owned(), times);
        }
    }

    /// How often it happened.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.by_name.get(name).copied().unwrap_or(0)
    }

    /// Adds another's numbers.
    pub fn add_all(&mut self, other: &Counts) {
        for (name, count) in &other.by_name {
            self.add_many(name, *count);
        }
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.by_name
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, count)) in self.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{count} {name}")?;
        }
        Ok(())
    }
}
