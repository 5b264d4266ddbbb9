//! Dropping entries of ledgers that have no key any more, once after the start.
//!
//! The guards are BookKeeper's, each bought with lost data there: the bookie's ledgers are listed before the
//! keys, so that a ledger made meanwhile is in neither list; a listing that failed anywhere ends the
//! collection ("could not ask" is not "none"); a missing directory does not end the walk; and before a ledger
//! is dropped its key is asked for once more, and only "certainly no such key" counts.

use std::collections::{BTreeSet, VecDeque};

use metadata_store::{MetadataReply, MetadataRequest};

use super::{LocalEffect, LocalLedgerStore, Step};
use crate::desk::BookieRequest;
use crate::paths::{PathKind, ROOT, ledger_path, path_kind};

/// A collection on its way. Memory: the ledgers of this bookie and one directory of keys at a time.
#[derive(Debug, Default)]
pub(super) struct Collection {
    /// On the bookie, and no key seen so far.
    unnamed: BTreeSet<i64>,
    directories: VecDeque<String>,
    asking_for: Option<i64>,
}

impl LocalLedgerStore {
    pub(super) fn begin_collection(&mut self, effects: &mut Vec<LocalEffect>) {
        self.collection = Some(Collection::default());
        let ticket = self.ticket_for(Step::Collect);
        effects.push(LocalEffect::Bookie(BookieRequest::Ledgers { ticket }));
    }

    /// Whether the collection is over, done or given up.
    pub fn has_collected(&self) -> bool {
        self.collection.is_none()
    }

    pub(super) fn collect_from(&mut self, ledgers: Vec<i64>, effects: &mut Vec<LocalEffect>) {
        if let Some(collection) = &mut self.collection {
            collection.unnamed = ledgers.into_iter().collect();
            collection.directories.push_back(ROOT.into());
        }
        self.collect_next(effects);
    }

    pub(super) fn collected(&mut self, reply: MetadataReply, effects: &mut Vec<LocalEffect>) {
        let Some(collection) = &mut self.collection else {
            return;
        };
        match reply {
            MetadataReply::Children {
                path,
                result: Ok(names),
                ..
            } => {
                collection.listed(&path, &names);
                self.collect_next(effects);
            }
            MetadataReply::Got {
                result: Ok(found), ..
            } => {
                let ledger = collection.asking_for.take();
                match (ledger, found) {
                    (Some(ledger), None) => {
                        tracing::info!(ledger, "dropping the entries of a ledger that was deleted");
                        let ticket = self.ticket_for(Step::Collect);
                        effects.push(LocalEffect::Bookie(BookieRequest::Forget {
                            ticket,
                            ledger,
                        }));
                    }
                    _ => self.collect_next(effects),
                }
            }
            other => {
                tracing::warn!(
                    ?other,
                    "looking for deleted ledgers was given up; the next start tries again"
                );
                self.collection = None;
            }
        }
    }

    pub(super) fn collect_next(&mut self, effects: &mut Vec<LocalEffect>) {
        let Some(collection) = &mut self.collection else {
            return;
        };
        if collection.unnamed.is_empty() {
            self.collection = None;
            return;
        }
        if let Some(path) = collection.directories.pop_front() {
            let ticket = self.ticket_for(Step::Collect);
            effects.push(LocalEffect::Metadata(MetadataRequest::Children {
                ticket,
                path,
            }));
            return;
        }
        let ledger = collection.unnamed.pop_first();
        collection.asking_for = ledger;
        if let Some(ledger) = ledger {
            let ticket = self.ticket_for(Step::Collect);
            effects.push(LocalEffect::Metadata(MetadataRequest::Get {
                ticket,
                path: ledger_path(ledger),
            }));
        }
    }
}

impl Collection {
    fn listed(&mut self, directory: &str, names: &[String]) {
        for name in names {
            let path = format!("{directory}/{name}");
            match path_kind(&path) {
                PathKind::Ledger(ledger) => drop(self.unnamed.remove(&ledger)),
                PathKind::Directory => self.directories.push_back(path),
                PathKind::Other => {}
            }
        }
    }
}
