//! Publishing: entries go to the log in the order they came, and are answered in that order.

use crate::Topic;
use crate::turn::{Seat, Turn};
use letters::{LogError, LogRequest, Publish, SessionLetter};
use vocabulary::{Domain, Position, ProducerId, RequestId, SessionId};

/// An append the log has not answered.
#[derive(Debug)]
pub(crate) struct Appending {
    pub ticket: u64,
    /// Whose; `None` when nobody is left to be told.
    pub seat: Option<Seat>,
    pub sequence_id: u64,
    pub highest_sequence_id: Option<u64>,
    pub messages: u32,
    pub bytes: u64,
}

impl Topic {
    /// SEND came.
    pub(crate) fn publish(&mut self, session: SessionId, publish: Publish, turn: &mut Turn<'_>) {
        let producer_id = publish.producer_id;
        let seat = (session, producer_id);
        let open = !self.is_shutting_down();
        let Some(producer) = self
            .producers
            .get_mut(seat)
            .filter(|producer| open && producer.leaving.is_none())
        else {
            turn.tell(session, SessionLetter::Dropped { producer_id });
            return;
        };
        if self.name.domain() == Domain::NonPersistent {
            return self.pass_on(seat, publish, turn);
        }
        producer.pending += 1;
        let ticket = turn.ticket();
        let bytes = publish.entry.len() as u64;
        self.producers.appending_bytes += bytes;
        self.producers.appending.push_back(Appending {
            ticket,
            seat: Some(seat),
            sequence_id: publish.sequence_id,
            highest_sequence_id: publish.highest_sequence_id,
            messages: publish.messages,
            bytes,
        });
        turn.ask(LogRequest::Append {
            ticket,
            body: publish.entry,
            messages: publish.messages,
        });
    }

    /// An entry is on disk.
    pub(crate) fn stored(&mut self, ticket: u64, position: Position, turn: &mut Turn<'_>) {
        let Some(appending) = self.next_answered(ticket) else {
            return;
        };
        self.extent.stored(position);
        self.totals.messages_in += u64::from(appending.messages);
        self.totals.entries_in += 1;
        self.totals.bytes_in += appending.bytes;
        if let Some((session, producer_id)) = appending.seat {
            turn.tell(
                session,
                SessionLetter::Stored {
                    producer_id,
                    sequence_id: appending.sequence_id,
                    highest_sequence_id: appending.highest_sequence_id,
                    position,
                },
            );
            if let Some(producer) = self.producers.get_mut((session, producer_id)) {
                producer.pending -= 1;
                producer.messages_in += u64::from(appending.messages);
                producer.entries_in += 1;
                producer.bytes_in += appending.bytes;
            }
            self.let_go_where_done((session, producer_id), turn);
        }
        self.unfence_where_due(turn);
        self.settle_all(turn);
    }

    /// An entry is not on disk. It may be there all the same, or come back after a restart, so its producer must not
    /// go on as if nothing had happened: everybody starts anew.
    pub(crate) fn not_stored(&mut self, ticket: u64, error: &LogError, turn: &mut Turn<'_>) {
        let Some(appending) = self.next_answered(ticket) else {
            return;
        };
        self.totals.publish_failures += 1;
        if let Some((session, producer_id)) = appending.seat {
            turn.tell(session, SessionLetter::Dropped { producer_id });
            if let Some(producer) = self.producers.get_mut((session, producer_id)) {
                producer.pending -= 1;
            }
        }
        if !self.producers.fenced {
            turn.report(format!(
                "{}: an entry was not stored: {error}; all producers start anew",
                self.name
            ));
            self.producers.fenced = true;
        }
        self.throw_out_producers(turn);
        self.unfence_where_due(turn);
    }

    /// The append that the log has answered. Its answers come in order.
    fn next_answered(&mut self, ticket: u64) -> Option<Appending> {
        if ticket <= self.ignored_tickets {
            return None;
        }
        let appending = self.producers.appending.pop_front();
        // Invariant: the log answers appends in order, each once.
        assert!(
            appending
                .as_ref()
                .is_some_and(|appending| appending.ticket == ticket),
            "{}: the log answered append {ticket} out of order",
            self.name
        );
        if let Some(appending) = &appending {
            self.producers.appending_bytes -= appending.bytes;
        }
        appending
    }

    /// Everything pending is dropped, every producer told to look the topic up again.
    pub(crate) fn throw_out_producers(&mut self, turn: &mut Turn<'_>) {
        for appending in &mut self.producers.appending {
            if let Some((session, producer_id)) = appending.seat.take() {
                turn.tell(session, SessionLetter::Dropped { producer_id });
            }
        }
        let seats: Vec<Seat> = self
            .producers
            .iter()
            .map(|producer| producer.seat)
            .collect();
        for seat in seats {
            let Some(producer) = self.producers.remove(seat) else {
                continue;
            };
            let (session, producer_id) = seat;
            match producer.leaving {
                Some(request_id) => turn.tell(
                    session,
                    SessionLetter::ProducerLeft {
                        request_id,
                        producer_id,
                    },
                ),
                None => turn.tell(session, SessionLetter::CloseProducer { producer_id }),
            }
        }
        self.forget_holder();
    }

    fn unfence_where_due(&mut self, turn: &mut Turn<'_>) {
        if self.producers.fenced && self.producers.appending.is_empty() {
            self.producers.fenced = false;
            self.admit_candidate(turn);
            self.promote_next(turn);
            self.readmit(|newcomer| newcomer.waits_for.is_unfencing(), turn);
        }
    }

    /// CLOSE_PRODUCER came.
    pub(crate) fn close_producer(
        &mut self,
        session: SessionId,
        producer_id: ProducerId,
        request_id: RequestId,
        turn: &mut Turn<'_>,
    ) {
        let seat = (session, producer_id);
        self.cancel_producer(seat, turn);
        match self.producers.get_mut(seat) {
            Some(producer) if producer.pending > 0 && producer.leaving.is_none() => {
                producer.leaving = Some(request_id)
            }
            Some(producer) if producer.pending > 0 => {
                // Asked twice: the second is answered at once, the first when it is true.
                turn.tell(
                    session,
                    SessionLetter::ProducerLeft {
                        request_id,
                        producer_id,
                    },
                );
            }
            _ => {
                turn.tell(
                    session,
                    SessionLetter::ProducerLeft {
                        request_id,
                        producer_id,
                    },
                );
                self.remove_producer(seat, turn);
            }
        }
    }

    /// A leaving producer, or one of a topic that shuts down, goes when its last publish is answered.
    fn let_go_where_done(&mut self, seat: Seat, turn: &mut Turn<'_>) {
        let shutting_down = self.is_shutting_down();
        let Some(producer) = self
            .producers
            .get(seat)
            .filter(|producer| producer.pending == 0)
        else {
            return;
        };
        let (session, producer_id) = seat;
        match producer.leaving {
            Some(request_id) => turn.tell(
                session,
                SessionLetter::ProducerLeft {
                    request_id,
                    producer_id,
                },
            ),
            None if shutting_down => {
                turn.tell(session, SessionLetter::CloseProducer { producer_id })
            }
            None => return,
        }
        self.remove_producer(seat, turn);
    }

    /// A producer is gone; who wanted its name may have it.
    pub(crate) fn remove_producer(&mut self, seat: Seat, turn: &mut Turn<'_>) {
        if let Some(producer) = self.producers.remove(seat) {
            self.release_exclusive(seat);
            self.readmit(
                |newcomer| newcomer.wants_producer_name(&producer.name),
                turn,
            );
            self.promote_next(turn);
        }
    }
}
