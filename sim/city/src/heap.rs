//! Time as a heap of events: the next one that is due is what happens next, and it sets the clock.

use std::collections::BTreeMap;
use std::time::Duration;
use vocabulary::{Moment, Now, WallTime};

/// The wall clock at moment zero, milliseconds since 1970.
const WALL_AT_START_MS: u64 = 1_750_000_000_000;

/// What will happen, in order; events of one moment happen in the order in which they were put in.
#[derive(Debug)]
pub struct EventHeap<Event> {
    events: BTreeMap<(Moment, u64), Event>,
    put_in: u64,
    now: Moment,
}

impl<Event> Default for EventHeap<Event> {
    fn default() -> EventHeap<Event> {
        EventHeap {
            events: BTreeMap::new(),
            put_in: 0,
            now: Moment(0),
        }
    }
}

impl<Event> EventHeap<Event> {
    /// Both clocks.
    #[must_use]
    pub fn now(&self) -> Now {
        Now {
            moment: self.now,
            wall: WallTime(WALL_AT_START_MS + self.now.0 / 1_000_000),
        }
    }

    /// The event will happen after so long.
    pub fn put_after(&mut self, delay: Duration, event: Event) {
        self.put_at(self.now.after(delay), event);
    }

    /// The event will happen at that moment, or now if that has passed.
    pub fn put_at(&mut self, moment: Moment, event: Event) {
        self.put_in += 1;
        self.events
            .insert((moment.max(self.now), self.put_in), event);
    }

    /// The next event, unless it lies after `until`; the clock goes with it.
    pub fn take_next(&mut self, until: Moment) -> Option<Event> {
        let first = self.events.first_entry()?;
        let moment = first.key().0;
        if moment > until {
            return None;
        }
        self.now = moment;
        Some(first.remove())
    }

    /// Nothing happens until that moment.
    pub fn pass_until(&mut self, moment: Moment) {
        self.now = self.now.max(moment);
    }

    /// Forgets events, in no moment's favour.
    pub fn forget(&mut self, mut which: impl FnMut(&Event) -> bool) {
        self.events.retain(|_, event| !which(event));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_moment_then_by_order() {
        let mut heap = EventHeap::default();
        heap.put_at(Moment(20), "later");
        heap.put_at(Moment(10), "first");
        heap.put_at(Moment(10), "second");
        assert_eq!(heap.take_next(Moment(15)), Some("first"));
        assert_eq!(heap.take_next(Moment(15)), Some("second"));
        assert_eq!(heap.take_next(Moment(15)), None);
        heap.put_at(Moment(5), "in the past");
        assert_eq!(heap.take_next(Moment(15)), Some("in the past"));
        assert_eq!(heap.now().moment, Moment(10));
    }
}
