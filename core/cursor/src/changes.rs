//! What changed since the last record was taken.

use std::collections::BTreeSet;

use vocabulary::Position;

use crate::ahead::Ahead;

/// What the next delta has to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub mark_moved: bool,
    pub acked: Ahead,
    pub partial: BTreeSet<Position>,
    pub properties: BTreeSet<String>,
    pub string_properties: BTreeSet<String>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        !self.mark_moved
            && self.acked.is_empty()
            && self.partial.is_empty()
            && self.properties.is_empty()
            && self.string_properties.is_empty()
    }

    /// The mark has to be told.
    pub fn mark_moved(&mut self, mark: Position) {
        self.mark_moved = true;
        self.prune(mark);
    }

    /// What the mark covers need not be told one by one.
    pub fn prune(&mut self, mark: Position) {
        self.acked.remove_to(mark);
        while self
            .partial
            .first()
            .is_some_and(|position| *position <= mark)
        {
            self.partial.pop_first();
        }
    }
}
