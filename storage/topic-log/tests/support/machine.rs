//! Both stores on one simulated disk, as a single machine has them.

use super::Stores;
use bookie::{Bookie, BookieReply, BookieRequest, LocalEffect, LocalLedgerStore};
use bytes::Bytes;
use disk_log::LogSettings;
use ledger_store::{LedgerReply, LedgerRequest};
use metadata_store::{EmbeddedStore, Expect, KeyKind, MetadataReply, MetadataRequest};
use sim_world::{SimDice, SimDisk};
use std::sync::Arc;
use vocabulary::Now;

pub struct Machine {
    pub disk: SimDisk,
    bookie: Bookie,
    nodes: EmbeddedStore,
    local: LocalLedgerStore,
    dice: SimDice,
}

impl Machine {
    pub fn new(seed: u64) -> Machine {
        let disk = SimDisk::new();
        Machine {
            bookie: open_bookie(&disk),
            nodes: open_nodes(&disk),
            local: LocalLedgerStore::new("here:3181"),
            dice: SimDice::new(seed),
            disk,
        }
    }

    fn sort(&mut self, now: Now, effects: Vec<LocalEffect>, replies: &mut Vec<LedgerReply>) {
        let (mut effects, mut bookie, mut nodes) = (effects, Vec::new(), Vec::new());
        while !effects.is_empty() {
            for effect in effects.drain(..) {
                match effect {
                    LocalEffect::Metadata(request) => nodes.push(request),
                    LocalEffect::Bookie(request) => bookie.push(request),
                    LocalEffect::Reply(reply) => replies.push(reply),
                }
            }
            for reply in self.bookie_turn(std::mem::take(&mut bookie)) {
                self.local.handle_bookie(reply, &mut effects);
            }
            for reply in self.nodes.turn(now.wall, std::mem::take(&mut nodes)) {
                self.local.handle_metadata(reply, &mut effects);
            }
        }
    }

    fn bookie_turn(&mut self, requests: Vec<BookieRequest>) -> Vec<BookieReply> {
        if requests.is_empty() {
            Vec::new()
        } else {
            self.bookie.turn(requests)
        }
    }
}

fn open_bookie(disk: &SimDisk) -> Bookie {
    let mut settings = LogSettings::new("bookie", [7; 16]);
    settings.segment_bytes = 1024 * 1024;
    Bookie::open(Arc::new(disk.clone()), settings).expect("the bookie opens")
}

fn open_nodes(disk: &SimDisk) -> EmbeddedStore {
    EmbeddedStore::open(disk, &metadata_store::Settings::default())
        .expect("the metadata store opens")
}

impl Stores for Machine {
    fn turn(
        &mut self,
        now: Now,
        ledgers: Vec<LedgerRequest>,
        nodes: Vec<MetadataRequest>,
    ) -> (Vec<LedgerReply>, Vec<MetadataReply>) {
        let (mut effects, mut replies) = (Vec::new(), Vec::new());
        for request in ledgers {
            self.local.handle_request(request, &mut effects);
        }
        self.sort(now, effects, &mut replies);
        (replies, self.nodes.turn(now.wall, nodes))
    }

    fn put(&mut self, path: &str, value: &str) {
        let value = Bytes::copy_from_slice(value.as_bytes());
        let (path, expect, kind) = (path.to_owned(), Expect::Anything, KeyKind::Persistent);
        self.nodes.turn(
            Now::default().wall,
            vec![MetadataRequest::Put {
                ticket: 0,
                path,
                value,
                expect,
                kind,
            }],
        );
    }

    /// The power goes.
    fn crash(&mut self) {
        self.disk.restart(&mut self.dice);
        self.bookie = open_bookie(&self.disk);
        self.nodes = open_nodes(&self.disk);
        self.local = LocalLedgerStore::new("here:3181");
    }
}
