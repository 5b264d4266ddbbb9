//! What exactly the stores are asked for.

use crate::{Effect, Settings, Stats, TopicLogs};
use bytes::Bytes;
use ledger_store::{Entry, LedgerError, LedgerReply, LedgerRequest};
use letters::{LogError, LogReply, LogRequest, StoredEntry};
use metadata_store::{MetadataReply, MetadataRequest, Stat};
use vocabulary::{Now, Position, TopicName};

struct Bench {
    logs: TopicLogs,
    topic: TopicName,
    effects: Vec<Effect>,
}

impl Bench {
    fn new(settings: Settings) -> Bench {
        let topic = TopicName::parse("t").expect("a name");
        Bench {
            logs: TopicLogs::new(settings),
            topic,
            effects: Vec::new(),
        }
    }

    /// With an open log whose ledger 5 holds so many entries, all in the cache.
    fn holding(settings: Settings, entries: i64) -> Bench {
        let mut bench = Bench::new(settings);
        bench.tell(LogRequest::Open { create: true });
        bench.answer_nodes();
        for entry in 0..entries {
            bench.append(entry);
            bench.answer_nodes();
            bench.ledger(LedgerReply::Appended {
                ledger: 5,
                entry,
                result: Ok(()),
            });
        }
        bench.effects.clear();
        bench
    }

    fn tell(&mut self, request: LogRequest) -> Vec<Effect> {
        self.logs
            .handle_request(Now::at_millis(9), &self.topic, request, &mut self.effects);
        self.effects.clone()
    }

    fn append(&mut self, entry: i64) -> Vec<Effect> {
        let body = Bytes::from(format!("m{entry}"));
        self.tell(LogRequest::Append {
            ticket: entry as u64,
            body,
            messages: 1,
        })
    }

    fn ledger(&mut self, reply: LedgerReply) -> Vec<Effect> {
        self.effects.clear();
        self.logs
            .handle_ledger(Now::at_millis(9), reply, &mut self.effects);
        self.effects.clone()
    }

    fn read(&mut self, from: i64, entries_max: u32) -> Vec<Effect> {
        self.effects.clear();
        let (from, until) = (at(from), Position::LATEST);
        self.tell(LogRequest::Read {
            ticket: 77,
            from,
            until,
            entries_max,
            bytes_max: 1000,
        })
    }

    /// Says yes to everything about nodes, and makes ledger 5.
    fn answer_nodes(&mut self) {
        let stat = Stat {
            version: 0,
            created_ms: 0,
            modified_ms: 0,
            ephemeral: false,
        };
        while !self.effects.is_empty() {
            for effect in std::mem::take(&mut self.effects) {
                let reply = match effect {
                    Effect::Metadata(MetadataRequest::Get { ticket, path }) => {
                        let found = path
                            .starts_with("/admin/policies")
                            .then(|| (Bytes::from_static(b"{}"), stat));
                        MetadataReply::Got {
                            ticket,
                            path,
                            result: Ok(found),
                        }
                    }
                    Effect::Metadata(MetadataRequest::Put { ticket, path, .. }) => {
                        MetadataReply::Put {
                            ticket,
                            result: Ok((path, stat)),
                        }
                    }
                    Effect::Ledger(LedgerRequest::Create { ticket, .. }) => {
                        let reply = LedgerReply::Created {
                            ticket,
                            result: Ok(5),
                        };
                        self.logs
                            .handle_ledger(Now::at_millis(9), reply, &mut self.effects);
                        continue;
                    }
                    _ => continue,
                };
                self.logs
                    .handle_metadata(Now::at_millis(9), reply, &mut self.effects);
            }
        }
    }
}

fn at(entry: i64) -> Position {
    Position::new(5, entry)
}

fn stored(entry: i64) -> StoredEntry {
    StoredEntry {
        position: at(entry),
        body: Bytes::from(format!("m{entry}")),
    }
}

fn uncached() -> Settings {
    Settings {
        cache_bytes: 0,
        ..Settings::default()
    }
}

