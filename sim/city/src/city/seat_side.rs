//! Clients: what they want done, what arrives at them.

use super::{City, Event, Link};
use crate::link::{Arrival, Stream, Way};
use crate::seat::SeatWant;
use crate::violation::Violation;
use std::time::Duration;
use vocabulary::SessionId;
use world::Dice;

impl City {
    pub(super) fn seat_connects(&mut self, number: usize) -> Result<(), Violation> {
        if self.seats.get(number).is_none_or(|at| at.link.is_some()) {
            return Ok(());
        }
        let Some(house) = &mut self.house else {
            self.counts.add("connections refused");
            return self.with_seat(number, |seat, around| seat.disconnected(around));
        };
        self.links_made += 1;
        let id = self.links_made;
        house.connection_opened(SessionId(id), self.heap.now());
        let link = Link {
            seat: number,
            life: self.life,
            up: Stream::default(),
            down: Stream::default(),
        };
        self.links.insert(id, link);
        self.counts.add("connections");
        self.say(format!("client {number} opens connection {id}"));
        let is_first = self.seats.get(number).is_some_and(|at| !at.has_begun);
        if let Some(at) = self.seats.get_mut(number) {
            at.link = Some(id);
            at.has_begun = true;
        }
        let life = self.life;
        self.with_seat(number, |seat, around| {
            if is_first {
                seat.begin(around)?;
            }
            seat.connected(life, around)
        })
    }

    pub(super) fn seat_acts(&mut self, number: usize) -> Result<(), Violation> {
        if self.seats.get(number).is_some_and(|at| at.has_begun) {
            self.with_seat(number, |seat, around| seat.act(around))?;
            self.make_mischief(number);
        }
        let pause = Duration::from_micros(200) + self.a_while(Duration::from_millis(8));
        self.heap.put_after(pause, Event::SeatActs(number));
        Ok(())
    }

    pub(super) fn arrives_at_seat(&mut self, id: u64) -> Result<(), Violation> {
        let Some(link) = self.links.get_mut(&id) else {
            return Ok(());
        };
        let number = link.seat;
        let Some(arrival) = link.down.take() else {
            return Ok(());
        };
        let listens = self.seats.get(number).is_some_and(|at| at.link == Some(id));
        match arrival {
            Arrival::Bytes(bytes) if listens => {
                self.with_seat(number, |seat, around| seat.bytes_came(&bytes, around))?
            }
            Arrival::End if listens => {
                self.say(format!("connection {id} ends for client {number}"));
                self.close_seat_side(number);
                self.with_seat(number, |seat, around| seat.disconnected(around))?;
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn do_what_seat_wants(&mut self, number: usize) -> Result<(), Violation> {
        let Some(at) = self.seats.get_mut(number) else {
            return Ok(());
        };
        for want in at.seat.take_wants() {
            match want {
                SeatWant::Send(bytes) => {
                    let id = self.seats.get(number).and_then(|at| at.link);
                    if let Some((id, link)) = id.and_then(|id| Some((id, self.links.get_mut(&id)?)))
                    {
                        let now = self.heap.now().moment;
                        for moment in link.up.send(now, bytes, &self.plan.weather, &mut self.dice) {
                            self.heap.put_at(moment, Event::Arrival(id, Way::Up));
                        }
                    }
                }
                SeatWant::WakeAt(moment) => self.heap.put_at(moment, Event::SeatWake(number)),
                SeatWant::Close(reason) => {
                    self.counts.add("connections closed by clients");
                    self.say(format!("client {number} closes its connection: {reason}"));
                    self.close_seat_side(number);
                }
                SeatWant::Connect(after) => self.heap.put_after(after, Event::SeatConnects(number)),
            }
        }
        Ok(())
    }

    /// The client hears no more; the house will, when it arrives there.
    fn close_seat_side(&mut self, number: usize) {
        let Some(id) = self.seats.get_mut(number).and_then(|at| at.link.take()) else {
            return;
        };
        let Some(link) = self.links.get_mut(&id) else {
            return;
        };
        let now = self.heap.now().moment;
        if let Some(moment) = link.up.close(now, &self.plan.weather, &mut self.dice) {
            self.heap.put_at(moment, Event::Arrival(id, Way::Up));
        }
    }

    /// A connection breaks: both sides learn of it after some of what was under way.
    pub(super) fn break_link(&mut self, id: u64) {
        let Some(link) = self.links.get_mut(&id) else {
            return;
        };
        let now = self.heap.now().moment;
        let weather = &self.plan.weather;
        let up = link.up.break_off(now, weather, &mut self.dice);
        let down = link.down.break_off(now, weather, &mut self.dice);
        for (moment, way) in [(up, Way::Up), (down, Way::Down)] {
            if let Some(moment) = moment {
                self.heap.put_at(moment, Event::Arrival(id, way));
            }
        }
    }

    fn make_mischief(&mut self, number: usize) {
        if self.calm || self.house.is_none() {
            return;
        }
        if self.dice.chance(self.mischief.broken_links, 1000)
            && let Some(id) = self.seats.get(number).and_then(|at| at.link)
        {
            self.counts.add("connections broken");
            self.say(format!("connection {id} breaks"));
            self.break_link(id);
        }
        if self.dice.chance(self.mischief.kills, 1000) {
            self.kill_house();
        } else if self.dice.chance(self.mischief.stops, 1000) {
            self.stop_house();
        } else if self.dice.chance(self.mischief.power_cuts, 1000) {
            self.cut_power_now();
        }
    }
}
