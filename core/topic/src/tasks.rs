//! Tasks: what is done to a topic and its subscriptions by somebody who is neither producer nor consumer.

use crate::Topic;
use crate::consumers::is_reserved;
use crate::newcomers::{WaitsFor, Wish};
use crate::saving::Waiter;
use crate::subscription::{Subscription, View};
use crate::time_search::{Step, TimeSearch};
use crate::turn::{Asker, Quest, Turn, refusal};
use cursor::{AckRefusal, Cursor};
use letters::{
    Expiry, LogError, LogRequest, Refusal, RefusalCode, SeekTarget, SessionLetter, StoredEntry,
    TaskResult, TopicTask, Which,
};
use vocabulary::{ConsumerId, Position, RequestId, SessionId};

/// The consumer id under which a task waits for an answer that consumers get too; no consumer has it, since a session
/// that gives tasks has none.
pub(crate) const NO_CONSUMER: ConsumerId = u64::MAX;

/// Property of a subscription's cursor that Pulsar keeps for "is to be replicated".
pub(crate) const REPLICATED: &str = "pulsar.replicated.subscription";

/// A search for a time, and what it is for.
#[derive(Debug)]
pub(crate) struct Dating {
    asker: Asker,
    search: TimeSearch,
    /// Whose entries are acknowledged up to there; `None`: just the place is wanted.
    expires: Option<String>,
}

impl Topic {
    /// Somebody has a task.
    pub(crate) fn do_task(
        &mut self,
        session: SessionId,
        request_id: RequestId,
        task: Box<TopicTask>,
        turn: &mut Turn<'_>,
    ) {
        let asker = asker(session, request_id);
        if let Some(refusal) = self.refuses_domain().or_else(|| self.refuses_at_end()) {
            return asker.end_task(Err(refusal), turn);
        }
        if !self.is_open_to(turn) {
            let wish = Wish::Task { request_id, task };
            self.wait(session, wish, WaitsFor::Log, turn);
            return self.open_where_wanted(turn);
        }
        self.begin_task(session, request_id, *task, turn);
    }

    /// The topic is open.
    pub(crate) fn begin_task(
        &mut self,
        session: SessionId,
        request_id: RequestId,
        task: TopicTask,
        turn: &mut Turn<'_>,
    ) {
        let asker = asker(session, request_id);
        if self.only_passes() && !matches!(task, TopicTask::Open | TopicTask::Unload) {
            let text = format!(
                "{} is a non-persistent topic: nothing is kept of it that this could be done to",
                self.name
            );
            return asker.end_task(Err(refusal(RefusalCode::NotAllowedError, text)), turn);
        }
        match task {
            TopicTask::Open => asker.end_task(Ok(TaskResult::Done), turn),
            TopicTask::Subscribe {
                subscription,
                start,
                properties,
                is_replicated,
            } => match self.cursor_from(&start, properties, is_replicated) {
                Ok(cursor) => self.subscribe_for(asker, &subscription, cursor, turn),
                Err(error) => {
                    asker.refuse(RefusalCode::NotAllowedError, error.to_string(), turn);
                }
            },
            TopicTask::Read(which) => self.read_for(asker, which, turn),
            TopicTask::FindTime { time_ms } => self.date(asker, time_ms, None, turn),
            TopicTask::LastMessage => self.get_last_message_id(asker, turn),
            TopicTask::Unload => self.unload(asker, turn),
            TopicTask::Unsubscribe {
                subscription,
                force,
            } => {
                if let Some(name) = self.expect_subscription(asker, &subscription, turn) {
                    self.unsubscribe_for(asker, &name, force, turn);
                }
            }
            TopicTask::Seek {
                subscription,
                target,
            } => {
                if let Some(name) = self.expect_subscription(asker, &subscription, turn) {
                    self.start_seek(&name, Some(asker), target, turn);
                }
            }
            TopicTask::Skip {
                subscription,
                entries,
            } => {
                if let Some(name) = self.expect_subscription(asker, &subscription, turn) {
                    self.change_for(asker, &name, turn, |subscription, view| match subscription
                        .nth_unacked(entries, view)
                    {
                        Some(last) => subscription.ack_to(last, view),
                        None => Ok(()),
                    });
                }
            }
            TopicTask::Expire {
                subscription,
                until,
            } => {
                if let Some(name) = self.expect_subscription(asker, &subscription, turn) {
                    self.expire(asker, &name, until, turn);
                }
            }
            TopicTask::Properties { subscription } => {
                if let Some(name) = self.expect_subscription(asker, &subscription, turn) {
                    let found = self.subscriptions.get(name.as_str());
                    let result = found.map(|found| properties_of(&found.cursor));
                    asker.end_task(Ok(result.unwrap_or(TaskResult::NotDone)), turn);
                }
            }
            TopicTask::SetProperties {
                subscription,
                properties,
            } => {
                if let Some(name) = self.expect_subscription(asker, &subscription, turn) {
                    self.change_for(asker, &name, turn, |subscription, _| {
                        replace_properties(&mut subscription.cursor, properties);
                        Ok(())
                    });
                }
            }
            TopicTask::SetReplicated {
                subscription,
                is_replicated,
            } => {
                if let Some(name) = self.expect_subscription(asker, &subscription, turn) {
                    self.change_for(asker, &name, turn, |subscription, _| {
                        let value = is_replicated.then_some(1);
                        subscription.cursor.set_property(REPLICATED, value);
                        Ok(())
                    });
                }
            }
        }
    }

