//! Exclusive and Failover: which consumer is the active one, and when it may begin.

use crate::consumer::Consumer;
use crate::subscription::{Subscription, View};
use crate::turn::{Seat, Turn};
use letters::{SessionLetter, SubscriptionType};
use vocabulary::hash::murmur3_32;
use vocabulary::{Moment, TopicName};

/// Points that each candidate has on the ring that chooses among Failover consumers of a topic without partitions.
const RING_POINTS: u32 = 100;

/// The active consumer.
#[derive(Debug, Default)]
pub(crate) struct Active {
    pub seat: Option<Seat>,
    /// It gets nothing before this moment: acks of the one before may still be on their way.
    pub allowed_at: Option<Moment>,
}

impl Subscription {
    /// The consumer that may get entries now.
    pub(crate) fn takes_now(&self) -> Option<&Consumer> {
        match self.active.allowed_at {
            Some(_) => None,
            None => self
                .consumers
                .iter()
                .find(|consumer| Some(consumer.seat) == self.active.seat),
        }
    }

    /// Somebody came or left: chooses again. `newcomer` is told at once if nothing changed.
    pub(crate) fn choose_active(
        &mut self,
        newcomer: Option<Seat>,
        view: &View<'_>,
        turn: &mut Turn<'_>,
    ) {
        let chosen = self.candidate(view.topic);
        if chosen == self.active.seat {
            if let Some((session, consumer_id)) = newcomer {
                let is_active = chosen == newcomer;
                turn.tell(
                    session,
                    SessionLetter::ActiveConsumerChanged {
                        consumer_id,
                        is_active,
                    },
                );
            }
            return;
        }
        let before = std::mem::replace(&mut self.active.seat, chosen);
        self.rewind();
        let delay = view.settings.failover_delay;
        let waits =
            before.is_some() && chosen.is_some() && self.kind == Some(SubscriptionType::Failover);
        if waits && !delay.is_zero() {
            self.active.allowed_at = Some(turn.now.moment.after(delay));
        } else {
            self.active.allowed_at = None;
            self.tell_who_is_active(turn);
        }
    }

    /// The new active consumer has waited long enough. It begins after the mark, as since the change nothing was read
    /// for it; what was acknowledged meanwhile is skipped.
    pub(crate) fn begin_active_when_due(&mut self, turn: &mut Turn<'_>) {
        if self
            .active
            .allowed_at
            .is_some_and(|at| at <= turn.now.moment)
        {
            self.active.allowed_at = None;
            self.tell_who_is_active(turn);
        }
    }

    fn tell_who_is_active(&self, turn: &mut Turn<'_>) {
        for consumer in &self.consumers {
            let (session, consumer_id) = consumer.seat;
            let is_active = Some(consumer.seat) == self.active.seat;
            turn.tell(
                session,
                SessionLetter::ActiveConsumerChanged {
                    consumer_id,
                    is_active,
                },
            );
        }
    }

    /// Who should be active. Consumers are sorted by priority level, then name; only the best level counts.
    fn candidate(&self, topic: &TopicName) -> Option<Seat> {
        let best = self.consumers.first()?.priority_level;
        let candidates: Vec<&Consumer> = self
            .consumers
            .iter()
            .take_while(|consumer| consumer.priority_level == best)
            .collect();
        let index = match topic.partition() {
            Some(partition) => partition as usize % candidates.len(),
            None => on_ring(&candidates, topic),
        };
        candidates.get(index).map(|consumer| consumer.seat)
    }
}

/// The candidate whose point on the hash ring is the first at or after the topic's, as in Pulsar; where two points
/// fall together the later candidate has it.
fn on_ring(candidates: &[&Consumer], topic: &TopicName) -> usize {
    let target = murmur3_32(topic.as_str().as_bytes());
    let mut at_or_after: Option<(u32, usize)> = None;
    let mut lowest: Option<(u32, usize)> = None;
    for (index, consumer) in candidates.iter().enumerate() {
        for point in 0..RING_POINTS {
            let hash = murmur3_32(format!("{}{point}", consumer.name).as_bytes());
            if lowest.is_none_or(|(low, _)| hash <= low) {
                lowest = Some((hash, index));
            }
            if hash >= target && at_or_after.is_none_or(|(nearest, _)| hash <= nearest) {
                at_or_after = Some((hash, index));
            }
        }
    }
    at_or_after.or(lowest).map_or(0, |(_, index)| index)
}
