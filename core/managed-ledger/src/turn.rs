//! What the machines of one log share while they handle one input: the time, the numbering of calls
//! with who waits for each, and the list that effects go to.

use crate::storage::{Call, Tag};
use bytes::Bytes;
use letters::{LogError, LogReply};
use std::collections::BTreeMap;
use std::sync::Arc;
use vocabulary::Now;

/// What a log wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask storage.
    Call(Call),
    /// Tell the topic.
    Reply(LogReply),
}

/// Who waits for the answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The machine of the list and its ledgers.
    Log,
    /// The keeper (or restorer) of this cursor.
    Cursor(Arc<str>),
    /// Nobody but the broom: a ledger that is no longer listed is being deleted.
    Broom { ledger: i64, tries: u32 },
}

/// Calls under way.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    next: Tag,
    owners: BTreeMap<Tag, Owner>,
    /// Whose appends a ledger takes.
    writers: BTreeMap<i64, Owner>,
}

impl Tags {
    /// Who waits for this answer; from now on nobody does.
    pub(crate) fn take(&mut self, tag: Tag) -> Option<Owner> {
        self.owners.remove(&tag)
    }

    /// Who writes to this ledger.
    pub(crate) fn writer(&self, ledger: i64) -> Option<&Owner> {
        self.writers.get(&ledger)
    }
}

/// How often a failing call is tried in a row before its asker hears of it.
pub(crate) const TRIES_MAX: u32 = 3;

/// One input being handled.
pub(crate) struct Turn<'a> {
    pub(crate) now: Now,
    pub(crate) tags: &'a mut Tags,
    pub(crate) effects: &'a mut Vec<Effect>,
}

impl Turn<'_> {
    /// Asks storage; `build` gets the number of the call.
    pub(crate) fn call(&mut self, owner: &Owner, build: impl FnOnce(Tag) -> Call) -> Tag {
        let tag = self.tags.next;
        // One log never has 2^31 calls under way, so a number that comes round is free again.
        self.tags.next = (tag + 1) & (Tag::MAX >> 1);
        self.tags.owners.insert(tag, owner.clone());
        self.effects.push(Effect::Call(build(tag)));
        tag
    }

    /// Adds an entry to a ledger.
    pub(crate) fn append(
        &mut self,
        owner: &Owner,
        ledger: i64,
        entry: i64,
        last_confirmed: i64,
        length: u64,
        body: Bytes,
    ) {
        if entry == 0 {
            self.tags.writers.insert(ledger, owner.clone());
        }
        self.effects.push(Effect::Call(Call::Append {
            ledger,
            entry,
            last_confirmed,
            length,
            body,
        }));
    }

    /// Forgets a ledger that nothing names any more. Tried some times, then left lying: nobody
    /// waits for it, and its metadata still says whose it was.
    pub(crate) fn sweep(&mut self, ledger: i64, tries: u32) {
        self.tags.writers.remove(&ledger);
        self.call(&Owner::Broom { ledger, tries }, |tag| Call::DeleteLedger {
            tag,
            ledger,
        });
    }

    /// Seals a ledger of which every append was answered.
    pub(crate) fn seal(&mut self, owner: &Owner, ledger: i64, last_entry: i64, length: u64) -> Tag {
        self.tags.writers.remove(&ledger);
        self.call(owner, |tag| Call::SealLedger {
            tag,
            ledger,
            last_entry,
            length,
        })
    }

    /// Tells the topic.
    pub(crate) fn reply(&mut self, reply: LogReply) {
        self.effects.push(Effect::Reply(reply));
    }

    /// Tells the topic that a cursor is kept or is not.
    pub(crate) fn cursor_saved(
        &mut self,
        ticket: letters::log::Ticket,
        name: &str,
        result: Result<(), LogError>,
    ) {
        self.reply(LogReply::CursorSaved {
            ticket,
            name: name.to_owned(),
            result,
        });
    }
}
