//! A storage for tests: ledgers and metadata nodes in memory, that answers in any order, fails, and
//! says "no answer in time" of calls that happened.

pub mod world;

use bytes::Bytes;
use managed_ledger::{Answer, Call, Fault};
use std::collections::{BTreeMap, VecDeque};

/// Numbers from a seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.roll() % limit.max(1)
    }

    pub fn chance(&mut self, of_thousand: u64) -> bool {
        self.below(1000) < of_thousand
    }
}

/// How bad it is; chances out of 1000.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trouble {
    pub timeouts: u64,
    pub errors: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub entries: Vec<Bytes>,
    pub sealed: bool,
    fenced: bool,
}

/// Who asked. Answers are delivered to it.
pub type Asker = u64;

#[derive(Debug, Default)]
pub struct Storage {
    pub ledgers: BTreeMap<i64, Ledger>,
    pub nodes: BTreeMap<String, (Bytes, i64)>,
    pub trouble: Trouble,
    /// The next write of a node is not answered in time; whether it happens.
    pub next_put_late: Option<bool>,
    /// Ledgers whose entries cannot be read.
    pub damaged: Vec<i64>,
    /// The id given last.
    pub next_ledger: i64,
    lanes: BTreeMap<String, VecDeque<(Asker, Call)>>,
    pub deleted: Vec<i64>,
}

impl Storage {
    pub fn submit(&mut self, asker: Asker, call: Call) {
        self.lanes
            .entry(lane(&call))
            .or_default()
            .push_back((asker, call));
    }

    /// Calls that were not carried out yet are lost with the process that made them.
    pub fn forget_calls_of(&mut self, asker: Asker) {
        for lane in self.lanes.values_mut() {
            lane.retain(|(of, _)| *of != asker);
        }
        self.lanes.retain(|_, lane| !lane.is_empty());
    }

    /// Carries out one call, chosen at random among the oldest of each lane.
    pub fn step(&mut self, rng: &mut Rng) -> Option<(Asker, Answer)> {
        let keys: Vec<String> = self.lanes.keys().cloned().collect();
        let key = keys.get(rng.below(keys.len() as u64) as usize)?.clone();
        let lane = self.lanes.get_mut(&key)?;
        let (asker, call) = lane.pop_front()?;
        if lane.is_empty() {
            self.lanes.remove(&key);
        }
        if let (Call::PutNode { .. }, Some(happens)) = (&call, self.next_put_late) {
            self.next_put_late = None;
            let answer = refusal(&call, Fault::Unsure("late".to_owned()));
            if happens {
                self.carry_out(call);
            }
            return Some((asker, answer));
        }
        if rng.chance(self.trouble.timeouts) {
            let answer = refusal(&call, Fault::Unsure("late".to_owned()));
            if rng.chance(500) {
                self.carry_out(call);
            }
            return Some((asker, answer));
        }
        if rng.chance(self.trouble.errors) {
            return Some((asker, refusal(&call, Fault::Io("broken".to_owned()))));
        }
        Some((asker, self.carry_out(call)))
    }

