//! Random work on a store that gives trouble.

use std::collections::BTreeMap;

use world::Dice;

use super::asker::Asker;
use super::{entries, is_timeout, length};
use crate::seam::LedgerError;

const ROUNDS: usize = 60;

/// What the asker knows.
#[derive(Default)]
struct Known {
    /// Ledgers being written: the last entry sent.
    open: BTreeMap<i64, i64>,
    /// Of every ledger that should exist: the last confirmed entry.
    confirmed: BTreeMap<i64, i64>,
    /// Of recovered or sealed ledgers: the end.
    ends: BTreeMap<i64, i64>,
}

pub(super) fn run(asker: &mut Asker, dice: &mut dyn Dice) {
    let mut known = Known::default();
    for _ in 0..ROUNDS {
        step(asker, dice, &mut known);
        asker.turn();
        known.note_answers(asker);
    }
    let ledgers: Vec<i64> = known.confirmed.keys().copied().collect();
    for ledger in ledgers {
        recover(asker, &mut known, ledger);
        check_entries(asker, &known, ledger);
    }
}

fn step(asker: &mut Asker, dice: &mut dyn Dice, known: &mut Known) {
    let pick = dice.below(known.open.len().max(1) as u64) as usize;
    let ledger = known.open.keys().nth(pick).copied();
    match (dice.below(12), ledger) {
        (0, _) | (_, None) => {
            if let Ok(ledger) = asker.try_create() {
                assert!(
                    !known.confirmed.contains_key(&ledger),
                    "id {ledger} was given out twice"
                );
                known.open.insert(ledger, -1);
                known.confirmed.insert(ledger, -1);
            }
        }
        (1, Some(ledger)) => recover(asker, known, ledger),
        (2, _) => {
            let pick = dice.below(known.confirmed.len() as u64) as usize;
            if let Some(ledger) = known.confirmed.keys().nth(pick).copied() {
                check_confirmed(asker, known, ledger);
            }
        }
        (3, Some(_)) if dice.chance(1, 4) => {
            asker.restart();
            asker.appended.clear();
            known.open.clear();
        }
        (_, Some(ledger)) => {
            let sent = known.open.entry(ledger).or_insert(-1);
            let next = *sent + 1;
            *sent += 1 + dice.below(3) as i64;
            let last = *sent;
            asker.send_appends(ledger, next..last + 1);
        }
    }
}

/// Until it works: a `Timeout` says nothing.
fn recover(asker: &mut Asker, known: &mut Known, ledger: i64) {
    let sent = known.open.remove(&ledger);
    let (last, sum) = loop {
        match asker.recover(ledger) {
            Ok(end) => break end,
            Err(LedgerError::Timeout(_)) => {}
            Err(error) => panic!("ledger {ledger} cannot be recovered: {error}"),
        }
    };
    known.note_answers(asker);
    let confirmed = known.confirmed.get(&ledger).copied().unwrap_or(-1);
    assert!(
        last >= confirmed,
        "ledger {ledger} ends at {last}, {confirmed} was confirmed"
    );
    assert!(
        sent.is_none_or(|sent| last <= sent),
        "ledger {ledger} ends at {last}, {sent:?} was sent"
    );
    assert_eq!(sum, length(ledger, last), "sum of ledger {ledger}");
    let end = *known.ends.entry(ledger).or_insert(last);
    assert_eq!(end, last, "the end of ledger {ledger} moved");
}

fn check_confirmed(asker: &mut Asker, known: &Known, ledger: i64) {
    let confirmed = known.confirmed.get(&ledger).copied().unwrap_or(-1);
    if confirmed < 0 {
        return;
    }
    match asker.read(ledger, 0, confirmed, usize::MAX) {
        Ok(found) => assert_eq!(found, entries(ledger, 0..confirmed + 1)),
        result => assert!(
            is_timeout(&result),
            "ledger {ledger} to {confirmed}: {result:?}"
        ),
    }
}

fn check_entries(asker: &mut Asker, known: &Known, ledger: i64) {
    let end = known.ends.get(&ledger).copied().unwrap_or(-1);
    for _ in 0..100 {
        match asker.read(ledger, 0, end.max(0), usize::MAX) {
            Err(LedgerError::NoSuchEntry(..)) if end < 0 => return,
            Err(LedgerError::Timeout(_)) => {}
            result => return assert_eq!(result, Ok(entries(ledger, 0..end + 1))),
        }
    }
}

impl Known {
    /// Answers to appends must come in order, and once one failed none may work.
    fn note_answers(&mut self, asker: &Asker) {
        for (ledger, answers) in &asker.appended {
            let numbers: Vec<i64> = answers.iter().map(|(entry, _)| *entry).collect();
            assert!(
                numbers.is_sorted(),
                "answers of ledger {ledger} came as {numbers:?}"
            );
            let good = answers
                .iter()
                .take_while(|(_, result)| result.is_ok())
                .count();
            assert!(
                answers[good..].iter().all(|(_, result)| result.is_err()),
                "ledger {ledger} took entries behind one that failed: {answers:?}"
            );
            if let Some((entry, _)) = answers[..good].last()
                && let Some(confirmed) = self.confirmed.get_mut(ledger)
            {
                *confirmed = (*entry).max(*confirmed);
            }
        }
    }
}
