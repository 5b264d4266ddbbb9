//! The whole standalone in one thread: shards, the bookie, the metadata store, and a session for each connection, as
//! the real program composes them. It has no clock and no chance: what it wants done later it says in [`Want`]s.

mod opening;
mod sessions;

use crate::checks::door::Door;
use crate::plan::Plan;
use crate::violation::Violation;
use bookie::{Bookie, BookieReader, BookieReply, BookieRequest};
use ledger_store::LedgerError;
use metadata_store::{EmbeddedStore, MetadataReply, MetadataRequest};
use session::SessionSettings;
use sessions::Visit;
use shard::{Shard, ShardAsk, ShardInput, ShardOutputs};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use vocabulary::{Moment, Now, SessionId, ShardId, TopicName};

/// What the house wants done, sooner or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// Call [`House::shard_turn`].
    ShardTurn(usize),
    /// Call [`House::shard_turn`] at that moment.
    ShardWake(usize, Moment),
    /// Call [`House::bookie_turn`].
    BookieTurn,
    /// Call [`House::reader_turn`].
    ReaderTurn,
    /// Call [`House::metadata_turn`].
    MetadataTurn,
    /// Call [`House::letters_came`].
    Letters(SessionId),
    /// Call [`House::time_came`] at that moment.
    SessionWake(SessionId, Moment),
    /// Close the connection, after everything written.
    Close(SessionId, String),
    /// Tell people.
    Report(String),
}

/// The standalone, from opening to death.
pub struct House {
    shards: Vec<Desk>,
    bookie: Bookie,
    bookie_inbox: Vec<(usize, BookieRequest)>,
    reader: BookieReader,
    reads: VecDeque<(usize, BookieRequest)>,
    metadata: EmbeddedStore,
    metadata_inbox: Vec<(usize, MetadataRequest)>,
    visits: BTreeMap<SessionId, Visit>,
    session_settings: Arc<SessionSettings>,
    shutting_down: bool,
    segments_scanned: u32,
    wants: Vec<Want>,
}

struct Desk {
    shard: Shard,
    inbox: Vec<ShardInput>,
    outputs: ShardOutputs,
    /// A turn is wanted and has not been taken.
    expects_turn: bool,
    wake_at: Option<Moment>,
}

impl House {
    /// What it wants since the last call.
    pub fn take_wants(&mut self) -> Vec<Want> {
        std::mem::take(&mut self.wants)
    }

    /// One turn of a desk, with everything that waits for it.
    ///
    /// # Errors
    /// A letter breaks a promise.
    pub fn shard_turn(
        &mut self,
        number: usize,
        now: Now,
        plan: &Plan,
        door: &mut Door,
    ) -> Result<(), Violation> {
        let Some(desk) = self.shards.get_mut(number) else {
            return Ok(());
        };
        desk.expects_turn = false;
        let mut inputs = std::mem::take(&mut desk.inbox);
        if desk.wake_at.is_some_and(|moment| moment <= now.moment) {
            inputs.push(ShardInput::TimeCame);
            desk.wake_at = None;
        }
        // One by one, so that the door sees what led to what.
        for input in inputs {
            if let ShardInput::Letter(letter) = &input
                && let Some(topic) = plan.topic_number(&letter.topic)
            {
                door.letter_in(topic, letter);
            }
            let before = desk.outputs.letters.len();
            desk.shard.turn(now, &mut vec![input], &mut desk.outputs);
            for letter in desk.outputs.letters.get(before..).unwrap_or_default() {
                door.letter_out(letter)?;
            }
            door.turn_over()?;
        }
        if desk.shard.desk().topics().count() > 0 {
            desk.shard.desk().topics().for_each(topic::Topic::check);
        }
        self.hand_out(number);
        Ok(())
    }

