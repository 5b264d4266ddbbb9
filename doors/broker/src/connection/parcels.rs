//! Letters of one session on their way to desks: a batch for each, handed in when there is credit.

use crate::house::House;
use crate::threads::desk_inbox::{Credit, DeskGone, DeskInbox};
use letters::{AckId, ToTopic, TopicLetter};
use shard::ShardInput;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A place in the line for credit.
type CreditToCome = Pin<Box<dyn Future<Output = Result<Credit, DeskGone>> + Send>>;

/// Letters in the order in which they were written, cut into batches by desk.
#[derive(Default)]
pub struct Parcels {
    open: Vec<Parcel>,
    waiting: VecDeque<Parcel>,
    credit: Option<CreditToCome>,
}

/// A batch for one desk.
struct Parcel {
    shard: usize,
    letters: Vec<ShardInput>,
    /// See [`bytes_of`].
    bytes: usize,
}

/// What a letter holds beside itself, bytes: an entry, or a list, which a peer may make as long as a command.
pub fn bytes_of(letter: &TopicLetter) -> usize {
    let of_id = |id: &AckId| {
        let words = id
            .remaining
            .as_ref()
            .map_or(0, |set| size_of_val(set.words()));
        size_of::<AckId>() + words
    };
    match letter {
        TopicLetter::Publish(publish) => publish.entry.len(),
        TopicLetter::Ack { ids, .. } => ids.iter().map(of_id).sum(),
        TopicLetter::Redeliver { positions, .. } => size_of_val(positions.as_slice()),
        TopicLetter::AddProducer(add) => {
            let names = [&add.name, &add.initial_subscription];
            let names = names.into_iter().flatten().map(String::len);
            names.sum::<usize>() + bytes_of_pairs(&add.metadata)
        }
        TopicLetter::AddConsumer(add) => {
            add.subscription.len() + add.name.len() + bytes_of_pairs(&add.metadata)
        }
        _ => 0,
    }
}

fn bytes_of_pairs(pairs: &[(String, String)]) -> usize {
    let texts = pairs.iter().map(|(key, value)| key.len() + value.len());
    size_of_val(pairs) + texts.sum::<usize>()
}

impl Parcels {
    /// Adds a letter. Those for one desk keep their order, which is all that anybody relies on.
    pub fn add(&mut self, house: &House, letter: ToTopic) {
        let shard = house.shard_of(&letter.topic);
        let bytes = bytes_of(&letter.letter);
        let parcel = match self.open.iter_mut().find(|parcel| parcel.shard == shard) {
            Some(parcel) => parcel,
            None => {
                self.open.push(Parcel {
                    shard,
                    letters: Vec::new(),
                    bytes: 0,
                });
                let Some(parcel) = self.open.last_mut() else {
                    return;
                };
                parcel
            }
        };
        parcel.bytes += bytes;
        parcel.letters.push(ShardInput::Letter(letter));
    }

    /// True if all letters are handed in.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.waiting.is_empty()
    }

    /// True if letters wait for credit.
    pub fn is_waiting(&self) -> bool {
        self.credit.is_some()
    }

    /// Hands in all that there is credit for right now.
    pub fn hand_in(&mut self, house: &House) -> Result<(), DeskGone> {
        self.waiting.extend(self.open.drain(..));
        while self.credit.is_none() {
            let Some(parcel) = self.waiting.pop_front() else {
                break;
            };
            let desk = house.desks.get(parcel.shard).ok_or(DeskGone)?;
            match desk.try_credit(parcel.cost()) {
                Some(credit) => desk.hand_in(parcel.letters, credit)?,
                None => {
                    self.credit = Some(Box::pin(Arc::clone(desk).credit(parcel.cost())));
                    self.waiting.push_front(parcel);
                }
            }
        }
        Ok(())
    }

    /// Waits for credit for the first batch and hands it in; waits for good if nothing waits. May be dropped and called
    /// again without losing its place.
    pub async fn hand_in_first(&mut self, house: &House) -> Result<(), DeskGone> {
        let Some(waiting) = self.credit.as_mut() else {
            return std::future::pending().await;
        };
        let credit = waiting.await;
        self.credit = None;
        let Some(parcel) = self.waiting.pop_front() else {
            return Ok(());
        };
        let desk = house.desks.get(parcel.shard).ok_or(DeskGone)?;
        desk.hand_in(parcel.letters, credit?)
    }
}

impl Parcel {
    fn cost(&self) -> u32 {
        DeskInbox::cost(self.letters.len(), self.bytes)
    }
}
