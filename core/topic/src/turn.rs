//! One input being handled: the time, the list of effects, and the next ticket.

use crate::TopicEffect;
use letters::{LogRequest, Refusal, RefusalCode, SessionLetter, ToSession};
use std::collections::BTreeMap;
use std::sync::Arc;
use vocabulary::{Now, SessionId};

/// A producer or consumer of a topic: its session, and its id there.
pub(crate) type Seat = (SessionId, u64);

/// Tickets for the log, and who asked with those of reads.
#[derive(Debug, Default)]
pub(crate) struct Errands {
    next: u64,
    /// Reads under way: the subscription that asked. One per subscription.
    pub readers: BTreeMap<u64, Arc<str>>,
}

impl Errands {
    /// Counts tickets from here.
    pub fn from(base: u64) -> Errands {
        Errands {
            next: base,
            readers: BTreeMap::new(),
        }
    }
}

/// What everybody needs while one input is handled.
pub(crate) struct Turn<'a> {
    pub now: Now,
    pub effects: &'a mut Vec<TopicEffect>,
    pub errands: Errands,
}

impl Turn<'_> {
    /// A ticket never used before by this topic.
    pub fn ticket(&mut self) -> u64 {
        self.errands.next += 1;
        self.errands.next
    }

    pub fn tell(&mut self, session: SessionId, letter: SessionLetter) {
        self.effects
            .push(TopicEffect::Letter(ToSession { session, letter }));
    }

    pub fn ask(&mut self, request: LogRequest) {
        self.effects.push(TopicEffect::Log(request));
    }

    /// Something an operator should read.
    pub fn report(&mut self, text: String) {
        self.effects.push(TopicEffect::Report { text });
    }
}

/// A refusal in one word less.
pub(crate) fn refusal(code: RefusalCode, message: impl Into<String>) -> Refusal {
    Refusal::new(code, message)
}
