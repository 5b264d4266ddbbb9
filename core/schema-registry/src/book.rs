//! The schemas of one topic, while somebody asks about them.
//!
//! A new version is written entry first: make a ledger, append, seal it, and only then name it in the locator, by
//! compare-and-set. A crash in between leaves a ledger lying that nothing names.

use crate::equality::are_equal;
use crate::forms::{Locator, Place, Stored};
use crate::kinds::kind_name;
use crate::registry::Turn;
use bytes::Bytes;
use letters::{Refusal, RefusalCode, SchemaAsk, SchemaFound, SchemaText};
use managed_ledger::{Answer, Call, Fault};
use std::collections::VecDeque;
use vocabulary::{RequestId, SessionId};

/// How often storage may fail in a row before those who ask hear of it.
const TRIES_MAX: u32 = 3;

/// A question and who asked it.
#[derive(Debug)]
pub(crate) struct Question {
    pub session: SessionId,
    pub request_id: RequestId,
    pub ask: SchemaAsk,
}

#[derive(Debug)]
pub(crate) struct Book {
    id: String,
    waiting: VecDeque<Question>,
    step: Step,
    tries: u32,
    locator: Locator,
    /// Of the locator's node; `None`: there is none.
    node_version: Option<i64>,
    /// As far as they are read, in the order of the locator.
    stored: Vec<Stored>,
    /// A ledger of ours of which it is not known whether the locator names it.
    unsure: Option<i64>,
}

#[derive(Debug)]
enum Step {
    /// Reading the locator.
    Locating,
    /// Reading the next version.
    Reading,
    /// A new version: making its ledger.
    Creating,
    Appending(i64),
    Sealing(i64),
    /// Naming it in the locator.
    Listing(Place, Stored),
    /// Everything goes.
    Forgetting,
    Done,
}

enum Decision {
    Found(i64),
    Register,
    Refuse(String),
}

impl Book {
    pub fn open(id: String, question: Question, turn: &mut Turn<'_>) -> Book {
        let mut book = Book {
            id,
            waiting: VecDeque::from([question]),
            step: Step::Locating,
            tries: 0,
            locator: Locator::default(),
            node_version: None,
            stored: Vec::new(),
            unsure: None,
        };
        book.locate(turn);
        book
    }

    pub fn ask(&mut self, question: Question) {
        self.waiting.push_back(question);
    }

    pub fn is_done(&self) -> bool {
        matches!(self.step, Step::Done)
    }

    fn path(&self) -> String {
        format!("/schemas/{}", self.id)
    }

    pub fn answered(&mut self, answer: Answer, turn: &mut Turn<'_>) {
        match (std::mem::replace(&mut self.step, Step::Done), answer) {
            (Step::Locating, Answer::Got { result, .. }) => self.located(result, turn),
            (Step::Reading, Answer::Read { result, .. }) => self.was_read(result, turn),
            (Step::Creating, Answer::Created { result, .. }) => match result {
                Ok(ledger) => self.append(ledger, turn),
                Err(fault) => self.not_written(None, &fault, turn),
            },
            (Step::Appending(ledger), Answer::Appended { result, .. }) => match result {
                Ok(()) => self.seal(ledger, turn),
                Err(fault) => self.not_written(Some(ledger), &fault, turn),
            },
            (Step::Sealing(ledger), Answer::Sealed { result, .. }) => match result {
                Ok(()) => self.list(ledger, turn),
                Err(fault) => self.not_written(Some(ledger), &fault, turn),
            },
            (Step::Listing(place, stored), Answer::Put { result, .. }) => match result {
                Ok(version) => {
                    self.tries = 0;
                    self.node_version = Some(version);
                    let version = place.version;
                    self.locator.places.push(place);
                    self.stored.push(stored);
                    self.deleted(version, turn);
                    self.decide(turn);
                }
                // Somebody else was faster, or it is not known whether it happened: read again and decide again.
                Err(fault) => {
                    self.unsure = Some(place.ledger);
                    self.again_or_fail(RefusalCode::MetadataError, &fault, turn, Book::locate);
                }
            },
            (Step::Forgetting, Answer::NodeDeleted { result, .. }) => match result {
                Ok(()) => self.forgotten(turn),
                Err(fault) => {
                    self.again_or_fail(RefusalCode::MetadataError, &fault, turn, Book::locate);
                }
            },
            (step, _) => self.step = step,
        }
    }

    fn locate(&mut self, turn: &mut Turn<'_>) {
        self.step = Step::Locating;
        let path = self.path();
        turn.call(&self.id, |tag| Call::GetNode { tag, path });
    }

