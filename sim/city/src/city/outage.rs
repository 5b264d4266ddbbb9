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
        if self.dice.chance(1, 3) {
            let pause = self.a_while(patience / 2);
            self.run_for(pause)?;
            match self.dice.below(3) {
                0 => self.stop_house(),
                _ => self.kill_house(),
            }
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
        self.counts.add("power cuts");
        self.counts.add(&format!("cut at {operation}"));
        self.say(format!("the power goes with: {operation}"));
        self.house_dies();
        self.disk.restart(&mut self.dice);
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
