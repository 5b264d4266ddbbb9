use std::collections::BTreeSet;

use proptest::prelude::*;
use vocabulary::Position;

use crate::Extent;

fn at(ledger: i64, entry: i64) -> Position {
    Position::new(ledger, entry)
}

#[test]
fn an_empty_topic_has_no_entries_and_starts_before_all() {
    let extent = Extent::new(vec![(4, -1)]);
    assert_eq!(
        (extent.first(), extent.last(), extent.is_empty()),
        (None, None, true)
    );
    assert_eq!(
        (extent.start(), extent.end()),
        (Position::EARLIEST, Position::EARLIEST)
    );
    assert_eq!(extent.next_valid(Position::EARLIEST), None);
    assert_eq!(extent.count(Position::EARLIEST, Position::LATEST), 0);
}

#[test]
fn the_end_is_known_when_all_is_trimmed() {
    let mut extent = Extent::new(vec![(4, 9)]);
    extent.trimmed(at(5, 0));
    assert_eq!(
        (extent.last(), extent.end(), extent.start()),
        (None, at(4, 9), at(4, 9))
    );
    extent.stored(at(5, 0));
    assert_eq!(
        (extent.first(), extent.start()),
        (Some(at(5, 0)), at(5, -1))
    );
    assert_eq!(extent.count(at(4, 9), at(5, 0)), 1);
}

#[test]
fn a_mark_before_the_first_entry_of_a_ledger_is_its_minus_one() {
    let extent = Extent::new(vec![(4, 9), (7, 3)]);
    assert_eq!(extent.before(at(7, 0)), at(7, -1));
    assert_eq!(extent.next_valid(at(7, -1)), Some(at(7, 0)));
    assert_eq!(extent.next_valid(at(4, 9)), Some(at(7, 0)));
    assert_eq!(extent.at_or_before(at(7, -1)), Some(at(4, 9)));
}

#[test]
fn an_entry_told_twice_changes_nothing() {
    let mut extent = Extent::new(vec![(4, 9)]);
    let before = extent.clone();
    extent.stored(at(4, 3));
    assert_eq!(extent, before);
}

#[test]
#[should_panic(expected = "sealed before it")]
fn an_entry_of_a_sealed_ledger_is_our_mistake() {
    Extent::new(vec![(4, 9), (7, 0)]).stored(at(4, 10));
}

fn positions() -> impl Strategy<Value = Position> {
    prop_oneof![
        10 => (-1i64..12, -1i64..6).prop_map(|(ledger, entry)| at(ledger, entry)),
        1 => Just(Position::LATEST),
        1 => Just(Position::EARLIEST),
        1 => Just(at(i64::MIN, i64::MIN)),
    ]
}

proptest! {
    #![proptest_config(crate::seeded(256))]
    #[test]
    fn it_agrees_with_a_set_of_positions(
        opened in proptest::collection::vec((0i64..5, -1i64..4), 0..4),
        stored in proptest::collection::vec(any::<bool>(), 0..12),
        trimmed in proptest::option::of(0i64..10),
        asked in proptest::collection::vec((positions(), positions()), 1..20),
    ) {
        let mut naive = BTreeSet::new();
        for (ledger, last) in &opened {
            naive.extend((0..=*last).map(|entry| at(*ledger, entry)));
        }
        let mut extent = Extent::new(opened);
        for new_ledger in stored {
            let next = match naive.last() {
                Some(last) if !new_ledger => last.after(),
                Some(last) => at(last.ledger + 1, 0),
                None => at(2, 0),
            };
            naive.insert(next);
            extent.stored(next);
        }
        if let Some(first) = trimmed {
            extent.trimmed(at(first, 0));
            naive.retain(|position| position.ledger >= first);
        }
        prop_assert_eq!(extent.first(), naive.first().copied());
        prop_assert_eq!(extent.last(), naive.last().copied());
        for (one, two) in asked {
            prop_assert_eq!(extent.contains(one), naive.contains(&one));
            prop_assert_eq!(extent.at_or_after(one), naive.range(one..).next().copied());
            prop_assert_eq!(extent.at_or_before(one), naive.range(..=one).next_back().copied());
            prop_assert_eq!(extent.next_valid(one), naive.iter().find(|position| **position > one).copied());
            let between = naive.iter().filter(|position| **position > one && **position <= two).count();
            prop_assert_eq!(extent.count(one, two), between as u64);
        }
    }
}

#[test]
fn entries_are_found_by_their_number_after_another() {
    let mut extent = Extent::new(vec![(4, 9), (7, 3), (9, 0)]);
    assert_eq!(extent.nth_after(at(4, -1), 0), Some(at(4, 0)));
    assert_eq!(extent.nth_after(at(4, 8), 1), Some(at(7, 0)));
    assert_eq!(extent.nth_after(at(4, 9), 4), Some(at(9, 0)));
    assert_eq!(extent.nth_after(at(4, 9), 5), None);
    assert_eq!(extent.nth_after(Position::EARLIEST, u64::MAX), None);
    extent.trimmed(at(7, 0));
    assert_eq!(extent.nth_after(at(4, 3), 1), Some(at(7, 1)));
}

#[test]
fn the_entry_before_another_may_lie_in_another_ledger() {
    let extent = Extent::new(vec![(4, 9), (7, 3)]);
    assert_eq!(extent.last_before(at(7, 2)), Some(at(7, 1)));
    assert_eq!(extent.last_before(at(7, 0)), Some(at(4, 9)));
    assert_eq!(extent.last_before(at(7, -1)), Some(at(4, 9)));
    assert_eq!(extent.last_before(at(4, 0)), None);
    assert_eq!(extent.last_before(Position::LATEST), Some(at(7, 3)));
}
