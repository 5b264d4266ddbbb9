//! Reading a subscription's entries from the log: one read under way at a time, at most one batch kept.

use crate::subscription::{Subscription, View};
use crate::turn::Turn;
use letters::{LogError, LogRequest, StoredEntry};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;
use vocabulary::{Moment, Position};

const RETRY_AFTER_MIN: Duration = Duration::from_millis(100);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(10);
/// Damaged entries that are remembered as reported, so that each is reported once.
const REPORTED_MAX: usize = 1000;

/// How far a subscription has read.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Entries up to here were read since the last rewind; each is delivered, acknowledged, held or to be replayed.
    pub read_to: Position,
    /// Read, in order, and waiting for somebody with permits. At most one read's worth.
    pub held: VecDeque<StoredEntry>,
    /// The read under way.
    pub under_way: Option<Reading>,
    /// No read before this moment: the last one failed.
    pub retry_at: Option<Moment>,
    failures: u32,
    reported: BTreeSet<Position>,
    /// Times that damaged entries were met.
    pub damaged_met: u64,
}

/// A read that was asked for.
#[derive(Debug)]
pub(crate) struct Reading {
    pub ticket: u64,
    pub purpose: Purpose,
    /// Nobody wants the answer any more; the next read waits for it, so that rewinding in a row costs one read.
    pub stale: bool,
}

/// Why it was asked for.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// What comes next, up to here.
    New { until: Position },
    /// These again.
    Replay { positions: Vec<Position> },
}

impl Reader {
    pub fn at(mark: Position) -> Reader {
        Reader {
            read_to: mark,
            held: VecDeque::new(),
            under_way: None,
            retry_at: None,
            failures: 0,
            reported: BTreeSet::new(),
            damaged_met: 0,
        }
    }

    /// Starts again after this position.
    pub fn rewind(&mut self, mark: Position) {
        self.read_to = mark;
        self.held.clear();
        if let Some(reading) = &mut self.under_way {
            reading.stale = true;
        }
    }

    fn failed(&mut self, now: Moment) {
        let after = RETRY_AFTER_MIN
            .saturating_mul(1 << self.failures.min(10))
            .min(RETRY_AFTER_MAX);
        self.failures = self.failures.saturating_add(1);
        self.retry_at = Some(now.after(after));
    }
}

impl Subscription {
    /// Asks for what comes next, if there is anything and no read is under way.
    pub(crate) fn read_new(&mut self, view: &View<'_>, turn: &mut Turn<'_>) {
        if self.reader.under_way.is_some() || self.reader.retry_at.is_some() {
            return;
        }
        let Some((from, until)) = self.next_to_read(view) else {
            return;
        };
        let (permits, credit) = self.capacity();
        let entries_max = u32::try_from(permits)
            .unwrap_or(u32::MAX)
            .clamp(1, view.settings.read_entries_max.max(1));
        let bytes_max = usize::try_from(credit)
            .unwrap_or(usize::MAX)
            .min(view.settings.read_bytes_max);
        let ticket = self.begin_read(Purpose::New { until }, turn);
        turn.ask(LogRequest::Read {
            ticket,
            from,
            until,
            entries_max,
            bytes_max,
        });
    }

    /// The first entry that was not read yet and is wanted, and the last that may be read.
    pub(crate) fn next_to_read(&self, view: &View<'_>) -> Option<(Position, Position)> {
        let until = view.extent.last()?.min(view.max_read_position);
        let from = self.cursor.next_unacked(view.extent, self.reader.read_to)?;
        (from <= until).then_some((from, until))
    }

    /// Asks again for what is to be replayed, as much as could be taken now.
    pub(crate) fn read_replay(&mut self, view: &View<'_>, turn: &mut Turn<'_>) {
        if self.reader.under_way.is_some() || self.reader.retry_at.is_some() {
            return;
        }
        let (permits, credit) = self.capacity();
        let entries_max = usize::try_from(permits)
            .unwrap_or(usize::MAX)
            .min(view.settings.read_entries_max as usize);
        let bytes_max = credit.min(view.settings.read_bytes_max as u64);
        let positions = self.replay.first(entries_max, bytes_max);
        let ticket = self.begin_read(
            Purpose::Replay {
                positions: positions.clone(),
            },
            turn,
        );
        turn.ask(LogRequest::ReadAt { ticket, positions });
    }

