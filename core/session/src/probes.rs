//! Topics that ask whether the peer is alive, because somebody wants a place it holds.

use std::time::Duration;
use vocabulary::{Moment, TopicName};

#[derive(Debug)]
pub(crate) struct Probes {
    timeout: Duration,
    open: Vec<Probe>,
}

#[derive(Debug)]
pub(crate) struct Probe {
    pub topic: TopicName,
    pub token: u64,
    deadline: Moment,
}

impl Probes {
    pub fn new(timeout: Duration) -> Probes {
        Probes {
            timeout,
            open: Vec::new(),
        }
    }

    pub fn asked(&mut self, topic: TopicName, token: u64, now: Moment) {
        self.open.push(Probe {
            topic,
            token,
            deadline: now.after(self.timeout),
        });
    }

    /// The probes that are answered by a sign of life.
    pub fn answered(&mut self) -> Vec<Probe> {
        std::mem::take(&mut self.open)
    }

    pub fn next_deadline(&self) -> Option<Moment> {
        self.open.iter().map(|probe| probe.deadline).min()
    }

    pub fn missed(&self, now: Moment) -> bool {
        self.next_deadline().is_some_and(|deadline| deadline <= now)
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    pub fn topics(&self) -> impl Iterator<Item = &TopicName> {
        self.open.iter().map(|probe| &probe.topic)
    }
}
