//! The memory provider passes the suite, and keeps its promises in a storm.

use letters::{LogReply, LogRequest};
use sim_world::SimDice;
use topic_log::memory::{MemoryLogs, Trouble};
use topic_log::suite::{self, LogsUnderTest};
use vocabulary::{NamespaceName, TopicName};

struct Memory {
    logs: MemoryLogs,
    dice: SimDice,
}

impl LogsUnderTest for Memory {
    fn create_namespace(&mut self, namespace: &NamespaceName) {
        self.logs.create_namespace(namespace);
    }

    fn create_partitioned(&mut self, topic: &TopicName, partitions: u32) {
        self.logs.create_partitioned(topic, partitions);
    }

    fn submit(&mut self, topic: &TopicName, request: LogRequest) {
        self.logs.submit(topic, request);
    }

    fn turn(&mut self) -> Vec<(TopicName, LogReply)> {
        self.logs.turn(&mut self.dice)
    }

    fn crash(&mut self) {
        self.logs.crash(&mut self.dice);
    }
}

#[test]
fn it_passes_the_suite() {
    suite::run(|| Memory {
        logs: MemoryLogs::well_behaved(),
        dice: SimDice::new(1),
    });
    suite::run(|| Memory {
        logs: MemoryLogs::adversary(Trouble::only_late()),
        dice: SimDice::new(2),
    });
}

#[test]
fn it_keeps_its_promises_in_a_storm() {
    let (mut stored, mut ends) = (0, 0);
    for seed in 0..300 {
        let logs = MemoryLogs::adversary(Trouble::everything());
        let mut memory = Memory {
            logs,
            dice: SimDice::new(seed),
        };
        let score = suite::storm(&mut memory, &mut SimDice::new(!seed));
        stored += score.stored;
        ends += score.ends;
    }
    assert!(
        stored > 20_000 && ends > 1_000,
        "{stored} stored, {ends} ends"
    );
}
