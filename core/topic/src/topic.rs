//! The topic: hands each input to whom it concerns.

use crate::TopicSettings;
use crate::ending::Ending;
use crate::find::Find;
use crate::last_id::LastIds;
use crate::newcomers::{Newcomers, WaitsFor};
use crate::phase::Phase;
use crate::producers::Producers;
use crate::settings::NameSource;
use crate::subscription::{Subscription, View};
use crate::turn::{Asker, Errands, Quest, Seat, Turn};
use cursor::Extent;
use letters::{LogReply, LogRequest, ToSession, TopicLetter};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use vocabulary::{Domain, Moment, Now, Position, SessionId, TopicName};

/// What a topic is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TopicInput {
    /// A session wrote.
    Letter {
        /// Who.
        session: SessionId,
        /// What.
        letter: TopicLetter,
    },
    /// Its log answered.
    Log(LogReply),
    /// A moment it asked for has come; being told at other times does no harm.
    TimeCame,
}

/// What a topic says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TopicEffect {
    /// Write to a session.
    Letter(ToSession),
    /// Ask the topic's log.
    Log(LogRequest),
    /// Tell the topic `TimeCame` at this moment; replaces the moment said before.
    WakeAt(Moment),
    /// Nobody is connected, nothing is pending, the log is closed: the topic may be dropped from memory.
    Asleep,
    /// Tell the operator.
    Report {
        /// What happened, to what, and what follows.
        text: String,
    },
}

/// One topic: its producers, subscriptions and consumers, from the first letter until it sleeps.
#[derive(Debug)]
pub struct Topic {
    pub(crate) name: TopicName,
    pub(crate) settings: Arc<TopicSettings>,
    pub(crate) names: Arc<NameSource>,
    pub(crate) phase: Phase,
    pub(crate) shutting_down: bool,
    pub(crate) extent: Extent,
    /// No entry after this one is delivered: the end of time until transactions move it.
    pub(crate) max_read_position: Position,
    pub(crate) producers: Producers,
    pub(crate) subscriptions: BTreeMap<Arc<str>, Subscription>,
    /// The subscription of each consumer.
    pub(crate) consumers: BTreeMap<Seat, Arc<str>>,
    pub(crate) newcomers: Newcomers,
    pub(crate) finds: BTreeMap<u64, Find>,
    /// The topic is being deleted.
    pub(crate) ending: Option<Ending>,
    /// A non-persistent topic, or a partition, that opens asks what is around it, under this ticket.
    pub(crate) looking_around: Option<u64>,
    pub(crate) last_ids: LastIds,
    /// Who waits for the log to be closed.
    pub(crate) unloading: Vec<Asker>,
    pub(crate) errands: Errands,
    /// Answers to these and older tickets are of a log that was lost.
    pub(crate) ignored_tickets: u64,
    /// When each subscription wants to be woken.
    pub(crate) timers: BTreeSet<(Moment, Arc<str>)>,
    pub(crate) idle_since: Option<Moment>,
    pub(crate) wake_at: Option<Moment>,
    /// What the log was told that nobody needs.
    pub(crate) trimmed_to: Position,
    pub(crate) totals: TopicTotals,
}

/// Sums since the topic was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TopicTotals {
    pub messages_in: u64,
    pub entries_in: u64,
    pub bytes_in: u64,
    /// Nobody had permits for them (non-persistent topics).
    pub messages_dropped: u64,
    pub publish_failures: u64,
}

