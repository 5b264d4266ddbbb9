//! One input being handled: the time, the list of effects, and the next ticket.

use crate::TopicEffect;
use crate::tasks::Dating;
use letters::{LogRequest, Refusal, RefusalCode, SessionLetter, ToSession};
use std::collections::BTreeMap;
use std::sync::Arc;
use vocabulary::{Now, RequestId, SessionId};

/// A producer or consumer of a topic: its session, and its id there.
pub(crate) type Seat = (SessionId, u64);

/// Tickets for the log, and who asked with those of reads.
#[derive(Debug, Default)]
pub(crate) struct Errands {
    next: u64,
    /// Reads under way: the subscription that asked. One per subscription.
    pub readers: BTreeMap<u64, Arc<str>>,
    /// Reads under way that look for something.
    pub quests: BTreeMap<u64, Quest>,
}

/// What a read looks for.
#[derive(Debug)]
pub(crate) enum Quest {
    /// Where a time begins, for this subscription's seek.
    Time(Arc<str>),
    /// The last message.
    LastId,
    /// Where a time begins, for a task.
    Date(Box<Dating>),
    /// One entry, for a task.
    Entry(Asker),
}

/// A consumer that waits for the answer to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker {
    pub seat: Seat,
    pub request_id: RequestId,
}

impl Asker {
    /// Says no.
    pub fn refuse(self, code: RefusalCode, text: impl Into<String>, turn: &mut Turn<'_>) {
        let letter = SessionLetter::RequestRefused {
            request_id: self.request_id,
            refusal: refusal(code, text),
        };
        turn.tell(self.seat.0, letter);
    }

    /// Nobody sits there, in Pulsar's words.
    pub fn refuse_unknown(self, turn: &mut Turn<'_>) {
        self.refuse(RefusalCode::MetadataError, "Consumer not found", turn);
    }
}

impl Errands {
    /// Counts tickets from here.
    pub fn from(base: u64) -> Errands {
        Errands {
            next: base,
            readers: BTreeMap::new(),
            quests: BTreeMap::new(),
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
