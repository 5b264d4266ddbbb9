//! From asleep to open and back: when the log is opened and closed, and what happens to who waits.

use crate::Topic;
use crate::newcomers::WaitsFor;
use crate::saving::Saving;
use crate::subscription::Subscription;
use crate::turn::{Seat, Turn};
use cursor::{Cursor, CursorError, Extent};
use letters::{LogError, LogRequest, RefusalCode, SavedCursor, SessionLetter};
use vocabulary::{Moment, Position};

/// How far the topic's log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Closed.
    Asleep,
    /// Asked to open.
    Opening { create: bool },
    /// Open.
    Ready,
    /// Open; cursors are being saved before it is closed.
    Draining,
    /// Asked to close.
    Closing,
}

impl Topic {
    /// Whether somebody new can be admitted now. A topic that was about to sleep stays awake.
    pub(crate) fn is_open_to(&mut self, turn: &mut Turn<'_>) -> bool {
        if self.phase == Phase::Draining && !self.shutting_down && self.unloading.is_empty() {
            self.phase = Phase::Ready;
            for subscription in self.subscriptions.values_mut() {
                subscription.saving.flush(false);
            }
            self.settle_all(turn);
        }
        self.phase == Phase::Ready
    }

    /// Whether the log is open.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Ready | Phase::Draining)
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down
    }

    /// Opens the log, if it is closed and somebody waits for it. Nobody waits for one that was shut down.
    pub(crate) fn open_where_wanted(&mut self, turn: &mut Turn<'_>) {
        if self.shutting_down {
            self.refuse_newcomers(
                RefusalCode::ServiceNotReady,
                "The broker is shutting down",
                turn,
            );
            return;
        }
        if self.phase == Phase::Asleep && !self.newcomers.is_empty() {
            let wanted = self.newcomers.iter().any(|newcomer| newcomer.may_create());
            let create = self.settings.auto_create_topics && wanted;
            self.phase = Phase::Opening { create };
            let is_partition = self.name.partition().is_some();
            match self.only_passes() || (wanted && is_partition) {
                true => self.look_around(turn),
                false => turn.ask(LogRequest::Open { create }),
            }
        }
    }

    /// The log is open.
    pub(crate) fn opened(
        &mut self,
        extent: Vec<(i64, i64)>,
        cursors: Vec<SavedCursor>,
        properties: &[(String, String)],
        turn: &mut Turn<'_>,
    ) {
        if !matches!(self.phase, Phase::Opening { .. }) {
            return;
        }
        if self.ending.is_some() {
            return self.end_log(turn);
        }
        self.extent = Extent::new(extent);
        if let Err(text) = self.producers.exclusive.restore(properties) {
            return self.cannot_be_opened(&text, turn);
        }
        for saved in cursors {
            match self.restored(&saved, turn) {
                Ok(subscription) => {
                    self.subscriptions
                        .insert(subscription.name.clone(), subscription);
                }
                Err(error) => {
                    let text = format!("subscription '{}': {error}", saved.name);
                    self.cannot_be_opened(&text, turn);
                    return;
                }
            }
        }
        self.phase = if self.shutting_down {
            Phase::Draining
        } else {
            Phase::Ready
        };
        self.settle_all(turn);
        self.readmit(|newcomer| newcomer.waits_for == WaitsFor::Log, turn);
    }

    /// A cursor as it was saved. One that is damaged begins at what is left of it, or at the first entry: better twice
    /// than never.
    fn restored(
        &self,
        saved: &SavedCursor,
        turn: &mut Turn<'_>,
    ) -> Result<Subscription, CursorError> {
        let lost = saved.lost.as_deref();
        let mut cursor = match Cursor::restore(&saved.snapshot, &saved.deltas) {
            Ok(mut cursor) => {
                if let Some(why) = lost {
                    turn.report(format!(
                        "{}: subscription '{}': its newest acknowledgements are lost ({why}); it begins again after \
                         {}, and what was acknowledged since then comes again",
                        self.name,
                        saved.name,
                        cursor.mark()
                    ));
                    cursor.save_failed();
                }
                cursor
            }
            Err(_) if lost.is_some() && saved.snapshot.is_empty() => {
                turn.report(format!(
                    "{}: subscription '{}': its acknowledgements are lost ({}); it begins again at the first entry",
                    self.name,
                    saved.name,
                    lost.unwrap_or_default()
                ));
                let mut cursor = Cursor::at(self.extent.start());
                cursor.save_failed();
                cursor
            }
            Err(error @ CursorError::Version { .. }) => return Err(error),
            Err(error) => {
                turn.report(format!(
                    "{}: subscription '{}': {error}; it begins again at the first entry",
                    self.name, saved.name
                ));
                let mut cursor = Cursor::at(self.extent.start());
                cursor.save_failed();
                cursor
            }
        };
        cursor.clamp(&self.extent);
        let mark = cursor.mark();
        Ok(Subscription::new(
            saved.name.as_str().into(),
            cursor,
            Saving::restored(mark),
        ))
    }

    /// A newer version has been here, or what is stored makes no sense: nothing is touched.
    fn cannot_be_opened(&mut self, problem: &str, turn: &mut Turn<'_>) {
        let text = format!("{}: {problem}", self.name);
        self.subscriptions.clear();
        self.refuse_newcomers(RefusalCode::PersistenceError, &text, turn);
        turn.report(text);
        self.phase = Phase::Closing;
        turn.ask(LogRequest::Close);
    }

    /// The log could not be opened.
    pub(crate) fn open_failed(&mut self, error: &LogError, turn: &mut Turn<'_>) {
        let Phase::Opening { create } = self.phase else {
            return;
        };
        self.phase = Phase::Asleep;
        if self.ending.is_some() {
            return self.end(Err(error.clone()), turn);
        }
        let missing = matches!(error, LogError::NoSuchTopic(_));
        if missing && !create && self.settings.auto_create_topics {
            // Who may create the topic has come meanwhile, and shall have it.
            for newcomer in self.newcomers.take(|newcomer| !newcomer.may_create()) {
                newcomer.refuse(RefusalCode::TopicNotFound, &error.to_string(), turn);
            }
            self.open_where_wanted(turn);
            return;
        }
        let code = match error {
            LogError::NoSuchTopic(_) | LogError::NoSuchNamespace(_) => RefusalCode::TopicNotFound,
            LogError::Fenced(_) | LogError::Timeout(_) => RefusalCode::ServiceNotReady,
            LogError::Full(_) | LogError::Damaged(_) | LogError::Io(_) => {
                RefusalCode::PersistenceError
            }
        };
        if code != RefusalCode::TopicNotFound {
            turn.report(format!("{}: cannot be opened: {error}", self.name));
        }
        self.refuse_newcomers(code, &error.to_string(), turn);
    }

    /// A record of a cursor is on disk, or not.
    pub(crate) fn cursor_saved(
        &mut self,
        ticket: u64,
        name: &str,
        result: Result<(), LogError>,
        turn: &mut Turn<'_>,
    ) {
        // An older answer is of a log that was lost.
        let known = self
            .subscriptions
            .get(name)
            .filter(|_| ticket > self.ignored_tickets);
        let Some(subscription) = known else {
            return;
        };
        let created = !subscription.is_ready();
        if let (true, Err(error)) = (created, &result) {
            self.subscriptions.remove(name);
            let text = format!(
                "Subscription '{name}' cannot be created on {}: {error}",
                self.name
            );
            let waits = |newcomer: &crate::newcomers::Newcomer| matches!(&newcomer.waits_for, WaitsFor::Subscription(waited) if waited == name);
            for newcomer in self.newcomers.take(waits) {
                newcomer.refuse(RefusalCode::PersistenceError, &text, turn);
            }
            turn.report(text);
            return;
        }
        self.with(name, turn, |subscription, view, turn| {
            subscription.saved(ticket, result, view, turn)
        });
        self.readmit_when_unfenced(name, turn);
        // Also where no mark moved, or nothing was saved: a seek back that waited for this record begins with its
        // answer, and wants again what the log was told that nobody needs.
        self.trim_where_possible(turn);
    }

    /// What all durable subscriptions have acknowledged on disk is needed by nobody. One that goes back, or a new one
    /// that begins at the first entry, needs it again, as far as it is still there.
    pub(crate) fn trim_where_possible(&mut self, turn: &mut Turn<'_>) {
        let slowest = self
            .subscriptions
            .values()
            .filter(|subscription| subscription.cursor.is_durable())
            .map(|subscription| subscription.saving.durable_mark)
            .min();
        if let Some(up_to) = slowest.filter(|up_to| *up_to != self.trimmed_to) {
            self.trimmed_to = up_to;
            turn.ask(LogRequest::Trim { up_to });
        }
    }

    /// Ledgers are gone.
    pub(crate) fn trimmed(&mut self, first: Position, turn: &mut Turn<'_>) {
        self.extent.trimmed(first);
        for subscription in self.subscriptions.values_mut() {
            subscription.cursor.clamp(&self.extent);
            if let Some(seek) = &mut subscription.seek {
                seek.clamp(&self.extent);
            }
        }
        self.settle_all(turn);
    }

    /// Notes since when nobody is here.
    pub(crate) fn note_idleness(&mut self, turn: &Turn<'_>) {
        let idle = self.phase == Phase::Ready
            && self.producers.is_empty()
            && !self.producers.exclusive.is_granting()
            && self.consumers.is_empty()
            && self.newcomers.is_empty()
            && self.finds.is_empty()
            && turn.errands.quests.is_empty()
            && self.producers.appending.is_empty();
        self.idle_since = match (idle, self.idle_since) {
            (true, None) => Some(turn.now.moment),
            (true, since) => since,
            (false, _) => None,
        };
    }

    /// When it will sleep if nobody comes.
    pub(crate) fn idle_deadline(&self) -> Option<Moment> {
        Some(self.idle_since?.after(self.settings.idle_before_sleep))
    }

    pub(crate) fn sleep_when_idle(&mut self, turn: &mut Turn<'_>) {
        if self.idle_deadline().is_some_and(|at| at <= turn.now.moment) {
            self.drain(turn);
        }
    }

    /// Saves what is unsaved; the log is closed when that is done.
    pub(crate) fn drain(&mut self, turn: &mut Turn<'_>) {
        self.phase = Phase::Draining;
        for subscription in self.subscriptions.values_mut() {
            subscription.saving.flush(true);
        }
        self.settle_all(turn);
    }

    /// Closes the log when nothing is on its way to it.
    pub(crate) fn close_when_drained(&mut self, turn: &mut Turn<'_>) {
        let drained = self.phase == Phase::Draining
            && self.producers.appending.is_empty()
            && self
                .subscriptions
                .values()
                .all(|subscription| subscription.is_drained());
        if drained {
            self.phase = Phase::Closing;
            match self.only_passes() {
                true => self.closed(turn),
                false => turn.ask(LogRequest::Close),
            }
        }
    }

    /// The log is closed.
    pub(crate) fn closed(&mut self, turn: &mut Turn<'_>) {
        if self.phase != Phase::Closing {
            return;
        }
        self.forget_log(turn, "The topic was closed");
        if self.ending.is_some() {
            return self.open_to_end(turn);
        }
        self.open_where_wanted(turn);
    }

    /// Everybody is told to go elsewhere.
    pub(crate) fn shut_down(&mut self, turn: &mut Turn<'_>) {
        self.shutting_down = true;
        self.refuse_newcomers(
            RefusalCode::ServiceNotReady,
            "The broker is shutting down",
            turn,
        );
        self.throw_out_consumers(turn);
        let idle: Vec<Seat> = self
            .producers
            .iter()
            .filter(|producer| producer.pending == 0)
            .map(|producer| producer.seat)
            .collect();
        for (session, producer_id) in idle {
            turn.tell(session, SessionLetter::CloseProducer { producer_id });
            self.remove_producer((session, producer_id), turn);
        }
        if self.phase == Phase::Ready || self.phase == Phase::Draining {
            self.drain(turn);
        }
    }

    pub(crate) fn throw_out_consumers(&mut self, turn: &mut Turn<'_>) {
        for subscription in self.subscriptions.values_mut() {
            subscription.leave_all();
        }
        for (session, consumer_id) in std::mem::take(&mut self.consumers).into_keys() {
            turn.tell(session, SessionLetter::CloseConsumer { consumer_id });
        }
    }

    /// The log belongs to somebody else now, or is beyond use.
    pub(crate) fn lost(&mut self, error: &LogError, turn: &mut Turn<'_>) {
        let text = format!(
            "{}: the log was lost: {error}; clients are told to look the topic up again",
            self.name
        );
        turn.report(text);
        self.refuse_newcomers(RefusalCode::ServiceNotReady, &error.to_string(), turn);
        self.throw_out_producers(turn);
        self.throw_out_consumers(turn);
        self.forget_log(turn, &error.to_string());
        self.end(Err(error.clone()), turn);
    }

    /// Nothing of what was known of the log counts any more.
    pub(crate) fn forget_log(&mut self, turn: &mut Turn<'_>, reason: &str) {
        for subscription in self.subscriptions.values_mut() {
            subscription.saving.give_up(reason, turn);
            if let Some(seek) = subscription.seek.take() {
                seek.refuse(reason, turn);
            }
            if let Some(deletion) = subscription.deletion.take() {
                deletion
                    .asker
                    .refuse(RefusalCode::ServiceNotReady, reason, turn);
            }
        }
        self.last_ids.give_up(reason, turn);
        Topic::give_up_quests(reason, turn);
        self.unloaded(turn);
        self.subscriptions.clear();
        self.timers.clear();
        self.producers.appending.clear();
        self.producers.appending_bytes = 0;
        self.producers.fenced = false;
        self.producers.exclusive.forget();
        self.extent = Extent::default();
        self.trimmed_to = Position::EARLIEST;
        self.ignored_tickets = turn.ticket();
        turn.errands.readers.clear();
        turn.errands.quests.clear();
        self.phase = Phase::Asleep;
        self.idle_since = None;
    }
}
