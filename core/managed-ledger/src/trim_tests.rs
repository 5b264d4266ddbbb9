use crate::forms::ledger_list::ListedLedger;
use crate::settings::Settings;
use crate::trim::{Trim, decide};
use std::time::Duration;
use vocabulary::{Position, WallTime};

/// Ledgers 1, 2, 3 of ten entries and 100 bytes each, closed at 1000, 2000, 3000.
fn sealed() -> Vec<ListedLedger> {
    let ledgers = (1..=3).map(|id| {
        let mut ledger = ListedLedger::open(id);
        (ledger.entries, ledger.size, ledger.closed_at_ms) = (10, 100, id * 1000);
        ledger
    });
    ledgers.collect()
}

fn count(consumed: (i64, i64), settings: &Settings, now: u64) -> usize {
    decide(
        &sealed(),
        50,
        Position::new(consumed.0, consumed.1),
        settings,
        WallTime(now),
    )
    .count
}

#[test]
fn without_retention_what_is_consumed_goes() {
    let settings = Settings::default();
    assert_eq!(count((1, 8), &settings, 3000), 0);
    assert_eq!(count((1, 9), &settings, 3000), 1);
    assert_eq!(count((3, 8), &settings, 3000), 2);
    assert_eq!(count((4, 0), &settings, 3000), 3);
}

#[test]
fn retention_by_age_stops_at_the_first_young_one() {
    let keep = Duration::from_millis(1500);
    let settings = Settings {
        retention_age: Some(keep),
        retention_bytes: None,
        ..Settings::default()
    };
    assert_eq!(count((4, 0), &settings, 3000), 1);
    assert_eq!(count((4, 0), &settings, 4000), 2);
    let look_again = Some(Duration::from_millis(501));
    let trim = decide(
        &sealed(),
        50,
        Position::new(4, 0),
        &settings,
        WallTime(3000),
    );
    assert_eq!(
        trim,
        Trim {
            count: 1,
            look_again
        }
    );
}

#[test]
fn retention_by_size_keeps_the_newest() {
    let settings = |bytes| Settings {
        retention_age: None,
        retention_bytes: Some(bytes),
        ..Settings::default()
    };
    assert_eq!(count((4, 0), &settings(250), 3000), 1);
    assert_eq!(count((4, 0), &settings(251), 3000), 0);
    assert_eq!(count((4, 0), &settings(50), 3000), 3);
}

#[test]
fn retention_without_limit_keeps_everything() {
    let settings = Settings {
        retention_age: None,
        retention_bytes: None,
        ..Settings::default()
    };
    assert_eq!(count((4, 0), &settings, u64::MAX), 0);
}