    fn carry_out(&mut self, call: Call) -> Answer {
        match call {
            Call::CreateLedger { tag, .. } => {
                self.next_ledger += 1;
                self.ledgers.insert(self.next_ledger, Ledger::default());
                Answer::Created {
                    tag,
                    result: Ok(self.next_ledger),
                }
            }
            Call::RecoverLedger { tag, ledger } => {
                let result = self.ledger(ledger).map(|found| {
                    found.fenced = true;
                    found.sealed = true;
                    (
                        found.entries.len() as i64 - 1,
                        found.entries.iter().map(|e| e.len() as u64).sum(),
                    )
                });
                Answer::Recovered { tag, result }
            }
            Call::Append {
                ledger,
                entry,
                body,
                ..
            } => {
                let result = self
                    .ledger(ledger)
                    .and_then(|found| found.append(entry, body));
                Answer::Appended {
                    ledger,
                    entry,
                    result,
                }
            }
            Call::ReadLedger {
                tag,
                ledger,
                first,
                last,
                ..
            } => {
                let is_damaged = self.damaged.contains(&ledger);
                let result = self.ledger(ledger).and_then(|found| {
                    if is_damaged {
                        return Err(Fault::Damaged("a wrong checksum".to_owned()));
                    }
                    let range = usize::try_from(first).unwrap_or(usize::MAX)
                        ..=usize::try_from(last).unwrap_or(usize::MAX);
                    found
                        .entries
                        .get(range)
                        .map(<[Bytes]>::to_vec)
                        .ok_or(Fault::Missing("no such entry".to_owned()))
                });
                Answer::Read { tag, result }
            }
            Call::SealLedger {
                tag,
                ledger,
                last_entry,
                ..
            } => Answer::Sealed {
                tag,
                result: self.ledger(ledger).and_then(|found| found.seal(last_entry)),
            },
            Call::DeleteLedger { tag, ledger } => {
                self.ledgers.remove(&ledger);
                self.deleted.push(ledger);
                Answer::Deleted {
                    tag,
                    result: Ok(()),
                }
            }
            Call::GetNode { tag, path } => Answer::Got {
                tag,
                result: Ok(self.nodes.get(&path).cloned()),
            },
            Call::PutNode {
                tag,
                path,
                value,
                expect,
            } => {
                let found = self.nodes.get(&path).map(|(_, version)| *version);
                if found != expect {
                    return Answer::Put {
                        tag,
                        result: Err(Fault::Taken(format!("{path} is at {found:?}"))),
                    };
                }
                let version = found.map_or(0, |version| version + 1);
                self.nodes.insert(path, (value, version));
                Answer::Put {
                    tag,
                    result: Ok(version),
                }
            }
            Call::DeleteNode { tag, path, expect } => {
                let found = self.nodes.get(&path).map(|(_, version)| *version);
                if found != Some(expect) {
                    return Answer::NodeDeleted {
                        tag,
                        result: Err(Fault::Taken(format!("{path} is at {found:?}"))),
                    };
                }
                self.nodes.remove(&path);
                Answer::NodeDeleted {
                    tag,
                    result: Ok(()),
                }
            }
            Call::ListNodes { tag, path } => {
                let below = format!("{path}/");
                let names = self
                    .nodes
                    .keys()
                    .filter_map(|key| key.strip_prefix(&below).map(str::to_owned))
                    .collect();
                Answer::Listed {
                    tag,
                    result: Ok(names),
                }
            }
        }
    }

    fn ledger(&mut self, ledger: i64) -> Result<&mut Ledger, Fault> {
        self.ledgers
            .get_mut(&ledger)
            .ok_or(Fault::Missing(format!("ledger {ledger} does not exist")))
    }
}

impl Ledger {
    fn append(&mut self, entry: i64, body: Bytes) -> Result<(), Fault> {
        if self.fenced {
            return Err(Fault::Taken("fenced".to_owned()));
        }
        if self.sealed || entry != self.entries.len() as i64 {
            return Err(Fault::Refused(format!("entry {entry} is not next")));
        }
        self.entries.push(body);
        Ok(())
    }

    fn seal(&mut self, last_entry: i64) -> Result<(), Fault> {
        if self.fenced || self.sealed {
            return Err(Fault::Refused("sealed already".to_owned()));
        }
        if last_entry >= self.entries.len() as i64 {
            return Err(Fault::Refused("no such last entry".to_owned()));
        }
        self.entries.truncate(last_entry as usize + 1);
        self.sealed = true;
        Ok(())
    }
}

/// Calls of one lane are carried out in order.
fn lane(call: &Call) -> String {
    match call {
        Call::CreateLedger { .. } => "create".to_owned(),
        Call::RecoverLedger { ledger, .. }
        | Call::Append { ledger, .. }
        | Call::ReadLedger { ledger, .. }
        | Call::SealLedger { ledger, .. }
        | Call::DeleteLedger { ledger, .. } => format!("ledger {ledger}"),
        Call::GetNode { path, .. }
        | Call::PutNode { path, .. }
        | Call::DeleteNode { path, .. }
        | Call::ListNodes { path, .. } => path.clone(),
    }
}

fn refusal(call: &Call, fault: Fault) -> Answer {
    match call {
        Call::CreateLedger { tag, .. } => Answer::Created {
            tag: *tag,
            result: Err(fault),
        },
        Call::RecoverLedger { tag, .. } => Answer::Recovered {
            tag: *tag,
            result: Err(fault),
        },
        Call::Append { ledger, entry, .. } => Answer::Appended {
            ledger: *ledger,
            entry: *entry,
            result: Err(fault),
        },
        Call::ReadLedger { tag, .. } => Answer::Read {
            tag: *tag,
            result: Err(fault),
        },
        Call::SealLedger { tag, .. } => Answer::Sealed {
            tag: *tag,
            result: Err(fault),
        },
        Call::DeleteLedger { tag, .. } => Answer::Deleted {
            tag: *tag,
            result: Err(fault),
        },
        Call::GetNode { tag, .. } => Answer::Got {
            tag: *tag,
            result: Err(fault),
        },
        Call::PutNode { tag, .. } => Answer::Put {
            tag: *tag,
            result: Err(fault),
        },
        Call::DeleteNode { tag, .. } => Answer::NodeDeleted {
            tag: *tag,
            result: Err(fault),
        },
        Call::ListNodes { tag, .. } => Answer::Listed {
            tag: *tag,
            result: Err(fault),
        },
    }
}
