//! Which entries of a topic exist: a last entry per ledger, so that nothing here costs more with more entries.

use std::collections::VecDeque;

use vocabulary::Position;

/// A ledger that holds the entries 0..=`last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    ledger: i64,
    last: i64,
    /// Entries in the ledgers before this one, those trimmed since included: differences of it count entries.
    before: u64,
}

impl Held {
    fn entries(&self) -> u64 {
        self.last.unsigned_abs() + 1
    }
}

/// The entries of a topic that exist, in the order of their positions. Ledgers without entries are not listed.
///
/// Every question costs at most the logarithm of the number of ledgers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    ledgers: VecDeque<Held>,
    /// The last entry ever known here, trimmed or not: what is behind it never existed.
    end: Option<Position>,
}

impl Extent {
    /// From the ledgers that hold entries, each with its last entry, as `LogReply::Opened` lists them.
    /// Their order does not matter; ledgers without entries (last entry below 0) are left out.
    #[must_use]
    pub fn new(mut ledgers: Vec<(i64, i64)>) -> Extent {
        ledgers.sort_unstable();
        let mut extent = Extent::default();
        for (ledger, last) in ledgers {
            if last >= 0 {
                extent.stored(Position::new(ledger, last));
            }
        }
        extent
    }

    /// An entry was stored; all before it in its ledger exist too. Entries are told in order: a new ledger
    /// says that the one before is sealed where it stands. Telling an entry twice changes nothing.
    ///
    /// # Panics
    /// If the entry lies in a ledger before the last one, and did not exist.
    pub fn stored(&mut self, position: Position) {
        if self.end.is_some_and(|end| position <= end) {
            // Invariant: a log answers appends in order, so an older position is one already told.
            assert!(
                self.contains(position) || self.first().is_none_or(|first| position < first),
                "entry {position} was stored in a ledger that was sealed before it"
            );
            return;
        }
        let before = self
            .ledgers
            .back()
            .map_or(0, |held| held.before + held.entries());
        match self.ledgers.back_mut() {
            Some(held) if held.ledger == position.ledger => held.last = position.entry,
            _ => self.ledgers.push_back(Held {
                ledger: position.ledger,
                last: position.entry,
                before,
            }),
        }
        self.end = Some(position);
    }

    /// The ledgers before the one of `first` are gone.
    pub fn trimmed(&mut self, first: Position) {
        while self
            .ledgers
            .front()
            .is_some_and(|held| held.ledger < first.ledger)
        {
            self.ledgers.pop_front();
        }
    }

    /// The first entry.
    #[must_use]
    pub fn first(&self) -> Option<Position> {
        self.ledgers
            .front()
            .map(|held| Position::new(held.ledger, 0))
    }

    /// The last entry.
    #[must_use]
    pub fn last(&self) -> Option<Position> {
        self.ledgers
            .back()
            .map(|held| Position::new(held.ledger, held.last))
    }

    /// Where the mark of a cursor stands that wants nothing but what is still to come: the last entry ever
    /// stored, or (-1, -1) where there was none.
    #[must_use]
    pub fn end(&self) -> Position {
        self.end.unwrap_or(Position::EARLIEST)
    }

    /// Where the mark of a cursor stands that wants everything: before the first entry, or at the
    /// [`Extent::end`] where there is none.
    #[must_use]
    pub fn start(&self) -> Position {
        self.first().map_or_else(|| self.end(), Position::before)
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ledgers.is_empty()
    }

    /// Whether this entry exists.
    #[must_use]
    pub fn contains(&self, position: Position) -> bool {
        self.last_of(position.ledger)
            .is_some_and(|last| (0..=last).contains(&position.entry))
    }

    /// The last entry of a ledger that holds entries.
    #[must_use]
    pub fn last_of(&self, ledger: i64) -> Option<i64> {
        let held = self.ledgers.get(self.index_from(ledger))?;
        (held.ledger == ledger).then_some(held.last)
    }

    /// The first entry strictly after this position.
    #[must_use]
    pub fn next_valid(&self, after: Position) -> Option<Position> {
        let at = self.index_from(after.ledger);
        let held = self.ledgers.get(at)?;
        if held.ledger != after.ledger {
            return Some(Position::new(held.ledger, 0));
        }
        if after.entry < held.last {
            return Some(Position::new(held.ledger, after.entry.max(-1) + 1));
        }
        self.ledgers
            .get(at + 1)
            .map(|next| Position::new(next.ledger, 0))
    }

    /// This entry if it exists, or else the first one after it.
    #[must_use]
    pub fn at_or_after(&self, position: Position) -> Option<Position> {
        if self.contains(position) {
            Some(position)
        } else {
            self.next_valid(position)
        }
    }

    /// This entry if it exists, or else the last one before it.
    #[must_use]
    pub fn at_or_before(&self, position: Position) -> Option<Position> {
        let at = self.index_from(position.ledger);
        if let Some(held) = self.ledgers.get(at)
            && held.ledger == position.ledger
            && position.entry >= 0
        {
            return Some(Position::new(held.ledger, position.entry.min(held.last)));
        }
        let held = self.ledgers.get(at.checked_sub(1)?)?;
        Some(Position::new(held.ledger, held.last))
    }

    /// The last entry strictly before this position.
    #[must_use]
    pub fn last_before(&self, position: Position) -> Option<Position> {
        self.at_or_before(position.before())
    }

    /// The entry that has `n` others between itself and `after`.
    #[must_use]
    pub fn nth_after(&self, after: Position, n: u64) -> Option<Position> {
        let number = self.count_to(after).checked_add(n)?;
        let at = self
            .ledgers
            .partition_point(|held| held.before + held.entries() <= number);
        let held = self.ledgers.get(at)?;
        let entry = i64::try_from(number.checked_sub(held.before)?).ok()?;
        Some(Position::new(held.ledger, entry))
    }

    /// The position a mark takes so that this entry is the first one not acknowledged: the entry number
    /// before it, which for the first entry of a ledger is -1, as in Pulsar.
    #[must_use]
    pub fn before(&self, position: Position) -> Position {
        position.before()
    }

    /// How many entries exist after `after`, up to and including `up_to`.
    #[must_use]
    pub fn count(&self, after: Position, up_to: Position) -> u64 {
        self.count_to(up_to).saturating_sub(self.count_to(after))
    }

    /// Entries up to and including this position, trimmed ones included unless all ledgers up to it are gone.
    fn count_to(&self, position: Position) -> u64 {
        let at = self.index_from(position.ledger);
        match self.ledgers.get(at) {
            Some(held) if held.ledger == position.ledger => {
                held.before + (position.entry.clamp(-1, held.last) + 1).unsigned_abs()
            }
            Some(held) => held.before,
            None => self
                .ledgers
                .back()
                .map_or(0, |held| held.before + held.entries()),
        }
    }

    /// The index of the first ledger listed whose id is this or a higher one.
    fn index_from(&self, ledger: i64) -> usize {
        self.ledgers.partition_point(|held| held.ledger < ledger)
    }
}
