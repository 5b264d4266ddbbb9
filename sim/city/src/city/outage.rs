//! The house dies, by a power cut or a kill, and is opened again.

use super::{City, Event};
use crate::house::House;
use crate::power::{Cut, name_of};
use crate::violation::Violation;
use std::sync::atomic::Ordering;
use std::time::Duration;
use world::Dice;

/// How long clients have to leave when the process stops.
const FAREWELL: Duration = Duration::from_millis(10);

impl City {
    /// Lets the power go once: with an operation that the dice choose, or, if nothing is written for so long, between two.
    /// Before it, the process may be killed or stopped, so that the cut meets what that left behind.
    ///
    /// # Errors
    /// A promise is broken.
    pub fn live_until_power_cut(&mut self, patience: Duration) -> Result<(), Violation> {
        let before = self.power_cuts();
        let kills_of_three = if self.skips_syncs { 2 } else { 1 };
        if self.dice.chance(kills_of_three, 3) {
            self.end_process(patience)?;
        }
        let dice = &mut self.dice;
        let first = match self.skips_syncs && dice.chance(3, 4) {
            true => Cut::after_skip(dice),
            false => Cut::roll(dice),
        };
        let second = Cut::soon(dice);
        for cut in [first, second] {
            self.say(format!("the power will go: {cut:?}"));
            cut.arm(&self.disk, &self.skips);
            let until = self.heap.now().moment.after(patience);
            if self.run_until(until, |city| city.power_cuts() > before)? {
                return Ok(());
            }
        }
        self.cut_power_now();
        Ok(())
    }

    /// The process ends before the machine does, one way or another.
    fn end_process(&mut self, patience: Duration) -> Result<(), Violation> {
        let way = self.dice.below(4);
        if way < 2 {
            let cut = match self.skips_syncs && self.dice.chance(1, 2) {
                true => Cut::before_receipts(&mut self.dice),
                false => Cut::roll(&mut self.dice),
            };
            self.say(format!("the process will be killed: {cut:?}"));
            cut.arm(&self.disk, &self.skips);
            self.outage_is_kill = true;
            let before = self.counts.of("kills");
            let until = self.heap.now().moment.after(patience);
            let ended = self.run_until(until, |city| city.counts.of("kills") > before);
            self.outage_is_kill = false;
            return ended.map(drop);
        }
        let pause = self.a_while(patience / 2);
        self.run_for(pause)?;
        match way {
            2 => self.stop_house(),
            _ => self.kill_house(),
        }
        Ok(())
    }

    /// How often the power went.
    #[must_use]
    pub fn power_cuts(&self) -> u64 {
        self.counts.of("power cuts")
    }

    /// The power goes now, between two operations.
    pub fn cut_power_now(&mut self) {
        self.counts.add("power cuts");
        self.counts.add("cut between operations");
        self.say("the power goes");
        self.house_dies();
        self.disk.restart(&mut self.dice);
    }

    /// The process is killed: what it has written is there, what it has in memory is not.
    pub fn kill_house(&mut self) {
        self.counts.add("kills");
        self.say("the process is killed");
        self.disk.kill();
        self.house_dies();
    }

    /// The process is told to stop: it takes leave of clients, saves everything, closes the log.
    pub fn stop_house(&mut self) {
        if self.house.is_none() {
            return;
        }
        self.counts.add("stops begun");
        self.say("the process is told to stop");
        self.with_house(House::take_leave);
        self.heap
            .put_after(FAREWELL, Event::DesksShutDown(self.life));
    }

    /// Clients had their time to leave.
    pub(super) fn shut_down_desks(&mut self) {
        self.with_house(|house, _| house.shut_down_desks());
    }

    /// If all desks have saved everything, the log is closed and the process ends.
    pub(super) fn notice_end(&mut self) -> Result<(), Violation> {
        if !self.house.as_ref().is_some_and(House::is_idle) {
            return Ok(());
        }
        let closed = self.house.as_mut().map(House::close_log);
        if self.disk.is_off() {
            return self.notice_outage();
        }
        if let Some(Err(why)) = closed {
            return Err(Violation::new("the log closes", why));
        }
        self.counts.add("stops");
        self.say("the process ends in good order");
        self.disk.kill();
        self.house_dies();
        Ok(())
    }

    pub(super) fn open_house(&mut self) -> Result<(), Violation> {
        if self.house.is_some() {
            return Ok(());
        }
        self.life += 1;
        let now = self.heap.now();
        self.opening.store(true, Ordering::Relaxed);
        let opened = House::open(&self.disk, &self.plan, self.life, now);
        self.opening.store(false, Ordering::Relaxed);
        match opened {
            Ok(house) => {
                self.check_scanned(&house)?;
                self.house = Some(house);
                self.counts.add("openings");
                self.say(format!("the house is open: life {}", self.life));
                let pause = self.a_while(Duration::from_millis(20));
                self.heap.put_after(pause, Event::PrepareSegment(self.life));
                Ok(())
            }
            Err(_) if self.disk.is_off() => {
                self.counts.add("cuts while opening");
                Ok(())
            }
            Err(error) => Err(Violation::new("the house opens", error)),
        }
    }

    /// A start reads through the last segment only, so that it stays quick. A process that was killed may have left one
    /// more without a lasting footer, for as long as that segment is needed.
    fn check_scanned(&self, house: &House) -> Result<(), Violation> {
        let scanned = u64::from(house.segments_scanned());
        let allowed = 1 + self.counts.of("kills at an operation");
        if scanned <= allowed {
            return Ok(());
        }
        let text =
            format!("{scanned} segments had to be read through, {allowed} at most were expected");
        Err(Violation::new("a quick start", text))
    }

    /// If the power went with the last operation, everything in memory is gone.
    ///
    /// # Errors
    /// A room gave up though the disk never failed.
    pub(super) fn notice_outage(&mut self) -> Result<(), Violation> {
        if !self.disk.is_off() {
            let poison = self.house.as_ref().and_then(House::poison);
            return poison.map_or(Ok(()), |poison| {
                Err(Violation::new("the house goes on", poison))
            });
        }
        let operation = self
            .disk
            .cut_operation()
            .map_or_else(String::new, |operation| name_of(&operation));
        let what = if self.outage_is_kill {
            "process"
        } else {
            "power"
        };
        self.say(format!("the {what} goes with: {operation}"));
        self.house_dies();
        if self.outage_is_kill {
            self.counts.add("kills");
            self.counts.add("kills at an operation");
            self.disk.kill();
        } else {
            self.counts.add("power cuts");
            self.counts.add(&format!("cut at {operation}"));
            self.disk.restart(&mut self.dice);
        }
        Ok(())
    }

    fn house_dies(&mut self) {
        self.house = None;
        self.door.house_died();
        let links: Vec<u64> = self
            .links
            .iter()
            .filter(|(_, link)| link.life == self.life)
            .map(|(id, _)| *id)
            .collect();
        for id in links {
            self.break_link(id);
        }
        self.links.retain(|_, link| link.life + 3 > self.life);
        let pause = Duration::from_millis(5) + Duration::from_nanos(self.dice.below(20_000_000));
        self.heap.put_after(pause, Event::HouseOpens);
    }
}
