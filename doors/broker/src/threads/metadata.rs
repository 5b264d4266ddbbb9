//! The thread of the metadata store: whatever waits is one turn, and one commit.

use super::desk_inbox::DeskInbox;
use super::queue::{Queue, Taken};
use crate::counters::Counters;
use crate::fate::Fate;
use crate::watch_room::WatchRoom;
use metadata_store::embedded::EmbeddedStore;
use metadata_store::{MetadataReply, MetadataRequest};
use shard::ShardInput;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::oneshot;
use vocabulary::WallTime;
use world::Clock;

/// Requests in front of the metadata store. Bounded by what desks and pages have under way (see `desk_inbox`).
pub type MetadataQueue = Queue<MetadataParcel>;

/// A batch of requests of one asker.
pub struct MetadataParcel {
    /// What is asked, in order.
    pub requests: Vec<MetadataRequest>,
    /// Who wants the replies.
    pub asker: Asker,
}

/// Who wants replies.
pub enum Asker {
    /// A desk.
    Desk(Arc<DeskInbox>),
    /// A page, which waits for the replies, one for each request, in order. If it waits no more, they are dropped.
    Page(oneshot::Sender<Vec<MetadataReply>>),
}

/// Starts the thread. It ends when the queue is closed and empty.
pub fn start(
    fate: &Fate,
    store: EmbeddedStore,
    queue: Arc<MetadataQueue>,
    clock: os_world::OsClock,
    counters: Arc<Counters>,
    watch_room: Arc<WatchRoom>,
) -> io::Result<JoinHandle<()>> {
    let witness = fate.clone();
    fate.spawn("hulse-metadata", move || {
        work(store, &queue, &clock, &counters, &watch_room, &witness)
    })
}

fn work(
    mut store: EmbeddedStore,
    queue: &MetadataQueue,
    clock: &os_world::OsClock,
    counters: &Counters,
    watch_room: &WatchRoom,
    fate: &Fate,
) {
    let mut is_watching = false;
    let mut parcels = Vec::new();
    while queue.take(&mut parcels, None) == Taken::Open {
        let mut requests = Vec::new();
        let mut askers = Vec::with_capacity(parcels.len());
        for parcel in parcels.drain(..) {
            askers.push((parcel.asker, parcel.requests.len()));
            requests.extend(parcel.requests);
        }
        let began = Instant::now();
        watch_room.prepare(&mut store, &mut is_watching);
        let count = requests.len();
        let now = WallTime(clock.wall_ms());
        let mut replies = store.turn(now, requests);
        counters.metadata_commit.record(began.elapsed());
        if let Some(poison) = store.poisoned() {
            // Nothing can be changed any more until the store is opened again; waiting would only hide that.
            fate.fail(format!(
                "the metadata store could not be written and takes no more changes: {poison}. The process ends; what \
                 was confirmed is safe. Check the disk (space, errors in the system's log), then start again"
            ));
        }
        if replies.len() > count {
            watch_room.hear(&mut store, now, replies.drain(count..));
        }
        hand_back(replies, askers);
    }
}

/// One reply for each request, in order.
fn hand_back(replies: Vec<MetadataReply>, askers: Vec<(Asker, usize)>) {
    let mut replies = replies.into_iter();
    for (asker, count) in askers {
        let own = replies.by_ref().take(count);
        match asker {
            Asker::Desk(inbox) => inbox.reply(own.map(ShardInput::Metadata)),
            // A page that waits no more needs no reply.
            Asker::Page(page) => drop(page.send(own.collect())),
        }
    }
}
