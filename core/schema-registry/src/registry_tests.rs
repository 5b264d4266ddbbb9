//! A registry on a storage that does as it is told.

use crate::registry::{Effect, Registry};
use bytes::Bytes;
use letters::{RefusalCode, SchemaAsk, SchemaText, schema_home};
use managed_ledger::{Answer, Call, Fault};
use std::collections::{BTreeMap, VecDeque};
use vocabulary::{Now, SessionId, TopicName};

#[derive(Default)]
struct World {
    registry: Registry,
    nodes: BTreeMap<String, (Bytes, i64)>,
    ledgers: BTreeMap<i64, (Bytes, bool)>,
    next_ledger: i64,
    calls: VecDeque<Call>,
    /// `request: version`, or the refusal.
    heard: Vec<String>,
    /// The next so many calls fail.
    failures: u32,
    /// The next write of a node happens and is not answered in time.
    late_put: bool,
    /// Somebody else writes this before the next write of a node.
    rival: Option<Bytes>,
}

fn topic(name: &str) -> TopicName {
    schema_home(&TopicName::parse(name).unwrap()).unwrap()
}

fn text(kind: i32, data: &str) -> SchemaText {
    SchemaText {
        kind,
        data: Bytes::copy_from_slice(data.as_bytes()),
        properties: vec![("k".to_owned(), "v".to_owned())],
    }
}

const INT: &str = r#""int""#;

impl World {
    fn ask(&mut self, request_id: u64, of: &str, ask: SchemaAsk) {
        let mut effects = Vec::new();
        let session = SessionId(request_id % 10);
        self.registry.asked(
            Now::at_millis(77),
            &topic(of),
            session,
            request_id,
            ask,
            &mut effects,
        );
        self.take(effects);
    }

    fn put(&mut self, request_id: u64, schema: SchemaText) {
        let may_register = true;
        self.ask(
            request_id,
            "t",
            SchemaAsk::Put {
                schema,
                may_register,
            },
        );
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Call(call) => self.calls.push_back(call),
                Effect::Answer {
                    request_id, result, ..
                } => self.heard.push(match result {
                    Ok(Some(found)) => format!("{request_id}: {}", found.version),
                    Ok(None) => format!("{request_id}: none"),
                    Err(refusal) => {
                        let expected = RefusalCode::IncompatibleSchema;
                        let code = (refusal.code != expected).then_some(refusal.code);
                        format!("{request_id}: {code:?} {}", refusal.message).replace("None ", "")
                    }
                }),
                Effect::AnswerAll {
                    request_id, result, ..
                } => {
                    let versions = result.unwrap().into_iter().map(|found| found.version);
                    let versions: Vec<i64> = versions.collect();
                    self.heard.push(format!("{request_id}: {versions:?}"));
                }
            }
        }
    }

    fn step(&mut self) -> bool {
        let Some(call) = self.calls.pop_front() else {
            return false;
        };
        let fails = self.failures > 0;
        self.failures = self.failures.saturating_sub(1);
        let result = match fails {
            true => Err(Fault::Io("broken".to_owned())),
            false => Ok(()),
        };
        let answer = self.carry_out(call, result);
        let mut effects = Vec::new();
        self.registry
            .answered(Now::at_millis(77), answer, &mut effects);
        self.take(effects);
        true
    }

    fn carry_out(&mut self, call: Call, result: Result<(), Fault>) -> Answer {
        match call {
            Call::GetNode { tag, path } => Answer::Got {
                tag,
                result: result.map(|()| self.nodes.get(&path).cloned()),
            },
            Call::CreateLedger { tag, custom } => {
                assert_eq!(custom[2].0, "pulsar/schemaId");
                self.next_ledger += 1;
                let ledger = self.next_ledger;
                Answer::Created {
                    tag,
                    result: result.map(|()| ledger),
                }
            }
            Call::Append { ledger, body, .. } => {
                assert!(self.registry.writes(ledger));
                self.ledgers.insert(ledger, (body, false));
                Answer::Appended {
                    ledger,
                    entry: 0,
                    result,
                }
            }
            Call::SealLedger { tag, ledger, .. } => {
                self.ledgers.get_mut(&ledger).unwrap().1 = true;
                Answer::Sealed { tag, result }
            }
            Call::ReadLedger { tag, ledger, .. } => {
                let (body, sealed) = self.ledgers[&ledger].clone();
                assert!(sealed, "a version that is named is sealed");
                Answer::Read {
                    tag,
                    result: result.map(|()| vec![body]),
                }
            }
            Call::DeleteLedger { tag, ledger } => {
                self.ledgers.remove(&ledger);
                Answer::Deleted { tag, result }
            }
            Call::PutNode {
                tag,
                path,
                value,
                expect,
            } => {
                if let Some(rival) = self.rival.take() {
                    self.nodes.insert(path.clone(), (rival, 0));
                }
                let found = self.nodes.get(&path).map(|(_, version)| *version);
                let next = found.map_or(0, |version| version + 1);
                let mut result = match (result, found == expect) {
                    (Err(fault), _) => Err(fault),
                    (Ok(()), false) => Err(Fault::Taken("another version".to_owned())),
                    (Ok(()), true) => {
                        self.nodes.insert(path, (value, next));
                        Ok(next)
                    }
                };
                if std::mem::take(&mut self.late_put) {
                    result = Err(Fault::Unsure("late".to_owned()));
                }
                Answer::Put { tag, result }
            }
            Call::DeleteNode { tag, path, expect } => {
                let found = self.nodes.get(&path).map(|(_, version)| *version);
                let result = match (result, found == Some(expect)) {
                    (Ok(()), false) => Err(Fault::Taken("another version".to_owned())),
                    (result, _) => result,
                };
                if result.is_ok() {
                    self.nodes.remove(&path);
                }
                Answer::NodeDeleted { tag, result }
            }
            other => panic!("not asked for: {other:?}"),
        }
    }

    fn settle(&mut self) -> Vec<String> {
        while self.step() {}
        assert!(self.registry.is_idle());
        std::mem::take(&mut self.heard)
    }
}

