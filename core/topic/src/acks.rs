//! Acks: what is acknowledged leaves the consumer that holds it, whoever sent the ack.

use crate::TopicSettings;
use crate::seek::refuse_ack;
use crate::subscription::{Subscription, View};
use crate::turn::{Seat, Turn, refusal};
use cursor::{AckRefusal, Acked};
use letters::{AckId, AckKind, Refusal, RefusalCode, SubscriptionType};
use std::borrow::Cow;
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
        if kind == AckKind::Cumulative && self.kind == Some(SubscriptionType::Shared) {
            let text = format!(
                "Cumulative acks are not possible on the Shared subscription '{}'",
                self.name
            );
            return Err(refusal(RefusalCode::NotAllowedError, text));
        }
        if self.is_being_reset()
            && let Some(first) = ids.first()
        {
            self.totals.acks_ignored += 1;
            return Err(refuse_ack(first.position));
        }
        let mut refused = None;
        for id in ids {
            let Some(id) = as_far_as_allowed(kind, id, view.settings) else {
                continue;
            };
            let id = &*id;
            let acked = match kind {
                AckKind::Individual => self.ack_one(by, id, view),
                AckKind::Cumulative => {
                    let remaining = id.remaining.as_ref();
                    self.cursor
                        .ack_cumulative(view.extent, id.position, remaining, None)
                }
            };
            let acked = acked.map(|acked| acked.entries.max(u64::from(acked.messages)));
            if let (Ok(count), Some(consumer)) = (&acked, self.consumer(by)) {
                consumer.totals.acked += count;
            }
            if let Err(error) = acked {
                self.totals.acks_ignored += 1;
                let was_there = !matches!(error, AckRefusal::BeyondLast { .. });
                refused = refused.or(was_there.then_some(error));
            }
        }
        match refused {
            Some(error) => Err(refusal(RefusalCode::NotAllowedError, error.to_string())),
            None => Ok(()),
        }
    }

    fn ack_one(&mut self, by: Seat, id: &AckId, view: &View<'_>) -> Result<Acked, AckRefusal> {
        let position = id.position;
        let owner = self.owner_of(position, by);
        let held = owner.and_then(|at| self.consumers.get(at)?.pending.get(&position).copied());
        let batch_size = held.map(|pending| pending.batch_size);
        let acked = self
            .cursor
            .ack(view.extent, position, id.remaining.as_ref(), batch_size)?;
        if self.cursor.is_acked(position) {
            self.replay.acked(position);
            self.chunks.acked(position);
        }
        let (Some(at), Some(pending)) = (owner, held) else {
            return Ok(acked);
        };
        let left = match self.cursor.is_acked(position) {
            true => 0,
            false => self
                .cursor
                .remaining(position)
                .map_or(pending.left, |set| set.count_within(pending.batch_size)),
        };
        let Some(consumer) = self.consumers.get_mut(at) else {
            return Ok(acked);
        };
        let gone = match left {
            0 => consumer.release(position).map_or(0, |pending| pending.left),
            _ => consumer.release_part(position, left),
        };
        self.unacked -= u64::from(gone);
        self.unblock_where_due(at, view.settings);
        Ok(acked)
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

/// What an ack comes to: where `acknowledgmentAtBatchIndexLevelEnabled` is off, an individual ack of part of a batch
/// is nothing (the client acks the whole entry in the end), a cumulative one reaches up to the entry before.
fn as_far_as_allowed<'a>(
    kind: AckKind,
    id: &'a AckId,
    settings: &TopicSettings,
) -> Option<Cow<'a, AckId>> {
    let is_partial = id.remaining.as_ref().is_some_and(|set| !set.is_empty());
    if settings.batch_index_acks || !is_partial {
        return Some(Cow::Borrowed(id));
    }
    (kind == AckKind::Cumulative).then(|| {
        Cow::Owned(AckId {
            position: id.position.before(),
            remaining: None,
        })
    })
}
