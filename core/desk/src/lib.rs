//! Owns: all topics of one shard: which are awake, when each wants to be woken, who their letters go to.
//! Never: awaits, reads a clock, holds a rule of Pulsar's (those live in `topic`).
//! Told: letters of sessions, replies of logs, that time came. Says: letters to sessions, requests to logs, when to wake it.
//! Read first: [`Desk::handle`], then [`recording`], which turns a desk's inputs into a file and back.

mod alarm;
pub mod recording;

use alarm::Alarm;
use foldhash::fast::FixedState;
use letters::{LogReply, LogRequest, SessionLetter, ToSession, ToTopic, TopicLetter};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use topic::{NameSource, Topic, TopicEffect, TopicInput, TopicSettings};
use vocabulary::{Moment, Now, TopicName};

#[cfg(test)]
mod desk_tests;

/// One thing that happened, as a desk is told it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DeskInput {
    /// A session wrote to a topic.
    LetterCame(ToTopic),
    /// A log answered.
    LogAnswered {
        /// Whose log.
        topic: TopicName,
        /// What it said.
        reply: LogReply,
    },
    /// The moment asked for with [`Desk::wake_at`] is here (or earlier: then nothing happens).
    TimeCame,
    /// The process is about to end: tell everyone, save everything.
    ShutdownBegan,
}

/// One thing a desk says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DeskEffect {
    /// Hand this to its session.
    Letter(ToSession),
    /// Hand this to the topic's log.
    Log {
        /// Whose log.
        topic: TopicName,
        /// What is asked.
        request: LogRequest,
    },
    /// Something an operator should read: for the process's own log.
    Report {
        /// Whose story.
        topic: TopicName,
        /// What happened, to what, and what to do.
        text: String,
    },
}

/// All topics of one shard.
pub struct Desk {
    settings: Arc<TopicSettings>,
    names: Arc<NameSource>,
    topics: HashMap<TopicName, Topic, FixedState>,
    alarm: Alarm,
    effects_of_topic: Vec<TopicEffect>,
    shutting_down: bool,
}

impl Desk {
    /// A desk without topics; they wake when a letter comes for them.
    #[must_use]
    pub fn new(settings: Arc<TopicSettings>, names: Arc<NameSource>) -> Desk {
        Desk {
            settings,
            names,
            topics: HashMap::with_hasher(FixedState::default()),
            alarm: Alarm::default(),
            effects_of_topic: Vec::new(),
            shutting_down: false,
        }
    }

    /// Takes one input and decides; what it says is added to `effects`, in order.
    pub fn handle(&mut self, now: Now, input: DeskInput, effects: &mut Vec<DeskEffect>) {
        match input {
            DeskInput::LetterCame(letter) => self.letter_came(now, letter, effects),
            DeskInput::LogAnswered { topic, reply } => {
                self.tell(now, &topic, TopicInput::Log(reply), effects);
            }
            DeskInput::TimeCame => self.time_came(now, effects),
            DeskInput::ShutdownBegan => self.shutdown_began(now, effects),
        }
    }

    /// When this desk next wants [`DeskInput::TimeCame`].
    #[must_use]
    pub fn wake_at(&self) -> Option<Moment> {
        self.alarm.next()
    }

    /// Topics that are in memory, in no order.
    pub fn topics(&self) -> impl Iterator<Item = &Topic> {
        self.topics.values()
    }

    /// A topic, if it is in memory.
    #[must_use]
    pub fn topic(&self, name: &TopicName) -> Option<&Topic> {
        self.topics.get(name)
    }