    /// One turn of the bookie with everything that waits for it: one commit for all desks.
    pub fn bookie_turn(&mut self) {
        let waiting = std::mem::take(&mut self.bookie_inbox);
        let (appends, others): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|(_, request)| matches!(request, BookieRequest::Append { .. }));
        // The bookie answers all appends in their order, then all others in theirs.
        let (askers, requests): (Vec<usize>, Vec<BookieRequest>) =
            appends.into_iter().chain(others).unzip();
        let replies = self.bookie.turn(requests);
        // Invariant: one reply for each request, or a desk would wait for good.
        assert_eq!(replies.len(), askers.len(), "replies of the bookie");
        for (asker, reply) in askers.into_iter().zip(replies) {
            self.tell_desk(asker, ShardInput::Bookie(reply));
        }
    }

    /// A reader answers one read that waits, if any.
    ///
    /// # Errors
    /// An entry is damaged, though nothing damages this disk.
    pub fn reader_turn(&mut self) -> Result<(), Violation> {
        let Some((asker, request)) = self.reads.pop_front() else {
            return Ok(());
        };
        let Some(reply) = self.reader.answer(&request) else {
            return Ok(());
        };
        if let BookieReply::Read {
            result: Err(error @ LedgerError::Damaged(..)),
            ..
        } = &reply
        {
            return Err(Violation::new("entries are whole", error.to_string()));
        }
        self.tell_desk(asker, ShardInput::Bookie(reply));
        Ok(())
    }

    /// Why the process must end, if it must: a disk that failed once is trusted no more.
    #[must_use]
    pub fn poison(&self) -> Option<String> {
        self.bookie
            .poison()
            .or(self.metadata.poisoned())
            .map(str::to_owned)
    }

    /// Makes a file for the next segment ahead of time, as a thread of the real program does. Fails as the disk does.
    pub fn prepare_segment(&mut self) {
        if let Err(error) = self.bookie.spares().prepare() {
            self.wants
                .push(Want::Report(format!("no spare segment: {error}")));
        }
    }

    /// One turn of the metadata store with everything that waits for it: one commit.
    pub fn metadata_turn(&mut self, now: Now) {
        let waiting = std::mem::take(&mut self.metadata_inbox);
        let (askers, requests): (Vec<usize>, Vec<MetadataRequest>) = waiting.into_iter().unzip();
        let replies: Vec<MetadataReply> = self.metadata.turn(now.wall, requests);
        for (asker, reply) in askers.into_iter().zip(replies) {
            self.tell_desk(asker, ShardInput::Metadata(reply));
        }
    }

    /// Desks tell everyone, save everything and let go of their topics.
    pub fn shut_down_desks(&mut self) {
        self.shutting_down = true;
        for number in 0..self.shards.len() {
            self.tell_desk(number, ShardInput::Ask(ShardAsk::Shutdown));
        }
    }

    /// Whether the house is shutting down and nothing is in memory that is not saved.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.shutting_down
            && self
                .shards
                .iter()
                .all(|desk| desk.inbox.is_empty() && desk.shard.is_idle())
    }

    /// The last thing a process does.
    ///
    /// # Errors
    /// The disk said no.
    pub fn close_log(&mut self) -> Result<(), String> {
        self.bookie
            .close()
            .map(drop)
            .map_err(|error| error.to_string())
    }

    /// How many segments its opening had to read through.
    #[must_use]
    pub fn segments_scanned(&self) -> u32 {
        self.segments_scanned
    }

    /// Which entry waits though somebody has permits, if any; to be asked when nothing is under way.
    #[must_use]
    pub fn find_stalled(&self) -> Option<String> {
        let topics = self
            .shards
            .iter()
            .flat_map(|desk| desk.shard.desk().topics());
        let mut stalled: Vec<String> = topics
            .filter_map(|topic| Some(format!("{} {}", topic.name(), topic.find_stalled()?)))
            .collect();
        stalled.sort();
        stalled.into_iter().next()
    }

    /// What topics say of themselves, for a report.
    #[must_use]
    pub fn figures(&self) -> String {
        let mut lines = Vec::new();
        for topic in self
            .shards
            .iter()
            .flat_map(|desk| desk.shard.desk().topics())
        {
            let stats = topic.stats();
            lines.push(format!(
                "{}: last {:?}, newcomers {}",
                topic.name(),
                stats.last_position,
                stats.newcomers
            ));
            for subscription in stats.subscriptions {
                lines.push(format!(
                    "  {} {:?}: mark {}, backlog {}, ahead {}, unacked {}, replay {}, active {:?}",
                    subscription.name,
                    subscription.kind,
                    subscription.mark,
                    subscription.backlog_entries,
                    subscription.acked_ahead_entries,
                    subscription.unacked_messages,
                    subscription.replay_entries,
                    subscription.active,
                ));
                for consumer in subscription.consumers {
                    lines.push(format!(
                        "    {} consumer {}: permits {}, unacked {}, unwritten {} bytes",
                        consumer.session,
                        consumer.consumer_id,
                        consumer.permits,
                        consumer.unacked_messages,
                        consumer.unwritten_bytes
                    ));
                }
            }
        }
        lines.join("\n")
    }

    fn desk_of(&self, topic: &TopicName) -> usize {
        ShardId::of(topic, self.shards.len()).index()
    }

    fn tell_desk(&mut self, number: usize, input: ShardInput) {
        let Some(desk) = self.shards.get_mut(number) else {
            return;
        };
        desk.inbox.push(input);
        if !desk.expects_turn {
            desk.expects_turn = true;
            self.wants.push(Want::ShardTurn(number));
        }
    }

    fn ask_bookie(&mut self, asker: usize, request: BookieRequest) {
        if request.is_read() {
            self.wants.push(Want::ReaderTurn);
            self.reads.push_back((asker, request));
            return;
        }
        if self.bookie_inbox.is_empty() {
            self.wants.push(Want::BookieTurn);
        }
        self.bookie_inbox.push((asker, request));
    }

    fn hand_out(&mut self, number: usize) {
        let Some(desk) = self.shards.get_mut(number) else {
            return;
        };
        let mut outputs = std::mem::take(&mut desk.outputs);
        if let Some(moment) = outputs.wake_at.take()
            && desk.wake_at != Some(moment)
        {
            desk.wake_at = Some(moment);
            self.wants.push(Want::ShardWake(number, moment));
        }
        for (topic, text) in outputs.reports.drain(..) {
            self.wants.push(Want::Report(format!("{topic}: {text}")));
        }
        if !outputs.bookie.is_empty() {
            for request in outputs.bookie.drain(..) {
                self.ask_bookie(number, request);
            }
        }
        if !outputs.metadata.is_empty() {
            if self.metadata_inbox.is_empty() {
                self.wants.push(Want::MetadataTurn);
            }
            self.metadata_inbox
                .extend(outputs.metadata.drain(..).map(|request| (number, request)));
        }
        for letter in outputs.letters.drain(..) {
            self.post(letter);
        }
    }
}