    /// The subscription's name, if it is there; otherwise that is said.
    fn expect_subscription(&self, asker: Asker, name: &str, turn: &mut Turn<'_>) -> Option<String> {
        match self.subscriptions.get(name) {
            Some(found) if found.is_ready() => Some(name.to_owned()),
            _ => {
                let text = format!("Subscription {name} not found for topic {}", self.name);
                asker.end_task(Err(refusal(RefusalCode::SubscriptionNotFound, text)), turn);
                None
            }
        }
    }

    fn cursor_from(
        &self,
        start: &SeekTarget,
        properties: Vec<(String, String)>,
        is_replicated: bool,
    ) -> Result<Cursor, AckRefusal> {
        let mut cursor = Cursor::at(self.extent.end());
        match start {
            SeekTarget::Id(position, remaining) => {
                cursor.seek(&self.extent, *position, remaining.as_ref())?;
            }
            // Nobody makes a subscription so; it would have to be searched for.
            SeekTarget::Time(_) => {}
        }
        for (key, value) in properties {
            cursor.set_string_property(&key, Some(value));
        }
        cursor.set_property(REPLICATED, is_replicated.then_some(1));
        // As it is read from disk, so that its first record says all there is to say.
        Ok(Cursor::restore(&cursor.snapshot_bytes(), &[]).unwrap_or(cursor))
    }

    fn subscribe_for(
        &mut self,
        asker: Asker,
        subscription: &str,
        cursor: Cursor,
        turn: &mut Turn<'_>,
    ) {
        if self.subscriptions.contains_key(subscription) {
            return asker.end_task(Ok(TaskResult::NotDone), turn);
        }
        if is_reserved(subscription) {
            let text = format!("Subscription name {subscription} is reserved for the broker");
            return asker.end_task(Err(refusal(RefusalCode::NotAllowedError, text)), turn);
        }
        if !self.create_subscription_at(subscription, cursor, turn) {
            let text = format!(
                "Exceed the maximum number of subscriptions of the topic: {}",
                self.name
            );
            return asker.end_task(Err(refusal(RefusalCode::NotAllowedError, text)), turn);
        }
        // It is on disk when it is open to others.
        let wish = Wish::Task {
            request_id: asker.request_id,
            task: Box::new(TopicTask::Open),
        };
        let waits_for = WaitsFor::Subscription(subscription.to_owned());
        self.wait(asker.seat.0, wish, waits_for, turn);
    }

    fn expire(&mut self, asker: Asker, name: &str, until: Expiry, turn: &mut Turn<'_>) {
        let Some(found) = self.subscriptions.get(name) else {
            return;
        };
        if found.cursor.backlog(&self.extent) == 0 {
            return asker.end_task(Ok(TaskResult::NotDone), turn);
        }
        match until {
            Expiry::OlderThanSeconds(seconds) => {
                let age_ms = seconds.saturating_mul(1000);
                let time_ms = turn.now.wall.0.saturating_sub(age_ms);
                self.date(asker, time_ms, Some(name.to_owned()), turn);
            }
            Expiry::To(position) => self.change_for(asker, name, turn, |subscription, view| {
                match view.extent.at_or_before(position) {
                    Some(last) => subscription.ack_to(last, view),
                    None => Ok(()),
                }
            }),
        }
    }

    /// Looks for the first entry of a time.
    fn date(&mut self, asker: Asker, time_ms: u64, expires: Option<String>, turn: &mut Turn<'_>) {
        let dating = Dating {
            asker,
            search: TimeSearch::new(time_ms, &self.extent),
            expires,
        };
        self.go_on_dating(dating, turn);
    }

