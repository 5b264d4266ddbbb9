//! GET_LAST_MESSAGE_ID: the last entry that a consumer can get. Markers for servers at the end are skipped, and so are
//! entries that cannot be read: who waits for one of those would wait for ever.

use crate::Topic;
use crate::tasks::NO_CONSUMER;
use crate::turn::{Asker, Quest, Turn};
use letters::{LogError, LogRequest, RefusalCode, SessionLetter, StoredEntry};
use pulsar_wire::entry::EntryHeaders;
use pulsar_wire::peek::peek;
use vocabulary::Position;

/// Entries looked at in one read, after the first.
const READ_ENTRIES_MAX: usize = 100;

/// Who wants to know, and what is known.
#[derive(Debug, Default)]
pub(crate) struct LastIds {
    known: Option<Known>,
    search: Option<Search>,
    /// With the last entry at the time of asking.
    waiting: Vec<(Asker, Position)>,
}

/// The last message among the entries up to `up_to`.
#[derive(Clone, Copy, Debug)]
struct Known {
    up_to: Position,
    message: Option<LastMessage>,
}

#[derive(Clone, Copy, Debug)]
struct LastMessage {
    position: Position,
    batch_index: Option<u32>,
}

#[derive(Debug)]
struct Search {
    ticket: u64,
    up_to: Position,
    /// The first of the entries asked for.
    from: Position,
}

impl LastIds {
    /// The log is gone.
    pub fn give_up(&mut self, reason: &str, turn: &mut Turn<'_>) {
        for (asker, _) in std::mem::take(self).waiting {
            asker.refuse(RefusalCode::ServiceNotReady, reason, turn);
        }
    }
}

impl Topic {
    /// GET_LAST_MESSAGE_ID came.
    pub(crate) fn get_last_message_id(&mut self, asker: Asker, turn: &mut Turn<'_>) {
        match self.last_readable() {
            Some(last) => {
                self.last_ids.waiting.push((asker, last));
                self.go_on_with_last_ids(turn);
            }
            None => self.tell_last_message(asker, None, turn),
        }
    }

    fn last_readable(&self) -> Option<Position> {
        let last = self.extent.last()?;
        self.extent.at_or_before(last.min(self.max_read_position))
    }

    /// Answers who can be answered and looks further for the others.
    fn go_on_with_last_ids(&mut self, turn: &mut Turn<'_>) {
        if self.last_ids.search.is_some() {
            return;
        }
        if let Some(known) = self.last_ids.known {
            let waiting = std::mem::take(&mut self.last_ids.waiting);
            for (asker, last) in waiting {
                match last <= known.up_to {
                    true => self.tell_last_message(asker, known.message, turn),
                    false => self.last_ids.waiting.push((asker, last)),
                }
            }
        }
        if !self.last_ids.waiting.is_empty() {
            match self.last_readable() {
                Some(last) => self.look_for_last_message(last, vec![last], turn),
                None => {
                    for (asker, _) in std::mem::take(&mut self.last_ids.waiting) {
                        self.tell_last_message(asker, None, turn);
                    }
                }
            }
        }
    }

    fn look_for_last_message(
        &mut self,
        up_to: Position,
        positions: Vec<Position>,
        turn: &mut Turn<'_>,
    ) {
        let Some(from) = positions.first().copied() else {
            return;
        };
        let ticket = turn.ticket();
        turn.errands.quests.insert(ticket, Quest::LastId);
        self.last_ids.search = Some(Search {
            ticket,
            up_to,
            from,
        });
        turn.ask(LogRequest::ReadAt { ticket, positions });
    }

    /// A read that was asked for here was answered.
    pub(crate) fn last_entries_read(
        &mut self,
        ticket: u64,
        result: Result<Vec<StoredEntry>, LogError>,
        turn: &mut Turn<'_>,
    ) {
        let Some(search) = self
            .last_ids
            .search
            .take_if(|search| search.ticket == ticket)
        else {
            return;
        };
        let entries = match result {
            Ok(entries) => entries,
            Err(error) => {
                for (asker, _) in std::mem::take(&mut self.last_ids.waiting) {
                    let text = format!("Failed to get batch size for entry {error}");
                    asker.refuse(RefusalCode::MetadataError, text, turn);
                }
                return;
            }
        };
        let before = self.last_ids.known;
        let mut message = entries.iter().rev().find_map(last_message);
        if message.is_none() {
            let known_to = before.map_or(Position::EARLIEST, |known| known.up_to);
            let positions = self.entries_between(known_to, search.from);
            if !positions.is_empty() {
                return self.look_for_last_message(search.up_to, positions, turn);
            }
            message = before.and_then(|known| known.message);
        }
        self.last_ids.known = Some(Known {
            up_to: search.up_to,
            message,
        });
        self.go_on_with_last_ids(turn);
    }

    /// The last entries after the one and before the other, in order.
    fn entries_between(&self, after: Position, before: Position) -> Vec<Position> {
        let earlier = |at: &Position| self.extent.last_before(*at).filter(|at| *at > after);
        let mut positions: Vec<Position> = std::iter::successors(earlier(&before), earlier)
            .take(READ_ENTRIES_MAX)
            .collect();
        positions.reverse();
        positions
    }

    fn tell_last_message(
        &mut self,
        asker: Asker,
        message: Option<LastMessage>,
        turn: &mut Turn<'_>,
    ) {
        let (session, consumer_id) = asker.seat;
        let subscription = self
            .consumers
            .get(&asker.seat)
            .and_then(|name| self.subscriptions.get(name));
        let mark = match subscription {
            Some(subscription) => subscription.cursor.mark(),
            None if consumer_id == NO_CONSUMER => Position::EARLIEST,
            None => return asker.refuse_unknown(turn),
        };
        // What was found may have been trimmed since; then nothing is left before it either.
        let message = message.filter(|found| self.extent.contains(found.position));
        turn.tell(
            session,
            SessionLetter::LastMessageId {
                request_id: asker.request_id,
                consumer_id,
                position: message.map_or(Position::EARLIEST, |found| found.position),
                batch_index: message.and_then(|found| found.batch_index),
                // Before the first entry there is no such thing as "nothing yet": a mark of (-1, -1) would not be said.
                mark: mark.max(self.extent.start()),
            },
        );
    }
}

/// The last message of an entry, unless it is a marker.
fn last_message(entry: &StoredEntry) -> Option<LastMessage> {
    let headers = EntryHeaders::parse(&entry.body).ok();
    let metadata = headers.and_then(|headers| peek(headers.metadata).ok());
    if metadata.is_some_and(|metadata| metadata.marker_type.is_some()) {
        return None;
    }
    let count = metadata.and_then(|metadata| metadata.num_messages_in_batch);
    Some(LastMessage {
        position: entry.position,
        batch_index: count.and_then(|count| u32::try_from(count).ok()?.checked_sub(1)),
    })
}
