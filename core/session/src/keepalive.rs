//! Is the peer still there? A PING per interval, and anything it sends counts as an answer.

use std::time::Duration;
use vocabulary::Moment;

#[derive(Debug)]
pub(crate) struct Keepalive {
    interval: Duration,
    next_tick: Moment,
    /// A PING was sent at the last tick and nothing came since.
    unanswered: bool,
}

/// What a tick asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    NotYet,
    Ping,
    Missed,
}

impl Keepalive {
    pub fn new(interval: Duration, now: Moment) -> Keepalive {
        Keepalive {
            interval,
            next_tick: now.after(interval),
            unanswered: false,
        }
    }

    pub fn next_tick(&self) -> Moment {
        self.next_tick
    }

    pub fn heard(&mut self) {
        self.unanswered = false;
    }

    /// `deaf`: reading is paused, so that silence says nothing about the peer.
    pub fn time_came(&mut self, now: Moment, deaf: bool) -> Tick {
        if now < self.next_tick {
            return Tick::NotYet;
        }
        self.next_tick = now.after(self.interval);
        if self.unanswered && !deaf {
            return Tick::Missed;
        }
        self.unanswered = true;
        Tick::Ping
    }
}
