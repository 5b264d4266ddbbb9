//! Producers and consumers that wait to be admitted: for the log, for a place that is taken, for a new subscription.

use crate::Topic;
use crate::turn::{Seat, Turn, refusal};
use letters::{AddConsumer, AddProducer, RefusalCode, SessionLetter, TopicTask};
use std::collections::BTreeMap;
use vocabulary::{RequestId, SessionId};

/// Somebody who waits.
#[derive(Debug)]
pub(crate) struct Newcomer {
    pub session: SessionId,
    pub wish: Wish,
    pub waits_for: WaitsFor,
}

/// What it wants to be.
#[derive(Debug)]
pub(crate) enum Wish {
    Producer(Box<AddProducer>),
    Consumer(Box<AddConsumer>),
    /// Only that the topic is open.
    Open {
        request_id: RequestId,
        may_create: bool,
    },
    /// Something done to the topic.
    Task {
        request_id: RequestId,
        task: Box<TopicTask>,
    },
}

/// What it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    /// The log to be open.
    Log,
    /// The end of the appends that were under way when one failed.
    Unfencing,
    /// The first record of this subscription's cursor.
    Subscription(String),
    /// Whether the session that has the place it wants is alive.
    Probe(SessionId),
    /// The topic for itself. It was told that it has to wait.
    Exclusive,
}

impl WaitsFor {
    pub fn is_unfencing(&self) -> bool {
        *self == WaitsFor::Unfencing
    }
}

impl Newcomer {
    fn producer_seat(&self) -> Option<Seat> {
        match &self.wish {
            Wish::Producer(add) => Some((self.session, add.producer_id)),
            Wish::Consumer(_) | Wish::Open { .. } | Wish::Task { .. } => None,
        }
    }

    fn consumer_seat(&self) -> Option<Seat> {
        match &self.wish {
            Wish::Consumer(add) => Some((self.session, add.consumer_id)),
            Wish::Producer(_) | Wish::Open { .. } | Wish::Task { .. } => None,
        }
    }

    /// Waits because this producer name is taken.
    pub fn wants_producer_name(&self, name: &str) -> bool {
        let named = matches!(&self.wish, Wish::Producer(add) if add.name.as_deref() == Some(name));
        named && matches!(self.waits_for, WaitsFor::Probe(_))
    }

    /// Waits because this subscription has a consumer.
    pub fn wants_place_in(&self, subscription: &str) -> bool {
        let named = matches!(&self.wish, Wish::Consumer(add) if add.subscription == subscription);
        named && matches!(self.waits_for, WaitsFor::Probe(_))
    }

    /// Whether the topic may be made for it.
    pub fn may_create(&self) -> bool {
        match &self.wish {
            Wish::Producer(_) => true,
            Wish::Consumer(add) => add.force_topic_creation,
            Wish::Open { may_create, .. } => *may_create,
            Wish::Task { task, .. } => matches!(**task, TopicTask::Subscribe { .. }),
        }
    }

    /// Says no.
    pub fn refuse(self, code: RefusalCode, message: &str, turn: &mut Turn<'_>) {
        let refusal = refusal(code, message);
        let letter = match self.wish {
            Wish::Producer(add) => SessionLetter::ProducerRefused {
                request_id: add.request_id,
                producer_id: add.producer_id,
                refusal,
            },
            Wish::Consumer(add) => SessionLetter::SubscribeRefused {
                request_id: add.request_id,
                consumer_id: add.consumer_id,
                refusal,
            },
            Wish::Open { request_id, .. } => SessionLetter::Prepared {
                request_id,
                is_blank: Err(refusal),
            },
            Wish::Task { request_id, .. } => SessionLetter::TaskDone {
                request_id,
                result: Err(refusal),
            },
        };
        turn.tell(self.session, letter);
    }
}

/// Who waits, in the order they came, and who was asked whether they live.
#[derive(Debug, Default)]
pub(crate) struct Newcomers {
    list: Vec<Newcomer>,
    /// Sessions that were asked, with the token they will echo.
    probes: BTreeMap<SessionId, u64>,
}

impl Newcomers {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Newcomer> {
        self.list.iter()
    }

    pub fn has_producer(&self, seat: Seat) -> bool {
        self.list
            .iter()
            .any(|newcomer| newcomer.producer_seat() == Some(seat))
    }

    pub fn has_consumer(&self, seat: Seat) -> bool {
        self.list
            .iter()
            .any(|newcomer| newcomer.consumer_seat() == Some(seat))
    }

    /// Somebody waits for the topic to be free of others.
    pub fn wait_for_exclusive(&self) -> bool {
        self.list
            .iter()
            .any(|newcomer| newcomer.waits_for == WaitsFor::Exclusive)
    }

    /// Takes out who waits longest for the topic to be free of others.
    pub fn take_first_for_exclusive(&mut self) -> Option<Newcomer> {
        let first = self
            .list
            .iter()
            .position(|newcomer| newcomer.waits_for == WaitsFor::Exclusive)?;
        Some(self.list.remove(first))
    }

    /// Takes out those that match, in the order they came.
    pub fn take(&mut self, matches: impl Fn(&Newcomer) -> bool) -> Vec<Newcomer> {
        if !self.list.iter().any(&matches) {
            return Vec::new();
        }
        let (taken, kept) = std::mem::take(&mut self.list)
            .into_iter()
            .partition(matches);
        self.list = kept;
        taken
    }
}

