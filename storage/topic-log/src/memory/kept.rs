//! What lasts of one topic.

use bytes::Bytes;
use letters::log::{CursorRecord, SavedCursor};
use letters::{LogError, StoredEntry};
use std::collections::{BTreeMap, BTreeSet};
use vocabulary::Position;
use world::Dice;

/// What lasts of one topic.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) entries: BTreeMap<Position, Bytes>,
    pub(super) damaged: BTreeSet<Position>,
    pub(super) cursors: BTreeMap<String, SavedCursor>,
    pub(super) properties: BTreeMap<String, String>,
    /// Cursors of which a record was lost.
    pub(super) broken: BTreeSet<String>,
    /// The ledger that takes entries, if there is one.
    pub(super) ledger: Option<i64>,
    /// Entries said not to be stored, behind the last one that is: a crash may bring them back.
    pub(super) ghosts: Vec<Bytes>,
}

impl Kept {
    pub(super) fn extent(&self) -> Vec<(i64, i64)> {
        let mut last: BTreeMap<i64, i64> = BTreeMap::new();
        for position in self.entries.keys() {
            last.insert(position.ledger, position.entry);
        }
        last.into_iter().collect()
    }

    pub(super) fn store(&mut self, body: Bytes, last_ledger: &mut i64, roll: bool) -> Position {
        self.ghosts.clear();
        let after = self.entries.last_key_value().map(|(last, _)| last.after());
        let position = match (self.ledger, after) {
            (Some(ledger), Some(after)) if ledger == after.ledger && !roll => after,
            _ => {
                *last_ledger += 1;
                self.ledger = Some(*last_ledger);
                Position::new(*last_ledger, 0)
            }
        };
        self.entries.insert(position, body);
        position
    }

    pub(super) fn bring_back_ghosts(&mut self, last_ledger: &mut i64, dice: &mut dyn Dice) {
        let ghosts = std::mem::take(&mut self.ghosts);
        for body in ghosts {
            if dice.chance(500, 1000) {
                break;
            }
            self.store(body, last_ledger, false);
        }
    }

    pub(super) fn read(
        &self,
        from: Position,
        until: Position,
        entries_max: u32,
        bytes_max: usize,
    ) -> (Vec<StoredEntry>, Vec<Position>) {
        let (mut entries, mut damaged, mut bytes) = (Vec::new(), Vec::new(), 0);
        if from > until {
            return (entries, damaged);
        }
        for (position, body) in self.entries.range(from..=until) {
            if entries.len() + damaged.len() >= (entries_max as usize).max(1) {
                break;
            }
            if self.damaged.contains(position) {
                damaged.push(*position);
                continue;
            }
            bytes += body.len();
            if bytes > bytes_max && !entries.is_empty() {
                break;
            }
            entries.push(StoredEntry {
                position: *position,
                body: body.clone(),
            });
        }
        (entries, damaged)
    }

    pub(super) fn entry(&self, position: Position) -> Option<StoredEntry> {
        self.entries.get(&position).map(|body| StoredEntry {
            position,
            body: body.clone(),
        })
    }

    pub(super) fn create_cursor(&mut self, name: &str, snapshot: Bytes) -> Result<(), LogError> {
        if self.cursors.contains_key(name) {
            return Err(LogError::Io(format!("cursor {name} exists already")));
        }
        let cursor = SavedCursor {
            name: name.to_owned(),
            snapshot,
            deltas: Vec::new(),
            lost: None,
        };
        self.cursors.insert(name.to_owned(), cursor);
        Ok(())
    }

    pub(super) fn save(&mut self, name: &str, record: CursorRecord) -> Result<(), LogError> {
        let Some(cursor) = self.cursors.get_mut(name) else {
            return Err(LogError::Io(format!(
                "cursor {name} does not exist: create it first"
            )));
        };
        match record {
            CursorRecord::Snapshot(snapshot) => {
                self.broken.remove(name);
                cursor.snapshot = snapshot;
                cursor.deltas.clear();
            }
            CursorRecord::Delta(_) if self.broken.contains(name) => {
                return Err(LogError::Io(
                    "a record before this one was not stored: the next one must be a snapshot"
                        .to_owned(),
                ));
            }
            CursorRecord::Delta(delta) => cursor.deltas.push(delta),
        }
        Ok(())
    }

    /// A record of which nobody is told whether it is kept. Once one is not, none behind it is.
    pub(super) fn may_save(&mut self, name: String, record: CursorRecord, dice: &mut dyn Dice) {
        if self.broken.contains(&name) && matches!(record, CursorRecord::Delta(_)) {
            return;
        }
        if dice.chance(500, 1000) {
            // A failure is an answer nobody gets.
            let _ = self.save(&name, record);
        } else {
            self.broken.insert(name);
        }
    }

    pub(super) fn trim(&mut self, up_to: Position) -> Option<Position> {
        let extent = self.extent();
        let stays = |(ledger, last): &(i64, i64)| {
            Position::new(*ledger, *last) > up_to || self.ledger == Some(*ledger)
        };
        let first_kept = extent.iter().position(stays).unwrap_or(extent.len());
        if first_kept == 0 {
            return None;
        }
        let first = match extent.get(first_kept) {
            Some((ledger, _)) => Position::new(*ledger, 0),
            None => Position::new(extent.last()?.0.saturating_add(1), 0),
        };
        self.entries = self.entries.split_off(&first);
        self.damaged = self.damaged.split_off(&first);
        Some(first)
    }
}
