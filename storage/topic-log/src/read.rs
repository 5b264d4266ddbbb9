//! Reads under way: what is in the cache is answered at once, the rest is asked of the ledger store,
//! one run of contiguous entries at a time.

use crate::cache::TailCache;
use ledger_store::{Entry, LedgerError};
use letters::log::Ticket;
use letters::{LogError, LogReply, StoredEntry};
use managed_ledger::{ManagedLedger, Run};
use std::collections::VecDeque;
use vocabulary::Position;

/// Bodies asked of the store at a time when the topic set no limit.
const STEP_BYTES_MAX: usize = 4 * 1024 * 1024;

/// One read of a topic.
#[derive(Debug)]
pub(crate) struct Read {
    ticket: Ticket,
    wanted: Wanted,
    got: Vec<StoredEntry>,
    damaged: Vec<Position>,
    /// What the store was asked for.
    asked: Option<Run>,
}

#[derive(Debug)]
enum Wanted {
    Range {
        next: Position,
        until: Position,
        entries_left: usize,
        bytes_left: usize,
    },
    Exactly(VecDeque<Position>),
}

/// What a read needs next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// These entries, no more than so many bytes of bodies.
    Ask(Run, usize),
    /// It is complete.
    Reply(LogReply),
}

impl Read {
    pub(crate) fn range(
        ticket: Ticket,
        from: Position,
        until: Position,
        entries_max: u32,
        bytes_max: usize,
    ) -> Read {
        let entries_left = (entries_max as usize).max(1);
        Read::new(
            ticket,
            Wanted::Range {
                next: from,
                until,
                entries_left,
                bytes_left: bytes_max,
            },
        )
    }

    pub(crate) fn exactly(ticket: Ticket, mut positions: Vec<Position>) -> Read {
        positions.sort_unstable();
        positions.dedup();
        Read::new(ticket, Wanted::Exactly(positions.into()))
    }

    fn new(ticket: Ticket, wanted: Wanted) -> Read {
        Read {
            ticket,
            wanted,
            got: Vec::new(),
            damaged: Vec::new(),
            asked: None,
        }
    }

    /// Takes from the cache what it can; says what else is needed.
    pub(crate) fn next(
        &mut self,
        log: u32,
        ledgers: &ManagedLedger,
        cache: &mut TailCache,
    ) -> Next {
        let ask = match &self.wanted {
            Wanted::Range { .. } => self.next_of_range(log, ledgers, cache),
            Wanted::Exactly(_) => self.next_of_positions(log, ledgers, cache),
        };
        match ask {
            Some((run, bytes_max)) => {
                self.asked = Some(run);
                Next::Ask(run, bytes_max)
            }
            None => Next::Reply(self.reply()),
        }
    }

    fn next_of_range(
        &mut self,
        log: u32,
        ledgers: &ManagedLedger,
        cache: &mut TailCache,
    ) -> Option<(Run, usize)> {
        let Wanted::Range {
            next,
            until,
            entries_left,
            bytes_left,
        } = &mut self.wanted
        else {
            return None;
        };
        if *entries_left == 0 || !self.got.is_empty() {
            return None;
        }
        let run = ledgers.next_run(*next, *until)?;
        let last = run
            .last
            .min(run.first.saturating_add(*entries_left as i64 - 1));
        for entry in run.first..=last {
            let position = Position::new(run.ledger, entry);
            let Some(body) = cache.get(log, position) else {
                break;
            };
            if !self.got.is_empty() && body.len() > *bytes_left {
                break;
            }
            *bytes_left = bytes_left.saturating_sub(body.len());
            cache.hits += 1;
            self.got.push(StoredEntry { position, body });
        }
        if !self.got.is_empty() {
            return None;
        }
        cache.misses += 1;
        Some((Run { last, ..run }, *bytes_left))
    }

