use crate::AckSet;
use proptest::prelude::*;

#[test]
fn a_full_set_holds_exactly_its_size() {
    for size in [0, 1, 63, 64, 65, 128, 1000] {
        let set = AckSet::full(size);
        assert_eq!(set.count_within(size), size);
        assert_eq!(set.count_within(size + 100), size);
        assert!(!set.contains(size));
    }
}

#[test]
fn trailing_zero_words_do_not_make_a_difference() {
    assert_eq!(AckSet::from_wire(&[5, 0, 0]), AckSet::from_wire(&[5]));
    assert!(AckSet::from_wire(&[0, 0]).is_empty());
}

proptest! {
    #[test]
    fn clearing_and_intersecting_agree_with_a_naive_set(size in 1u32..300, cleared in proptest::collection::vec(0u32..300, 0..50)) {
        let mut by_clear = AckSet::full(size);
        let mut naive: std::collections::BTreeSet<u32> = (0..size).collect();
        for index in cleared {
            by_clear.clear(index);
            naive.remove(&index);
            let mut other = AckSet::full(1000);
            other.clear(index);
            let mut by_intersect = by_clear.clone();
            by_intersect.intersect(&other);
            prop_assert_eq!(&by_intersect, &by_clear);
        }
        prop_assert_eq!(by_clear.count_within(size) as usize, naive.len());
        prop_assert_eq!(by_clear.is_empty(), naive.is_empty());
        for index in 0..size {
            prop_assert_eq!(by_clear.contains(index), naive.contains(&index));
        }
        prop_assert_eq!(AckSet::from_wire(&by_clear.to_wire()), by_clear);
    }
}

#[test]
fn a_truncated_set_forgets_what_the_batch_does_not_have() {
    for size in [0, 1, 63, 64, 65, 127, 128, 200] {
        let mut set = AckSet::full(200);
        assert_eq!(set.length(), 200);
        set.truncate(size);
        assert_eq!(set, AckSet::full(size));
        assert_eq!(set.length(), u64::from(size));
    }
}

#[test]
fn counting_within_any_size_needs_no_set_of_that_size() {
    assert_eq!(AckSet::from_wire(&[-1, 1]).count_within(u32::MAX), 65);
}
