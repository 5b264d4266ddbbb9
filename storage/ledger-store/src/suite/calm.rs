//! The contract, point by point, without trouble.

use super::asker::Asker;
use super::{entries, length};
use crate::seam::{LedgerError, LedgerReply, LedgerRequest};

type Check = (&'static str, fn(&mut Asker));

pub(super) const CHECKS: &[Check] = &[
    ("ids are fresh and grow", ids_are_fresh_and_grow),
    ("entries read back", entries_read_back),
    ("a read keeps to its bytes", a_read_keeps_to_its_bytes),
    (
        "an entry out of turn is refused",
        an_entry_out_of_turn_is_refused,
    ),
    ("ledgers do not mix", ledgers_do_not_mix),
    ("an empty ledger has an end", an_empty_ledger_has_an_end),
    (
        "a sealed ledger takes nothing",
        a_sealed_ledger_takes_nothing,
    ),
    (
        "a seal must name the last entry",
        a_seal_must_name_the_last_entry,
    ),
    ("a recovery fences the writer", a_recovery_fences_the_writer),
    (
        "a recovery covers what was sent before",
        a_recovery_covers_what_was_sent_before,
    ),
    ("recoveries agree", recoveries_agree),
    (
        "unknown ledgers are certainly unknown",
        unknown_ledgers_are_certainly_unknown,
    ),
    ("a deleted ledger is gone", a_deleted_ledger_is_gone),
    (
        "a restart keeps what was confirmed",
        a_restart_keeps_what_was_confirmed,
    ),
    (
        "a restart keeps deleted ledgers deleted",
        a_restart_keeps_deleted_ledgers_deleted,
    ),
];

fn ids_are_fresh_and_grow(asker: &mut Asker) {
    let mut last = -1;
    for round in 0..3 {
        for _ in 0..5 {
            let ledger = asker.create();
            assert!(ledger > last, "id {ledger} after {last}");
            last = ledger;
        }
        if round == 1 {
            asker.delete(last).unwrap();
        }
        asker.restart();
    }
    let tickets: Vec<_> = (0..20)
        .map(|_| {
            asker.ask(|ticket| LedgerRequest::Create {
                ticket,
                custom: Vec::new(),
            })
        })
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    for ticket in tickets {
        match asker.wait(ticket) {
            LedgerReply::Created {
                result: Ok(ledger), ..
            } => assert!(ledger > last && seen.insert(ledger)),
            other => panic!("{other:?}"),
        }
    }
}

fn entries_read_back(asker: &mut Asker) {
    let ledger = asker.filled(50);
    assert_eq!(
        asker.read(ledger, 0, 49, usize::MAX),
        Ok(entries(ledger, 0..50))
    );
    assert_eq!(
        asker.read(ledger, 7, 7, usize::MAX),
        Ok(entries(ledger, 7..8))
    );
    let to_the_end = asker.read(ledger, 48, 1000, usize::MAX);
    assert_eq!(
        to_the_end,
        Ok(entries(ledger, 48..50)),
        "a read past the end gives what there is"
    );
    assert_eq!(
        asker.read(ledger, 50, 60, usize::MAX),
        Err(LedgerError::NoSuchEntry(ledger, 50))
    );
    assert!(matches!(
        asker.read(ledger, 5, 4, usize::MAX),
        Err(LedgerError::NotAllowed(..))
    ));
    assert!(matches!(
        asker.read(ledger, -1, 4, usize::MAX),
        Err(LedgerError::NotAllowed(..))
    ));
}

fn a_read_keeps_to_its_bytes(asker: &mut Asker) {
    let ledger = asker.filled(20);
    assert_eq!(
        asker.read(ledger, 0, 19, 0),
        Ok(entries(ledger, 0..1)),
        "at least one"
    );
    let three = length(ledger, 2) as usize;
    assert_eq!(asker.read(ledger, 0, 19, three), Ok(entries(ledger, 0..3)));
    assert_eq!(
        asker.read(ledger, 0, 19, three - 1),
        Ok(entries(ledger, 0..2))
    );
}

fn an_entry_out_of_turn_is_refused(asker: &mut Asker) {
    let ledger = asker.filled(3);
    for wrong in [2, 4, -1] {
        let refused = asker.append(ledger, wrong);
        assert!(
            matches!(refused, Err(LedgerError::NotAllowed(..))),
            "{wrong}: {refused:?}"
        );
    }
    assert_eq!(asker.append(ledger, 3), Ok(()));
    assert_eq!(
        asker.read(ledger, 0, 9, usize::MAX),
        Ok(entries(ledger, 0..4))
    );
}

fn ledgers_do_not_mix(asker: &mut Asker) {
    let ledgers: Vec<i64> = (0..4).map(|_| asker.create()).collect();
    for entry in 0..25 {
        for ledger in &ledgers {
            asker.send_append(*ledger, entry);
        }
    }
    for ledger in ledgers {
        let expected: Vec<_> = (0..25).map(|entry| (entry, Ok(()))).collect();
        assert_eq!(
            asker.wait_appended(ledger, 25),
            expected,
            "answers come in the order of entries"
        );
        assert_eq!(
            asker.read(ledger, 0, 24, usize::MAX),
            Ok(entries(ledger, 0..25))
        );
    }
}

fn an_empty_ledger_has_an_end(asker: &mut Asker) {
    let ledger = asker.create();
    assert_eq!(
        asker.read(ledger, 0, 0, 10),
        Err(LedgerError::NoSuchEntry(ledger, 0))
    );
    assert_eq!(asker.recover(ledger), Ok((-1, 0)));
    let other = asker.create();
    assert_eq!(asker.seal(other, -1), Ok(()));
    assert_eq!(asker.recover(other), Ok((-1, 0)));
}

fn a_sealed_ledger_takes_nothing(asker: &mut Asker) {
    let ledger = asker.filled(4);
    assert_eq!(asker.seal(ledger, 3), Ok(()));
    assert!(matches!(
        asker.append(ledger, 4),
        Err(LedgerError::NotAllowed(..))
    ));
    assert!(matches!(
        asker.seal(ledger, 3),
        Err(LedgerError::NotAllowed(..))
    ));
    assert_eq!(asker.recover(ledger), Ok((3, length(ledger, 3))));
    assert_eq!(
        asker.read(ledger, 0, 9, usize::MAX),
        Ok(entries(ledger, 0..4))
    );
}

fn a_seal_must_name_the_last_entry(asker: &mut Asker) {
    let ledger = asker.filled(4);
    for wrong in [2, 4] {
        assert!(matches!(
            asker.seal(ledger, wrong),
            Err(LedgerError::NotAllowed(..))
        ));
    }
    assert_eq!(
        asker.append(ledger, 4),
        Ok(()),
        "a refused seal changes nothing"
    );
    assert_eq!(asker.seal(ledger, 4), Ok(()));
}

fn a_recovery_fences_the_writer(asker: &mut Asker) {
    let ledger = asker.filled(4);
    assert_eq!(asker.recover(ledger), Ok((3, length(ledger, 3))));
    assert_eq!(asker.append(ledger, 4), Err(LedgerError::Fenced(ledger)));
    assert_eq!(asker.seal(ledger, 3), Err(LedgerError::Fenced(ledger)));
    assert_eq!(
        asker.read(ledger, 0, 9, usize::MAX),
        Ok(entries(ledger, 0..4))
    );
}

fn a_recovery_covers_what_was_sent_before(asker: &mut Asker) {
    let ledger = asker.create();
    asker.send_appends(ledger, 0..10);
    let (last, sum) = asker.recover(ledger).unwrap();
    let answers = asker.wait_appended(ledger, 10);
    let confirmed = answers
        .iter()
        .filter(|(_, result)| result.is_ok())
        .map(|(entry, _)| *entry);
    assert!(
        confirmed.max().unwrap_or(-1) <= last,
        "{answers:?}, recovered to {last}"
    );
    assert_eq!(sum, length(ledger, last));
}

fn recoveries_agree(asker: &mut Asker) {
    let ledger = asker.filled(6);
    let tickets: Vec<_> = (0..3)
        .map(|_| asker.ask(|ticket| LedgerRequest::Recover { ticket, ledger }))
        .collect();
    for ticket in tickets {
        match asker.wait(ticket) {
            LedgerReply::Recovered { result, .. } => assert_eq!(result, Ok((5, length(ledger, 5)))),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(asker.recover(ledger), Ok((5, length(ledger, 5))));
}

fn unknown_ledgers_are_certainly_unknown(asker: &mut Asker) {
    let ledger = asker.create() + 5000;
    assert_eq!(
        asker.recover(ledger),
        Err(LedgerError::NoSuchLedger(ledger))
    );
    assert_eq!(
        asker.read(ledger, 0, 0, 10),
        Err(LedgerError::NoSuchLedger(ledger))
    );
    assert!(matches!(
        asker.append(ledger, 0),
        Err(LedgerError::NotAllowed(..))
    ));
    assert_eq!(asker.delete(ledger), Ok(()));
}

fn a_deleted_ledger_is_gone(asker: &mut Asker) {
    let ledger = asker.filled(4);
    let neighbour = asker.filled(4);
    assert_eq!(asker.delete(ledger), Ok(()));
    assert_eq!(
        asker.read(ledger, 0, 3, 100),
        Err(LedgerError::NoSuchLedger(ledger))
    );
    assert_eq!(
        asker.recover(ledger),
        Err(LedgerError::NoSuchLedger(ledger))
    );
    assert!(asker.append(ledger, 4).is_err());
    assert_eq!(asker.delete(ledger), Ok(()), "it is gone already");
    assert_eq!(
        asker.read(neighbour, 0, 9, usize::MAX),
        Ok(entries(neighbour, 0..4))
    );
}

fn a_restart_keeps_what_was_confirmed(asker: &mut Asker) {
    let open = asker.filled(10);
    let sealed = asker.filled(5);
    asker.seal(sealed, 4).unwrap();
    asker.restart();
    assert_eq!(
        asker.read(open, 0, 99, usize::MAX),
        Ok(entries(open, 0..10))
    );
    assert!(asker.append(open, 10).is_err(), "its writer is gone");
    assert_eq!(asker.recover(open), Ok((9, length(open, 9))));
    assert_eq!(asker.recover(sealed), Ok((4, length(sealed, 4))));
    asker.restart();
    assert_eq!(asker.recover(open), Ok((9, length(open, 9))));
    assert_eq!(
        asker.read(sealed, 0, 99, usize::MAX),
        Ok(entries(sealed, 0..5))
    );
}

fn a_restart_keeps_deleted_ledgers_deleted(asker: &mut Asker) {
    let kept = asker.filled(4);
    let gone = asker.filled(4);
    asker.delete(gone).unwrap();
    asker.restart();
    // Its entries may show until the store has found out that it is gone; it must find out by itself.
    let is_gone =
        (0..1000).any(|_| asker.read(gone, 0, 3, 100) == Err(LedgerError::NoSuchLedger(gone)));
    assert!(is_gone, "ledger {gone} came back from the dead");
    assert_eq!(asker.recover(gone), Err(LedgerError::NoSuchLedger(gone)));
    assert_eq!(asker.read(kept, 0, 9, usize::MAX), Ok(entries(kept, 0..4)));
}
