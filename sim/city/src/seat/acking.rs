//! What a consumer's application does with the messages it holds.

use super::consuming::{AwaitedReceipt, ConsumerAtWork, State};
use super::{Seat, Surroundings};
use crate::checks::MessagePlace;
use crate::plan::AckHabit;
use crate::violation::Violation;
use client_session::{Ack, ClientAsk, MessageId};
use vocabulary::Position;

impl Seat {
    pub(super) fn work_on_held(&mut self, around: &mut Surroundings<'_>) -> Result<(), Violation> {
        for at in 0..self.consumers.len() {
            let life = self.life;
            let consumer = &mut self.consumers[at];
            let ask = match consumer.state {
                State::Leaving => None,
                State::Away if around.calm || around.dice.chance(1, 4) => {
                    Some(consumer.subscribe())
                }
                State::Away => None,
                State::In if !around.calm && around.dice.chance(1, 150) => {
                    consumer.state = State::Leaving;
                    around.counts.add("consumers closed");
                    Some(ClientAsk::CloseConsumer(consumer.id))
                }
                State::In if consumer.held.is_empty() => None,
                State::In if !around.calm && around.dice.chance(1, 30) => {
                    Some(consumer.ask_again(around))
                }
                State::In if around.calm || around.dice.chance(1, 2) => {
                    Some(consumer.acknowledge(life, around))
                }
                State::In => None,
            };
            if let Some(ask) = ask {
                self.ask(ask, around)?;
            }
        }
        Ok(())
    }
}

impl ConsumerAtWork {
    /// Gives some of it back: Shared names entries, the others everything.
    fn ask_again(&mut self, around: &mut Surroundings<'_>) -> ClientAsk {
        around.counts.add("redeliveries asked for");
        let mut positions: Vec<Position> = Vec::new();
        if !self.is_single() {
            positions = self
                .held
                .iter()
                .map(|held| held.position)
                .filter(|_| around.dice.chance(1, 2))
                .collect();
            positions.dedup();
        }
        let everything = positions.is_empty();
        self.held
            .retain(|held| !everything && !positions.contains(&held.position));
        around.lines.push(format!(
            "consumer {} asks for {} again",
            self.id,
            named(&positions)
        ));
        ClientAsk::Redeliver {
            consumer_id: self.id,
            positions,
        }
    }

    /// Acknowledges some of what it holds, or all of it when all is to end.
    fn acknowledge(&mut self, life: u32, around: &mut Surroundings<'_>) -> ClientAsk {
        let last = self.held.len() as u64;
        let chosen = self.held[around.dice.below(last) as usize];
        let (ack, done) = match self.plan.acks {
            AckHabit::Cumulative => {
                let up_to = if around.calm { self.latest() } else { chosen };
                let done = self.take(|held| place(*held) <= place(up_to));
                (Ack::Cumulative(up_to), done)
            }
            AckHabit::Individual => {
                let done = self.take(|held| around.calm || held.position == chosen.position);
                (Ack::Individual(done.clone()), done)
            }
            AckHabit::BatchIndex => {
                let dice = &mut *around.dice;
                let calm = around.calm;
                let done = self.take(|held| calm || *held == chosen || dice.chance(1, 3));
                (Ack::Individual(done.clone()), done)
            }
        };
        let wants_receipt = around.dice.chance(2, 3);
        let receipt = wants_receipt.then(|| self.await_receipt(&ack, life));
        around.counts.add(if wants_receipt {
            "acks with receipts sent"
        } else {
            "acks without receipts sent"
        });
        around.lines.push(format!(
            "consumer {} acks {} (receipt {receipt:?})",
            self.id,
            described(&ack, done.len())
        ));
        ClientAsk::Ack {
            consumer_id: self.id,
            ack,
            receipt,
        }
    }

    fn await_receipt(&mut self, ack: &Ack, life: u32) -> u64 {
        self.next_token += 1;
        let (places, is_cumulative) = match ack {
            Ack::Individual(ids) => (ids.iter().map(|id| place(*id)).collect(), false),
            Ack::Cumulative(id) => (vec![place(*id)], true),
        };
        self.awaited.insert(
            self.next_token,
            AwaitedReceipt {
                places,
                is_cumulative,
                life,
            },
        );
        self.next_token
    }

    fn latest(&self) -> MessageId {
        let latest = self.held.iter().max_by_key(|held| place(**held));
        // Invariant: only called while something is held.
        *latest.expect("something is held")
    }

    fn take(&mut self, mut which: impl FnMut(&MessageId) -> bool) -> Vec<MessageId> {
        let (taken, kept) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held| which(held));
        self.held = kept;
        taken
    }
}

fn place(id: MessageId) -> MessagePlace {
    MessagePlace {
        position: id.position,
        index: id.batch.map_or(0, |(index, _)| index),
    }
}

fn named(positions: &[Position]) -> String {
    match positions {
        [] => "everything".to_owned(),
        some => some
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn described(ack: &Ack, messages: usize) -> String {
    match ack {
        Ack::Cumulative(id) => format!("everything up to {} ({messages} held)", place(*id)),
        Ack::Individual(ids) => ids
            .iter()
            .map(|id| place(*id).to_string())
            .collect::<Vec<_>>()
            .join(" "),
    }
}
