//! Letters of one session on their way to desks: a batch for each, handed in when there is credit.

use crate::house::House;
use crate::threads::desk_inbox::{Credit, DeskGone, DeskInbox};
use letters::{ToTopic, TopicLetter};
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
    entry_bytes: usize,
}

impl Parcels {
    /// Adds a letter. Those for one desk keep their order, which is all that anybody relies on.
    pub fn add(&mut self, house: &House, letter: ToTopic) {
        let shard = house.shard_of(&letter.topic);
        let entry_bytes = match &letter.letter {
            TopicLetter::Publish(publish) => publish.entry.len(),
            _ => 0,
        };
        let parcel = match self.open.iter_mut().find(|parcel| parcel.shard == shard) {
            Some(parcel) => parcel,
            None => {
                self.open.push(Parcel {
                    shard,
                    letters: Vec::new(),
                    entry_bytes: 0,
                });
                let Some(parcel) = self.open.last_mut() else {
                    return;
                };
                parcel
            }
        };
        parcel.entry_bytes += entry_bytes;
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
        DeskInbox::cost(self.letters.len(), self.entry_bytes)
    }
}