impl Topic {
    /// Somebody with a schema is about to come.
    pub(crate) fn prepare(
        &mut self,
        session: SessionId,
        request_id: RequestId,
        may_create: bool,
        turn: &mut Turn<'_>,
    ) {
        if let Some(refusal) = self.refuses_domain() {
            let is_blank = Err(refusal);
            let letter = SessionLetter::Prepared {
                request_id,
                is_blank,
            };
            return turn.tell(session, letter);
        }
        if self.is_open_to(turn) {
            return self.prepared(session, request_id, turn);
        }
        let wish = Wish::Open {
            request_id,
            may_create,
        };
        self.wait(session, wish, WaitsFor::Log, turn);
        self.open_where_wanted(turn);
    }

    fn prepared(&self, session: SessionId, request_id: RequestId, turn: &mut Turn<'_>) {
        let settles = |consumer: &crate::consumer::Consumer| !consumer.takes_any_schema;
        let has_consumers = self
            .subscriptions
            .values()
            .any(|subscription| subscription.consumers.iter().any(settles));
        let is_blank = self.producers.is_empty() && !has_consumers && self.extent.is_empty();
        let is_blank = Ok(is_blank);
        turn.tell(
            session,
            SessionLetter::Prepared {
                request_id,
                is_blank,
            },
        );
    }

    /// Somebody has to wait; no more than a bounded number may. Whether it does.
    pub(crate) fn wait(
        &mut self,
        session: SessionId,
        wish: Wish,
        waits_for: WaitsFor,
        turn: &mut Turn<'_>,
    ) -> bool {
        let newcomer = Newcomer {
            session,
            wish,
            waits_for,
        };
        if self.newcomers.len() >= self.settings.newcomers_max {
            let text = format!(
                "{}: {} producers and consumers wait to be admitted already; try again later",
                self.name,
                self.newcomers.len()
            );
            newcomer.refuse(RefusalCode::ServiceNotReady, &text, turn);
            return false;
        }
        self.newcomers.list.push(newcomer);
        true
    }

    /// Somebody has to wait until it is known whether the session that has its place is alive.
    pub(crate) fn wait_for_probe(
        &mut self,
        session: SessionId,
        wish: Wish,
        holder: SessionId,
        turn: &mut Turn<'_>,
    ) {
        self.wait(session, wish, WaitsFor::Probe(holder), turn);
        let probed = self.newcomers.probes.contains_key(&holder);
        let waited_for = self
            .newcomers
            .list
            .iter()
            .any(|newcomer| newcomer.waits_for == WaitsFor::Probe(holder));
        if !probed && waited_for {
            let token = turn.ticket();
            self.newcomers.probes.insert(holder, token);
            turn.tell(
                holder,
                SessionLetter::AreYouThere {
                    topic: self.name.clone(),
                    token,
                },
            );
        }
    }

    /// A session that was asked is alive: who wants a place that it still has is refused.
    pub(crate) fn still_here(&mut self, session: SessionId, token: u64, turn: &mut Turn<'_>) {
        if self.newcomers.probes.get(&session) != Some(&token) {
            return;
        }
        self.newcomers.probes.remove(&session);
        let waiting = self
            .newcomers
            .take(|newcomer| newcomer.waits_for == WaitsFor::Probe(session));
        for newcomer in waiting {
            self.admit(newcomer, Some(session), turn);
        }
    }

    /// A session is gone: so are its newcomers and the probe of it.
    pub(crate) fn forget_newcomers_of(&mut self, session: SessionId) {
        self.newcomers.probes.remove(&session);
        drop(self.newcomers.take(|newcomer| newcomer.session == session));
    }

    /// What some waited for has come.
    pub(crate) fn readmit(&mut self, matches: impl Fn(&Newcomer) -> bool, turn: &mut Turn<'_>) {
        for newcomer in self.newcomers.take(matches) {
            self.admit(newcomer, None, turn);
        }
    }

    /// `alive`: a session known to be alive, whose places are not up for grabs.
    fn admit(&mut self, newcomer: Newcomer, alive: Option<SessionId>, turn: &mut Turn<'_>) {
        match newcomer.wish {
            Wish::Producer(add) => self.admit_producer(newcomer.session, add, alive, turn),
            Wish::Consumer(add) => self.admit_consumer(newcomer.session, add, alive, turn),
            Wish::Open { request_id, .. } => self.prepared(newcomer.session, request_id, turn),
            Wish::Task { request_id, task } => {
                self.do_task(newcomer.session, request_id, task, turn);
            }
        }
    }

    /// CLOSE_PRODUCER for one that waits: it is not admitted.
    pub(crate) fn cancel_producer(&mut self, seat: Seat, turn: &mut Turn<'_>) {
        let waiting = self
            .newcomers
            .take(|newcomer| newcomer.producer_seat() == Some(seat));
        let candidate = self.drop_candidate(|other| other == seat, turn);
        for newcomer in waiting.into_iter().chain(candidate) {
            newcomer.refuse(
                RefusalCode::ServiceNotReady,
                "The producer was closed before it was created",
                turn,
            );
        }
    }

    /// CLOSE_CONSUMER for one that waits: it is not admitted.
    pub(crate) fn cancel_consumer(&mut self, seat: Seat, turn: &mut Turn<'_>) {
        for newcomer in self
            .newcomers
            .take(|newcomer| newcomer.consumer_seat() == Some(seat))
        {
            newcomer.refuse(
                RefusalCode::ServiceNotReady,
                "The consumer was closed before it was created",
                turn,
            );
        }
    }

    /// Nobody who waits will be admitted.
    pub(crate) fn refuse_newcomers(
        &mut self,
        code: RefusalCode,
        message: &str,
        turn: &mut Turn<'_>,
    ) {
        for newcomer in self.newcomers.take(|_| true) {
            newcomer.refuse(code, message, turn);
        }
        self.newcomers.probes.clear();
        self.refuse_candidate(code, message, turn);
    }
}
