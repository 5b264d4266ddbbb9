//! SEEK: a subscription goes elsewhere. Its consumers are disconnected, what they held is forgotten; nobody is
//! delivered anything and nobody new is let in until the new position is on disk. A failure, or a crash, leaves the
//! old position or the new one, never a mix.

use crate::Topic;
use crate::newcomers::WaitsFor;
use crate::saving::Save;
use crate::subscription::{Subscription, View};
use crate::time_search::{Step, TimeSearch};
use crate::turn::{Asker, Quest, Seat, Turn, refusal};
use cursor::{Cursor, Extent};
use letters::{
    LogError, LogRequest, RefusalCode, SeekTarget, SessionLetter, StoredEntry, SubscriptionType,
};
use vocabulary::{AckSet, Position};

/// A seek under way.
#[derive(Debug)]
pub(crate) struct Seek {
    /// `None`: a SUBSCRIBE that starts by time, which goes on either way.
    asker: Option<Asker>,
    /// Pulsar says so in its errors.
    by_time: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Entries are looked at; consumers do not notice.
    Searching(TimeSearch),
    /// It is known where to; its consumers are to be disconnected.
    Found(Position, Option<AckSet>),
    /// They are; a record under way is waited for.
    Resetting(Position, Option<AckSet>),
    /// The new position is on its way to disk; this is the old one.
    Saving(Box<Cursor>),
}

impl Seek {
    /// Says no to who asked.
    pub fn refuse(self, reason: &str, turn: &mut Turn<'_>) {
        if let Some(asker) = self.asker {
            asker.refuse(RefusalCode::UnknownError, text(self.by_time, reason), turn);
        }
    }

    /// The old position is fitted to what was trimmed, too.
    pub fn clamp(&mut self, extent: &Extent) {
        if let Stage::Saving(before) = &mut self.stage {
            before.clamp(extent);
        }
    }

    fn is_found(&self) -> bool {
        matches!(self.stage, Stage::Found(..))
    }
}

/// An error as Pulsar words it.
fn text(by_time: bool, reason: &str) -> String {
    match by_time {
        true => format!("Reset subscription to publish time error: {reason}"),
        false => format!("Error when resetting subscription: {reason}"),
    }
}

impl Topic {
    /// SEEK came.
    pub(crate) fn seek(&mut self, asker: Asker, target: SeekTarget, turn: &mut Turn<'_>) {
        let Some(name) = self.consumers.get(&asker.seat).cloned() else {
            return asker.refuse_unknown(turn);
        };
        self.start_seek(&name, Some(asker), target, turn);
    }

    /// Begins a seek; a second one at a time is refused.
    pub(crate) fn start_seek(
        &mut self,
        name: &str,
        asker: Option<Asker>,
        target: SeekTarget,
        turn: &mut Turn<'_>,
    ) {
        self.with(name, turn, |subscription, view, turn| {
            subscription.begin_seek(asker, target, view, turn)
        });
        self.go_on_seeking(name, turn);
    }

    /// A read that a search asked for was answered.
    pub(crate) fn searched(
        &mut self,
        name: &str,
        ticket: u64,
        result: Result<Vec<StoredEntry>, LogError>,
        turn: &mut Turn<'_>,
    ) {
        self.with(name, turn, |subscription, view, turn| {
            subscription.searched(ticket, result, view, turn)
        });
        self.go_on_seeking(name, turn);
    }

    /// Disconnects who has to go once it is known where to, then lets the subscription reset itself.
    fn go_on_seeking(&mut self, name: &str, turn: &mut Turn<'_>) {
        let found = self.subscriptions.get(name);
        if found.is_some_and(|found| found.seek.as_ref().is_some_and(Seek::is_found)) {
            let gone = self.with(name, turn, |subscription, view, turn| {
                subscription.disconnect_for_seek(view, turn)
            });
            for seat in gone.into_iter().flatten() {
                self.consumers.remove(&seat);
            }
            self.with(name, turn, |subscription, _, _| {
                subscription.consumers_are_gone()
            });
            self.trim_where_possible(turn);
        }
        self.readmit_when_unfenced(name, turn);
    }

