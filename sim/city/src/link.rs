//! A connection between a client and a session: two streams of bytes that arrive late, in pieces, and may end anywhere.

use bytes::Bytes;
use std::collections::VecDeque;
use std::time::Duration;
use vocabulary::Moment;
use world::Dice;

/// Bytes that may be on their way in one direction; a sender with more has to wait.
pub const UNDER_WAY_BYTES_MAX: usize = 64 * 1024;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the client to the house.
    Up,
    /// From the house to the client.
    Down,
}

/// How slow and how broken up.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// A piece takes at least so long.
    pub delay_min: Duration,
    /// And at most so much longer.
    pub delay_spread: Duration,
    /// Out of eight sends, so many arrive in several pieces.
    pub splits_of_eight: u64,
}

/// What arrives at the end of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Bytes.
    Bytes(Bytes),
    /// The connection is gone.
    End,
}

/// One direction.
#[derive(Debug, Default)]
pub struct Stream {
    pieces: VecDeque<Arrival>,
    under_way_bytes: usize,
    last_arrival: Moment,
    ended: bool,
}

impl Stream {
    /// Sends; answers when each piece will arrive.
    pub fn send(
        &mut self,
        now: Moment,
        bytes: Bytes,
        weather: &Weather,
        dice: &mut dyn Dice,
    ) -> Vec<Moment> {
        if self.ended || bytes.is_empty() {
            return Vec::new();
        }
        self.under_way_bytes += bytes.len();
        let mut rest = bytes;
        let mut moments = Vec::new();
        if dice.chance(weather.splits_of_eight, 8) {
            for _ in 0..1 + dice.below(2) {
                let first = rest.split_to(dice.below(rest.len() as u64 + 1) as usize);
                if !first.is_empty() {
                    moments.push(self.put(now, Arrival::Bytes(first), weather, dice));
                }
            }
        }
        if !rest.is_empty() {
            moments.push(self.put(now, Arrival::Bytes(rest), weather, dice));
        }
        moments
    }

    /// The next thing to arrive.
    pub fn take(&mut self) -> Option<Arrival> {
        let arrival = self.pieces.pop_front()?;
        if let Arrival::Bytes(bytes) = &arrival {
            self.under_way_bytes -= bytes.len();
        }
        Some(arrival)
    }

    /// Whether a sender may send more.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.under_way_bytes < UNDER_WAY_BYTES_MAX
    }

    /// The connection breaks: of what is under way some beginning still arrives, cut anywhere, then the end. Answers
    /// when the end is noticed.
    pub fn break_off(
        &mut self,
        now: Moment,
        weather: &Weather,
        dice: &mut dyn Dice,
    ) -> Option<Moment> {
        if self.ended {
            return None;
        }
        let whole = dice.below(self.pieces.len() as u64 + 1) as usize;
        let torn = self.pieces.get(whole).cloned();
        self.pieces.truncate(whole);
        if let Some(Arrival::Bytes(mut bytes)) = torn {
            bytes.truncate(dice.below(bytes.len() as u64) as usize);
            // Its arrival was announced already, so an empty piece does no harm.
            self.pieces.push_back(Arrival::Bytes(bytes));
        }
        let left = self.pieces.iter().map(|piece| match piece {
            Arrival::Bytes(bytes) => bytes.len(),
            Arrival::End => 0,
        });
        self.under_way_bytes = left.sum();
        Some(self.end(now, weather, dice))
    }

    /// The sender closes in good order: everything under way arrives, then the end. Answers when.
    pub fn close(&mut self, now: Moment, weather: &Weather, dice: &mut dyn Dice) -> Option<Moment> {
        (!self.ended).then(|| self.end(now, weather, dice))
    }

    fn end(&mut self, now: Moment, weather: &Weather, dice: &mut dyn Dice) -> Moment {
        self.ended = true;
        self.put(now, Arrival::End, weather, dice)
    }

    fn put(
        &mut self,
        now: Moment,
        what: Arrival,
        weather: &Weather,
        dice: &mut dyn Dice,
    ) -> Moment {
        let spread = weather.delay_spread.as_nanos() as u64;
        let delay = weather.delay_min + Duration::from_nanos(dice.below(spread + 1));
        self.last_arrival = self.last_arrival.max(now.after(delay));
        self.pieces.push_back(what);
        self.last_arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_world::SimDice;

    const WEATHER: Weather = Weather {
        delay_min: Duration::from_micros(10),
        delay_spread: Duration::from_millis(2),
        splits_of_eight: 4,
    };

    #[test]
    fn bytes_arrive_whole_and_in_order() {
        let dice = &mut SimDice::new(1);
        let mut stream = Stream::default();
        let mut moments = Vec::new();
        for number in 0..50_u8 {
            moments.extend(stream.send(Moment(0), Bytes::from(vec![number; 7]), &WEATHER, dice));
        }
        assert!(moments.is_sorted());
        assert!(moments.len() > 50, "some are split");
        let mut arrived = Vec::new();
        for _ in moments {
            let Some(Arrival::Bytes(bytes)) = stream.take() else {
                panic!("a piece for each moment")
            };
            arrived.extend_from_slice(&bytes);
        }
        let sent: Vec<u8> = (0..50_u8).flat_map(|number| [number; 7]).collect();
        assert_eq!(arrived, sent);
    }

    #[test]
    fn a_broken_stream_delivers_a_beginning_and_then_its_end() {
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let dice = &mut SimDice::new(seed);
            let mut stream = Stream::default();
            for number in 0..4_u8 {
                stream.send(Moment(0), Bytes::from(vec![number; 3]), &WEATHER, dice);
            }
            assert!(stream.break_off(Moment(1), &WEATHER, dice).is_some());
            assert!(
                stream
                    .send(Moment(1), Bytes::from_static(b"x"), &WEATHER, dice)
                    .is_empty()
            );
            let mut arrived = Vec::new();
            loop {
                match stream.take() {
                    Some(Arrival::Bytes(bytes)) => arrived.extend_from_slice(&bytes),
                    Some(Arrival::End) => break,
                    None => panic!("the end is always noticed"),
                }
            }
            let sent: Vec<u8> = (0..4_u8).flat_map(|number| [number; 3]).collect();
            assert!(sent.starts_with(&arrived));
            lengths.insert(arrived.len());
        }
        assert!(lengths.len() > 8, "it breaks anywhere: {lengths:?}");
    }
}
