//! What storage answered a keeper.

use super::{CursorKeeper, Records, Work};
use crate::forms::cursor_node::CursorNode;
use crate::node_write::Progress;
use crate::record_ledger::RecordLedger;
use crate::storage::{Answer, Call, Fault};
use crate::turn::{TRIES_MAX, Turn};
use bytes::Bytes;
use letters::log::Ticket;

impl CursorKeeper {
    pub(super) fn work_answered(&mut self, turn: &mut Turn, answer: Answer) -> Result<(), String> {
        let tag = answer.tag();
        match std::mem::replace(&mut self.work, Work::Idle) {
            Work::Noting {
                mut write,
                ticket,
                state,
            } => match write.answered(turn, answer) {
                Progress::Pending => {
                    self.work = Work::Noting {
                        write,
                        ticket,
                        state,
                    }
                }
                Progress::Done(version) => {
                    self.version = Some(version);
                    self.held = Some(state);
                    self.broken = false;
                    turn.cursor_saved(ticket, &self.name, Ok(()));
                }
                Progress::Taken(text) => {
                    self.work = Work::Noting {
                        write,
                        ticket,
                        state,
                    };
                    return Err(text);
                }
                Progress::Stalled(fault) => {
                    self.unsure = write.into_unsure();
                    turn.cursor_saved(ticket, &self.name, Err(fault.to_log_error(&self.path)));
                }
            },
            Work::Creating {
                waits_for,
                tries,
                ticket,
                records,
            } if tag == Some(waits_for) => {
                if let Answer::Created { result, .. } = answer {
                    self.created(turn, result, tries, ticket, records);
                }
            }
            Work::Pointing {
                mut write,
                ledger,
                ticket,
            } => match write.answered(turn, answer) {
                Progress::Pending => {
                    self.work = Work::Pointing {
                        write,
                        ledger,
                        ticket,
                    }
                }
                Progress::Done(version) => self.pointed(turn, version, ledger, ticket),
                Progress::Taken(text) => {
                    self.work = Work::Pointing {
                        write,
                        ledger,
                        ticket,
                    };
                    return Err(text);
                }
                Progress::Stalled(fault) => {
                    self.unsure = write.into_unsure();
                    self.doubtful.push(ledger.ledger);
                    self.fail(turn, ticket, &fault);
                }
            },
            Work::Removing {
                waits_for,
                tries,
                ticket,
            } if tag == Some(waits_for) => {
                return self.removing(turn, answer, tries, ticket);
            }
            Work::Sealing { waits_for } if tag == Some(waits_for) => self.work = Work::Ended,
            other => self.work = other,
        }
        Ok(())
    }

    fn created(
        &mut self,
        turn: &mut Turn,
        result: Result<i64, Fault>,
        tries: u32,
        ticket: Ticket,
        records: Records,
    ) {
        match result {
            Ok(id) => {
                let mut ledger = RecordLedger::new(id);
                let fallback = self.fallback_of(&records);
                for (kind, body) in records {
                    ledger.write(turn, &self.owner, &self.settings, kind, &body, None);
                }
                self.work = Work::Filling {
                    ledger,
                    fallback,
                    ticket,
                };
            }
            Err(_) if tries + 1 < TRIES_MAX => self.create(turn, ticket, records, tries + 1),
            Err(fault) => self.fail(turn, ticket, &fault),
        }
    }

    fn fallback_of(&self, records: &Records) -> Option<Bytes> {
        let (_, first) = records.first()?;
        (first.len() <= self.settings.node_snapshot_bytes_max).then(|| first.clone())
    }

