//! All schemas of a shard: who asked about which topic, and which answer of storage is whose.
//!
//! Nothing is remembered between questions: what is stored is read when somebody asks, and questions about one topic
//! that come meanwhile are answered from the same reading, in the order they came.

use crate::book::{Book, Question};
use letters::{Refusal, SchemaAsk, SchemaFound};
use managed_ledger::{Answer, Call, Tag};
use std::collections::BTreeMap;
use vocabulary::name::url_encode;
use vocabulary::{Now, RequestId, SessionId, TopicName};

/// What the registry wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Ask storage.
    Call(Call),
    /// Answer a session.
    Answer {
        /// Which.
        session: SessionId,
        /// Echoed.
        request_id: RequestId,
        /// The version asked for or given; `None`: there is none.
        result: Result<Option<SchemaFound>, Refusal>,
    },
    /// Answer a session that asked for all versions.
    AnswerAll {
        /// Which.
        session: SessionId,
        /// Echoed.
        request_id: RequestId,
        /// Oldest first.
        result: Result<Vec<SchemaFound>, Refusal>,
    },
}

/// The machine.
#[derive(Debug, Default)]
pub struct Registry {
    /// Of topics somebody asks about now.
    books: BTreeMap<String, Book>,
    pub(crate) calls: Calls,
}

/// Calls under way.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    next: Tag,
    /// Whose.
    owners: BTreeMap<Tag, String>,
    /// Who writes to a ledger.
    writers: BTreeMap<i64, String>,
}

impl Calls {
    fn call(
        &mut self,
        owner: Option<&str>,
        effects: &mut Vec<Effect>,
        build: impl FnOnce(Tag) -> Call,
    ) -> Tag {
        let tag = self.next;
        // Never 2^31 at once, so a number that comes round is free again.
        self.next = (tag + 1) & (Tag::MAX >> 1);
        if let Some(owner) = owner {
            self.owners.insert(tag, owner.to_owned());
        }
        effects.push(Effect::Call(build(tag)));
        tag
    }
}

/// One input being handled.
pub(crate) struct Turn<'a> {
    pub now: Now,
    pub calls: &'a mut Calls,
    pub effects: &'a mut Vec<Effect>,
}

impl Turn<'_> {
    pub fn call(&mut self, owner: &str, build: impl FnOnce(Tag) -> Call) -> Tag {
        self.calls.call(Some(owner), self.effects, build)
    }

    pub fn append(&mut self, owner: &str, ledger: i64, body: bytes::Bytes) {
        self.calls.writers.insert(ledger, owner.to_owned());
        self.effects.push(Effect::Call(Call::Append {
            ledger,
            entry: 0,
            last_confirmed: -1,
            length: body.len() as u64,
            body,
        }));
    }

    /// Forgets a ledger that no locator names; nobody waits for the answer.
    pub fn sweep(&mut self, ledger: i64) {
        self.calls
            .call(None, self.effects, |tag| Call::DeleteLedger { tag, ledger });
    }

    pub fn answer(&mut self, question: &Question, result: Result<Option<SchemaFound>, Refusal>) {
        let (session, request_id) = (question.session, question.request_id);
        self.effects.push(match (&question.ask, result) {
            (SchemaAsk::All, Err(refusal)) => Effect::AnswerAll {
                session,
                request_id,
                result: Err(refusal),
            },
            (_, result) => Effect::Answer {
                session,
                request_id,
                result,
            },
        });
    }

    pub fn answer_all(&mut self, question: &Question, all: Vec<SchemaFound>) {
        self.effects.push(Effect::AnswerAll {
            session: question.session,
            request_id: question.request_id,
            result: Ok(all),
        });
    }
}

/// The name of a topic's schemas: `tenant/namespace/url-encoded local name`, the same for all its partitions. `home`
/// is what [`letters::schema_home`] makes of the topic.
#[must_use]
pub fn schema_id(home: &TopicName) -> String {
    format!("{}/{}", home.namespace(), url_encode(home.local()))
}

impl Registry {
    /// Nobody has asked anything.
    #[must_use]
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Nobody waits for an answer.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.books.is_empty()
    }

    /// Whether this ledger is being written by the registry, so that the answer to an append is for it.
    #[must_use]
    pub fn writes(&self, ledger: i64) -> bool {
        self.calls.writers.contains_key(&ledger)
    }

    /// A session asks about the schemas of a topic.
    pub fn asked(
        &mut self,
        now: Now,
        home: &TopicName,
        session: SessionId,
        request_id: RequestId,
        ask: SchemaAsk,
        effects: &mut Vec<Effect>,
    ) {
        let id = schema_id(home);
        let question = Question {
            session,
            request_id,
            ask,
        };
        let turn = &mut Turn {
            now,
            calls: &mut self.calls,
            effects,
        };
        if let SchemaAsk::Put { schema, .. } = &question.ask
            && let Err(refusal) = crate::kinds::check(schema)
        {
            return turn.answer(&question, Err(refusal));
        }
        match self.books.get_mut(&id) {
            Some(book) => book.ask(question),
            None => {
                let book = Book::open(id.clone(), question, turn);
                self.books.insert(id, book);
            }
        }
    }

    /// Storage answered.
    pub fn answered(&mut self, now: Now, answer: Answer, effects: &mut Vec<Effect>) {
        let owner = match (&answer, answer.tag()) {
            (_, Some(tag)) => self.calls.owners.remove(&tag),
            (Answer::Appended { ledger, .. }, None) => self.calls.writers.remove(ledger),
            _ => None,
        };
        let Some(id) = owner else { return };
        let Some(book) = self.books.get_mut(&id) else {
            return;
        };
        let turn = &mut Turn {
            now,
            calls: &mut self.calls,
            effects,
        };
        book.answered(answer, turn);
        if book.is_done() {
            self.books.remove(&id);
        }
    }
}
