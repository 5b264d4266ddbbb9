//! Asking logs one thing at a time.

use super::LogsUnderTest;
use bytes::Bytes;
use letters::log::{CursorRecord, SavedCursor};
use letters::{LogError, LogReply, LogRequest, StoredEntry};
use vocabulary::{NamespaceName, Position, TopicName};

/// Turns after which an answer is said never to come.
const TURNS_MAX: usize = 10_000;

pub(super) struct Bench<'a> {
    pub(super) logs: &'a mut dyn LogsUnderTest,
    pub(super) topic: TopicName,
    next_ticket: u64,
}

impl Bench<'_> {
    pub(super) fn new(logs: &mut dyn LogsUnderTest) -> Bench<'_> {
        Bench {
            logs,
            topic: topic("persistent://public/default/orders"),
            next_ticket: 0,
        }
    }

    /// With the namespace made and the log open.
    pub(super) fn opened(&mut self) {
        let namespace = self.topic.namespace().clone();
        self.logs.create_namespace(&namespace);
        let reply = self.open(true);
        assert!(
            matches!(&reply, LogReply::Opened { .. }),
            "a new log opens: {reply:?}"
        );
    }

    pub(super) fn ticket(&mut self) -> u64 {
        self.next_ticket += 1;
        self.next_ticket
    }

    /// Waits for so many replies to this bench's topic.
    pub(super) fn replies(&mut self, count: usize) -> Vec<LogReply> {
        let mut found = Vec::new();
        for _ in 0..TURNS_MAX {
            for (topic, reply) in self.logs.turn() {
                assert_eq!(topic, self.topic, "a reply goes to the topic that asked");
                found.push(reply);
            }
            if found.len() >= count {
                assert_eq!(found.len(), count, "one answer for each request: {found:?}");
                return found;
            }
        }
        panic!("{count} answers were to come, these came: {found:?}");
    }

    pub(super) fn ask(&mut self, request: LogRequest) -> LogReply {
        let topic = self.topic.clone();
        self.logs.submit(&topic, request);
        self.replies(1).remove(0)
    }

    pub(super) fn open(&mut self, create: bool) -> LogReply {
        self.ask(LogRequest::Open { create })
    }

    /// Opens it again; what it holds.
    pub(super) fn reopened(&mut self) -> (Vec<(i64, i64)>, Vec<SavedCursor>) {
        match self.open(false) {
            LogReply::Opened {
                extent, cursors, ..
            } => (extent, cursors),
            other => panic!("the log opens again: {other:?}"),
        }
    }

    /// Opens it again; its properties, sorted.
    pub(super) fn properties_when_opened(&mut self) -> Vec<(String, String)> {
        match self.open(false) {
            LogReply::Opened { mut properties, .. } => {
                properties.sort();
                properties
            }
            other => panic!("the log opens again: {other:?}"),
        }
    }

    pub(super) fn set_property(&mut self, key: &str, value: &str) {
        let ticket = self.ticket();
        let (key, value) = (key.to_owned(), value.to_owned());
        let reply = self.ask(LogRequest::SetProperty { ticket, key, value });
        assert_eq!(
            reply,
            LogReply::PropertySet {
                ticket,
                result: Ok(())
            }
        );
    }

    /// Appends these at once.
    pub(super) fn append(&mut self, bodies: &[&str]) -> Vec<Position> {
        let topic = self.topic.clone();
        let mut tickets = Vec::new();
        for body in bodies {
            let ticket = self.ticket();
            tickets.push(ticket);
            let body = Bytes::copy_from_slice(body.as_bytes());
            self.logs.submit(
                &topic,
                LogRequest::Append {
                    ticket,
                    body,
                    messages: 1,
                },
            );
        }
        let stored = self
            .replies(bodies.len())
            .into_iter()
            .zip(tickets)
            .map(|(reply, asked)| match reply {
                LogReply::Stored { ticket, position } if ticket == asked => position,
                other => panic!("append {asked} is stored in its turn: {other:?}"),
            });
        stored.collect()
    }

    /// Appends one after another, each in a ledger of its own if the provider can be made to.
    pub(super) fn append_in_ledgers(&mut self, bodies: &[&str]) -> Vec<Position> {
        let mut positions = Vec::new();
        for body in bodies {
            positions.extend(self.append(&[body]));
            self.close();
            self.reopened();
        }
        positions
    }

    pub(super) fn close(&mut self) {
        assert_eq!(self.ask(LogRequest::Close), LogReply::Closed);
    }

    pub(super) fn read(
        &mut self,
        from: Position,
        until: Position,
        entries_max: u32,
        bytes_max: usize,
    ) -> Vec<StoredEntry> {
        let ticket = self.ticket();
        let reply = self.ask(LogRequest::Read {
            ticket,
            from,
            until,
            entries_max,
            bytes_max,
        });
        entries_of(reply, ticket)
    }

    pub(super) fn read_at(&mut self, positions: Vec<Position>) -> Vec<StoredEntry> {
        let ticket = self.ticket();
        let reply = self.ask(LogRequest::ReadAt { ticket, positions });
        entries_of(reply, ticket)
    }

    /// Every entry from the beginning.
    pub(super) fn read_all(&mut self) -> Vec<(Position, String)> {
        let (mut from, mut found) = (Position::EARLIEST, Vec::new());
        loop {
            let entries = self.read(from, Position::LATEST, 1000, 1 << 20);
            let Some(last) = entries.last() else {
                return found;
            };
            from = last.position.after();
            found.extend(
                entries
                    .iter()
                    .map(|entry| (entry.position, text(&entry.body))),
            );
        }
    }

    pub(super) fn create_cursor(&mut self, name: &str, snapshot: &[u8]) -> Result<(), LogError> {
        let ticket = self.ticket();
        let snapshot = Bytes::copy_from_slice(snapshot);
        let reply = self.ask(LogRequest::CreateCursor {
            ticket,
            name: name.to_owned(),
            snapshot,
        });
        saved(reply, ticket, name)
    }

    pub(super) fn save_cursor(&mut self, name: &str, record: CursorRecord) -> Result<(), LogError> {
        let ticket = self.ticket();
        let reply = self.ask(LogRequest::SaveCursor {
            ticket,
            name: name.to_owned(),
            record,
        });
        saved(reply, ticket, name)
    }

    pub(super) fn delete_cursor(&mut self, name: &str) {
        let ticket = self.ticket();
        let reply = self.ask(LogRequest::DeleteCursor {
            ticket,
            name: name.to_owned(),
        });
        assert_eq!(
            reply,
            LogReply::CursorDeleted {
                ticket,
                name: name.to_owned(),
                result: Ok(())
            }
        );
    }
}