    fn begin_read(&mut self, purpose: Purpose, turn: &mut Turn<'_>) -> u64 {
        let ticket = turn.ticket();
        turn.errands.readers.insert(ticket, self.name.clone());
        self.reader.under_way = Some(Reading {
            ticket,
            purpose,
            stale: false,
        });
        ticket
    }

    /// Permits and bytes that consumers could take now.
    fn capacity(&self) -> (u64, u64) {
        let mut sum = (0u64, 0u64);
        for consumer in self
            .consumers
            .iter()
            .filter(|consumer| consumer.is_available())
        {
            sum.0 = sum.0.saturating_add(consumer.permits.max(0).unsigned_abs());
            sum.1 = sum.1.saturating_add(consumer.credit_bytes());
        }
        sum
    }

    /// A read was answered.
    pub fn read_done(
        &mut self,
        ticket: u64,
        result: Result<Vec<StoredEntry>, LogError>,
        damaged: Vec<Position>,
        view: &View<'_>,
        turn: &mut Turn<'_>,
    ) {
        let Some(reading) = self
            .reader
            .under_way
            .take_if(|reading| reading.ticket == ticket)
        else {
            return;
        };
        if reading.stale {
            return;
        }
        match result {
            Ok(entries) => {
                self.reader.failures = 0;
                self.reader.damaged_met += damaged.len() as u64;
                self.take_in(reading.purpose, entries, &damaged);
                match view.settings.skip_unreadable_entries {
                    true => self.skip_damaged(damaged, view, turn),
                    false => self.report_damaged(&damaged, view, turn),
                }
            }
            Err(error) => {
                if self.reader.failures == 0 {
                    turn.report(format!(
                        "{}: subscription '{}' cannot read: {error}; trying again",
                        view.topic, self.name
                    ));
                }
                self.reader.failed(turn.now.moment);
            }
        }
    }

    fn take_in(&mut self, purpose: Purpose, entries: Vec<StoredEntry>, damaged: &[Position]) {
        match purpose {
            Purpose::New { until } => {
                let last = entries
                    .last()
                    .map(|entry| entry.position)
                    .max(damaged.iter().max().copied());
                let before = self.reader.read_to;
                self.reader.read_to = before.max(last.map_or(until, |last| last.min(until)));
                let wanted = entries
                    .into_iter()
                    .filter(|entry| entry.position > before && entry.position <= until);
                self.reader.held.extend(wanted);
            }
            Purpose::Replay { positions } => {
                // What did not come back is damaged or trimmed: no longer to be replayed, but not acknowledged either.
                for position in &positions {
                    self.replay.forget_position(*position);
                }
                let wanted = entries
                    .into_iter()
                    .filter(|entry| positions.binary_search(&entry.position).is_ok());
                self.replay.held.extend(wanted);
            }
        }
    }

    /// Damaged entries stay unacknowledged: they are passed over until a consumer subscribes again, and counted.
    fn report_damaged(&mut self, damaged: &[Position], view: &View<'_>, turn: &mut Turn<'_>) {
        for position in damaged {
            if self.reader.reported.len() < REPORTED_MAX && self.reader.reported.insert(*position) {
                turn.report(format!(
                    "{}: entry {position} is damaged and cannot be delivered to subscription '{}'; it stays \
                     unacknowledged and is tried again when a consumer subscribes. To give up such entries for good, \
                     set autoSkipNonRecoverableData=true",
                    view.topic, self.name
                ));
            }
        }
    }

    /// `autoSkipNonRecoverableData`: damaged entries hold nobody up. Only what storage calls damaged or gone comes here;
    /// a read that failed for another reason is tried again.
    fn skip_damaged(&mut self, mut damaged: Vec<Position>, view: &View<'_>, turn: &mut Turn<'_>) {
        damaged.retain(|position| !self.cursor.is_acked(*position));
        damaged.sort_unstable();
        damaged.dedup();
        for run in damaged.chunk_by(|one, next| one.after() == *next) {
            for position in run {
                self.ack_by_us(*position, view, turn);
            }
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                turn.report(format!(
                    "{}: entries {first} to {last} are damaged and lost to subscription '{}': they were acknowledged \
                     in its place (autoSkipNonRecoverableData=true)",
                    view.topic, self.name
                ));
            }
        }
    }
}