fn asked(effects: &[Effect]) -> (u64, i64, i64) {
    match effects {
        [
            Effect::Ledger(LedgerRequest::Read {
                ticket,
                ledger: 5,
                first,
                last,
                ..
            }),
        ] => (*ticket, *first, *last),
        other => panic!("one read of the ledger: {other:?}"),
    }
}

#[test]
fn an_append_is_one_request_and_one_answer() {
    let mut bench = Bench::holding(Settings::default(), 2);
    let effects = bench.append(2);
    let body = Bytes::from_static(b"m2");
    let expected = LedgerRequest::Append {
        ledger: 5,
        entry: 2,
        last_confirmed: 1,
        length: 6,
        body,
    };
    assert_eq!(effects, [Effect::Ledger(expected)]);
    let effects = bench.ledger(LedgerReply::Appended {
        ledger: 5,
        entry: 2,
        result: Ok(()),
    });
    let reply = LogReply::Stored {
        ticket: 2,
        position: at(2),
    };
    assert_eq!(effects, [Effect::Reply(bench.topic.clone(), reply)]);
}

#[test]
fn the_tail_is_read_without_storage() {
    let mut bench = Bench::holding(Settings::default(), 4);
    let effects = bench.read(1, 2);
    let reply = LogReply::Read {
        ticket: 77,
        result: Ok(vec![stored(1), stored(2)]),
        damaged: vec![],
    };
    assert_eq!(effects, [Effect::Reply(bench.topic.clone(), reply)]);
    let stats = bench.logs.stats();
    assert_eq!(
        (
            stats.cache_hits,
            stats.cache_misses,
            stats.logs,
            stats.ledgers_open
        ),
        (2, 0, 1, 1)
    );
    assert!(stats.cache_bytes > 0);
}

#[test]
fn an_entry_not_confirmed_is_not_there() {
    let mut bench = Bench::holding(Settings::default(), 1);
    bench.append(1);
    let effects = bench.read(1, 5);
    let reply = LogReply::Read {
        ticket: 77,
        result: Ok(vec![]),
        damaged: vec![],
    };
    assert_eq!(effects, [Effect::Reply(bench.topic.clone(), reply)]);
}

#[test]
fn a_read_from_storage_is_one_run_and_is_kept() {
    let mut bench = Bench::holding(
        Settings {
            cache_bytes: 4 * 130,
            ..Settings::default()
        },
        8,
    );
    let (ticket, first, last) = asked(&bench.read(0, 2));
    assert_eq!((first, last), (0, 1));
    assert_eq!(ticket >> 63, 0, "bit 63 is the bookie's own");
    let entries = vec![Entry {
        entry: 0,
        body: Bytes::from_static(b"m0"),
    }];
    let result = Ok(entries);
    let effects = bench.ledger(LedgerReply::Read {
        ticket,
        ledger: 5,
        first: 0,
        result,
    });
    let reply = LogReply::Read {
        ticket: 77,
        result: Ok(vec![stored(0)]),
        damaged: vec![],
    };
    assert_eq!(effects, [Effect::Reply(bench.topic.clone(), reply.clone())]);
    assert_eq!(
        bench.read(0, 1),
        [Effect::Reply(bench.topic.clone(), reply)]
    );
}

#[test]
fn reading_goes_on_behind_damage() {
    let mut bench = Bench::holding(uncached(), 6);
    let (ticket, ..) = asked(&bench.read(1, 4));
    let damaged = |entry| Err(LedgerError::Damaged(5, entry, "flipped".to_owned()));
    let effects = bench.ledger(LedgerReply::Read {
        ticket,
        ledger: 5,
        first: 1,
        result: damaged(1),
    });
    let (ticket, first, last) = asked(&effects);
    assert_eq!((first, last), (2, 4));
    let result = Ok(vec![Entry {
        entry: 2,
        body: Bytes::from_static(b"m2"),
    }]);
    let effects = bench.ledger(LedgerReply::Read {
        ticket,
        ledger: 5,
        first: 2,
        result,
    });
    let reply = LogReply::Read {
        ticket: 77,
        result: Ok(vec![stored(2)]),
        damaged: vec![at(1)],
    };
    assert_eq!(effects, [Effect::Reply(bench.topic.clone(), reply)]);
}