    /// True when no topic is in memory: after a shutdown, everything is saved.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.topics.is_empty()
    }

    fn letter_came(&mut self, now: Now, to: ToTopic, effects: &mut Vec<DeskEffect>) {
        let known = self.topics.contains_key(&to.topic);
        if !known {
            // A farewell to a topic that is not awake wakes nobody.
            if matches!(to.letter, TopicLetter::SessionGone) {
                return;
            }
            if self.shutting_down {
                return refuse_at_shutdown(to, effects);
            }
            let topic = Topic::new(
                to.topic.clone(),
                Arc::clone(&self.settings),
                Arc::clone(&self.names),
            );
            self.topics.insert(to.topic.clone(), topic);
        }
        let input = TopicInput::Letter {
            session: to.session,
            letter: to.letter,
        };
        self.tell(now, &to.topic, input, effects);
    }

    fn tell(
        &mut self,
        now: Now,
        name: &TopicName,
        input: TopicInput,
        effects: &mut Vec<DeskEffect>,
    ) {
        // A reply for a topic that went to sleep has nobody left who waits for it.
        let Some(topic) = self.topics.get_mut(name) else {
            return;
        };
        topic.handle(now, input, &mut self.effects_of_topic);
        self.carry_out(name, effects);
    }

    fn carry_out(&mut self, name: &TopicName, effects: &mut Vec<DeskEffect>) {
        let mut asleep = false;
        for effect in self.effects_of_topic.drain(..) {
            match effect {
                TopicEffect::Letter(letter) => effects.push(DeskEffect::Letter(letter)),
                TopicEffect::Log(request) => effects.push(DeskEffect::Log {
                    topic: name.clone(),
                    request,
                }),
                TopicEffect::WakeAt(moment) => self.alarm.set(name, moment),
                TopicEffect::Report { text } => effects.push(DeskEffect::Report {
                    topic: name.clone(),
                    text,
                }),
                TopicEffect::Asleep => asleep = true,
            }
        }
        if asleep {
            self.topics.remove(name);
            self.alarm.forget(name);
        }
    }

    fn time_came(&mut self, now: Now, effects: &mut Vec<DeskEffect>) {
        // Those who ask again for a moment that is already here are served in the next turn, so that a
        // topic that is always in a hurry cannot keep the desk from everybody else.
        for name in self.alarm.take_due(now.moment) {
            self.tell(now, &name, TopicInput::TimeCame, effects);
        }
    }

    fn shutdown_began(&mut self, now: Now, effects: &mut Vec<DeskEffect>) {
        self.shutting_down = true;
        let mut names: Vec<TopicName> = self.topics.keys().cloned().collect();
        names.sort();
        for name in names {
            if let Some(topic) = self.topics.get_mut(&name) {
                topic.begin_shutdown(now, &mut self.effects_of_topic);
                self.carry_out(&name, effects);
            }
        }
    }
}

/// Answers what needs an answer while the process is going away: the client shall try again elsewhere, or later.
fn refuse_at_shutdown(to: ToTopic, effects: &mut Vec<DeskEffect>) {
    let refusal = || {
        letters::Refusal::new(
            letters::RefusalCode::ServiceNotReady,
            format!(
                "{} is not served any more: the broker is shutting down",
                to.topic
            ),
        )
    };
    let letter = match to.letter {
        TopicLetter::FindTopic { request_id, .. } | TopicLetter::DeleteTopic { request_id, .. } => {
            // ServiceNotReady in a lookup answer makes clients drop the whole connection (SEMANTICS 5).
            let code = letters::RefusalCode::MetadataError;
            let refusal = letters::Refusal { code, ..refusal() };
            SessionLetter::TopicRefused {
                request_id,
                refusal,
            }
        }
        TopicLetter::Prepare { request_id, .. } => SessionLetter::Prepared {
            request_id,
            is_blank: Err(refusal()),
        },
        TopicLetter::DoTask { request_id, .. } => SessionLetter::TaskDone {
            request_id,
            result: Err(refusal()),
        },
        TopicLetter::AddProducer(add) => SessionLetter::ProducerRefused {
            request_id: add.request_id,
            producer_id: add.producer_id,
            refusal: refusal(),
        },
        TopicLetter::AddConsumer(add) => SessionLetter::SubscribeRefused {
            request_id: add.request_id,
            consumer_id: add.consumer_id,
            refusal: refusal(),
        },
        TopicLetter::Publish(publish) => SessionLetter::Dropped {
            producer_id: publish.producer_id,
        },
        TopicLetter::CloseProducer {
            request_id,
            producer_id,
        } => SessionLetter::ProducerLeft {
            request_id,
            producer_id,
        },
        TopicLetter::CloseConsumer {
            request_id,
            consumer_id,
        } => SessionLetter::ConsumerLeft {
            request_id,
            consumer_id,
        },
        TopicLetter::Ack {
            consumer_id,
            request_id: Some(request_id),
            ..
        } => SessionLetter::AckDone {
            request_id,
            consumer_id,
            refusal: Some(refusal()),
        },
        _ => return,
    };
    effects.push(DeskEffect::Letter(ToSession {
        session: to.session,
        letter,
    }));
}