    /// Who waited for the end of a seek or a deletion has its turn.
    pub(crate) fn readmit_when_unfenced(&mut self, name: &str, turn: &mut Turn<'_>) {
        let is_open = self
            .subscriptions
            .get(name)
            .is_none_or(|found| found.is_ready() && !found.is_fenced());
        if is_open {
            let waits = WaitsFor::Subscription(name.to_owned());
            self.readmit(|newcomer| newcomer.waits_for == waits, turn);
            self.readmit(|newcomer| newcomer.wants_place_in(name), turn);
        }
    }
}

impl Subscription {
    fn begin_seek(
        &mut self,
        asker: Option<Asker>,
        target: SeekTarget,
        view: &View<'_>,
        turn: &mut Turn<'_>,
    ) {
        let by_time = matches!(target, SeekTarget::Time(_));
        if self.is_fenced() {
            if let Some(asker) = asker {
                let text = text(by_time, "Failed to fence subscription");
                asker.refuse(RefusalCode::UnknownError, text, turn);
            }
            return;
        }
        let stage = match target {
            SeekTarget::Id(position, remaining) => Stage::Found(position, remaining),
            SeekTarget::Time(time_ms) => Stage::Searching(TimeSearch::new(time_ms, view.extent)),
        };
        self.seek = Some(Seek {
            asker,
            by_time,
            stage,
        });
        self.go_on_searching(view, turn);
    }

    fn go_on_searching(&mut self, view: &View<'_>, turn: &mut Turn<'_>) {
        let Some(seek) = &mut self.seek else { return };
        let Stage::Searching(search) = &mut seek.stage else {
            return;
        };
        match search.step(view.extent) {
            Step::Found(older_to) => seek.stage = Stage::Found(older_to.after(), None),
            Step::Read(positions) => {
                let ticket = turn.ticket();
                search.ticket = ticket;
                turn.errands
                    .quests
                    .insert(ticket, Quest::Time(self.name.clone()));
                turn.ask(LogRequest::ReadAt { ticket, positions });
            }
        }
    }

    fn searched(
        &mut self,
        ticket: u64,
        result: Result<Vec<StoredEntry>, LogError>,
        view: &View<'_>,
        turn: &mut Turn<'_>,
    ) {
        let Some(seek) = &mut self.seek else { return };
        let Stage::Searching(search) = &mut seek.stage else {
            return;
        };
        if search.ticket != ticket {
            return;
        }
        match result {
            Ok(entries) => {
                search.take(&entries);
                self.go_on_searching(view, turn);
            }
            Err(error) => self.end_seek(Err(error.to_string()), view, turn),
        }
    }

    /// Takes out who has to go: everybody of a Shared subscription, the active one of the others, as in Pulsar.
    fn disconnect_for_seek(&mut self, view: &View<'_>, turn: &mut Turn<'_>) -> Vec<Seat> {
        let gone: Vec<Seat> = match self.kind {
            Some(SubscriptionType::Exclusive | SubscriptionType::Failover) => {
                self.active.seat.into_iter().collect()
            }
            _ => self
                .consumers
                .iter()
                .map(|consumer| consumer.seat)
                .collect(),
        };
        for (session, consumer_id) in gone.iter().copied() {
            turn.tell(session, SessionLetter::CloseConsumer { consumer_id });
        }
        if gone.len() == self.consumers.len() {
            self.leave_all();
        } else {
            gone.iter().for_each(|seat| self.leave(*seat, view, turn));
        }
        gone
    }

    fn consumers_are_gone(&mut self) {
        if let Some(seek) = self.seek.take() {
            let stage = match seek.stage {
                Stage::Found(target, remaining) => Stage::Resetting(target, remaining),
                other => other,
            };
            self.seek = Some(Seek { stage, ..seek });
        }
    }