    pub(super) fn appended(
        &mut self,
        turn: &mut Turn,
        ledger: i64,
        entry: i64,
        result: Result<(), Fault>,
    ) -> Result<(), String> {
        if let Err(Fault::Taken(text)) = &result {
            return Err(text.clone());
        }
        if let Some(open) = self.open.as_mut().filter(|open| open.ledger == ledger) {
            let (tickets, outcome) = match open.answered(entry, result) {
                Ok(stored) => (stored, Ok(())),
                Err((failed, fault)) => (failed, Err(fault.to_log_error(&self.path))),
            };
            for ticket in tickets {
                turn.cursor_saved(ticket, &self.name, outcome.clone());
            }
            return Ok(());
        }
        match std::mem::replace(&mut self.work, Work::Idle) {
            Work::Filling {
                ledger: mut filling,
                fallback,
                ticket,
            } if filling.ledger == ledger => match filling.answered(entry, result) {
                Ok(_) if filling.is_busy() => {
                    self.work = Work::Filling {
                        ledger: filling,
                        fallback,
                        ticket,
                    }
                }
                Ok(_) => {
                    let node = CursorNode::InLedger { ledger, fallback };
                    let write = self.write_node(turn, &node);
                    self.work = Work::Pointing {
                        write,
                        ledger: filling,
                        ticket,
                    };
                }
                Err((_, fault)) => {
                    turn.sweep(ledger, 0);
                    self.fail(turn, ticket, &fault);
                }
            },
            // An answer of a ledger that was given up.
            other => self.work = other,
        }
        Ok(())
    }

    fn pointed(&mut self, turn: &mut Turn, version: i64, ledger: RecordLedger, ticket: Ticket) {
        self.version = Some(version);
        let before = self.home.replace(ledger.ledger);
        for old in self.doubtful.drain(..).chain(before) {
            turn.sweep(old, 0);
        }
        self.open = Some(ledger);
        self.held = None;
        self.broken = false;
        turn.cursor_saved(ticket, &self.name, Ok(()));
    }

    fn fail(&mut self, turn: &mut Turn, ticket: Ticket, fault: &Fault) {
        self.broken = true;
        self.held = None;
        self.open = None;
        turn.cursor_saved(ticket, &self.name, Err(fault.to_log_error(&self.path)));
    }

    /// Removing is: read; absent, so done; there as we left it, so delete at that version; and when
    /// the answer to that is unclear, read again.
    fn removing(
        &mut self,
        turn: &mut Turn,
        answer: Answer,
        tries: u32,
        ticket: Ticket,
    ) -> Result<(), String> {
        match answer {
            Answer::Got {
                result: Ok(None), ..
            }
            | Answer::NodeDeleted { result: Ok(()), .. } => {
                self.removed(turn, ticket);
            }
            Answer::Got {
                result: Ok(Some((value, expect))),
                ..
            } => {
                if Some(expect) != self.version && !self.unsure.contains(&value) {
                    self.work = Work::Removing {
                        waits_for: 0,
                        tries,
                        ticket,
                    };
                    return Err(format!("{} is at version {expect}", self.path));
                }
                let path = self.path.clone();
                let waits_for =
                    turn.call(&self.owner, |tag| Call::DeleteNode { tag, path, expect });
                self.work = Work::Removing {
                    waits_for,
                    tries,
                    ticket,
                };
            }
            Answer::Got {
                result: Err(fault), ..
            }
            | Answer::NodeDeleted {
                result: Err(fault), ..
            } => {
                if tries + 1 < TRIES_MAX {
                    self.read_to_remove(turn, ticket, tries + 1);
                } else {
                    self.reply_deleted(turn, ticket, Err(fault.to_log_error(&self.path)));
                }
            }
            _ => {
                self.work = Work::Removing {
                    waits_for: 0,
                    tries,
                    ticket,
                }
            }
        }
        Ok(())
    }

    fn removed(&mut self, turn: &mut Turn, ticket: Ticket) {
        let open = self
            .open
            .take()
            .map(|open| open.ledger)
            .filter(|open| Some(*open) != self.home);
        for ledger in self.doubtful.drain(..).chain(self.home.take()).chain(open) {
            turn.sweep(ledger, 0);
        }
        self.version = None;
        self.unsure.clear();
        self.held = None;
        self.reply_deleted(turn, ticket, Ok(()));
    }
}
