//! Reading entries, from any thread.

use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use disk_log::{ReadFault, Stored};
use ledger_store::{Entry, LedgerError};

use crate::index::Ledgers;

/// Places looked up at once; the index is locked only for that.
const ENTRIES_AT_ONCE: i64 = 1024;

/// The index, shared between the writer and the readers.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    ledgers: RwLock<Ledgers>,
}

impl Shelf {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Ledgers> {
        // Changes of the index do not panic half way; if one did, what it held is still consistent per ledger.
        self.ledgers
            .read()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Ledgers> {
        self.ledgers
            .write()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Reads what was committed. Clones are cheap and may live on other threads.
#[derive(Clone, Debug)]
pub struct BookieReader {
    shelf: Arc<Shelf>,
}

impl BookieReader {
    pub(crate) fn new(shelf: Arc<Shelf>) -> BookieReader {
        BookieReader { shelf }
    }

    /// Entries from `first` on, consecutive, up to `last`, at least one and then no more than `bytes_max` of
    /// bodies. A damaged entry ends the run before it.
    ///
    /// # Errors
    /// Nothing could be read: no such ledger here, no such entry, the first one is damaged, or the disk said no.
    pub fn read(
        &self,
        ledger: i64,
        first: i64,
        last: i64,
        bytes_max: usize,
    ) -> Result<Vec<Entry>, LedgerError> {
        if first < 0 || last < first {
            return Err(LedgerError::NotAllowed(
                ledger,
                format!("there are no entries {first} to {last}"),
            ));
        }
        let mut found: Vec<Entry> = Vec::new();
        let mut bytes_left = bytes_max;
        let mut next = first;
        while next <= last && (found.is_empty() || bytes_left > 0) {
            let (some, fault) = self.read_stretch(ledger, next, last, bytes_left);
            let count = some.len();
            for stored in some {
                let bytes = stored.body.len();
                if !found.is_empty() && bytes > bytes_left {
                    return Ok(found);
                }
                bytes_left = bytes_left.saturating_sub(bytes);
                next = stored.entry + 1;
                found.push(Entry {
                    entry: stored.entry,
                    body: stored.body,
                });
            }
            match fault {
                Some(fault) if found.is_empty() => return Err(fault),
                Some(_) => break,
                None if count == 0 => break,
                None => {}
            }
        }
        Ok(found)
    }

    /// The last entry of a ledger and the sum of its body bytes; (-1, 0) if nothing of it is here. If the last
    /// entries are damaged, the sum is worked out from the last good one and the lengths of the others.
    ///
    /// # Errors
    /// The disk said no.
    pub fn last_entry(&self, ledger: i64) -> Result<(i64, u64), LedgerError> {
        let Some(last) = self
            .shelf
            .read()
            .get(&ledger)
            .and_then(|found| found.last())
        else {
            return Ok((-1, 0));
        };
        let mut damaged_bytes = 0;
        for entry in (0..=last).rev() {
            let Some(stretch) = self.find(ledger, entry, 1) else {
                continue;
            };
            let read = stretch.places().map(|(segment, places)| {
                damaged_bytes += places.first().map_or(0, |place| place.body_bytes());
                segment.read(ledger, entry, &places, usize::MAX)
            });
            match read {
                Ok((found, _)) if !found.is_empty() => {
                    let length = found.first().map_or(0, |stored| stored.length);
                    let own = found.first().map_or(0, |stored| stored.body.len() as u64);
                    let length = length.saturating_add(damaged_bytes).saturating_sub(own);
                    return Ok((last, length));
                }
                Ok((_, Some(ReadFault::Io(text)))) | Err(ReadFault::Io(text)) => {
                    return Err(LedgerError::Io(text));
                }
                Ok(_) | Err(ReadFault::Damaged(_)) => {}
            }
        }
        Ok((last, damaged_bytes))
    }

    fn read_stretch(
        &self,
        ledger: i64,
        first: i64,
        last: i64,
        bytes_max: usize,
    ) -> (Vec<Stored>, Option<LedgerError>) {
        let count_max = (last - first).saturating_add(1).min(ENTRIES_AT_ONCE) as u32;
        let Some(stretch) = self.find(ledger, first, count_max) else {
            return (Vec::new(), Some(self.why_missing(ledger, first)));
        };
        let sorted = |fault| match fault {
            ReadFault::Damaged(text) => (first, text),
            ReadFault::Io(text) => (-1, text),
        };
        let (found, fault) = match stretch.places() {
            Ok((segment, places)) => segment.read(ledger, first, &places, bytes_max),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        let fault = fault.map(sorted).map(|(entry, text)| match entry {
            -1 => LedgerError::Io(text),
            _ => LedgerError::Damaged(ledger, first, text),
        });
        (found, fault)
    }

    fn find(&self, ledger: i64, first: i64, count_max: u32) -> Option<crate::index::Stretch> {
        self.shelf.read().get(&ledger)?.find(first, count_max)
    }

    fn why_missing(&self, ledger: i64, entry: i64) -> LedgerError {
        match self.shelf.read().get(&ledger).map(|found| found.last()) {
            None | Some(None) => LedgerError::NoSuchLedger(ledger),
            Some(Some(last)) if entry > last => LedgerError::NoSuchEntry(ledger, entry),
            Some(Some(_)) => {
                LedgerError::Damaged(ledger, entry, "its record is not to be found".into())
            }
        }
    }
}
