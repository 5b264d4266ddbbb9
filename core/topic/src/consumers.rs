//! Who may consume, and what consumers say.

use crate::Topic;
use crate::consumer::Consumer;
use crate::newcomers::{Newcomer, WaitsFor, Wish};
use crate::saving::{Saving, Waiter};
use crate::subscription::Subscription;
use crate::turn::{Seat, Turn, refusal};
use cursor::Cursor;
use letters::{
    AckId, AckKind, AddConsumer, InitialPosition, LogRequest, RefusalCode, SeekTarget,
    SessionLetter, SubscriptionType,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use vocabulary::{ConsumerId, Position, RequestId, SessionId};

/// Names that Pulsar's brokers use for cursors of their own.
const RESERVED_NAMES: [&str; 4] = [
    "__compaction",
    "pulsar.dedup",
    "__pending_ack_state",
    "transaction.subscription",
];
const RESERVED_PREFIX: &str = "pulsar.repl.";

/// Whether clients may not use this subscription name.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED_NAMES.contains(&name) || name.starts_with(RESERVED_PREFIX)
}

/// What becomes of a newcomer.
enum Answer {
    Admit,
    Refuse(RefusalCode, String),
    Wait(WaitsFor),
    Create,
}

impl Topic {
    /// SUBSCRIBE came.
    pub(crate) fn add_consumer(
        &mut self,
        session: SessionId,
        mut add: Box<AddConsumer>,
        turn: &mut Turn<'_>,
    ) {
        self.without_place(&mut add);
        if self.newcomers.has_consumer((session, add.consumer_id)) {
            let text = format!(
                "Consumer {} is already being created on the connection",
                add.consumer_id
            );
            refuse(session, add, RefusalCode::ServiceNotReady, &text, turn);
            return;
        }
        if let Some(refusal) = self.refuses_domain().or_else(|| self.refuses_at_end()) {
            refuse(session, add, refusal.code, &refusal.message, turn);
            return;
        }
        if add.read_compacted && self.only_passes() {
            let text = "readCompacted only valid on persistent topics";
            refuse(session, add, RefusalCode::NotAllowedError, text, turn);
            return;
        }
        if let Err((code, text)) = servable(&add) {
            refuse(session, add, code, text, turn);
            return;
        }
        if !self.is_open_to(turn) {
            self.wait(session, Wish::Consumer(add), WaitsFor::Log, turn);
            self.open_where_wanted(turn);
            return;
        }
        self.admit_consumer(session, add, None, turn);
    }

    /// `alive`: a session known to be alive, whose places are not up for grabs.
    pub(crate) fn admit_consumer(
        &mut self,
        session: SessionId,
        add: Box<AddConsumer>,
        alive: Option<SessionId>,
        turn: &mut Turn<'_>,
    ) {
        let (request_id, consumer_id) = (add.request_id, add.consumer_id);
        if self.consumers.contains_key(&(session, consumer_id)) {
            turn.tell(
                session,
                SessionLetter::Subscribed {
                    request_id,
                    consumer_id,
                },
            );
            return;
        }
        match self.judge_consumer(session, &add, alive) {
            Answer::Refuse(code, text) => refuse(session, add, code, &text, turn),
            Answer::Wait(WaitsFor::Probe(holder)) => {
                self.wait_for_probe(session, Wish::Consumer(add), holder, turn)
            }
            Answer::Wait(waits_for) => {
                self.wait(session, Wish::Consumer(add), waits_for, turn);
            }
            Answer::Create => {
                let name = add.subscription.clone();
                if !add.durable && self.create_reading(&add) {
                    self.seat_or_rewind(session, add, turn);
                } else if add.durable && self.create_subscription(&name, add.initial_position, turn)
                {
                    self.wait(
                        session,
                        Wish::Consumer(add),
                        WaitsFor::Subscription(name),
                        turn,
                    );
                } else {
                    let text = format!(
                        "Exceed the maximum number of subscriptions of the topic: {}",
                        self.name
                    );
                    refuse(session, add, RefusalCode::NotAllowedError, &text, turn);
                }
            }
            Answer::Admit => self.seat_or_rewind(session, add, turn),
        }
    }

    /// Lets a consumer in; one that starts by time after a seek to there.
    fn seat_or_rewind(
        &mut self,
        session: SessionId,
        mut add: Box<AddConsumer>,
        turn: &mut Turn<'_>,
    ) {
        let Some(seconds) = add.start_rollback_seconds.take() else {
            return self.seat_consumer(session, *add, turn);
        };
        let time_ms = turn.now.wall.0.saturating_sub(seconds.saturating_mul(1000));
        let name = add.subscription.clone();
        let waits_for = WaitsFor::Subscription(name.clone());
        self.wait(session, Wish::Consumer(add), waits_for, turn);
        self.start_seek(&name, None, SeekTarget::Time(time_ms), turn);
    }