#[test]
fn the_first_schema_is_version_0_and_an_equal_one_is_it_again() {
    let mut world = World::default();
    world.ask(6, "other", SchemaAsk::Get { version: None });
    assert_eq!(world.settle(), ["6: none"]);
    world.put(1, text(4, INT));
    assert_eq!(world.settle(), ["1: 0"]);
    assert!(world.nodes.contains_key("/schemas/public/default/t"));
    world.put(2, text(4, r#"{"type": "int"}"#));
    world.ask(3, "t", SchemaAsk::Get { version: None });
    world.ask(4, "t", SchemaAsk::Get { version: Some(0) });
    world.ask(5, "t", SchemaAsk::Get { version: Some(1) });
    assert_eq!(world.settle(), ["2: 0", "3: 0", "4: 0", "5: none"]);
    assert_eq!(world.ledgers.len(), 1);
}

#[test]
fn partitions_and_both_domains_share_their_topics_schema() {
    let mut world = World::default();
    world.put(1, text(1, ""));
    world.settle();
    for name in ["t-partition-3", "non-persistent://public/default/t"] {
        world.ask(2, name, SchemaAsk::Get { version: None });
        assert_eq!(world.settle(), ["2: 0"]);
    }
}

#[test]
fn a_different_one_is_incompatible_and_nothing_is_stored() {
    let mut world = World::default();
    world.put(1, text(4, INT));
    world.put(2, text(1, ""));
    world.put(3, text(4, r#""long""#));
    let heard = world.settle();
    assert_eq!(heard[0], "1: 0");
    assert_eq!(
        heard[1],
        "2: Incompatible schema: exists schema type AVRO, new schema type STRING"
    );
    assert!(
        heard[2].starts_with("3: Incompatible schema: the AVRO schema differs"),
        "{heard:?}"
    );
    assert_eq!(world.ledgers.len(), 1);
}

#[test]
fn who_may_not_register_needs_an_equal_one() {
    let mut world = World::default();
    let (schema, may_register) = (text(4, INT), false);
    let ask = SchemaAsk::Put {
        schema,
        may_register,
    };
    world.ask(1, "t", ask.clone());
    assert_eq!(
        world.settle(),
        [
            "1: Failed to add schema to an active topic with empty(BYTES) schema: new schema type AVRO"
        ]
    );
    world.put(2, text(4, INT));
    world.ask(3, "t", ask);
    assert_eq!(world.settle(), ["2: 0", "3: 0"]);
}

#[test]
fn what_is_no_schema_is_refused_at_once() {
    let mut world = World::default();
    for (kind, data) in [(4, "{"), (0, ""), (21, ""), (22, ""), (8, "x"), (-3, "")] {
        world.put(1, text(kind, data));
    }
    assert!(world.calls.is_empty());
    let heard = world.settle();
    assert_eq!(heard.len(), 6);
    assert!(heard[0].starts_with("1: Invalid schema definition data for AVRO schema"));
    assert!(heard[1].starts_with("1: Unknown schema type : NONE"));
}

#[test]
fn storage_that_fails_is_tried_again_and_then_told_of() {
    for failures in 1..12 {
        let mut world = World {
            failures,
            ..World::default()
        };
        world.put(1, text(4, INT));
        let heard = world.settle();
        assert_eq!(heard.len(), 1);
        let given_up = heard[0].contains("broken");
        assert!(given_up || heard == ["1: 0"], "{heard:?}");
        assert_eq!(given_up, failures >= 3, "{failures}");
        world.failures = 0;
        world.put(2, text(4, INT));
        assert_eq!(world.settle(), ["2: 0"]);
    }
}

#[test]
fn a_write_that_was_late_is_found_to_have_happened() {
    let mut world = World {
        late_put: true,
        ..World::default()
    };
    world.put(1, text(4, INT));
    assert_eq!(world.settle(), ["1: 0"]);
    assert_eq!(
        world.ledgers.len(),
        1,
        "what the locator names is not swept"
    );
}

#[test]
fn who_is_beaten_by_another_writer_decides_again() {
    let mut other = World::default();
    other.put(1, text(1, ""));
    other.settle();
    let (locator, _) = other.nodes["/schemas/public/default/t"].clone();
    let mut world = World {
        rival: Some(locator),
        next_ledger: 7,
        ledgers: other.ledgers,
        ..World::default()
    };
    world.put(1, text(4, INT));
    assert_eq!(
        world.settle(),
        ["1: Incompatible schema: exists schema type STRING, new schema type AVRO"]
    );
    assert_eq!(world.ledgers.len(), 1, "our ledger is swept");
}

#[test]
fn garbage_is_an_error_that_names_the_place() {
    let mut world = World::default();
    for value in [&b"\xff\xff"[..], b"", b"\x12\x02\x08\x01"] {
        let path = "/schemas/public/default/t".to_owned();
        world.nodes.insert(path, (Bytes::copy_from_slice(value), 0));
        world.put(1, text(4, INT));
        let heard = world.settle();
        assert!(
            heard[0].contains("Some(MetadataError) /schemas/public/default/t:"),
            "{heard:?}"
        );
    }
}

#[test]
fn a_deletion_is_a_version_after_which_nothing_counts() {
    let mut world = World::default();
    world.put(1, text(4, INT));
    world.ask(2, "t", SchemaAsk::All);
    world.ask(3, "t", SchemaAsk::Delete { forget: false });
    world.ask(4, "t", SchemaAsk::All);
    world.ask(5, "t", SchemaAsk::Get { version: Some(0) });
    world.ask(6, "t", SchemaAsk::Delete { forget: false });
    world.put(7, text(4, INT));
    world.ask(8, "t", SchemaAsk::All);
    assert_eq!(
        world.settle(),
        [
            "1: 0", "2: [0]", "3: 1", "4: []", "5: none", "6: 2", "7: 3", "8: [3]"
        ]
    );
}

#[test]
fn what_is_forgotten_leaves_nothing_behind() {
    let mut world = World::default();
    world.put(1, text(4, INT));
    world.ask(2, "t", SchemaAsk::Delete { forget: false });
    assert_eq!(world.settle(), ["1: 0", "2: 1"]);
    assert_eq!(world.ledgers.len(), 2);
    world.ask(3, "t", SchemaAsk::Delete { forget: true });
    world.ask(4, "t", SchemaAsk::Get { version: None });
    assert_eq!(world.settle(), ["3: none", "4: none"]);
    assert!(world.ledgers.is_empty() && world.nodes.is_empty());
    world.ask(5, "t", SchemaAsk::Delete { forget: true });
    world.put(6, text(4, INT));
    assert_eq!(world.settle(), ["5: none", "6: 0"]);
}

#[test]
fn a_deletion_that_storage_fails_is_tried_again() {
    let mut world = World::default();
    world.put(1, text(4, INT));
    world.settle();
    world.ask(2, "t", SchemaAsk::Delete { forget: true });
    world.step();
    world.step();
    world.failures = 1;
    assert_eq!(world.settle(), ["2: none"]);
    assert!(world.ledgers.is_empty() && world.nodes.is_empty());
}
