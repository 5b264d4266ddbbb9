//! What is done to the list of ledgers, one step at a time: rolling, trimming, closing.
//!
//! The order of a roll keeps BookKeeper's invariant of chained ledgers: seal the last one, make the
//! next one, write the list by compare-and-set, and only then write entries. The list goes first
//! also when ledgers are dropped; a crash in between leaves a ledger lying that nothing names.

use crate::forms::ledger_list::ListedLedger;
use crate::machine::{ManagedLedger, Phase};
use crate::node_write::{NodeWrite, Progress};
use crate::roll::CurrentLedger;
use crate::storage::{Answer, Call, Fault, Tag};
use crate::trim::{self, Trim};
use crate::turn::{Effect, Owner, TRIES_MAX, Turn};
use letters::{LogError, LogReply};
use vocabulary::{Now, Position};

/// The step under way.
#[derive(Debug)]
pub(crate) enum Step {
    Idle,
    /// The current ledger is being sealed.
    Sealing {
        waits_for: Tag,
        tries: u32,
    },
    /// The store did not like our sealing: somebody may have sealed the ledger, or an earlier try of ours did.
    Recovering {
        waits_for: Tag,
        tries: u32,
    },
    /// The next ledger is being made.
    Creating {
        waits_for: Tag,
        tries: u32,
    },
    /// The list is being written.
    Writing {
        write: NodeWrite,
        next: Option<i64>,
        trimmed: bool,
    },
}

impl ManagedLedger {
    /// Begins the next step, if one is due and none is under way.
    pub(crate) fn advance(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if !matches!(self.phase, Phase::Open | Phase::Closing) || self.is_paused(now) {
            return;
        }
        match &mut self.step {
            Step::Idle => {}
            Step::Writing { write, .. } if self.paused_until.is_some() => {
                self.paused_until = None;
                return write.again(&mut Turn {
                    now,
                    tags: &mut self.tags,
                    effects,
                });
            }
            _ => return,
        }
        self.paused_until = None;
        let closing = matches!(self.phase, Phase::Closing);
        if let Some(current) = &mut self.current {
            if closing && self.waiting.is_empty() {
                current.end();
            }
            if !current.is_ending() {
                return self.flush_and_trim(now, effects);
            }
            if !current.is_settled() {
                return;
            }
            return match current.confirmed() {
                (-1, _) => self.drop_current(now, effects),
                (last_entry, length) => self.seal(
                    now,
                    current_id(&self.current),
                    last_entry,
                    length,
                    0,
                    effects,
                ),
            };
        }
        self.flush_and_trim(now, effects);
    }

    /// Paused, and nothing has come that wants an answer before the pause is over.
    fn is_paused(&self, now: Now) -> bool {
        let closing = matches!(self.phase, Phase::Closing);
        self.paused_until.is_some_and(|until| now.moment < until)
            && self.waiting.is_empty()
            && !self.properties.are_wanted()
            && !closing
    }

    /// The rest of [`advance`](ManagedLedger::advance) when the current ledger is fine or there is none.
    fn flush_and_trim(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if self.current.is_some() {
            while self
                .current
                .as_ref()
                .is_some_and(|current| !current.is_ending())
                && let Some((ticket, body)) = self.waiting.pop_front()
            {
                self.give(now, ticket, body, effects);
            }
        } else if !self.waiting.is_empty() {
            return self.create(now, 0, effects);
        }
        let trim = self.trim(now);
        if trim.count > 0 || self.unlisted || self.properties.are_wanted() {
            for gone in self.list.ledgers.drain(..trim.count) {
                self.dropped.push(gone.ledger);
                self.counts.trims += 1;
            }
            return self.write_list(now, None, trim.count > 0, effects);
        }
        if matches!(self.phase, Phase::Closing)
            && self.current.is_none()
            && self.waiting.is_empty()
            && self.cursors.is_empty()
        {
            if self.doomed {
                return self.begin_deleting(now, effects);
            }
            self.phase = Phase::Gone;
            self.refuse_late(effects);
            effects.push(Effect::Reply(LogReply::Closed));
        }
    }

    fn trim(&mut self, now: Now) -> Trim {
        let Some(consumed) = self.consumed else {
            return Trim::default();
        };
        let sealed = self.list.ledgers.len() - usize::from(self.current.is_some());
        let bytes_open = self
            .current
            .as_ref()
            .map_or(0, |current| current.confirmed().1);
        let sealed = self.list.ledgers.get(..sealed).unwrap_or_default();
        let trim = trim::decide(sealed, bytes_open, consumed, &self.settings, now.wall);
        self.trim_again_at = trim.look_again.map(|pause| now.moment.after(pause));
        trim
    }