    fn located(&mut self, result: Result<Option<(Bytes, i64)>, Fault>, turn: &mut Turn<'_>) {
        self.stored.clear();
        match result {
            Err(fault) => {
                return self.again_or_fail(RefusalCode::MetadataError, &fault, turn, Book::locate);
            }
            Ok(None) => {
                self.locator = Locator::default();
                self.node_version = None;
            }
            Ok(Some((value, version))) => match Locator::decode(&value) {
                Ok(locator) => {
                    self.locator = locator;
                    self.node_version = Some(version);
                }
                Err(error) => {
                    let text = format!("{}: {error}", self.path());
                    return self.fail(RefusalCode::MetadataError, &text, turn);
                }
            },
        }
        let places = &self.locator.places;
        if let Some(ours) = self.unsure.take()
            && !places.iter().any(|place| place.ledger == ours)
        {
            turn.sweep(ours);
        }
        self.read_next(turn);
    }

    fn read_next(&mut self, turn: &mut Turn<'_>) {
        let Some(place) = self.locator.places.get(self.stored.len()) else {
            return self.decide(turn);
        };
        self.step = Step::Reading;
        let (ledger, entry) = (place.ledger, place.entry);
        turn.call(&self.id, |tag| Call::ReadLedger {
            tag,
            ledger,
            first: entry,
            last: entry,
            bytes_max: usize::MAX,
        });
    }

    fn was_read(&mut self, result: Result<Vec<Bytes>, Fault>, turn: &mut Turn<'_>) {
        let code = RefusalCode::PersistenceError;
        let body = match result {
            Ok(bodies) => bodies.into_iter().next().unwrap_or_default(),
            Err(fault) => return self.again_or_fail(code, &fault, turn, Book::read_next),
        };
        match Stored::decode(&body) {
            Ok(stored) => {
                self.tries = 0;
                self.stored.push(stored);
                self.read_next(turn);
            }
            Err(error) => {
                let text = format!("a schema of {} is damaged: {error}", self.id);
                self.fail(code, &text, turn);
            }
        }
    }

    /// Answers who waits, in order, until one needs a new version.
    fn decide(&mut self, turn: &mut Turn<'_>) {
        while let Some(question) = self.waiting.pop_front() {
            let result = match &question.ask {
                SchemaAsk::Get { version } => Ok(self.get(*version)),
                SchemaAsk::All => {
                    let all = self
                        .live()
                        .filter_map(|(version, stored)| stored.found(version));
                    let all = all.collect();
                    turn.answer_all(&question, all);
                    continue;
                }
                SchemaAsk::Delete { forget: false } => {
                    self.waiting.push_front(question);
                    return self.create(turn);
                }
                SchemaAsk::Delete { forget: true } => match self.node_version {
                    None => Ok(None),
                    Some(expect) => {
                        self.waiting.push_front(question);
                        return self.forget(expect, turn);
                    }
                },
                SchemaAsk::Put {
                    schema,
                    may_register,
                } => match self.judge(schema, *may_register) {
                    Decision::Found(version) => Ok(self.get(Some(version))),
                    Decision::Refuse(text) => {
                        Err(Refusal::new(RefusalCode::IncompatibleSchema, text))
                    }
                    Decision::Register => {
                        self.waiting.push_front(question);
                        return self.create(turn);
                    }
                },
            };
            turn.answer(&question, result);
        }
        self.step = Step::Done;
    }

    /// The versions that count: those after the last deletion, oldest first.
    fn live(&self) -> impl DoubleEndedIterator<Item = (i64, &Stored)> {
        let deleted = self
            .stored
            .iter()
            .rposition(|stored| stored.schema.is_none());
        let versions = self.locator.places.iter().map(|place| place.version);
        versions
            .zip(&self.stored)
            .skip(deleted.map_or(0, |at| at + 1))
    }

    fn get(&self, version: Option<i64>) -> Option<SchemaFound> {
        let mut live = self.live();
        let (version, stored) = match version {
            None => live.next_back()?,
            Some(version) => live.find(|(of, _)| *of == version)?,
        };
        stored.found(version)
    }

    fn judge(&self, schema: &SchemaText, may_register: bool) -> Decision {
        let mut live = self
            .live()
            .filter_map(|(version, stored)| Some((version, stored.schema.as_ref()?)));
        if let Some((version, _)) = live.find(|(_, known)| are_equal(known, schema)) {
            return Decision::Found(version);
        }
        let newest = self
            .live()
            .next_back()
            .and_then(|(_, stored)| stored.schema.as_ref());
        let kind = kind_name(schema.kind);
        match newest {
            None if may_register => Decision::Register,
            None => Decision::Refuse(format!(
                "Failed to add schema to an active topic with empty(BYTES) schema: new schema type {kind}"
            )),
            Some(known) if known.kind != schema.kind => Decision::Refuse(format!(
                "Incompatible schema: exists schema type {}, new schema type {kind}",
                kind_name(known.kind)
            )),
            Some(_) => Decision::Refuse(format!(
                "Incompatible schema: the {kind} schema differs from the one that {} has, \
                 and whether it can follow it is not judged by this broker yet",
                self.id
            )),
        }
    }

