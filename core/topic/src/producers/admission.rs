//! Who may publish.

use super::Producer;
use super::exclusive::Access;
use crate::Topic;
use crate::newcomers::{Newcomer, WaitsFor, Wish};
use crate::turn::{Seat, Turn};
use letters::{AddProducer, InitialPosition, RefusalCode, SessionLetter};
use vocabulary::SessionId;

/// What becomes of a newcomer.
enum Answer {
    Admit { name: String },
    Grant { name: String },
    Refuse(RefusalCode, String),
    Wait(WaitsFor),
    CreateSubscription(String),
}

impl Topic {
    /// PRODUCER came.
    pub(crate) fn add_producer(
        &mut self,
        session: SessionId,
        add: Box<AddProducer>,
        turn: &mut Turn<'_>,
    ) {
        let seat = (session, add.producer_id);
        if self.newcomers.has_producer(seat) || self.producers.exclusive.is_candidate(seat) {
            let text = format!(
                "Producer {} is already being created on the connection",
                add.producer_id
            );
            refuse(session, add, RefusalCode::ServiceNotReady, &text, turn);
            return;
        }
        if let Some(refusal) = self.refuses_domain().or_else(|| self.refuses_at_end()) {
            refuse(session, add, refusal.code, &refusal.message, turn);
            return;
        }
        if let Err((code, text)) = servable(&add) {
            refuse(session, add, code, text, turn);
            return;
        }
        if !self.is_open_to(turn) {
            self.wait(session, Wish::Producer(add), WaitsFor::Log, turn);
            self.open_where_wanted(turn);
            return;
        }
        self.admit_producer(session, add, None, turn);
    }