    fn seal(
        &mut self,
        now: Now,
        ledger: i64,
        last_entry: i64,
        length: u64,
        tries: u32,
        effects: &mut Vec<Effect>,
    ) {
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let waits_for = turn.seal(&Owner::Log, ledger, last_entry, length);
        self.step = Step::Sealing { waits_for, tries };
    }

    fn recover(&mut self, now: Now, ledger: i64, tries: u32, effects: &mut Vec<Effect>) {
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let waits_for = turn.call(&Owner::Log, |tag| Call::RecoverLedger { tag, ledger });
        self.step = Step::Recovering { waits_for, tries };
    }

    fn create(&mut self, now: Now, tries: u32, effects: &mut Vec<Effect>) {
        let custom = vec![
            ("application".to_owned(), b"pulsar".to_vec()),
            ("component".to_owned(), b"managed-ledger".to_vec()),
            (
                "pulsar/managed-ledger".to_owned(),
                self.topic.persistence_name().into_bytes(),
            ),
        ];
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let waits_for = turn.call(&Owner::Log, |tag| Call::CreateLedger { tag, custom });
        self.step = Step::Creating { waits_for, tries };
    }

    fn write_list(
        &mut self,
        now: Now,
        next: Option<i64>,
        trimmed: bool,
        effects: &mut Vec<Effect>,
    ) {
        let (path, value) = (self.path.clone(), self.list.encode());
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let write = NodeWrite::begin(
            &mut turn,
            Owner::Log,
            path,
            value,
            Some(self.version),
            Vec::new(),
        );
        self.unlisted = false;
        self.properties.write_begins();
        self.step = Step::Writing {
            write,
            next,
            trimmed,
        };
    }

    /// A ledger of which no entry was confirmed is not kept.
    fn drop_current(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if let Some(current) = self.current.take() {
            self.list
                .ledgers
                .retain(|listed| listed.ledger != current.ledger);
            self.dropped.push(current.ledger);
            self.unlisted = true;
            self.counts.rolls += 1;
        }
        self.advance(now, effects);
    }

    /// Storage answered the call of the step under way.
    pub(crate) fn step_answered(&mut self, now: Now, answer: Answer, effects: &mut Vec<Effect>) {
        let tag = answer.tag();
        match (std::mem::replace(&mut self.step, Step::Idle), answer) {
            (Step::Sealing { waits_for, tries }, Answer::Sealed { result, .. })
                if tag == Some(waits_for) =>
            {
                self.sealed(now, result, tries, effects);
            }
            (Step::Recovering { waits_for, tries }, Answer::Recovered { result, .. })
                if tag == Some(waits_for) =>
            {
                self.recovered(now, result, tries, effects);
            }
            (Step::Creating { waits_for, tries }, Answer::Created { result, .. })
                if tag == Some(waits_for) =>
            {
                self.created(now, result, tries, effects);
            }
            (
                Step::Writing {
                    mut write,
                    next,
                    trimmed,
                },
                answer,
            ) => {
                let progress = write.answered(
                    &mut Turn {
                        now,
                        tags: &mut self.tags,
                        effects,
                    },
                    answer,
                );
                match progress {
                    Progress::Pending => {
                        self.step = Step::Writing {
                            write,
                            next,
                            trimmed,
                        }
                    }
                    Progress::Done(version) => self.written(now, version, next, trimmed, effects),
                    Progress::Taken(text) => self.lose_to_another(now, &text, effects),
                    Progress::Stalled(fault) => {
                        self.step = Step::Writing {
                            write,
                            next,
                            trimmed,
                        };
                        self.pause(now, &fault, effects);
                    }
                }
            }
            (step, _) => self.step = step,
        }
    }

    fn sealed(
        &mut self,
        now: Now,
        result: Result<(), Fault>,
        tries: u32,
        effects: &mut Vec<Effect>,
    ) {
        let Some(current) = &self.current else { return };
        let (ledger, (last_entry, length)) = (current.ledger, current.confirmed());
        match result {
            Ok(()) => self.note_sealed(now, effects),
            Err(Fault::Refused(_) | Fault::Taken(_)) => self.recover(now, ledger, 0, effects),
            Err(Fault::Missing(text) | Fault::Damaged(text)) => {
                self.lose(now, LogError::Damaged(text), effects)
            }
            Err(_) if tries + 1 < TRIES_MAX => {
                self.seal(now, ledger, last_entry, length, tries + 1, effects)
            }
            Err(fault) => self.pause(now, &fault, effects),
        }
    }