    fn create(&mut self, turn: &mut Turn<'_>) {
        self.step = Step::Creating;
        let custom = vec![
            ("application".to_owned(), b"pulsar".to_vec()),
            ("component".to_owned(), b"schema".to_vec()),
            ("pulsar/schemaId".to_owned(), self.id.clone().into_bytes()),
        ];
        turn.call(&self.id, |tag| Call::CreateLedger { tag, custom });
    }

    /// Who waits first for a version that says that nothing counts hears that it is there.
    fn deleted(&mut self, version: i64, turn: &mut Turn<'_>) {
        let waits = |question: &mut Question| matches!(question.ask, SchemaAsk::Delete { .. });
        if let Some(question) = self.waiting.pop_front_if(waits) {
            let found = SchemaFound {
                version,
                schema: SchemaText::default(),
                stored_ms: i64::try_from(turn.now.wall.0).unwrap_or(i64::MAX),
            };
            turn.answer(&question, Ok(Some(found)));
        }
    }

    fn forget(&mut self, expect: i64, turn: &mut Turn<'_>) {
        self.step = Step::Forgetting;
        let path = self.path();
        turn.call(&self.id, |tag| Call::DeleteNode { tag, path, expect });
    }

    /// The locator is gone; then nothing names the ledgers.
    fn forgotten(&mut self, turn: &mut Turn<'_>) {
        self.tries = 0;
        self.node_version = None;
        self.stored.clear();
        for place in std::mem::take(&mut self.locator.places) {
            turn.sweep(place.ledger);
        }
        if let Some(question) = self.waiting.pop_front() {
            turn.answer(&question, Ok(None));
        }
        self.decide(turn);
    }

    /// What the first who waits wants to be stored: a schema, or that there is none (`None`).
    fn wanted(&self) -> Option<Option<&SchemaText>> {
        match &self.waiting.front()?.ask {
            SchemaAsk::Put { schema, .. } => Some(Some(schema)),
            SchemaAsk::Delete { .. } => Some(None),
            SchemaAsk::Get { .. } | SchemaAsk::All => None,
        }
    }

    fn body(&self, turn: &Turn<'_>) -> Option<Bytes> {
        let schema = self.wanted()?;
        Some(Stored::encode(
            &self.id,
            schema,
            turn.now.wall.0,
            &self.locator,
        ))
    }

    fn append(&mut self, ledger: i64, turn: &mut Turn<'_>) {
        let Some(body) = self.body(turn) else {
            return self.decide(turn);
        };
        self.step = Step::Appending(ledger);
        turn.append(&self.id, ledger, body);
    }

    fn seal(&mut self, ledger: i64, turn: &mut Turn<'_>) {
        let length = self.body(turn).map_or(0, |body| body.len() as u64);
        self.step = Step::Sealing(ledger);
        turn.call(&self.id, |tag| Call::SealLedger {
            tag,
            ledger,
            last_entry: 0,
            length,
        });
    }

    fn list(&mut self, ledger: i64, turn: &mut Turn<'_>) {
        let Some(schema) = self.wanted().map(Option::<&SchemaText>::cloned) else {
            return self.decide(turn);
        };
        let hashed = schema.clone().unwrap_or_default();
        let place = Place::of(self.locator.next_version(), ledger, &hashed);
        let mut locator = self.locator.clone();
        locator.places.push(place.clone());
        let stored_ms = i64::try_from(turn.now.wall.0).unwrap_or(i64::MAX);
        self.step = Step::Listing(place, Stored { schema, stored_ms });
        let (path, value, expect) = (self.path(), locator.encode(), self.node_version);
        turn.call(&self.id, |tag| Call::PutNode {
            tag,
            path,
            value,
            expect,
        });
    }

    fn not_written(&mut self, ledger: Option<i64>, fault: &Fault, turn: &mut Turn<'_>) {
        if let Some(ledger) = ledger {
            turn.sweep(ledger);
        }
        self.again_or_fail(RefusalCode::PersistenceError, fault, turn, Book::create);
    }

    fn again_or_fail(
        &mut self,
        code: RefusalCode,
        fault: &Fault,
        turn: &mut Turn<'_>,
        again: impl FnOnce(&mut Book, &mut Turn<'_>),
    ) {
        self.tries += 1;
        if self.tries < TRIES_MAX {
            return again(self, turn);
        }
        let text = format!(
            "the schemas of {} cannot be read or stored: {fault}",
            self.id
        );
        self.fail(code, &text, turn);
    }

    fn fail(&mut self, code: RefusalCode, text: &str, turn: &mut Turn<'_>) {
        for question in std::mem::take(&mut self.waiting) {
            turn.answer(&question, Err(Refusal::new(code, text)));
        }
        self.step = Step::Done;
    }
}