impl Topic {
    /// A topic that sleeps: its log is opened when somebody comes.
    #[must_use]
    pub fn new(name: TopicName, settings: Arc<TopicSettings>, names: Arc<NameSource>) -> Topic {
        let ticket_base = names.next_ticket_base();
        let settings = match name.domain() {
            Domain::Persistent => settings,
            // There are no acks under way that a new active consumer could wait for.
            Domain::NonPersistent => Arc::new(TopicSettings {
                failover_delay: Duration::ZERO,
                ..TopicSettings::clone(&settings)
            }),
        };
        Topic {
            name,
            settings,
            names,
            phase: Phase::Asleep,
            shutting_down: false,
            extent: Extent::default(),
            max_read_position: Position::LATEST,
            producers: Producers::default(),
            subscriptions: BTreeMap::new(),
            consumers: BTreeMap::new(),
            newcomers: Newcomers::default(),
            finds: BTreeMap::new(),
            ending: None,
            looking_around: None,
            last_ids: LastIds::default(),
            unloading: Vec::new(),
            errands: Errands::from(ticket_base),
            ignored_tickets: ticket_base,
            timers: BTreeSet::new(),
            idle_since: None,
            wake_at: None,
            trimmed_to: Position::EARLIEST,
            totals: TopicTotals::default(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &TopicName {
        &self.name
    }

    /// One input; what follows from it is pushed to `effects`, in order.
    pub fn handle(&mut self, now: Now, input: TopicInput, effects: &mut Vec<TopicEffect>) {
        self.in_turn(now, effects, |topic, turn| match input {
            TopicInput::Letter { session, letter } => topic.letter(session, letter, turn),
            TopicInput::Log(reply) => topic.log_replied(reply, turn),
            TopicInput::TimeCame => {
                // The moment that was asked for is used up, whether or not it was due: it is asked for again.
                topic.wake_at = None;
                topic.time_came(turn);
            }
        });
    }

    /// The process ends: clients are told to go elsewhere, cursors saved, the log closed; then `Asleep`.
    pub fn begin_shutdown(&mut self, now: Now, effects: &mut Vec<TopicEffect>) {
        self.in_turn(now, effects, |topic, turn| topic.shut_down(turn));
    }

    fn in_turn(
        &mut self,
        now: Now,
        effects: &mut Vec<TopicEffect>,
        act: impl FnOnce(&mut Topic, &mut Turn<'_>),
    ) {
        let mut turn = Turn {
            now,
            effects,
            errands: std::mem::take(&mut self.errands),
        };
        act(self, &mut turn);
        self.end_turn(&mut turn);
        self.errands = turn.errands;
    }

    fn letter(&mut self, session: SessionId, letter: TopicLetter, turn: &mut Turn<'_>) {
        match letter {
            TopicLetter::FindTopic {
                request_id,
                may_create,
            } => self.find(session, request_id, may_create, turn),
            TopicLetter::Prepare {
                request_id,
                may_create,
            } => self.prepare(session, request_id, may_create, turn),
            // For the registry beside the topics.
            TopicLetter::Schema { .. } => {}
            TopicLetter::DeleteTopic { request_id, force } => {
                self.delete(session, request_id, force, turn);
            }
            TopicLetter::DoTask { request_id, task } => {
                self.do_task(session, request_id, task, turn);
            }
            TopicLetter::AddProducer(add) => self.add_producer(session, add, turn),
            TopicLetter::Publish(publish) => self.publish(session, publish, turn),
            TopicLetter::PublishesDropped {
                producer_id,
                messages,
            } => self.count_dropped((session, producer_id), messages),
            TopicLetter::CloseProducer {
                request_id,
                producer_id,
            } => {
                self.close_producer(session, producer_id, request_id, turn);
            }
            TopicLetter::AddConsumer(add) => self.add_consumer(session, add, turn),
            TopicLetter::Flow {
                consumer_id,
                permits,
            } => self.flow(session, consumer_id, permits, turn),
            TopicLetter::Written { consumer_id, bytes } => {
                self.written(session, consumer_id, bytes, turn)
            }
            TopicLetter::Ack {
                consumer_id,
                request_id,
                kind,
                ids,
            } => {
                self.ack(session, consumer_id, request_id, kind, &ids, turn);
            }
            TopicLetter::Redeliver {
                consumer_id,
                positions,
                epoch,
            } => {
                self.redeliver(session, consumer_id, &positions, epoch, turn);
            }
            TopicLetter::CloseConsumer {
                request_id,
                consumer_id,
            } => {
                self.close_consumer(session, consumer_id, request_id, turn);
            }
            TopicLetter::Unsubscribe {
                request_id,
                consumer_id,
                force,
            } => {
                let seat = (session, consumer_id);
                self.unsubscribe(Asker { seat, request_id }, force, turn);
            }
            TopicLetter::Seek {
                request_id,
                consumer_id,
                target,
            } => {
                let seat = (session, consumer_id);
                let asker = Asker { seat, request_id };
                match self.only_passes() {
                    true => self.passes_over(asker, turn),
                    false => self.seek(asker, target, turn),
                }
            }
            TopicLetter::GetLastMessageId {
                request_id,
                consumer_id,
            } => {
                let seat = (session, consumer_id);
                let asker = Asker { seat, request_id };
                match self.only_passes() {
                    true => self.refuse_last_id(asker, turn),
                    false => self.get_last_message_id(asker, turn),
                }
            }
            TopicLetter::ReadConsumerStats {
                request_id,
                consumer_id,
            } => {
                let seat = (session, consumer_id);
                self.report_consumer(Asker { seat, request_id }, turn);
            }
            TopicLetter::StillHere { token } => self.still_here(session, token, turn),
            TopicLetter::SessionGone => self.session_gone(session, turn),
        }
    }

    fn log_replied(&mut self, reply: LogReply, turn: &mut Turn<'_>) {
        match reply {
            LogReply::Found { ticket, result } => {
                if let Phase::Opening { create } = self.phase {
                    self.looked_around(ticket, &result, create, turn);
                }
                self.found(ticket, result, turn);
            }
            LogReply::Opened {
                extent,
                cursors,
                properties,
            } => self.opened(extent, cursors, &properties, turn),
            LogReply::OpenFailed { error } => self.open_failed(&error, turn),
            LogReply::Stored { ticket, position } => self.stored(ticket, position, turn),
            LogReply::NotStored { ticket, error } => self.not_stored(ticket, &error, turn),
            LogReply::Read {
                ticket,
                result,
                damaged,
            } => {
                match turn.errands.quests.remove(&ticket) {
                    Some(Quest::Time(name)) => return self.searched(&name, ticket, result, turn),
                    Some(Quest::LastId) => return self.last_entries_read(ticket, result, turn),
                    Some(Quest::Date(dating)) => return self.dated(*dating, result, turn),
                    Some(Quest::Entry(asker)) => return Topic::entry_read(asker, result, turn),
                    None => {}
                }
                // An answer that nobody waits for is of a log that was lost.
                let Some(name) = turn.errands.readers.remove(&ticket) else {
                    return;
                };
                self.with(&name, turn, |subscription, view, turn| {
                    subscription.read_done(ticket, result, damaged, view, turn);
                });
            }
            LogReply::CursorSaved {
                ticket,
                name,
                result,
            } => self.cursor_saved(ticket, &name, result, turn),
            LogReply::PropertySet { ticket, result } => self.property_set(ticket, result, turn),
            LogReply::CursorDeleted {
                ticket,
                name,
                result,
            } => self.cursor_deleted(ticket, &name, result, turn),
            LogReply::Trimmed { first } => self.trimmed(first, turn),
            LogReply::Deleted { result } => self.log_deleted(result, turn),
            LogReply::Closed => self.closed(turn),
            LogReply::Lost { error } => self.lost(&error, turn),
        }
    }

    fn session_gone(&mut self, session: SessionId, turn: &mut Turn<'_>) {
        self.forget_newcomers_of(session);
        self.drop_candidate(|(of, _)| of == session, turn);
        for seat in self.producers.seats_of(session) {
            self.remove_producer(seat, turn);
        }
        let seats: Vec<Seat> = self
            .consumers
            .range((session, 0)..=(session, u64::MAX))
            .map(|(seat, _)| *seat)
            .collect();
        self.remove_consumers(&seats, turn);
        self.readmit(
            |newcomer| newcomer.waits_for == WaitsFor::Probe(session),
            turn,
        );
    }

    /// Lets something happen to a subscription, and everything that follows from it.
    pub(crate) fn with<R>(
        &mut self,
        name: &str,
        turn: &mut Turn<'_>,
        act: impl FnOnce(&mut Subscription, &View<'_>, &mut Turn<'_>) -> R,
    ) -> Option<R> {
        let subscription = self.subscriptions.get_mut(name)?;
        let view = View {
            topic: &self.name,
            settings: &self.settings,
            extent: &self.extent,
            max_read_position: self.max_read_position,
        };
        let result = act(subscription, &view, turn);
        subscription.settle(&view, turn);
        note_timer(&mut self.timers, subscription);
        Some(result)
    }

    /// What subscriptions may know of the topic.
    pub(crate) fn view(&self) -> View<'_> {
        View {
            topic: &self.name,
            settings: &self.settings,
            extent: &self.extent,
            max_read_position: self.max_read_position,
        }
    }

    /// Something happened that may concern all subscriptions.
    pub(crate) fn settle_all(&mut self, turn: &mut Turn<'_>) {
        let view = View {
            topic: &self.name,
            settings: &self.settings,
            extent: &self.extent,
            max_read_position: self.max_read_position,
        };
        for subscription in self.subscriptions.values_mut() {
            subscription.settle(&view, turn);
            note_timer(&mut self.timers, subscription);
        }
    }

    fn time_came(&mut self, turn: &mut Turn<'_>) {
        let now = turn.now.moment;
        // Whatever was asked for may have been used up by this.
        self.wake_at = None;
        let due: Vec<Arc<str>> = self
            .timers
            .iter()
            .take_while(|(at, _)| *at <= now)
            .map(|(_, name)| name.clone())
            .collect();
        for name in due {
            self.with(&name, turn, |subscription, _, turn| {
                subscription.time_came(turn)
            });
            self.vanish_where_due(&name, turn);
        }
        self.sleep_when_idle(turn);
    }

    fn end_turn(&mut self, turn: &mut Turn<'_>) {
        self.note_idleness(turn);
        self.close_when_drained(turn);
        if self.phase == Phase::Asleep && self.newcomers.is_empty() && self.finds.is_empty() {
            turn.effects.push(TopicEffect::Asleep);
            self.wake_at = None;
            return;
        }
        let due = [self.timers.first().map(|(at, _)| *at), self.idle_deadline()]
            .into_iter()
            .flatten()
            .min();
        if due != self.wake_at
            && let Some(at) = due
        {
            turn.effects.push(TopicEffect::WakeAt(at));
        }
        self.wake_at = due;
    }
}

fn note_timer(timers: &mut BTreeSet<(Moment, Arc<str>)>, subscription: &mut Subscription) {
    let due = subscription.next_due();
    if due == subscription.timer {
        return;
    }
    if let Some(at) = subscription.timer {
        timers.remove(&(at, subscription.name.clone()));
    }
    if let Some(at) = due {
        timers.insert((at, subscription.name.clone()));
    }
    subscription.timer = due;
}
