//! The city: the house, the clients, the connections between them, and the heap of events that is their time.

mod house_side;
mod outage;
mod seat_side;

use crate::checks::door::Door;
use crate::counts::Counts;
use crate::heap::EventHeap;
use crate::history::History;
use crate::house::House;
use crate::link::{Stream, Way};
use crate::plan::Plan;
use crate::power::name_of_sync;
use crate::seat::{Seat, Surroundings};
use crate::transcript::{LineSink, Transcript};
use crate::violation::Violation;
use sim_world::{SimDice, SimDisk};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vocabulary::{Moment, SessionId};
use world::Dice;

/// Everything, from one seed.
pub struct City {
    plan: Plan,
    dice: SimDice,
    heap: EventHeap<Event>,
    disk: SimDisk,
    house: Option<House>,
    /// Counts the openings of the house.
    life: u32,
    links: BTreeMap<u64, Link>,
    links_made: u64,
    seats: Vec<SeatAtWork>,
    history: History,
    door: Door,
    transcript: Transcript,
    counts: Counts,
    mischief: Mischief,
    calm: bool,
    /// Whether the house is being opened, for those who watch the disk.
    opening: Arc<AtomicBool>,
    syncs: Arc<Mutex<Counts>>,
    skips_syncs: bool,
    /// Whether the next outage takes the process only.
    outage_is_kill: bool,
    /// Syncs left out so far.
    skips: Arc<AtomicU64>,
}

/// What may go wrong besides what clients do of their own accord: out of 1000 acts of a client, so many times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mischief {
    /// A connection breaks.
    pub broken_links: u64,
    /// The process is killed.
    pub kills: u64,
    /// The process is told to stop.
    pub stops: u64,
    /// The power goes.
    pub power_cuts: u64,
}

struct SeatAtWork {
    seat: Seat,
    link: Option<u64>,
    /// Its application is there.
    has_begun: bool,
}

/// A connection. Its number is also its session's.
struct Link {
    seat: usize,
    life: u32,
    up: Stream,
    down: Stream,
}

#[derive(Clone, Debug)]
enum Event {
    ShardTurn(u32, usize),
    BookieTurn(u32),
    ReaderTurn(u32),
    MetadataTurn(u32),
    PrepareSegment(u32),
    Letters(u32, SessionId),
    SessionWake(u32, SessionId),
    Arrival(u64, Way),
    DesksShutDown(u32),
    SeatWake(usize),
    SeatConnects(usize),
    SeatActs(usize),
    HouseOpens,
}

impl City {
    /// A city with an empty disk; nothing happens until it runs.
    #[must_use]
    pub fn new(
        seed: u64,
        shards: Option<usize>,
        mischief: Mischief,
        sink: Option<LineSink>,
    ) -> City {
        let plan = Plan::of_seed(seed, shards);
        let seats = plan.seats.iter().enumerate();
        let seats = seats.map(|(number, seat)| SeatAtWork {
            seat: Seat::new(&plan, seat, number),
            link: None,
            has_begun: false,
        });
        let mut city = City {
            seats: seats.collect(),
            plan,
            dice: SimDice::new(seed),
            heap: EventHeap::default(),
            disk: SimDisk::new(),
            house: None,
            life: 0,
            links: BTreeMap::new(),
            links_made: 0,
            history: History::default(),
            door: Door::default(),
            transcript: Transcript::new(sink),
            counts: Counts::default(),
            mischief,
            calm: false,
            opening: Arc::new(AtomicBool::new(false)),
            syncs: Arc::new(Mutex::new(Counts::default())),
            skips_syncs: false,
            outage_is_kill: false,
            skips: Arc::new(AtomicU64::new(0)),
        };
        city.say(format!("seed {seed}: {:?}", city.plan));
        city.heap.put_after(Duration::ZERO, Event::HouseOpens);
        for seat in 0..city.seats.len() {
            city.heap
                .put_after(Duration::from_millis(1), Event::SeatConnects(seat));
            city.heap
                .put_after(Duration::from_millis(2), Event::SeatActs(seat));
        }
        city
    }

