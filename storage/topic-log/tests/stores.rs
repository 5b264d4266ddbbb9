//! Topic logs over real stores pass the suite, and lose nothing in a storm.

mod support;

use sim_world::SimDice;
use support::machine::Machine;
use support::memory::InMemory;
use support::{Rig, small};
use topic_log::{Settings, suite};

#[test]
fn over_memory_they_pass_the_suite() {
    suite::run(|| Rig::new(InMemory::well_behaved(), Settings::default()));
    suite::run(|| Rig::new(InMemory::well_behaved(), small()));
    suite::run(|| Rig::new(InMemory::late(3), small()));
}

#[test]
fn over_a_disk_they_pass_the_suite() {
    suite::run(|| Rig::new(Machine::new(1), small()));
}

#[test]
fn over_hostile_memory_they_lose_nothing() {
    let (mut stored, mut not_stored, mut ends) = (0, 0, 0);
    for seed in 0..150 {
        let mut rig = Rig::new(InMemory::hostile(seed), small());
        let score = suite::storm(&mut rig, &mut SimDice::new(!seed));
        stored += score.stored;
        not_stored += score.not_stored;
        ends += score.ends;
    }
    assert!(
        stored > 4_000 && not_stored > 400 && ends > 400,
        "{stored}, {not_stored}, {ends}"
    );
}

#[test]
fn over_a_disk_they_lose_nothing() {
    let mut stored = 0;
    for seed in 0..15 {
        let mut rig = Rig::new(Machine::new(seed), small());
        stored += suite::storm(&mut rig, &mut SimDice::new(!seed)).stored;
    }
    assert!(stored > 1_000, "{stored}");
}
