//! The subscription goes elsewhere, or ends and begins anew.

use super::Model;
use letters::{SeekTarget, TopicLetter};
use vocabulary::{AckSet, Position};

impl Model {
    /// Until it is answered: what a crash in between leaves is for the transcripts.
    pub(super) fn seek(&mut self, session: u64, which: u8) {
        if !self.seats.contains_key(&session) || self.stored.is_empty() {
            return;
        }
        let at = usize::from(which) % (self.stored.len() + 2);
        let target = match at.checked_sub(2) {
            Some(at) => self.stored.keys().nth(at).copied(),
            None => [Position::EARLIEST, Position::LATEST].get(at).copied(),
        };
        // Whatever waits for the log is answered first, so that nothing is stored while the end is meant.
        self.quiet_down();
        self.seeking = target;
        if let (Some(target), true) = (target, self.seats.contains_key(&session)) {
            self.world.tell(
                session,
                TopicLetter::Seek {
                    request_id: 7,
                    consumer_id: 1,
                    target: SeekTarget::Id(target, None),
                },
            );
            self.quiet_down();
        }
        self.seeking = None;
    }

    /// The seek is done: what is before its target is acknowledged, everything from there on is wanted again.
    pub(super) fn moved(&mut self) {
        let target = self.seeking.expect("a seek that was asked for");
        self.begin_anew(target);
    }

    pub(super) fn begin_anew(&mut self, target: Position) {
        for (position, size) in &self.stored {
            if *position < target {
                self.left.insert(*position, AckSet::default());
                self.confirmed.insert(*position, AckSet::default());
            } else if *size > 0 {
                self.left.remove(position);
                self.confirmed.remove(position);
            }
        }
    }

    /// Who is alone ends the subscription; the next one begins at the first entry.
    pub(super) fn unsubscribe(&mut self, session: u64) {
        if self.seats.len() == 1 && self.seats.contains_key(&session) {
            let letter = TopicLetter::Unsubscribe {
                request_id: 8,
                consumer_id: 1,
                force: false,
            };
            self.world.tell(session, letter);
            self.quiet_down();
        }
    }
}
