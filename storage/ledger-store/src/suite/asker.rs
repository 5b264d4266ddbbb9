//! Asks a store and waits for the answers.

use std::collections::BTreeMap;

use super::{StoreUnderTest, Tickets, body, length};
use crate::seam::{Entry, LedgerError, LedgerReply, LedgerRequest, Ticket};

/// A store that has not answered after this many turns never will.
const TURNS_MAX: usize = 10_000;

/// The entry of an append, and how it ended.
pub(super) type Answer = (i64, Result<(), LedgerError>);

/// One asker.
pub(super) struct Asker {
    store: Box<dyn StoreUnderTest>,
    tickets: Tickets,
    answers: BTreeMap<Ticket, LedgerReply>,
    /// Answers to appends of each ledger, in the order they came.
    pub(super) appended: BTreeMap<i64, Vec<Answer>>,
}

impl Asker {
    pub(super) fn new(store: Box<dyn StoreUnderTest>) -> Asker {
        Asker {
            store,
            tickets: Tickets::default(),
            answers: BTreeMap::new(),
            appended: BTreeMap::new(),
        }
    }

    pub(super) fn ask(&mut self, request: impl FnOnce(Ticket) -> LedgerRequest) -> Ticket {
        let ticket = self.tickets.new_one();
        self.store.submit(vec![request(ticket)]);
        ticket
    }

    pub(super) fn send_append(&mut self, ledger: i64, entry: i64) {
        self.store.submit(vec![append(ledger, entry)]);
    }

    pub(super) fn send_appends(&mut self, ledger: i64, entries: impl Iterator<Item = i64>) {
        self.store
            .submit(entries.map(|entry| append(ledger, entry)).collect());
    }

    pub(super) fn turn(&mut self) {
        for reply in self.store.turn() {
            let ticket = match &reply {
                LedgerReply::Appended {
                    ledger,
                    entry,
                    result,
                } => {
                    let answers = self.appended.entry(*ledger).or_default();
                    answers.push((*entry, result.clone()));
                    continue;
                }
                LedgerReply::Created { ticket, .. }
                | LedgerReply::Recovered { ticket, .. }
                | LedgerReply::Read { ticket, .. }
                | LedgerReply::Sealed { ticket, .. }
                | LedgerReply::Deleted { ticket, .. } => *ticket,
            };
            self.tickets.answered(ticket);
            self.answers.insert(ticket, reply);
        }
    }

    /// Starts a new process on the same store.
    pub(super) fn restart(&mut self) {
        self.store.restart();
        self.tickets.open.clear();
        self.answers.clear();
    }

    pub(super) fn wait(&mut self, ticket: Ticket) -> LedgerReply {
        for _ in 0..TURNS_MAX {
            if let Some(reply) = self.answers.remove(&ticket) {
                return reply;
            }
            self.turn();
        }
        panic!("request {ticket} was never answered");
    }

    /// Waits until that many appends of a ledger were answered.
    pub(super) fn wait_appended(&mut self, ledger: i64, count: usize) -> Vec<Answer> {
        for _ in 0..TURNS_MAX {
            let answers = self.appended.get(&ledger).map_or(0, Vec::len);
            assert!(
                answers <= count,
                "an append to ledger {ledger} was answered twice"
            );
            if answers == count {
                return self.appended.get(&ledger).cloned().unwrap_or_default();
            }
            self.turn();
        }
        panic!("appends to ledger {ledger} were never answered");
    }

    pub(super) fn try_create(&mut self) -> Result<i64, LedgerError> {
        let custom = vec![("component".to_owned(), b"suite".to_vec())];
        let ticket = self.ask(|ticket| LedgerRequest::Create { ticket, custom });
        match self.wait(ticket) {
            LedgerReply::Created { result, .. } => result,
            other => panic!("{other:?} answers a Create"),
        }
    }

    pub(super) fn create(&mut self) -> i64 {
        self.try_create().expect("a ledger can be created")
    }

    /// A new ledger with entries `0..count`, all confirmed.
    pub(super) fn filled(&mut self, count: i64) -> i64 {
        let ledger = self.create();
        self.send_appends(ledger, 0..count);
        let expected: Vec<_> = (0..count).map(|entry| (entry, Ok(()))).collect();
        assert_eq!(self.wait_appended(ledger, count as usize), expected);
        ledger
    }

    pub(super) fn append(&mut self, ledger: i64, entry: i64) -> Result<(), LedgerError> {
        let before = self.appended.get(&ledger).map_or(0, Vec::len);
        self.send_append(ledger, entry);
        let answers = self.wait_appended(ledger, before + 1);
        let (answered, result) = answers.last().cloned().expect("it was waited for");
        assert_eq!(answered, entry, "the answer belongs to another entry");
        result
    }

    pub(super) fn read(
        &mut self,
        ledger: i64,
        first: i64,
        last: i64,
        bytes_max: usize,
    ) -> Result<Vec<Entry>, LedgerError> {
        let ticket = self.ask(|ticket| LedgerRequest::Read {
            ticket,
            ledger,
            first,
            last,
            bytes_max,
        });
        match self.wait(ticket) {
            LedgerReply::Read {
                ledger: of,
                first: from,
                result,
                ..
            } if (of, from) == (ledger, first) => result,
            other => panic!("{other:?} answers a Read of {ledger}:{first}"),
        }
    }

    pub(super) fn recover(&mut self, ledger: i64) -> Result<(i64, u64), LedgerError> {
        let ticket = self.ask(|ticket| LedgerRequest::Recover { ticket, ledger });
        match self.wait(ticket) {
            LedgerReply::Recovered {
                ledger: of, result, ..
            } if of == ledger => result,
            other => panic!("{other:?} answers a Recover of {ledger}"),
        }
    }

    pub(super) fn seal(&mut self, ledger: i64, last_entry: i64) -> Result<(), LedgerError> {
        let length = length(ledger, last_entry);
        let ticket = self.ask(|ticket| LedgerRequest::Seal {
            ticket,
            ledger,
            last_entry,
            length,
        });
        match self.wait(ticket) {
            LedgerReply::Sealed {
                ledger: of, result, ..
            } if of == ledger => result,
            other => panic!("{other:?} answers a Seal of {ledger}"),
        }
    }

    pub(super) fn delete(&mut self, ledger: i64) -> Result<(), LedgerError> {
        let ticket = self.ask(|ticket| LedgerRequest::Delete { ticket, ledger });
        match self.wait(ticket) {
            LedgerReply::Deleted {
                ledger: of, result, ..
            } if of == ledger => result,
            other => panic!("{other:?} answers a Delete of {ledger}"),
        }
    }
}

fn append(ledger: i64, entry: i64) -> LedgerRequest {
    LedgerRequest::Append {
        ledger,
        entry,
        last_confirmed: entry - 1,
        length: length(ledger, entry),
        body: body(ledger, entry),
    }
}
