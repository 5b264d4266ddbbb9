//! A subscription's cursor on its way to disk: one record at a time; what changes meanwhile goes into the next.

use crate::subscription::{Subscription, View};
use crate::turn::{Seat, Turn, refusal};
use letters::{LogError, LogRequest, RefusalCode, SessionLetter};
use std::time::Duration;
use vocabulary::{Moment, Position, RequestId};

const RETRY_AFTER_MIN: Duration = Duration::from_millis(500);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(10);

/// How far the saving of a cursor is.
#[derive(Debug)]
pub(crate) struct Saving {
    created: bool,
    under_way: Option<Save>,
    /// Who waits for the next record to be on disk.
    waiting: Vec<Waiter>,
    /// When a change that nobody waits for is saved at the latest.
    due_at: Option<Moment>,
    /// No attempt before this moment: the last one failed.
    retry_at: Option<Moment>,
    failures: u32,
    /// Save at once, whoever waits: the log is about to be closed.
    flushing: bool,
    /// The mark as it is on disk: entries up to here are never wanted again by this subscription.
    pub durable_mark: Position,
    /// Records saved and not saved.
    pub saved: u64,
    pub failed: u64,
}

#[derive(Debug)]
pub(crate) struct Save {
    pub ticket: u64,
    pub mark: Position,
    pub waiters: Vec<Waiter>,
}

/// A client that waits for the receipt of its ack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter {
    pub seat: Seat,
    pub request_id: RequestId,
}

impl Waiter {
    fn answer(self, refusal: Option<letters::Refusal>, turn: &mut Turn<'_>) {
        let (session, consumer_id) = self.seat;
        turn.tell(
            session,
            SessionLetter::AckDone {
                request_id: self.request_id,
                consumer_id,
                refusal,
            },
        );
    }
}

impl Saving {
    /// Of a cursor that was found on disk.
    pub fn restored(mark: Position) -> Saving {
        Saving {
            created: true,
            under_way: None,
            waiting: Vec::new(),
            due_at: None,
            retry_at: None,
            failures: 0,
            flushing: false,
            durable_mark: mark,
            saved: 0,
            failed: 0,
        }
    }

    /// Of a cursor whose first record is on its way.
    pub fn creating(ticket: u64, mark: Position) -> Saving {
        let under_way = Some(Save {
            ticket,
            mark,
            waiters: Vec::new(),
        });
        Saving {
            created: false,
            under_way,
            ..Saving::restored(mark)
        }
    }

    /// Of a subscription in memory: there is never anything to save.
    pub fn none() -> Saving {
        Saving::restored(Position::EARLIEST)
    }

    /// A record is on its way that is not made of acks. Who waits for acks that it undoes is answered with it.
    pub fn begin(&mut self, save: Save) {
        self.due_at = None;
        self.retry_at = None;
        let waiters = self.waiting.drain(..).chain(save.waiters).collect();
        self.under_way = Some(Save { waiters, ..save });
    }

    /// The subscription is deleted: who waits for acks is told that they hold.
    pub fn conclude(&mut self, turn: &mut Turn<'_>) {
        let under_way = self
            .under_way
            .take()
            .map(|save| save.waiters)
            .unwrap_or_default();
        for waiter in under_way.into_iter().chain(self.waiting.drain(..)) {
            waiter.answer(None, turn);
        }
    }

    pub fn is_created(&self) -> bool {
        self.created
    }

    /// Whether a record is on its way.
    pub fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Somebody waits for what was acknowledged so far to be on disk.
    pub fn wait(&mut self, waiter: Waiter, most: usize, turn: &mut Turn<'_>) {
        if self.waiting.len() >= most {
            let text = format!(
                "{} acks wait for storage already; this one counts, but has no receipt",
                self.waiting.len()
            );
            waiter.answer(Some(refusal(RefusalCode::TooManyRequests, text)), turn);
        } else {
            self.waiting.push(waiter);
        }
    }

    /// From now on every change is saved at once.
    pub fn flush(&mut self, on: bool) {
        self.flushing = on;
    }

