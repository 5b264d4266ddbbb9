//! The house: its turns, what it wants done, what arrives at it.

use super::{City, Event};
use crate::house::{House, Want};
use crate::link::{Arrival, Way};
use crate::violation::Violation;
use std::time::Duration;
use vocabulary::{Now, SessionId};

impl City {
    pub(super) fn with_house(&mut self, act: impl FnOnce(&mut House, Now)) {
        let now = self.heap.now();
        if let Some(house) = &mut self.house {
            act(house, now);
        }
    }

    pub(super) fn shard_turn(&mut self, number: usize) -> Result<(), Violation> {
        let now = self.heap.now();
        match &mut self.house {
            Some(house) => house.shard_turn(number, now, &self.plan, &mut self.door),
            None => Ok(()),
        }
    }

    pub(super) fn reader_turn(&mut self) -> Result<(), Violation> {
        self.house.as_mut().map_or(Ok(()), House::reader_turn)
    }

    pub(super) fn prepare_segment(&mut self) {
        self.with_house(|house, _| house.prepare_segment());
        let pause = Duration::from_millis(2) + self.a_while(Duration::from_millis(30));
        self.heap.put_after(pause, Event::PrepareSegment(self.life));
    }

    pub(super) fn arrives_at_house(&mut self, id: u64) {
        let Some(link) = self.links.get_mut(&id) else {
            return;
        };
        let is_this_life = link.life == self.life;
        let Some(arrival) = link.up.take() else {
            return;
        };
        let session = SessionId(id);
        match arrival {
            Arrival::Bytes(bytes) if is_this_life => {
                self.with_house(|house, now| house.bytes_came(session, &bytes, now));
            }
            Arrival::Bytes(_) => {}
            Arrival::End => {
                if is_this_life {
                    self.with_house(|house, now| house.peer_gone(session, now));
                }
                self.end_down_stream(id);
            }
        }
    }

    pub(super) fn do_what_house_wants(&mut self) -> Result<(), Violation> {
        loop {
            self.write_out();
            let Some(house) = &mut self.house else {
                return Ok(());
            };
            let wants = house.take_wants();
            if wants.is_empty() {
                return Ok(());
            }
            for want in wants {
                self.arrange(want);
            }
        }
    }

    fn arrange(&mut self, want: Want) {
        let life = self.life;
        let turn_delay = self.plan.turn_delay;
        match want {
            Want::ShardTurn(shard) => {
                let delay = self.a_while(turn_delay / 4);
                self.heap.put_after(delay, Event::ShardTurn(life, shard));
            }
            Want::ShardWake(shard, moment) => {
                self.heap.put_at(moment, Event::ShardTurn(life, shard))
            }
            Want::BookieTurn => {
                let delay = self.a_while(turn_delay);
                self.heap.put_after(delay, Event::BookieTurn(life));
            }
            Want::ReaderTurn => {
                let delay = self.a_while(turn_delay);
                self.heap.put_after(delay, Event::ReaderTurn(life));
            }
            Want::MetadataTurn => {
                let delay = self.a_while(turn_delay * 2);
                self.heap.put_after(delay, Event::MetadataTurn(life));
            }
            Want::Letters(session) => {
                let delay = self.a_while(turn_delay / 4);
                self.heap.put_after(delay, Event::Letters(life, session));
            }
            Want::SessionWake(session, moment) => {
                self.heap.put_at(moment, Event::SessionWake(life, session))
            }
            Want::Close(session, reason) => {
                self.counts.add("connections closed by the house");
                self.say(format!(
                    "the house closes connection {}: {reason}",
                    session.0
                ));
                self.end_down_stream(session.0);
            }
            Want::Report(text) => {
                self.counts.add("reports to the operator");
                self.say(format!("report: {text}"));
            }
        }
    }

    /// Frames into streams, as far as these have room.
    fn write_out(&mut self) {
        let now = self.heap.now();
        let Some(house) = &mut self.house else { return };
        for session in house.writers() {
            let Some(link) = self.links.get_mut(&session.0) else {
                continue;
            };
            while link.down.has_room()
                && let Some(frame) = house.take_frame(session)
            {
                for moment in link
                    .down
                    .send(now.moment, frame, &self.plan.weather, &mut self.dice)
                {
                    self.heap
                        .put_at(moment, Event::Arrival(session.0, Way::Down));
                }
            }
            house.frames_written(session, now);
        }
    }

    /// Nothing more comes from the house on this connection. What it said before still arrives.
    fn end_down_stream(&mut self, id: u64) {
        self.write_out();
        let Some(link) = self.links.get_mut(&id) else {
            return;
        };
        let now = self.heap.now().moment;
        if let Some(moment) = link.down.close(now, &self.plan.weather, &mut self.dice) {
            self.heap.put_at(moment, Event::Arrival(id, Way::Down));
        }
    }
}
