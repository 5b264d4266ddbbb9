//! The end of a topic: nobody new is let in, everybody is told to go, and what it holds is deleted.

use crate::Topic;
use crate::phase::Phase;
use crate::turn::{Turn, refusal};
use letters::{LogError, LogRequest, Refusal, RefusalCode, SessionLetter};
use vocabulary::{RequestId, SessionId};

/// Who waits for the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    session: SessionId,
    request_id: RequestId,
}

impl Topic {
    /// The topic is to end. One that is in use (subscriptions without consumers do not count) only with `force`.
    pub(crate) fn delete(
        &mut self,
        session: SessionId,
        request_id: RequestId,
        force: bool,
        turn: &mut Turn<'_>,
    ) {
        if let Err(refusal) = self.may_end(force) {
            let letter = SessionLetter::TopicRefused {
                request_id,
                refusal,
            };
            return turn.tell(session, letter);
        }
        self.ending = Some(Ending {
            session,
            request_id,
        });
        let text = "The topic is being deleted";
        self.refuse_newcomers(RefusalCode::ServiceNotReady, text, turn);
        self.throw_out_producers(turn);
        self.throw_out_consumers(turn);
        match self.phase {
            Phase::Asleep => self.open_to_end(turn),
            Phase::Ready | Phase::Draining => self.end_log(turn),
            // It goes on when the log has answered.
            Phase::Opening { .. } | Phase::Closing => {}
        }
    }

    fn may_end(&self, force: bool) -> Result<(), Refusal> {
        if let Some(refusal) = self.refuses_at_end() {
            return Err(refusal);
        }
        if self.is_shutting_down() {
            let text = "The broker is shutting down";
            return Err(refusal(RefusalCode::ServiceNotReady, text));
        }
        let in_use = !self.producers.is_empty()
            || self.producers.exclusive.is_granting()
            || !self.consumers.is_empty()
            || !self.newcomers.is_empty();
        if in_use && !force {
            let text = "Topic has active producers/subscriptions";
            return Err(refusal(RefusalCode::NotAllowedError, text));
        }
        Ok(())
    }

    /// What is told to whoever comes while the topic ends. Trying again helps: it may be made anew.
    pub(crate) fn refuses_at_end(&self) -> Option<Refusal> {
        self.ending.map(|_| {
            let text = format!("Topic {} is being deleted; try again", self.name);
            refusal(RefusalCode::ServiceNotReady, text)
        })
    }

    /// Only an open log can be deleted.
    pub(crate) fn open_to_end(&mut self, turn: &mut Turn<'_>) {
        if self.only_passes() {
            return self.end(Err(LogError::NoSuchTopic(self.name.to_string())), turn);
        }
        self.phase = Phase::Opening { create: false };
        turn.ask(LogRequest::Open { create: false });
    }

    /// The log is open: it goes, and all that was known of it.
    pub(crate) fn end_log(&mut self, turn: &mut Turn<'_>) {
        self.forget_log(turn, "The topic was deleted");
        self.phase = Phase::Closing;
        match self.only_passes() {
            true => self.log_deleted(Ok(()), turn),
            false => turn.ask(LogRequest::Delete),
        }
    }

    /// The log is deleted, or is not and is closed.
    pub(crate) fn log_deleted(&mut self, result: Result<(), LogError>, turn: &mut Turn<'_>) {
        if self.phase != Phase::Closing {
            return;
        }
        self.phase = Phase::Asleep;
        self.end(result, turn);
    }

    /// Whoever waits for the end hears of it.
    pub(crate) fn end(&mut self, result: Result<(), LogError>, turn: &mut Turn<'_>) {
        let Some(Ending {
            session,
            request_id,
        }) = self.ending.take()
        else {
            return;
        };
        let letter = match result {
            Ok(()) => SessionLetter::TopicDeleted { request_id },
            Err(error) => {
                let (code, text) = match &error {
                    LogError::NoSuchTopic(_) | LogError::NoSuchNamespace(_) => (
                        RefusalCode::TopicNotFound,
                        format!("Topic {} not found", self.name),
                    ),
                    _ => (
                        RefusalCode::PersistenceError,
                        format!("{} cannot be deleted: {error}; try again", self.name),
                    ),
                };
                SessionLetter::TopicRefused {
                    request_id,
                    refusal: refusal(code, text),
                }
            }
        };
        turn.tell(session, letter);
    }
}