pub(super) fn topic(name: &str) -> TopicName {
    TopicName::parse(name).expect("Invariant: the suite's names are names")
}

pub(super) fn namespace(name: &str) -> NamespaceName {
    NamespaceName::parse(name).expect("Invariant: the suite's names are names")
}

pub(super) fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

pub(super) fn delta(text: &str) -> CursorRecord {
    CursorRecord::Delta(Bytes::copy_from_slice(text.as_bytes()))
}

pub(super) fn snapshot(text: &str) -> CursorRecord {
    CursorRecord::Snapshot(Bytes::copy_from_slice(text.as_bytes()))
}

/// A cursor as one text: the snapshot, then a `+` before each delta.
pub(super) fn cursor_text(cursor: &SavedCursor) -> String {
    let deltas = cursor
        .deltas
        .iter()
        .map(|delta| format!("+{}", text(delta)));
    format!("{}{}", text(&cursor.snapshot), deltas.collect::<String>())
}

fn entries_of(reply: LogReply, asked: u64) -> Vec<StoredEntry> {
    match reply {
        LogReply::Read {
            ticket,
            result: Ok(entries),
            damaged,
        } if ticket == asked => {
            assert!(damaged.is_empty(), "nothing is damaged: {damaged:?}");
            entries
        }
        other => panic!("read {asked} is answered with entries: {other:?}"),
    }
}

fn saved(reply: LogReply, asked: u64, of: &str) -> Result<(), LogError> {
    match reply {
        LogReply::CursorSaved {
            ticket,
            name,
            result,
        } if ticket == asked && name == of => result,
        other => panic!("saving {asked} of {of} is answered: {other:?}"),
    }
}