    /// `alive`: a session known to be alive, whose names are not up for grabs.
    pub(crate) fn admit_producer(
        &mut self,
        session: SessionId,
        add: Box<AddProducer>,
        alive: Option<SessionId>,
        turn: &mut Turn<'_>,
    ) {
        let seat = (session, add.producer_id);
        if self.producers.get(seat).is_some() {
            self.greet_again(seat, add, turn);
            return;
        }
        match self.judge_producer(session, &add, alive) {
            Answer::Refuse(code, text) => refuse(session, add, code, &text, turn),
            Answer::Wait(WaitsFor::Probe(holder)) => {
                self.wait_for_probe(session, Wish::Producer(add), holder, turn)
            }
            Answer::Wait(WaitsFor::Exclusive) => self.wait_for_exclusive(session, add, turn),
            Answer::Wait(waits_for) => {
                self.wait(session, Wish::Producer(add), waits_for, turn);
            }
            Answer::Grant { name } => self.grant_exclusive(session, add, name, turn),
            Answer::CreateSubscription(name) => {
                if self.create_subscription(&name, InitialPosition::Earliest, turn) {
                    self.wait(
                        session,
                        Wish::Producer(add),
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
            Answer::Admit { name } => {
                self.tell_ready(seat, add.request_id, &name, turn);
                self.producers
                    .insert(Producer::new(seat, name, *add, turn.now.wall));
            }
        }
    }

    fn judge_producer(
        &self,
        session: SessionId,
        add: &AddProducer,
        alive: Option<SessionId>,
    ) -> Answer {
        if self.producers.fenced {
            return Answer::Wait(WaitsFor::Unfencing);
        }
        let most = self.settings.producers_max;
        if most > 0 && self.producers.len() >= most {
            return Answer::Refuse(
                RefusalCode::ProducerBusy,
                format!("Topic '{}' reached max producers limit", self.name),
            );
        }
        if let Some(name) = add
            .initial_subscription
            .as_deref()
            .filter(|name| !name.is_empty() && !self.only_passes())
        {
            match self.subscriptions.get(name) {
                Some(subscription) if subscription.is_ready() => {}
                Some(_) => return Answer::Wait(WaitsFor::Subscription(name.to_owned())),
                None if self.settings.auto_create_subscriptions => {
                    return Answer::CreateSubscription(name.to_owned());
                }
                None => {
                    let text = "Could not create the initial subscription due to the \
                                auto subscription creation is not allowed."
                        .to_owned();
                    return Answer::Refuse(RefusalCode::NotAllowedError, text);
                }
            }
        }
        match self.judge_access(session, add, alive) {
            Access::Refuse(code, text) => return Answer::Refuse(code, text),
            Access::Wait(waits_for) => return Answer::Wait(waits_for),
            Access::Grant => {
                return Answer::Grant {
                    name: self.name_of(add),
                };
            }
            Access::Shared => {}
        }
        let Some(name) = add.name.as_deref().filter(|name| !name.is_empty()) else {
            return Answer::Admit {
                name: self.generated_name(),
            };
        };
        match self.producers.holder(name) {
            None => Answer::Admit {
                name: name.to_owned(),
            },
            Some((holder, _)) if holder == session || Some(holder) == alive => Answer::Refuse(
                RefusalCode::ProducerBusy,
                format!(
                    "Producer with name '{name}' is already connected to topic '{}'",
                    self.name
                ),
            ),
            Some((holder, _)) => Answer::Wait(WaitsFor::Probe(holder)),
        }
    }

    /// The name it asked for, or a new one.
    fn name_of(&self, add: &AddProducer) -> String {
        let asked = add.name.clone().filter(|name| !name.is_empty());
        asked.unwrap_or_else(|| self.generated_name())
    }

    /// It is told so, and keeps its turn.
    fn wait_for_exclusive(
        &mut self,
        session: SessionId,
        mut add: Box<AddProducer>,
        turn: &mut Turn<'_>,
    ) {
        let name = self.name_of(&add);
        add.name = Some(name.clone());
        let (request_id, producer_id) = (add.request_id, add.producer_id);
        if self.wait(session, Wish::Producer(add), WaitsFor::Exclusive, turn) {
            let letter = SessionLetter::ProducerReady {
                request_id,
                producer_id,
                name,
                last_sequence_id: -1,
                topic_epoch: None,
                ready: false,
            };
            turn.tell(session, letter);
        }
    }

    /// A user may have chosen a name like ours; then the next one is taken.
    fn generated_name(&self) -> String {
        loop {
            let name = self.names.next_name();
            if self.producers.holder(&name).is_none() {
                return name;
            }
        }
    }

    /// The same producer again: a client that did not hear the first answer, or one that reconnects on the same
    /// connection, which counts its epoch up.
    fn greet_again(&mut self, seat: Seat, add: Box<AddProducer>, turn: &mut Turn<'_>) {
        let Some(producer) = self.producers.get_mut(seat) else {
            return;
        };
        if producer.leaving.is_some() {
            let text = format!(
                "Producer {} is being closed on the connection",
                add.producer_id
            );
            refuse(seat.0, add, RefusalCode::ServiceNotReady, &text, turn);
            return;
        }
        producer.epoch = producer.epoch.max(add.epoch);
        let name = producer.name.clone();
        self.tell_ready(seat, add.request_id, &name, turn);
    }

    pub(crate) fn tell_ready(
        &self,
        (session, producer_id): Seat,
        request_id: u64,
        name: &str,
        turn: &mut Turn<'_>,
    ) {
        turn.tell(
            session,
            SessionLetter::ProducerReady {
                request_id,
                producer_id,
                name: name.to_owned(),
                last_sequence_id: -1,
                topic_epoch: self.producers.exclusive.epoch,
                ready: true,
            },
        );
    }
}

/// What cannot be served whatever the topic's state.
fn servable(add: &AddProducer) -> Result<(), (RefusalCode, &'static str)> {
    if let Some(name) = add.initial_subscription.as_deref()
        && crate::consumers::is_reserved(name)
    {
        return Err((
            RefusalCode::ProducerBusy,
            "Subscription with reserved subscription name attempted",
        ));
    }
    Ok(())
}

fn refuse(
    session: SessionId,
    add: Box<AddProducer>,
    code: RefusalCode,
    text: &str,
    turn: &mut Turn<'_>,
) {
    Newcomer {
        session,
        wish: Wish::Producer(add),
        waits_for: WaitsFor::Log,
    }
    .refuse(code, text, turn);
}
