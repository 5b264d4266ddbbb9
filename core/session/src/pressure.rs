//! How much of the peer's work is under way, and when it has to wait: reading pauses above a gauge's
//! number and resumes when every gauge is at or below half of its own.

use crate::settings::SessionSettings;

#[derive(Debug)]
pub(crate) struct Pressure {
    pub publishes: Gauge,
    pub publish_bytes: Gauge,
    pub requests: Gauge,
    pub answer_bytes: Gauge,
    paused: bool,
}

#[derive(Debug)]
pub(crate) struct Gauge {
    level: u64,
    max: u64,
}

/// What became of reading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Pause,
    Resume,
}

impl Gauge {
    fn up_to(max: u64) -> Gauge {
        Gauge { level: 0, max }
    }

    pub fn rise(&mut self, by: u64) {
        self.level = self.level.saturating_add(by);
    }

    pub fn fall(&mut self, by: u64) {
        // What was never counted (a topic's stray letter) must not make room for more.
        self.level = self.level.saturating_sub(by);
    }
}

impl Pressure {
    pub fn new(settings: &SessionSettings) -> Pressure {
        Pressure {
            publishes: Gauge::up_to(settings.pending_publishes_max),
            publish_bytes: Gauge::up_to(settings.pending_publish_bytes_max),
            requests: Gauge::up_to(settings.pending_requests_max),
            answer_bytes: Gauge::up_to(settings.unwritten_answer_bytes_max),
            paused: false,
        }
    }

    pub fn paused(&self) -> bool {
        self.paused
    }

    /// To be asked once per turn.
    pub fn settle(&mut self) -> Option<Change> {
        let gauges = [
            &self.publishes,
            &self.publish_bytes,
            &self.requests,
            &self.answer_bytes,
        ];
        if !self.paused && gauges.iter().any(|gauge| gauge.level > gauge.max) {
            self.paused = true;
            return Some(Change::Pause);
        }
        if self.paused && gauges.iter().all(|gauge| gauge.level <= gauge.max / 2) {
            self.paused = false;
            return Some(Change::Resume);
        }
        None
    }
}
