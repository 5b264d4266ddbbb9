//! What a seed decides before anything happens: who is there, and what they will do.

use crate::checks::SubscriptionName;
use crate::link::Weather;
use letters::{InitialPosition, SubscriptionType};
use sim_world::SimDice;
use std::time::Duration;
use vocabulary::TopicName;
use world::Dice;

/// Everything that a seed decides.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Desks.
    pub shards: usize,
    /// Topics, by number.
    pub topics: Vec<TopicName>,
    /// Clients, each with one connection at a time.
    pub seats: Vec<SeatPlan>,
    /// How the network is.
    pub weather: Weather,
    /// How long a turn of a desk or a disk may be waited for.
    pub turn_delay: Duration,
    /// Size of a segment, bytes.
    pub segment_bytes: u32,
    /// Memory for young entries, bytes; small, so that entries are read from the disk too.
    pub cache_bytes: usize,
    /// Entries after which a ledger is left for a new one.
    pub ledger_entries_max: i64,
    /// Records after which a cursor's ledger is left for a new one.
    pub cursor_ledger_entries_max: i64,
    /// Snapshots up to so many bytes are kept in the cursor's node.
    pub node_snapshot_bytes_max: usize,
}

/// A client.
#[derive(Clone, Debug, Default)]
pub struct SeatPlan {
    /// Its producers.
    pub producers: Vec<ProducerPlan>,
    /// Its consumers.
    pub consumers: Vec<ConsumerPlan>,
}

/// A producer.
#[derive(Clone, Debug)]
pub struct ProducerPlan {
    /// Over all clients.
    pub number: usize,
    /// The topic's number.
    pub topic: usize,
    /// Most messages in an entry; 1: it does not batch.
    pub batch_max: u64,
    /// Entries without a receipt at a time.
    pub pending_max: usize,
    /// Bytes of a message.
    pub message_bytes: usize,
    /// Whether it chose its own name.
    pub has_name: bool,
}

/// A consumer.
#[derive(Clone, Debug)]
pub struct ConsumerPlan {
    /// Over all clients.
    pub number: usize,
    /// What it subscribes to.
    pub subscription: SubscriptionName,
    /// How it is shared.
    pub kind: SubscriptionType,
    /// Where a new subscription begins.
    pub initial_position: InitialPosition,
    /// How it acknowledges.
    pub acks: AckHabit,
    /// Permits that it keeps granted.
    pub permits: u32,
    /// 0 is best.
    pub priority_level: i32,
}

/// How a consumer acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckHabit {
    /// Entry by entry, in any order.
    Individual,
    /// Message by message, with sets for parts of batches.
    BatchIndex,
    /// Up to a message.
    Cumulative,
}

impl Plan {
    /// The plan of a seed; `shards` overrules it, if given.
    #[must_use]
    pub fn of_seed(seed: u64, shards: Option<usize>) -> Plan {
        let dice = &mut SimDice::new(seed ^ 0x0070_6c61_6e00_0000);
        let rolled = if dice.chance(1, 2) { 1 } else { 3 };
        let topics = 1 + dice.below(3) as usize;
        let mut plan = Plan {
            shards: shards.unwrap_or(rolled),
            topics: (0..topics).filter_map(topic_name).collect(),
            seats: (0..2 + dice.below(3))
                .map(|_| SeatPlan::default())
                .collect(),
            weather: Weather {
                delay_min: Duration::from_micros(20),
                delay_spread: Duration::from_micros([50, 500, 5_000][dice.below(3) as usize]),
                splits_of_eight: dice.below(4),
            },
            turn_delay: Duration::from_micros([20, 300, 3_000][dice.below(3) as usize]),
            segment_bytes: [16, 32, 64][dice.below(3) as usize] * 1024,
            cache_bytes: [0, 2, 64][dice.below(3) as usize] * 1024,
            ledger_entries_max: [5, 20, 1000][dice.below(3) as usize],
            cursor_ledger_entries_max: [4, 20, 10_000][dice.below(3) as usize],
            node_snapshot_bytes_max: [0, 40, 16 * 1024][dice.below(3) as usize],
        };
        plan.place_producers(dice);
        plan.place_consumers(dice);
        plan
    }

    fn place_producers(&mut self, dice: &mut SimDice) {
        let producers = self.topics.len() + dice.below(2) as usize;
        for number in 0..producers {
            let batch_max = [1, 3, 8][dice.below(3) as usize];
            let producer = ProducerPlan {
                number,
                topic: number % self.topics.len(),
                batch_max,
                pending_max: 1 + dice.below(6) as usize,
                // A batch fits into an entry of the smallest segment.
                message_bytes: [10, 100, 2400 / batch_max as usize][dice.below(3) as usize],
                has_name: dice.chance(1, 2),
            };
            let seat = dice.below(self.seats.len() as u64) as usize;
            self.seats[seat].producers.push(producer);
        }
    }

    fn place_consumers(&mut self, dice: &mut SimDice) {
        let mut number = 0;
        for topic in 0..self.topics.len() {
            for letter in ["a", "b"].iter().take(1 + dice.below(2) as usize) {
                let kind = [
                    SubscriptionType::Exclusive,
                    SubscriptionType::Failover,
                    SubscriptionType::Shared,
                ][dice.below(3) as usize];
                let consumers = match kind {
                    SubscriptionType::Exclusive => 1,
                    _ => 1 + dice.below(3),
                };
                let initial_position = if dice.chance(3, 4) {
                    InitialPosition::Earliest
                } else {
                    InitialPosition::Latest
                };
                for _ in 0..consumers {
                    let acks = match (dice.below(3), kind) {
                        (0, _) => AckHabit::Individual,
                        (1, SubscriptionType::Exclusive | SubscriptionType::Failover) => {
                            AckHabit::Cumulative
                        }
                        _ => AckHabit::BatchIndex,
                    };
                    let consumer = ConsumerPlan {
                        number,
                        subscription: SubscriptionName {
                            topic,
                            name: (*letter).into(),
                        },
                        kind,
                        initial_position,
                        acks,
                        permits: [2, 10, 50][dice.below(3) as usize],
                        priority_level: dice.below(2) as i32,
                    };
                    number += 1;
                    let seat = dice.below(self.seats.len() as u64) as usize;
                    self.seats[seat].consumers.push(consumer);
                }
            }
        }
    }

    /// The number of a topic.
    #[must_use]
    pub fn topic_number(&self, name: &TopicName) -> Option<usize> {
        self.topics.iter().position(|topic| topic == name)
    }
}

fn topic_name(number: usize) -> Option<TopicName> {
    TopicName::parse(&format!("persistent://public/default/topic-{number}")).ok()
}