#[test]
fn exact_reads_go_on_behind_damage_and_ask_for_runs() {
    let mut bench = Bench::holding(uncached(), 8);
    let positions = [0, 1, 2, 5, 6].map(at).to_vec();
    let effects = bench.tell(LogRequest::ReadAt {
        ticket: 77,
        positions,
    });
    let (ticket, first, last) = asked(&effects);
    assert_eq!((first, last), (0, 2));
    let result = Err(LedgerError::Damaged(5, 0, "flipped".to_owned()));
    let effects = bench.ledger(LedgerReply::Read {
        ticket,
        ledger: 5,
        first: 0,
        result,
    });
    let (ticket, first, last) = asked(&effects);
    assert_eq!((first, last), (1, 2));
    let entry = |entry: i64| Entry {
        entry,
        body: Bytes::from(format!("m{entry}")),
    };
    let effects = bench.ledger(LedgerReply::Read {
        ticket,
        ledger: 5,
        first,
        result: Ok(vec![entry(1)]),
    });
    let (ticket, first, last) = asked(&effects);
    assert_eq!(
        (first, last),
        (2, 2),
        "what the store left out is asked for again"
    );
    let effects = bench.ledger(LedgerReply::Read {
        ticket,
        ledger: 5,
        first,
        result: Ok(vec![entry(2)]),
    });
    let (ticket, first, _) = asked(&effects);
    let effects = bench.ledger(LedgerReply::Read {
        ticket,
        ledger: 5,
        first,
        result: Ok(vec![entry(5), entry(6)]),
    });
    let result = Ok([1, 2, 5, 6].map(stored).to_vec());
    let reply = LogReply::Read {
        ticket: 77,
        result,
        damaged: vec![at(0)],
    };
    assert_eq!(effects, [Effect::Reply(bench.topic.clone(), reply)]);
}

#[test]
fn a_ledger_that_is_gone_stops_nobody() {
    let mut bench = Bench::holding(uncached(), 3);
    let (ticket, first, _) = asked(&bench.read(0, 2));
    let result = Err(LedgerError::NoSuchLedger(5));
    let effects = bench.ledger(LedgerReply::Read {
        ticket,
        ledger: 5,
        first,
        result,
    });
    let reply = LogReply::Read {
        ticket: 77,
        result: Ok(vec![]),
        damaged: vec![at(0), at(1)],
    };
    assert_eq!(effects, [Effect::Reply(bench.topic.clone(), reply)]);
}

#[test]
fn a_storage_that_gives_something_else_is_an_error() {
    let mut bench = Bench::holding(uncached(), 3);
    for wrong in [
        vec![],
        vec![Entry {
            entry: 2,
            body: Bytes::new(),
        }],
    ] {
        let (ticket, first, _) = asked(&bench.read(0, 2));
        let effects = bench.ledger(LedgerReply::Read {
            ticket,
            ledger: 5,
            first,
            result: Ok(wrong),
        });
        assert!(matches!(
            effects.as_slice(),
            [Effect::Reply(
                _,
                LogReply::Read {
                    result: Err(LogError::Io(_)),
                    ..
                }
            )]
        ));
    }
}

#[test]
fn a_lost_log_answers_its_reads() {
    let mut bench = Bench::holding(uncached(), 3);
    bench.read(0, 2);
    bench.append(3);
    let result = Err(LedgerError::Fenced(5));
    let effects = bench.ledger(LedgerReply::Appended {
        ledger: 5,
        entry: 3,
        result,
    });
    let replies: Vec<&LogReply> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Reply(_, reply) => Some(reply),
            _ => None,
        })
        .collect();
    assert!(
        matches!(
            replies.as_slice(),
            [
                LogReply::NotStored { ticket: 3, .. },
                LogReply::Read {
                    ticket: 77,
                    result: Err(LogError::Fenced(_)),
                    ..
                },
                LogReply::Lost { .. },
            ]
        ),
        "{replies:?}"
    );
    assert_eq!(
        bench.logs.stats(),
        Stats {
            cache_misses: 1,
            ..Stats::default()
        }
    );
}

