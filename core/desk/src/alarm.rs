//! When each topic wants to be woken: one moment a topic, the one it asked for last.

use foldhash::fast::FixedState;
use std::collections::{BTreeSet, HashMap};
use vocabulary::{Moment, TopicName};

/// The moments of all topics of a desk. Costs grow with the logarithm of the topics that wait.
#[derive(Default)]
pub(crate) struct Alarm {
    by_moment: BTreeSet<(Moment, TopicName)>,
    by_topic: HashMap<TopicName, Moment, FixedState>,
}

impl Alarm {
    /// Asks for `topic` to be woken at `moment`, in place of what it asked for before.
    pub(crate) fn set(&mut self, topic: &TopicName, moment: Moment) {
        self.forget(topic);
        self.by_topic.insert(topic.clone(), moment);
        self.by_moment.insert((moment, topic.clone()));
    }

    /// Forgets what `topic` asked for.
    pub(crate) fn forget(&mut self, topic: &TopicName) {
        if let Some(moment) = self.by_topic.remove(topic) {
            self.by_moment.remove(&(moment, topic.clone()));
        }
    }

    /// The earliest moment that anyone waits for.
    pub(crate) fn next(&self) -> Option<Moment> {
        self.by_moment.first().map(|(moment, _)| *moment)
    }

    /// Those whose moment is here, in order of moment, then name; their wishes are used up.
    pub(crate) fn take_due(&mut self, now: Moment) -> Vec<TopicName> {
        let mut due = Vec::new();
        while self
            .by_moment
            .first()
            .is_some_and(|(moment, _)| *moment <= now)
        {
            if let Some((_, topic)) = self.by_moment.pop_first() {
                self.by_topic.remove(&topic);
                due.push(topic);
            }
        }
        due
    }
}