    /// Resets the cursor when no record of it is under way, and sends the record of that.
    pub(crate) fn reset_where_due(&mut self, view: &View<'_>, turn: &mut Turn<'_>) {
        let Some(seek) = &mut self.seek else { return };
        let Stage::Resetting(target, remaining) = &seek.stage else {
            return;
        };
        if self.saving.is_under_way() {
            return;
        }
        let before = Box::new(self.cursor.clone());
        if let Err(error) = self.cursor.seek(view.extent, *target, remaining.as_ref()) {
            return self.end_seek(Err(error.to_string()), view, turn);
        }
        let Some(record) = self.cursor.take_record() else {
            // A reader's: there is nothing to save.
            return self.end_seek(Ok(()), view, turn);
        };
        seek.stage = Stage::Saving(before);
        let ticket = turn.ticket();
        self.saving.begin(Save {
            ticket,
            mark: self.cursor.mark(),
            waiters: Vec::new(),
        });
        // Either of the two may be on disk from now on.
        let mark = self.cursor.mark();
        self.saving.durable_mark = self.saving.durable_mark.min(mark);
        turn.ask(LogRequest::SaveCursor {
            ticket,
            name: self.name.to_string(),
            record,
        });
    }

    /// The record under way is on disk, or not: if it is that of a seek, the seek is over.
    pub(crate) fn reset_saved(
        &mut self,
        result: Result<(), &LogError>,
        view: &View<'_>,
        turn: &mut Turn<'_>,
    ) {
        let Some(Seek {
            stage: Stage::Saving(before),
            ..
        }) = &mut self.seek
        else {
            return;
        };
        if let Err(error) = result {
            let wanted = self.cursor.mark();
            self.cursor = (**before).clone();
            let reason =
                format!("unable to persist readPosition for cursor reset after {wanted}: {error}");
            return self.end_seek(Err(reason), view, turn);
        }
        self.saving.durable_mark = self.cursor.mark();
        self.end_seek(Ok(()), view, turn);
    }

    fn end_seek(&mut self, result: Result<(), String>, view: &View<'_>, turn: &mut Turn<'_>) {
        let Some(seek) = self.seek.take() else { return };
        if !self.cursor.is_durable() && self.consumers.is_empty() {
            let patience = view.settings.idle_before_sleep;
            self.abandoned_at = Some(turn.now.moment.after(patience));
        }
        if !matches!(seek.stage, Stage::Searching(_)) {
            self.rewind();
            self.replay.forget_counts();
        }
        match (result, seek.asker) {
            (Err(reason), _) => seek.refuse(&reason, turn),
            (Ok(()), Some(asker)) => turn.tell(
                asker.seat.0,
                SessionLetter::SeekDone {
                    request_id: asker.request_id,
                    consumer_id: asker.seat.1,
                },
            ),
            (Ok(()), None) => {}
        }
    }

    /// Whether nobody new is let in: it is being moved or deleted.
    pub(crate) fn is_fenced(&self) -> bool {
        self.seek.is_some() || self.deletion.is_some()
    }

    /// Whether its cursor is about to be another one.
    pub(crate) fn is_being_reset(&self) -> bool {
        self.seek
            .as_ref()
            .is_some_and(|seek| !matches!(seek.stage, Stage::Searching(_)))
    }

    /// Whether nothing is delivered.
    pub(crate) fn is_halted(&self) -> bool {
        self.is_being_reset() || self.deletion.is_some()
    }
}

/// Refusal of an ack while the cursor is being moved, in Pulsar's words.
pub(crate) fn refuse_ack(position: Position) -> letters::Refusal {
    let text = format!("Reset cursor in progress - unable to mark delete position {position}");
    refusal(RefusalCode::UnknownError, text)
}
