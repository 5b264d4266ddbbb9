//! UNSUBSCRIBE: a subscription ends. Its consumer hears of it when the deletion is on disk, and is gone with it.

use crate::Topic;
use crate::subscription::Subscription;
use crate::turn::{Asker, Turn};
use letters::{LogError, LogRequest, RefusalCode, SessionLetter};
use std::sync::Arc;

/// A deletion that was asked for.
#[derive(Debug)]
pub(crate) struct Deletion {
    pub asker: Asker,
    /// Of the request to the log; `None` while a record or a seek is still under way.
    ticket: Option<u64>,
}

impl Topic {
    /// UNSUBSCRIBE came. Who is not alone may only with `force`, which throws the others out.
    pub(crate) fn unsubscribe(&mut self, asker: Asker, force: bool, turn: &mut Turn<'_>) {
        let Some(name) = self.consumers.get(&asker.seat).cloned() else {
            return asker.refuse_unknown(turn);
        };
        self.unsubscribe_from(asker, &name, force, 1, turn);
    }

    /// A task ends a subscription: one with consumers only with `force`, which throws them out.
    pub(crate) fn unsubscribe_for(
        &mut self,
        asker: Asker,
        name: &str,
        force: bool,
        turn: &mut Turn<'_>,
    ) {
        let found = self.subscriptions.get(name);
        let Some(name) = found.map(|found| found.name.clone()) else {
            return;
        };
        if !force && found.is_some_and(|found| !found.consumers.is_empty()) {
            let text = "Subscription has active connected consumers";
            return asker.refuse(RefusalCode::ConsumerBusy, text, turn);
        }
        self.unsubscribe_from(asker, &name, force, 0, turn);
    }

    fn unsubscribe_from(
        &mut self,
        asker: Asker,
        name: &Arc<str>,
        force: bool,
        consumers_max: usize,
        turn: &mut Turn<'_>,
    ) {
        let Some(found) = self.subscriptions.get_mut(name) else {
            return;
        };
        if found.deletion.is_some() || (found.consumers.len() > consumers_max && !force) {
            let text = "Unconnected or shared consumer attempting to unsubscribe";
            return asker.refuse(RefusalCode::MetadataError, text, turn);
        }
        if !found.cursor.is_durable() {
            return self.end_subscription(name, asker, turn);
        }
        self.with(name, turn, |subscription, _, _| {
            subscription.deletion = Some(Deletion {
                asker,
                ticket: None,
            });
        });
    }

    /// A cursor is deleted, or not.
    pub(crate) fn cursor_deleted(
        &mut self,
        ticket: u64,
        name: &str,
        result: Result<(), LogError>,
        turn: &mut Turn<'_>,
    ) {
        let Some((name, found)) = self.subscriptions.get_key_value(name) else {
            return;
        };
        let name = name.clone();
        let Some(deletion) = found
            .deletion
            .as_ref()
            .filter(|deletion| deletion.ticket == Some(ticket))
        else {
            return;
        };
        let asker = deletion.asker;
        let Err(error) = result else {
            return self.end_subscription(&name, asker, turn);
        };
        let text = format!("Subscription '{name}' cannot be deleted: {error}");
        turn.report(format!("{}: {text}", self.name));
        asker.refuse(RefusalCode::UnknownError, text, turn);
        self.with(&name, turn, |subscription, _, _| {
            subscription.deletion = None;
            // Whether anything is left of it is unknown.
            subscription.cursor.save_failed();
        });
        self.readmit_when_unfenced(&name, turn);
    }

    /// It is gone: so are its consumers. Who waited to be let in finds none, and may make a new one.
    fn end_subscription(&mut self, name: &Arc<str>, asker: Asker, turn: &mut Turn<'_>) {
        let Some(gone) = self.forget_subscription(name, turn) else {
            return;
        };
        for consumer in gone.consumers {
            let (session, consumer_id) = consumer.seat;
            self.consumers.remove(&consumer.seat);
            if consumer.seat != asker.seat {
                turn.tell(session, SessionLetter::CloseConsumer { consumer_id });
            }
        }
        turn.tell(
            asker.seat.0,
            SessionLetter::Unsubscribed {
                request_id: asker.request_id,
                consumer_id: asker.seat.1,
            },
        );
        self.trim_where_possible(turn);
        self.readmit_when_unfenced(name, turn);
    }

    /// Takes a subscription out. What waits for it is answered: nothing that was acknowledged comes again.
    pub(crate) fn forget_subscription(
        &mut self,
        name: &str,
        turn: &mut Turn<'_>,
    ) -> Option<Subscription> {
        let mut gone = self.subscriptions.remove(name)?;
        if let Some(at) = gone.timer {
            self.timers.remove(&(at, gone.name.clone()));
        }
        gone.saving.conclude(turn);
        if let Some(seek) = gone.seek.take() {
            seek.refuse("the subscription is gone", turn);
        }
        Some(gone)
    }
}

impl Subscription {
    /// Asks the log for the deletion when no record is under way and no seek.
    pub(crate) fn delete_where_due(&mut self, turn: &mut Turn<'_>) {
        if self.saving.is_under_way() || self.seek.is_some() {
            return;
        }
        let Some(deletion) = self
            .deletion
            .as_mut()
            .filter(|found| found.ticket.is_none())
        else {
            return;
        };
        let ticket = turn.ticket();
        deletion.ticket = Some(ticket);
        turn.ask(LogRequest::DeleteCursor {
            ticket,
            name: self.name.to_string(),
        });
    }
}