    fn seat_consumer(&mut self, session: SessionId, add: AddConsumer, turn: &mut Turn<'_>) {
        let (request_id, consumer_id) = (add.request_id, add.consumer_id);
        let seat = (session, consumer_id);
        let kind = add.subscription_type;
        let Some(name) = self
            .subscriptions
            .get(add.subscription.as_str())
            .map(|found| found.name.clone())
        else {
            return;
        };
        let consumer = Consumer::new(seat, add, turn.now.wall);
        self.consumers.insert(seat, name.clone());
        turn.tell(
            session,
            SessionLetter::Subscribed {
                request_id,
                consumer_id,
            },
        );
        self.with(&name, turn, |subscription, view, turn| {
            subscription.join(consumer, kind, view, turn)
        });
    }

    fn judge_consumer(
        &self,
        session: SessionId,
        add: &AddConsumer,
        alive: Option<SessionId>,
    ) -> Answer {
        let limit = |text: &str| Answer::Refuse(RefusalCode::ConsumerBusy, text.to_owned());
        let most = self.settings.consumers_max;
        if most > 0 && self.consumers.len() >= most {
            return limit("Topic reached max consumers limit");
        }
        let Some(subscription) = self.subscriptions.get(add.subscription.as_str()) else {
            if add.durable && !self.settings.auto_create_subscriptions {
                let text = "Subscription does not exist".to_owned();
                return Answer::Refuse(RefusalCode::SubscriptionNotFound, text);
            }
            return Answer::Create;
        };
        if subscription.cursor.is_durable() != add.durable {
            let there = if add.durable { "NonDurable" } else { "Durable" };
            let text = format!("{there} subscription with the same name already exists.");
            return Answer::Refuse(RefusalCode::NotAllowedError, text);
        }
        if !subscription.is_ready() || subscription.is_fenced() {
            return Answer::Wait(WaitsFor::Subscription(add.subscription.clone()));
        }
        let Some(first) = subscription.consumers.first() else {
            return Answer::Admit;
        };
        if subscription.kind != Some(add.subscription_type) {
            return Answer::Refuse(
                RefusalCode::ConsumerBusy,
                "Subscription is of different type".to_owned(),
            );
        }
        if add.subscription_type == SubscriptionType::Exclusive {
            let holder = first.seat.0;
            if holder == session || Some(holder) == alive {
                return limit("Exclusive consumer is already connected");
            }
            return Answer::Wait(WaitsFor::Probe(holder));
        }
        let most = self.settings.consumers_per_subscription_max;
        if most > 0 && subscription.consumers.len() >= most {
            return limit("Subscription reached max consumers limit");
        }
        Answer::Admit
    }

    pub(crate) fn has_too_many_subscriptions(&self) -> bool {
        let most = self.settings.subscriptions_max;
        most > 0 && self.subscriptions.len() >= most
    }

    /// Begins to make a subscription; false if there are too many.
    pub(crate) fn create_subscription(
        &mut self,
        name: &str,
        position: InitialPosition,
        turn: &mut Turn<'_>,
    ) -> bool {
        let mark = match position {
            InitialPosition::Latest => self.extent.end(),
            InitialPosition::Earliest => self.extent.start(),
        };
        self.create_subscription_at(name, Cursor::at(mark), turn)
    }

    /// Begins to make a subscription that has acknowledged what this cursor says; false if there are too many.
    pub(crate) fn create_subscription_at(
        &mut self,
        name: &str,
        cursor: Cursor,
        turn: &mut Turn<'_>,
    ) -> bool {
        if self.has_too_many_subscriptions() {
            return false;
        }
        let mark = cursor.mark();
        let ticket = turn.ticket();
        turn.ask(LogRequest::CreateCursor {
            ticket,
            name: name.to_owned(),
            snapshot: cursor.snapshot_bytes(),
        });
        let name: Arc<str> = name.into();
        self.subscriptions.insert(
            name.clone(),
            Subscription::new(name, cursor, Saving::creating(ticket, mark)),
        );
        true
    }

    /// FLOW came.
    pub(crate) fn flow(
        &mut self,
        session: SessionId,
        consumer_id: ConsumerId,
        permits: u32,
        turn: &mut Turn<'_>,
    ) {
        let seat = (session, consumer_id);
        let Some(name) = self.consumers.get(&seat).cloned() else {
            return;
        };
        self.with(&name, turn, |subscription, _, _| {
            if let Some(consumer) = subscription.consumer(seat) {
                consumer.grant(permits);
            }
        });
    }

    /// The connection has taken some of what was delivered.
    pub(crate) fn written(
        &mut self,
        session: SessionId,
        consumer_id: ConsumerId,
        bytes: u64,
        turn: &mut Turn<'_>,
    ) {
        let seat = (session, consumer_id);
        let Some(name) = self.consumers.get(&seat).cloned() else {
            return;
        };
        self.with(&name, turn, |subscription, _, _| {
            if let Some(consumer) = subscription.consumer(seat) {
                consumer.written(bytes);
            }
        });
    }