    fn go_on_dating(&mut self, mut dating: Dating, turn: &mut Turn<'_>) {
        match dating.search.step(&self.extent) {
            Step::Read(positions) => {
                let ticket = turn.ticket();
                let dating = Box::new(dating);
                turn.errands.quests.insert(ticket, Quest::Date(dating));
                turn.ask(LogRequest::ReadAt { ticket, positions });
            }
            Step::Found(older_to) => match dating.expires {
                None => {
                    let next = self.extent.next_valid(older_to);
                    let first = next.unwrap_or_else(|| older_to.after());
                    let result = TaskResult::Position(first);
                    dating.asker.end_task(Ok(result), turn);
                }
                Some(name) => {
                    let asker = dating.asker;
                    if self.expect_subscription(asker, &name, turn).is_some() {
                        self.change_for(asker, &name, turn, |subscription, view| {
                            subscription.ack_to(older_to, view)
                        });
                    }
                }
            },
        }
    }

    /// Entries that a search for a time asked for were read.
    pub(crate) fn dated(
        &mut self,
        mut dating: Dating,
        result: Result<Vec<StoredEntry>, LogError>,
        turn: &mut Turn<'_>,
    ) {
        match result {
            Ok(entries) => {
                dating.search.take(&entries);
                self.go_on_dating(dating, turn);
            }
            Err(error) => dating.asker.end_task(Err(unreadable(&error)), turn),
        }
    }

    fn read_for(&mut self, asker: Asker, which: Which, turn: &mut Turn<'_>) {
        let count = self.extent.count(self.extent.start(), self.extent.end());
        let start = self.extent.start();
        let position = match which {
            Which::At(position) => Some(position).filter(|at| self.extent.contains(*at)),
            Which::FromFirst(n) => {
                let n = n.clamp(1, count.max(1));
                self.extent.nth_after(start, n - 1)
            }
            Which::FromLast(n) => {
                let before = count.checked_sub(n.max(1));
                before.and_then(|before| self.extent.nth_after(start, before))
            }
            Which::Unacked { subscription, n } => {
                let Some(found) = self.subscriptions.get(subscription.as_str()) else {
                    return self.peek_first(asker, subscription, n, turn);
                };
                let view = self.view();
                (n > 0)
                    .then(|| found.nth_unacked(Some(n), &view))
                    .flatten()
                    .filter(|_| found.cursor.backlog(&self.extent) >= n)
            }
        };
        let Some(position) = position else {
            return asker.end_task(Ok(TaskResult::Entry(None)), turn);
        };
        let ticket = turn.ticket();
        turn.errands.quests.insert(ticket, Quest::Entry(asker));
        let positions = vec![position];
        turn.ask(LogRequest::ReadAt { ticket, positions });
    }

    /// Expectation: who looks into a subscription that is not there makes it (Pulsar's `findOrCreateSubscription`).
    fn peek_first(&mut self, asker: Asker, subscription: String, n: u64, turn: &mut Turn<'_>) {
        let allowed = self.settings.auto_create_subscriptions && !is_reserved(&subscription);
        let cursor = Cursor::at(self.extent.start());
        if !allowed || !self.create_subscription_at(&subscription, cursor, turn) {
            let text = format!(
                "Subscription {subscription} not found for topic {}",
                self.name
            );
            return asker.end_task(Err(refusal(RefusalCode::SubscriptionNotFound, text)), turn);
        }
        let waits_for = WaitsFor::Subscription(subscription.clone());
        let task = Box::new(TopicTask::Read(Which::Unacked { subscription, n }));
        let request_id = asker.request_id;
        let wish = Wish::Task { request_id, task };
        self.wait(asker.seat.0, wish, waits_for, turn);
    }

    /// The entry that a task asked for was read, or is not there any more.
    pub(crate) fn entry_read(
        asker: Asker,
        result: Result<Vec<StoredEntry>, LogError>,
        turn: &mut Turn<'_>,
    ) {
        let result = match result {
            Ok(entries) => Ok(TaskResult::Entry(entries.into_iter().next())),
            Err(error) => Err(unreadable(&error)),
        };
        asker.end_task(result, turn);
    }