    /// Lets so much time pass.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn run_for(&mut self, duration: Duration) -> Result<(), Violation> {
        let until = self.heap.now().moment.after(duration);
        self.run_until(until, |_| false).map(drop)
    }

    /// Lets time pass until that moment, or until `enough` is true; says whether it was.
    pub(crate) fn run_until(
        &mut self,
        until: Moment,
        enough: impl Fn(&City) -> bool,
    ) -> Result<bool, Violation> {
        while !enough(self) {
            let Some(event) = self.heap.take_next(until) else {
                self.heap.pass_until(until);
                return Ok(false);
            };
            self.happens(event)?;
        }
        Ok(true)
    }

    /// No more mischief: everything is sent, delivered and acknowledged.
    ///
    /// # Errors
    /// A promise is broken: something confirmed never arrives, or something waits though somebody could have it.
    pub fn calm_down(&mut self) -> Result<(), Violation> {
        const PATIENCE: Duration = Duration::from_secs(60);
        const SILENCE: Duration = Duration::from_millis(1500);
        self.calm = true;
        self.disk.heal();
        self.say("all mischief ends");
        let until = self.heap.now().moment.after(PATIENCE);
        let done = self.run_until(until, |city| city.is_done())?;
        if done {
            self.run_for(SILENCE)?;
        }
        self.history.confirmed.finish()?;
        if let Some(stalled) = self.house.as_ref().and_then(House::find_stalled) {
            return Err(Violation::new(
                "nothing waits while somebody has permits",
                stalled,
            ));
        }
        if !done {
            let undone: Vec<String> = self.seats.iter().map(|at| at.seat.undone()).collect();
            let text = format!("after {PATIENCE:?} of calm: {}", undone.join("; "));
            return Err(Violation::new("everything comes to an end", text));
        }
        Ok(())
    }

    /// How often what happened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = self.counts.clone();
        if let Ok(syncs) = self.syncs.lock() {
            counts.add_all(&syncs);
        }
        counts
    }

    /// The counts of the checkers themselves.
    #[must_use]
    pub fn confirmed(&self) -> (u64, u64) {
        (
            self.history.confirmed.confirmed(),
            self.door.acks_confirmed(),
        )
    }

    /// What happened.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Syncs of this name do nothing from now on, and say that they did; the power goes mostly soon after one.
    pub fn skip_syncs(&mut self, name: String) {
        self.skips_syncs = true;
        let skips = Arc::clone(&self.skips);
        self.watch_syncs(move |sync| {
            let skipped = sync == name;
            skips.fetch_add(u64::from(skipped), Ordering::Relaxed);
            skipped
        });
    }

    /// Counts every sync by name, from now on.
    pub fn count_syncs(&mut self) {
        let counted = Arc::clone(&self.syncs);
        self.watch_syncs(move |name| {
            if let Ok(mut counts) = counted.lock() {
                counts.add(&format!("sync: {name}"));
            }
            false
        });
    }

    fn watch_syncs(&self, skip: impl Fn(&str) -> bool + Send + 'static) {
        let opening = Arc::clone(&self.opening);
        self.disk.disable_sync(Box::new(move |what| {
            name_of_sync(what, opening.load(Ordering::Relaxed)).is_some_and(|name| skip(&name))
        }));
    }

    /// What the topics say of themselves, for a report.
    #[must_use]
    pub fn figures(&self) -> String {
        self.house
            .as_ref()
            .map_or_else(|| "the house is closed".to_owned(), House::figures)
    }

    fn is_done(&self) -> bool {
        self.seats.iter().all(|at| at.seat.is_done()) && self.history.confirmed.missing().is_empty()
    }

    fn happens(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::HouseOpens => self.open_house()?,
            Event::SeatWake(seat) => self.with_seat(seat, |seat, around| seat.time_came(around))?,
            Event::SeatConnects(seat) => self.seat_connects(seat)?,
            Event::SeatActs(seat) => self.seat_acts(seat)?,
            Event::Arrival(link, Way::Down) => self.arrives_at_seat(link)?,
            Event::Arrival(link, Way::Up) => self.arrives_at_house(link),
            Event::ShardTurn(life, shard) if life == self.life => self.shard_turn(shard)?,
            Event::BookieTurn(life) if life == self.life => {
                self.with_house(|house, _| house.bookie_turn())
            }
            Event::ReaderTurn(life) if life == self.life => self.reader_turn()?,
            Event::MetadataTurn(life) if life == self.life => {
                self.with_house(|house, now| house.metadata_turn(now))
            }
            Event::PrepareSegment(life) if life == self.life => self.prepare_segment(),
            Event::DesksShutDown(life) if life == self.life => self.shut_down_desks(),
            Event::Letters(life, session) if life == self.life => {
                self.with_house(|house, now| house.letters_came(session, now));
            }
            Event::SessionWake(life, session) if life == self.life => {
                self.with_house(|house, now| house.time_came(session, now));
            }
            // Of a house that has died.
            _ => return Ok(()),
        }
        self.notice_outage()?;
        self.notice_end()?;
        self.do_what_house_wants()
    }

    fn with_seat(
        &mut self,
        number: usize,
        act: impl FnOnce(&mut Seat, &mut Surroundings<'_>) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        let Some(at) = self.seats.get_mut(number) else {
            return Ok(());
        };
        let mut lines = Vec::new();
        let mut around = Surroundings {
            now: self.heap.now(),
            dice: &mut self.dice,
            history: &mut self.history,
            counts: &mut self.counts,
            calm: self.calm,
            lines: &mut lines,
        };
        let outcome = act(&mut at.seat, &mut around);
        for line in lines {
            self.transcript
                .say(self.heap.now(), format_args!("client {number}: {line}"));
        }
        outcome?;
        self.do_what_seat_wants(number)
    }

    fn say(&mut self, what: impl AsRef<str>) {
        self.transcript
            .say(self.heap.now(), format_args!("{}", what.as_ref()));
    }

    /// A while that differs each time, at most so long.
    fn a_while(&mut self, most: Duration) -> Duration {
        Duration::from_nanos(self.dice.below(most.as_nanos() as u64 + 1))
    }
}
