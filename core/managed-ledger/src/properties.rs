//! Properties of the topic, kept in the node of its list.
//!
//! A property is written with the list: by compare-and-set, one write at a time. Those that come
//! while a write is under way go with the next one.

use crate::machine::{ManagedLedger, Phase};
use crate::turn::Effect;
use letters::log::Ticket;
use letters::{LogError, LogReply};
use vocabulary::Now;

/// Properties on their way to the node.
#[derive(Debug, Default)]
pub(crate) struct Properties {
    /// In the list, in no write yet.
    wanted: Vec<Ticket>,
    /// In the write under way.
    writing: Vec<Ticket>,
}

impl Properties {
    /// Something waits to be written.
    pub(crate) fn are_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// The list is being written with all of them.
    pub(crate) fn write_begins(&mut self) {
        self.writing.append(&mut self.wanted);
    }
}

impl ManagedLedger {
    pub(crate) fn set_property(
        &mut self,
        now: Now,
        ticket: Ticket,
        key: String,
        value: String,
        effects: &mut Vec<Effect>,
    ) {
        if !matches!(self.phase, Phase::Open) {
            let result = Err(LogError::Io(format!(
                "the log of {} is not open",
                self.topic
            )));
            return effects.push(Effect::Reply(LogReply::PropertySet { ticket, result }));
        }
        match self
            .list
            .properties
            .iter_mut()
            .find(|(known, _)| *known == key)
        {
            Some((_, kept)) => *kept = value,
            None => self.list.properties.push((key, value)),
        }
        self.properties.wanted.push(ticket);
        self.advance(now, effects);
    }

    /// The list is stored with the properties it was written with.
    pub(crate) fn properties_written(&mut self, effects: &mut Vec<Effect>) {
        for ticket in self.properties.writing.drain(..) {
            effects.push(Effect::Reply(LogReply::PropertySet {
                ticket,
                result: Ok(()),
            }));
        }
    }

    /// Whether they will be stored is unknown: the list holds them, and is written again when storage recovers.
    pub(crate) fn fail_properties(&mut self, error: &LogError, effects: &mut Vec<Effect>) {
        let properties = &mut self.properties;
        if properties.are_wanted() {
            self.unlisted = true;
        }
        for ticket in properties
            .writing
            .drain(..)
            .chain(properties.wanted.drain(..))
        {
            let result = Err(error.clone());
            effects.push(Effect::Reply(LogReply::PropertySet { ticket, result }));
        }
    }
}