    /// ACK came.
    pub(crate) fn ack(
        &mut self,
        session: SessionId,
        consumer_id: ConsumerId,
        request_id: Option<RequestId>,
        kind: AckKind,
        ids: &[AckId],
        turn: &mut Turn<'_>,
    ) {
        let seat = (session, consumer_id);
        let Some(name) = self.consumers.get(&seat).cloned() else {
            if let Some(request_id) = request_id {
                let text = format!("Consumer {consumer_id} is not connected to {}", self.name);
                let refusal = Some(refusal(RefusalCode::ConsumerNotFound, text));
                turn.tell(
                    session,
                    SessionLetter::AckDone {
                        request_id,
                        consumer_id,
                        refusal,
                    },
                );
            }
            return;
        };
        if self.only_passes() {
            if let Some(request_id) = request_id {
                let refusal = None;
                let letter = SessionLetter::AckDone {
                    request_id,
                    consumer_id,
                    refusal,
                };
                turn.tell(session, letter);
            }
            return;
        }
        let most = self.settings.ack_waiters_max;
        self.with(&name, turn, |subscription, view, turn| {
            let acked = subscription.ack(seat, kind, ids, view);
            let Some(request_id) = request_id else { return };
            match acked {
                Ok(()) => subscription
                    .saving
                    .wait(Waiter { seat, request_id }, most, turn),
                Err(refusal) => {
                    let refusal = Some(refusal);
                    turn.tell(
                        session,
                        SessionLetter::AckDone {
                            request_id,
                            consumer_id,
                            refusal,
                        },
                    );
                }
            }
        });
    }

    /// REDELIVER_UNACKNOWLEDGED_MESSAGES came.
    pub(crate) fn redeliver(
        &mut self,
        session: SessionId,
        consumer_id: ConsumerId,
        positions: &[Position],
        epoch: Option<u64>,
        turn: &mut Turn<'_>,
    ) {
        let seat = (session, consumer_id);
        let Some(name) = self
            .consumers
            .get(&seat)
            .cloned()
            .filter(|_| !self.only_passes())
        else {
            return;
        };
        self.with(&name, turn, |subscription, view, _| {
            subscription.redeliver(seat, positions, epoch, view.settings)
        });
    }

    /// CLOSE_CONSUMER came.
    pub(crate) fn close_consumer(
        &mut self,
        session: SessionId,
        consumer_id: ConsumerId,
        request_id: RequestId,
        turn: &mut Turn<'_>,
    ) {
        let seat = (session, consumer_id);
        self.cancel_consumer(seat, turn);
        turn.tell(
            session,
            SessionLetter::ConsumerLeft {
                request_id,
                consumer_id,
            },
        );
        self.remove_consumers(&[seat], turn);
    }

    /// Consumers are gone, all at once, so that none is given what another of them held; who wanted a place of theirs
    /// may have it.
    pub(crate) fn remove_consumers(&mut self, seats: &[Seat], turn: &mut Turn<'_>) {
        let mut leaving: BTreeMap<Arc<str>, Vec<Seat>> = BTreeMap::new();
        for seat in seats {
            if let Some(name) = self.consumers.remove(seat) {
                leaving.entry(name).or_default().push(*seat);
            }
        }
        for (name, seats) in leaving {
            self.with(&name, turn, |subscription, view, turn| {
                for seat in seats {
                    subscription.leave(seat, view, turn);
                }
            });
            self.vanish_where_due(&name, turn);
            self.readmit(|newcomer| newcomer.wants_place_in(&name), turn);
        }
    }
}

/// What cannot be served whatever the topic's state.
fn servable(add: &AddConsumer) -> Result<(), (RefusalCode, &'static str)> {
    if add.subscription.is_empty() {
        return Err((RefusalCode::ProducerBusy, "Empty subscription name"));
    }
    if is_reserved(&add.subscription) {
        return Err((
            RefusalCode::ProducerBusy,
            "Subscription with reserved subscription name attempted",
        ));
    }
    let not_yet = |text| Err((RefusalCode::NotAllowedError, text));
    if add.subscription_type == SubscriptionType::KeyShared {
        return not_yet("Key_Shared is not served yet");
    }
    if add.read_compacted {
        return not_yet("Compacted reading is not served yet");
    }
    Ok(())
}

fn refuse(
    session: SessionId,
    add: Box<AddConsumer>,
    code: RefusalCode,
    text: &str,
    turn: &mut Turn<'_>,
) {
    Newcomer {
        session,
        wish: Wish::Consumer(add),
        waits_for: WaitsFor::Log,
    }
    .refuse(code, text, turn);
}
