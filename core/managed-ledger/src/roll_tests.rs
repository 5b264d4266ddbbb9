use crate::roll::{CurrentLedger, Outcome};
use crate::settings::Settings;
use crate::storage::Fault;
use bytes::Bytes;
use std::time::Duration;
use vocabulary::{Moment, Position};

const MINUTE: Duration = Duration::from_secs(60);

fn after(minutes: u32) -> Moment {
    Moment(0).after(MINUTE * minutes)
}

fn holding(entries: i64, bytes_each: usize) -> CurrentLedger {
    let mut ledger = CurrentLedger::new(1, Moment(0), &Settings::default());
    let body = Bytes::from(vec![0; bytes_each]);
    for ticket in 0..entries {
        ledger.give(ticket as u64, &body);
    }
    ledger
}

#[test]
fn pulsars_defaults_decide() {
    let settings = Settings::default();
    let full = |entries, bytes_each, minutes| {
        holding(entries, bytes_each).is_full(&settings, after(minutes))
    };
    assert!(!full(49_999, 1, 11));
    assert!(full(50_000, 1, 11));
    assert!(!full(50_000, 1, 9), "younger than 10 minutes");
    assert!(full(32, 64 * 1024 * 1024, 11));
    assert!(!full(31, 64 * 1024 * 1024, 11));
    assert!(!full(1, 1, 239));
    assert!(full(1, 1, 253), "older than 240 minutes and 5 %");
}

#[test]
fn ledgers_made_together_do_not_roll_together() {
    let settings = Settings::default();
    let mut moments: Vec<_> = (0..50)
        .map(|id| CurrentLedger::new(id, Moment(0), &settings).roll_at())
        .collect();
    moments.sort();
    moments.dedup();
    assert!(moments.len() > 45);
    assert!(
        moments
            .iter()
            .all(|at| at.is_some_and(|at| at >= after(240) && at <= after(252)))
    );
}

#[test]
fn entries_carry_what_a_bookkeeper_entry_holds() {
    let mut ledger = holding(0, 0);
    assert_eq!(ledger.give(1, &Bytes::from_static(b"abc")), (0, -1, 3));
    assert_eq!(ledger.give(2, &Bytes::from_static(b"de")), (1, -1, 5));
    assert_eq!(
        ledger.answered(0, Ok(())),
        Outcome::Stored(1, Position::new(1, 0))
    );
    assert_eq!(ledger.give(3, &Bytes::from_static(b"")), (2, 0, 5));
    assert_eq!(ledger.confirmed(), (0, 3));
}

#[test]
fn success_behind_a_failure_is_none() {
    let mut ledger = holding(3, 1);
    let fault = Fault::Io("x".to_owned());
    assert_eq!(
        ledger.answered(0, Err(fault.clone())),
        Outcome::Failed(vec![0, 1, 2], fault)
    );
    assert_eq!(ledger.answered(1, Ok(())), Outcome::Nothing);
    assert!(!ledger.is_settled());
    assert_eq!(ledger.answered(2, Ok(())), Outcome::Nothing);
    assert!(ledger.is_settled() && ledger.is_ending());
    assert_eq!(ledger.confirmed().0, -1);
}
