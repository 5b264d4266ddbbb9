//! Acks: what is acknowledged leaves the consumer that holds it, whoever sent the ack.

use crate::subscription::{Subscription, View};
use crate::turn::{Seat, Turn, refusal};
use letters::{AckId, AckKind, Refusal, RefusalCode, SubscriptionType};
use vocabulary::Position;

impl Subscription {
    /// ACK came from one of the subscription's consumers. Acks of what is acknowledged already, or was never there,
    /// change nothing and succeed.
    pub fn ack(
        &mut self,
        by: Seat,
        kind: AckKind,
        ids: &[AckId],
        view: &View<'_>,
    ) -> Result<(), Refusal> {
        match kind {
            AckKind::Individual => {
                for id in ids {
                    self.ack_one(by, id, view);
                }
                Ok(())
            }
            AckKind::Cumulative if self.kind == Some(SubscriptionType::Shared) => Err(refusal(
                RefusalCode::NotAllowedError,
                format!(
                    "Cumulative acks are not possible on the Shared subscription '{}'",
                    self.name
                ),
            )),
            AckKind::Cumulative => {
                for id in ids {
                    let acked = self.cursor.ack_cumulative(
                        view.extent,
                        id.position,
                        id.remaining.as_ref(),
                        None,
                    );
                    self.totals.acks_ignored += u64::from(acked.is_err());
                }
                Ok(())
            }
        }
    }

    fn ack_one(&mut self, by: Seat, id: &AckId, view: &View<'_>) {
        let position = id.position;
        let owner = self.owner_of(position, by);
        let held = owner.and_then(|at| self.consumers.get(at)?.pending.get(&position).copied());
        let batch_size = held.map(|pending| pending.batch_size);
        if self
            .cursor
            .ack(view.extent, position, id.remaining.as_ref(), batch_size)
            .is_err()
        {
            self.totals.acks_ignored += 1;
            return;
        }
        if self.cursor.is_acked(position) {
            self.replay.acked(position);
            self.chunks.acked(position);
        }
        let (Some(at), Some(pending)) = (owner, held) else {
            return;
        };
        let left = match self.cursor.is_acked(position) {
            true => 0,
            false => self
                .cursor
                .remaining(position)
                .map_or(pending.left, |set| set.count_within(pending.batch_size)),
        };
        let Some(consumer) = self.consumers.get_mut(at) else {
            return;
        };
        let gone = match left {
            0 => consumer.release(position).map_or(0, |pending| pending.left),
            _ => consumer.release_part(position, left),
        };
        self.unacked -= u64::from(gone);
        self.unblock_where_due(at, view.settings);
    }

    /// The index of the consumer that holds an entry; mostly the one that speaks of it.
    fn owner_of(&self, position: Position, speaker: Seat) -> Option<usize> {
        let holds = |at: &usize| {
            self.consumers
                .get(*at)
                .is_some_and(|consumer| consumer.pending.contains_key(&position))
        };
        self.index_of(speaker)
            .filter(holds)
            .or_else(|| (0..self.consumers.len()).find(holds))
    }

    /// An entry that no consumer has to see.
    pub(crate) fn ack_by_us(&mut self, position: Position, view: &View<'_>, turn: &mut Turn<'_>) {
        match self.cursor.ack(view.extent, position, None, None) {
            Ok(_) => self.totals.acked_by_us += 1,
            Err(error) => turn.report(format!(
                "{}: subscription '{}': {error}",
                view.topic, self.name
            )),
        }
        self.replay.acked(position);
    }
}