    fn next_of_positions(
        &mut self,
        log: u32,
        ledgers: &ManagedLedger,
        cache: &mut TailCache,
    ) -> Option<(Run, usize)> {
        let Wanted::Exactly(positions) = &mut self.wanted else {
            return None;
        };
        let mut run: Option<Run> = None;
        while let Some(position) = positions.front().copied() {
            match &mut run {
                Some(run) if Position::new(run.ledger, run.last + 1) != position => break,
                _ if ledgers.next_run(position, position).is_none() => {
                    positions.pop_front();
                    continue;
                }
                Some(run) if cache.get(log, position).is_none() => run.last = position.entry,
                Some(_) => break,
                None => match cache.get(log, position) {
                    Some(body) => {
                        cache.hits += 1;
                        self.got.push(StoredEntry { position, body });
                    }
                    None => {
                        cache.misses += 1;
                        run = Some(Run {
                            ledger: position.ledger,
                            first: position.entry,
                            last: position.entry,
                        });
                    }
                },
            }
            positions.pop_front();
        }
        run.map(|run| (run, STEP_BYTES_MAX))
    }

    /// The store answered. An error ends the read; a damaged entry does not.
    pub(crate) fn answered(
        &mut self,
        log: u32,
        ledgers: &ManagedLedger,
        cache: &mut TailCache,
        result: Result<Vec<Entry>, LedgerError>,
    ) -> Next {
        let Some(run) = self.asked.take() else {
            return Next::Reply(self.reply());
        };
        let first = Position::new(run.ledger, run.first);
        match result {
            Ok(entries) => {
                let numbers = run.first..=run.last;
                let fitting: Vec<Entry> = numbers
                    .zip(entries)
                    .take_while(|(number, entry)| entry.entry == *number)
                    .map(|(_, e)| e)
                    .collect();
                if fitting.is_empty() {
                    return self.fail(LogError::Io(format!("storage gave no entry for {first}")));
                }
                self.take(log, run, fitting, cache);
            }
            Err(LedgerError::Damaged(..)) => self.pass_over(
                Run {
                    last: run.first,
                    ..run
                },
                run.last,
            ),
            Err(LedgerError::NoSuchLedger(_)) if ledgers.next_run(first, first).is_none() => {
                self.trimmed(run)
            }
            Err(error @ (LedgerError::NoSuchEntry(..) | LedgerError::NoSuchLedger(_))) => {
                tracing::error!("entries {first} to {} should be there: {error}", run.last);
                self.pass_over(run, run.last);
            }
            Err(LedgerError::Timeout(text)) => return self.fail(LogError::Timeout(text)),
            Err(error) => return self.fail(LogError::Io(error.to_string())),
        }
        self.next(log, ledgers, cache)
    }

    fn take(&mut self, log: u32, run: Run, entries: Vec<Entry>, cache: &mut TailCache) {
        let next = run.first + entries.len() as i64;
        for Entry { entry, body } in entries {
            let position = Position::new(run.ledger, entry);
            cache.keep_read(log, position, &body);
            self.got.push(StoredEntry { position, body });
        }
        if let Wanted::Exactly(positions) = &mut self.wanted {
            for entry in (next..=run.last).rev() {
                positions.push_front(Position::new(run.ledger, entry));
            }
        }
    }

    /// Entries that cannot be read are named, and reading goes on behind them. The store was asked for
    /// entries up to `asked_last`.
    fn pass_over(&mut self, bad: Run, asked_last: i64) {
        self.damaged
            .extend((bad.first..=bad.last).map(|entry| Position::new(bad.ledger, entry)));
        match &mut self.wanted {
            Wanted::Range {
                next, entries_left, ..
            } => {
                *next = Position::new(bad.ledger, bad.last).after();
                *entries_left = entries_left.saturating_sub((bad.last - bad.first + 1) as usize);
            }
            Wanted::Exactly(positions) => {
                for entry in (bad.last + 1..=asked_last).rev() {
                    positions.push_front(Position::new(bad.ledger, entry));
                }
            }
        }
    }

    fn trimmed(&mut self, run: Run) {
        if let Wanted::Range { next, .. } = &mut self.wanted {
            *next = Position::new(run.ledger, run.last).after();
        }
    }

    /// The reply that says it failed.
    pub(crate) fn fail(&mut self, error: LogError) -> Next {
        let damaged = std::mem::take(&mut self.damaged);
        Next::Reply(LogReply::Read {
            ticket: self.ticket,
            result: Err(error),
            damaged,
        })
    }

    fn reply(&mut self) -> LogReply {
        let (got, damaged) = (
            std::mem::take(&mut self.got),
            std::mem::take(&mut self.damaged),
        );
        LogReply::Read {
            ticket: self.ticket,
            result: Ok(got),
            damaged,
        }
    }
}