#[test]
fn partition_metadata_that_cannot_be_read_is_named() {
    let stat = Stat {
        version: 0,
        created_ms: 0,
        modified_ms: 0,
        ephemeral: false,
    };
    for (value, expected) in [
        (&b"{\"partitions\":3,\"deleted\":true}"[..], Ok(None)),
        (b"{\"partitions\":3}", Ok(Some(3))),
        (
            b"{\"partitions\":-3}",
            Err("/admin/partitioned-topics/public/default/persistent/t"),
        ),
        (
            b"\xff",
            Err("/admin/partitioned-topics/public/default/persistent/t"),
        ),
    ] {
        let mut bench = Bench::new(Settings::default());
        let mut said = Vec::new();
        for effect in bench.tell(LogRequest::Find { ticket: 1 }) {
            let Effect::Metadata(MetadataRequest::Get { ticket, path }) = effect else {
                panic!("{effect:?}")
            };
            let found = path
                .contains("partitioned")
                .then(|| (Bytes::copy_from_slice(value), stat));
            let reply = MetadataReply::Got {
                ticket,
                path,
                result: Ok(found),
            };
            bench
                .logs
                .handle_metadata(Now::at_millis(9), reply, &mut said);
        }
        let [Effect::Reply(_, LogReply::Found { ticket: 1, result })] = said.as_slice() else {
            panic!("{said:?}")
        };
        match (result, expected) {
            (Ok(facts), Ok(partitions)) => assert_eq!(facts.partitions, partitions),
            (Err(LogError::Damaged(text)), Err(path)) => assert!(text.starts_with(path), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn answers_to_nobody_are_passed_over() {
    let mut bench = Bench::holding(Settings::default(), 1);
    for ticket in [
        0,
        1 << 31,
        7 << 32,
        (1 << 32) | 12345,
        (1 << 32) | (1 << 31) | 9,
    ] {
        let result = Ok(vec![]);
        assert_eq!(
            bench.ledger(LedgerReply::Read {
                ticket,
                ledger: 5,
                first: 0,
                result
            }),
            []
        );
        assert_eq!(
            bench.ledger(LedgerReply::Created {
                ticket,
                result: Ok(3)
            }),
            []
        );
        bench.logs.handle_metadata(
            Now::at_millis(9),
            MetadataReply::SessionLost,
            &mut bench.effects,
        );
    }
    assert_eq!(
        bench.ledger(LedgerReply::Appended {
            ledger: 99,
            entry: 0,
            result: Ok(())
        }),
        []
    );
}

/// What `Find` says of a topic whose partitions are stored so.
fn partitions_of(name: &str, value: &'static [u8]) -> Option<u32> {
    let stat = Stat {
        version: 0,
        created_ms: 0,
        modified_ms: 0,
        ephemeral: false,
    };
    let paths = crate::find::paths(&TopicName::parse(name).unwrap());
    let mut find = crate::find::Find::new(TopicName::parse(name).unwrap(), 1);
    assert_eq!(
        paths[1],
        "/admin/partitioned-topics/public/default/persistent/t"
    );
    let _ = find.answered(0, &paths[0], Ok(None));
    let _ = find.answered(1, &paths[1], Ok(Some((Bytes::from_static(value), stat))));
    match find.answered(2, &paths[2], Ok(None)) {
        Some(LogReply::Found { result, .. }) => result.unwrap().partitions,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_partition_is_told_how_many_its_topic_has_and_none_of_one_that_is_being_deleted() {
    let (whole, part) = (
        "persistent://public/default/t",
        "persistent://public/default/t-partition-2",
    );
    let (there, going) = (
        b"{\"partitions\":3}".as_slice(),
        b"{\"partitions\":3,\"deleted\":true}".as_slice(),
    );
    assert_eq!(partitions_of(part, there), Some(3));
    assert_eq!(partitions_of(part, going), Some(0));
    assert_eq!(partitions_of(whole, there), Some(3));
    assert_eq!(partitions_of(whole, going), None);
}