    /// Changes a subscription; who asks is answered when that is on disk.
    fn change_for(
        &mut self,
        asker: Asker,
        name: &str,
        turn: &mut Turn<'_>,
        change: impl FnOnce(&mut Subscription, &View<'_>) -> Result<(), AckRefusal>,
    ) {
        let most = self.settings.ack_waiters_max;
        self.with(name, turn, |subscription, view, turn| {
            if subscription.is_halted() {
                let text = "The subscription is just being moved or deleted; try again";
                return asker.refuse(RefusalCode::ServiceNotReady, text, turn);
            }
            match change(subscription, view) {
                Ok(()) => {
                    let waiter = Waiter {
                        seat: asker.seat,
                        request_id: asker.request_id,
                    };
                    subscription.saving.wait(waiter, most, turn);
                }
                Err(error) => asker.refuse(RefusalCode::NotAllowedError, error.to_string(), turn),
            }
        });
    }

    /// Everybody is told to go; the log is closed when nothing is on its way to it.
    fn unload(&mut self, asker: Asker, turn: &mut Turn<'_>) {
        self.unloading.push(asker);
        let text = "The topic is being unloaded; try again";
        self.refuse_newcomers(RefusalCode::ServiceNotReady, text, turn);
        self.throw_out_producers(turn);
        self.throw_out_consumers(turn);
        self.drain(turn);
    }

    /// The log is gone: what tasks look for in it is not found.
    pub(crate) fn give_up_quests(reason: &str, turn: &mut Turn<'_>) {
        for quest in std::mem::take(&mut turn.errands.quests).into_values() {
            let asker = match quest {
                Quest::Date(dating) => dating.asker,
                Quest::Entry(asker) => asker,
                Quest::Time(_) | Quest::LastId => continue,
            };
            asker.refuse(RefusalCode::ServiceNotReady, reason, turn);
        }
    }

    /// The log is closed, in whichever way: who waited for that hears of it.
    pub(crate) fn unloaded(&mut self, turn: &mut Turn<'_>) {
        for asker in std::mem::take(&mut self.unloading) {
            asker.end_task(Ok(TaskResult::Done), turn);
        }
    }
}

impl Subscription {
    /// The nth entry (from 1) that is not acknowledged, or the last one there is; for `None` the last of the topic.
    fn nth_unacked(&self, n: Option<u64>, view: &View<'_>) -> Option<Position> {
        let Some(n) = n else {
            return view.extent.last();
        };
        let mut left = n;
        let mut last = None;
        for hole in self.cursor.holes(view.extent) {
            if left == 0 {
                break;
            }
            let size = (hole.last - hole.first).unsigned_abs() + 1;
            let taken = left.min(size);
            left -= taken;
            let offset = i64::try_from(taken - 1).unwrap_or(i64::MAX);
            let entry = hole.first.saturating_add(offset);
            last = Some(Position::new(hole.ledger, entry));
        }
        last
    }

    /// Acknowledges everything up to and including an entry, whoever holds it.
    fn ack_to(&mut self, up_to: Position, view: &View<'_>) -> Result<(), AckRefusal> {
        if up_to <= self.cursor.mark() {
            return Ok(());
        }
        self.cursor.ack_cumulative(view.extent, up_to, None, None)?;
        let mark = self.cursor.mark();
        for at in 0..self.consumers.len() {
            let Some(consumer) = self.consumers.get_mut(at) else {
                break;
            };
            let held = consumer.pending.range(..=mark);
            let held: Vec<Position> = held.map(|(position, _)| *position).collect();
            for position in held {
                let gone = consumer.release(position);
                self.unacked -= gone.map_or(0, |pending| u64::from(pending.left));
            }
            self.unblock_where_due(at, view.settings);
        }
        self.replay.acked_to(mark);
        self.chunks.acked_to(mark);
        Ok(())
    }
}

impl Asker {
    /// Answers a task.
    pub(crate) fn end_task(self, result: Result<TaskResult, Refusal>, turn: &mut Turn<'_>) {
        let request_id = self.request_id;
        turn.tell(self.seat.0, SessionLetter::TaskDone { request_id, result });
    }
}

fn asker(session: SessionId, request_id: RequestId) -> Asker {
    Asker {
        seat: (session, NO_CONSUMER),
        request_id,
    }
}

fn unreadable(error: &LogError) -> Refusal {
    refusal(RefusalCode::PersistenceError, error.to_string())
}

fn properties_of(cursor: &Cursor) -> TaskResult {
    let pairs = cursor.string_properties().iter();
    TaskResult::Properties {
        properties: pairs
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        is_replicated: is_replicated(cursor),
    }
}

/// Whether somebody wants the subscription to be replicated.
pub(crate) fn is_replicated(cursor: &Cursor) -> bool {
    cursor.properties().contains_key(REPLICATED)
}

fn replace_properties(cursor: &mut Cursor, properties: Vec<(String, String)>) {
    let before: Vec<String> = cursor.string_properties().keys().cloned().collect();
    for key in before {
        if !properties.iter().any(|(kept, _)| *kept == key) {
            cursor.set_string_property(&key, None);
        }
    }
    for (key, value) in properties {
        cursor.set_string_property(&key, Some(value));
    }
}
