//! The thread of a desk: take what waits, one turn, hand out all of it.

use super::desk_inbox::DeskInbox;
use super::journal::JournalDoor;
use super::metadata::{Asker, MetadataParcel, MetadataQueue};
use crate::asks::Asks;
use crate::counters::{Counters, add};
use crate::fate::Fate;
use crate::house;
use crate::registry::Registry;
use os_world::OsClock;
use shard::{Shard, ShardAsk, ShardInput, ShardOutputs};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;
use vocabulary::Moment;

/// What a desk's thread needs.
pub struct DeskPremises {
    /// What waits for it.
    pub inbox: Arc<DeskInbox>,
    /// Where its letters go.
    pub registry: Arc<Registry>,
    /// Where its entries go, and where old ones come from.
    pub journal: JournalDoor,
    /// Where small truths are kept.
    pub metadata: Arc<MetadataQueue>,
    /// Who waits for answers about the shard.
    pub asks: Arc<Asks>,
    /// The only clock.
    pub clock: OsClock,
    /// For the metrics page.
    pub counters: Arc<Counters>,
}

/// Starts the thread. It ends when `Shutdown` was asked and all is saved.
pub fn start(
    fate: &Fate,
    number: usize,
    shard: Shard,
    premises: DeskPremises,
) -> io::Result<JoinHandle<()>> {
    fate.spawn(&format!("hulse-desk-{number}"), move || {
        premises.work(shard)
    })
}

impl DeskPremises {
    fn work(self, mut shard: Shard) {
        let mut inputs = Vec::new();
        let mut outputs = ShardOutputs::default();
        let mut wake_at: Option<Moment> = None;
        let mut leaving = false;
        while !(leaving && shard.is_idle()) {
            let letters_wanted = self.inbox.wants_letters(self.journal.backlog_bytes());
            let deadline = wake_at.map(|moment| house::instant_of(&self.clock, moment));
            self.inbox.take(&mut inputs, letters_wanted, deadline);
            let now = house::read(&self.clock);
            if wake_at.is_some_and(|moment| moment <= now.moment) {
                inputs.push(ShardInput::TimeCame);
            }
            if inputs.is_empty() {
                continue;
            }
            leaving |= inputs
                .iter()
                .any(|input| matches!(input, ShardInput::Ask(ShardAsk::Shutdown)));
            add(&self.counters.desk_inputs, inputs.len() as u64);
            let began = Instant::now();
            shard.turn(now, &mut inputs, &mut outputs);
            self.counters.desk_turn.record(began.elapsed());
            wake_at = outputs.wake_at;
            self.hand_out(&mut outputs);
        }
        self.inbox.close();
    }

    fn hand_out(&self, outputs: &mut ShardOutputs) {
        // The disk first: it takes longest.
        if !outputs.bookie.is_empty() {
            self.journal
                .send(std::mem::take(&mut outputs.bookie), &self.inbox);
        }
        if !outputs.metadata.is_empty() {
            let requests = std::mem::take(&mut outputs.metadata);
            let asker = Asker::Desk(Arc::clone(&self.inbox));
            // The store outlives the desks; were it gone, the process would be ending.
            self.metadata.push(MetadataParcel { requests, asker });
        }
        self.registry.hand_out(outputs.letters.drain(..));
        for answer in outputs.answers.drain(..) {
            self.asks.answer(answer);
        }
    }
}