    /// When something is due.
    pub fn due_at(&self) -> Option<Moment> {
        if self.under_way.is_some() {
            None
        } else {
            self.retry_at.or(self.due_at)
        }
    }

    /// The log is gone: nobody gets a receipt any more.
    pub fn give_up(&mut self, reason: &str, turn: &mut Turn<'_>) {
        let under_way = self
            .under_way
            .take()
            .map(|save| save.waiters)
            .unwrap_or_default();
        for waiter in under_way.into_iter().chain(self.waiting.drain(..)) {
            waiter.answer(Some(refusal(RefusalCode::ServiceNotReady, reason)), turn);
        }
    }
}

impl Subscription {
    /// Whether nothing is on its way, and nothing more will be tried before the log is closed.
    pub(crate) fn is_drained(&self) -> bool {
        let to_be_saved = self.saving.flushing && self.cursor.is_dirty();
        let is_idle = self.seek.is_none() && self.deletion.is_none();
        is_idle && !to_be_saved && !self.saving.is_under_way()
    }

    /// Sends the next record, if somebody waits for it or its time has come.
    pub(crate) fn save_where_due(&mut self, view: &View<'_>, turn: &mut Turn<'_>) {
        if self.is_halted() {
            return;
        }
        let saving = &mut self.saving;
        if saving.under_way.is_some() {
            return;
        }
        if !self.cursor.is_dirty() {
            saving.due_at = None;
            for waiter in saving.waiting.drain(..) {
                waiter.answer(None, turn);
            }
            return;
        }
        let now = turn.now.moment;
        if saving.retry_at.is_some_and(|at| at > now) {
            return;
        }
        saving.retry_at = None;
        let due_at = *saving
            .due_at
            .get_or_insert(now.after(view.settings.ack_save_delay));
        if due_at > now && saving.waiting.is_empty() && !saving.flushing {
            return;
        }
        let Some(record) = self.cursor.take_record() else {
            return;
        };
        let ticket = turn.ticket();
        let saving = &mut self.saving;
        saving.due_at = None;
        saving.under_way = Some(Save {
            ticket,
            mark: self.cursor.mark(),
            waiters: std::mem::take(&mut saving.waiting),
        });
        turn.ask(LogRequest::SaveCursor {
            ticket,
            name: self.name.to_string(),
            record,
        });
    }

    /// A record is on disk, or not.
    pub(crate) fn saved(
        &mut self,
        ticket: u64,
        result: Result<(), LogError>,
        view: &View<'_>,
        turn: &mut Turn<'_>,
    ) {
        let Some(save) = self.saving.under_way.take_if(|save| save.ticket == ticket) else {
            return;
        };
        let saving = &mut self.saving;
        match result {
            Ok(()) => {
                saving.created = true;
                saving.saved += 1;
                saving.failures = 0;
                for waiter in save.waiters {
                    waiter.answer(None, turn);
                }
                self.reset_saved(Ok(()), view, turn);
                let saving = &mut self.saving;
                saving.durable_mark = saving.durable_mark.max(save.mark);
            }
            Err(error) => {
                saving.failed += 1;
                // One attempt is made before the log is closed; what nobody has a receipt for may come again.
                saving.flushing = false;
                let after = RETRY_AFTER_MIN
                    .saturating_mul(1 << saving.failures.min(10))
                    .min(RETRY_AFTER_MAX);
                saving.failures = saving.failures.saturating_add(1);
                saving.retry_at = Some(turn.now.moment.after(after));
                saving.due_at = saving.retry_at;
                for waiter in save.waiters {
                    let text = format!(
                        "Failed to store acknowledgments of subscription '{}': {error}",
                        self.name
                    );
                    waiter.answer(Some(refusal(RefusalCode::PersistenceError, text)), turn);
                }
                self.reset_saved(Err(&error), view, turn);
                self.cursor.save_failed();
                turn.report(format!(
                    "{}: subscription '{}': acks not stored: {error}",
                    view.topic, self.name
                ));
            }
        }
    }
}