    fn recovered(
        &mut self,
        now: Now,
        result: Result<(i64, u64), Fault>,
        tries: u32,
        effects: &mut Vec<Effect>,
    ) {
        let Some(current) = &self.current else { return };
        let (ledger, (confirmed, _)) = (current.ledger, current.confirmed());
        match result {
            Ok((last, _)) if last >= confirmed => self.note_sealed(now, effects),
            Ok((last, _)) => {
                let text = format!(
                    "ledger {ledger} ends at entry {last}, but entry {confirmed} was confirmed"
                );
                self.lose(now, LogError::Damaged(text), effects);
            }
            Err(Fault::Missing(text) | Fault::Damaged(text)) => {
                self.lose(now, LogError::Damaged(text), effects)
            }
            Err(_) if tries + 1 < TRIES_MAX => self.recover(now, ledger, tries + 1, effects),
            Err(fault) => self.pause(now, &fault, effects),
        }
    }

    /// The list counts what was confirmed, also if the ledger holds more: entries that somebody was
    /// told are not stored must not come up later.
    fn note_sealed(&mut self, now: Now, effects: &mut Vec<Effect>) {
        if let Some(current) = self.current.take() {
            let (last_entry, length) = current.confirmed();
            if let Some(listed) = self
                .list
                .ledgers
                .iter_mut()
                .rfind(|listed| listed.ledger == current.ledger)
            {
                listed.entries = last_entry + 1;
                listed.size = i64::try_from(length).unwrap_or(i64::MAX);
                listed.closed_at_ms = i64::try_from(now.wall.0).unwrap_or(i64::MAX).max(1);
            }
            self.unlisted = true;
            self.counts.rolls += 1;
        }
        self.advance(now, effects);
    }

    fn created(
        &mut self,
        now: Now,
        result: Result<i64, Fault>,
        tries: u32,
        effects: &mut Vec<Effect>,
    ) {
        let last = self.list.ledgers.last().map_or(-1, |listed| listed.ledger);
        match result {
            Ok(ledger) if ledger > last => {
                self.list.ledgers.push(ListedLedger::open(ledger));
                self.write_list(now, Some(ledger), false, effects);
            }
            Ok(ledger) => {
                // Positions are ordered by ledger id, so a smaller id is of no use.
                Turn {
                    now,
                    tags: &mut self.tags,
                    effects,
                }
                .sweep(ledger, 0);
                let fault = Fault::Io(format!(
                    "storage gave ledger id {ledger}, which is not above {last}"
                ));
                self.create_again(now, fault, tries, effects);
            }
            Err(fault) => self.create_again(now, fault, tries, effects),
        }
    }

    fn create_again(&mut self, now: Now, fault: Fault, tries: u32, effects: &mut Vec<Effect>) {
        if tries + 1 < TRIES_MAX {
            self.create(now, tries + 1, effects);
        } else {
            self.pause(now, &fault, effects);
        }
    }

    fn written(
        &mut self,
        now: Now,
        version: i64,
        next: Option<i64>,
        trimmed: bool,
        effects: &mut Vec<Effect>,
    ) {
        self.version = version;
        self.properties_written(effects);
        let mut turn = Turn {
            now,
            tags: &mut self.tags,
            effects,
        };
        let last_dropped = self.dropped.last().copied();
        for ledger in self.dropped.drain(..) {
            turn.sweep(ledger, 0);
        }
        if trimmed {
            let after_dropped = last_dropped.map_or(0, |ledger| ledger.saturating_add(1));
            let first = self
                .list
                .ledgers
                .first()
                .map_or(after_dropped, |listed| listed.ledger);
            turn.reply(LogReply::Trimmed {
                first: Position::new(first, 0),
            });
        }
        if let Some(ledger) = next {
            self.current = Some(CurrentLedger::new(ledger, now.moment, &self.settings));
        }
        self.advance(now, effects);
    }

    /// Storage failed too often in a row: what waits is told (unless earlier appends have to be
    /// answered first), and the step rests for a while or until the next append. A log that closes
    /// does not wait: opening it again mends everything.
    fn pause(&mut self, now: Now, fault: &Fault, effects: &mut Vec<Effect>) {
        self.paused_until = Some(now.moment.after(self.settings.retry_pause));
        let error = fault.to_log_error(self.topic.as_str());
        self.fail_properties(&error, effects);
        if self
            .current
            .as_ref()
            .is_some_and(|current| !current.is_settled())
        {
            return;
        }
        self.fail_waiting(&error, effects);
        if matches!(self.phase, Phase::Closing) {
            self.give_up_closing(now, &error, effects);
        }
    }
}

fn current_id(current: &Option<CurrentLedger>) -> i64 {
    current.as_ref().map_or(-1, |current| current.ledger)
}
