use std::collections::BTreeSet;

use bytes::BytesMut;
use proptest::prelude::*;

use crate::codec::{Reader, put_entry_set};
use crate::entry_set::EntrySet;

#[derive(Clone, Debug)]
enum Step {
    Insert { first: i64, length: i64 },
    Comb { first: i64, teeth: i64, step: i64 },
    RemoveTo(i64),
    RemoveFrom(i64),
}

fn steps() -> impl Strategy<Value = Step> {
    let entry = || 0i64..13_000;
    prop_oneof![
        6 => (entry(), 1i64..40).prop_map(|(first, length)| Step::Insert { first, length }),
        2 => (entry(), 1i64..6000).prop_map(|(first, length)| Step::Insert { first, length }),
        4 => (entry(), 20i64..300, 2i64..9).prop_map(|(first, teeth, step)| Step::Comb { first, teeth, step }),
        1 => (0i64..4000).prop_map(Step::RemoveTo),
        1 => (9000i64..14_000).prop_map(Step::RemoveFrom),
    ]
}

fn insert(set: &mut EntrySet, naive: &mut BTreeSet<i64>, first: i64, last: i64) {
    let added = (first..=last).filter(|entry| naive.insert(*entry)).count();
    assert_eq!(set.insert(first, last), added as u64);
}

fn naive_runs(naive: &BTreeSet<i64>) -> Vec<(i64, i64)> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for entry in naive {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *entry => *last = *entry,
            _ => runs.push((*entry, *entry)),
        }
    }
    runs
}

proptest! {
    #![proptest_config(crate::seeded(256))]
    #[test]
    fn it_agrees_with_a_naive_set(steps in proptest::collection::vec(steps(), 1..40)) {
        let (mut set, mut naive) = (EntrySet::default(), BTreeSet::new());
        for step in steps {
            match step {
                Step::Insert { first, length } => insert(&mut set, &mut naive, first, first + length - 1),
                Step::Comb { first, teeth, step } => {
                    for tooth in 0..teeth {
                        insert(&mut set, &mut naive, first + tooth * step, first + tooth * step);
                    }
                }
                Step::RemoveTo(up_to) => {
                    let before = naive.len();
                    naive.retain(|entry| *entry > up_to);
                    prop_assert_eq!(set.remove_to(up_to), (before - naive.len()) as u64);
                }
                Step::RemoveFrom(from) => {
                    let before = naive.len();
                    naive.retain(|entry| *entry < from);
                    prop_assert_eq!(set.remove_from(from), (before - naive.len()) as u64);
                }
            }
            prop_assert_eq!(set.count(), naive.len() as u64);
            prop_assert_eq!(set.is_empty(), naive.is_empty());
        }
        let runs = naive_runs(&naive);
        prop_assert_eq!(&set.runs().collect::<Vec<_>>(), &runs);
        for asked in (0..20_000).step_by(37).chain(runs.iter().flat_map(|(first, last)| [*first, *last, last + 1])) {
            prop_assert_eq!(set.contains(asked), naive.contains(&asked));
            prop_assert_eq!(set.next_present(asked), naive.range(asked..).next().copied());
            let run = runs.iter().find(|(first, last)| (*first..=*last).contains(&asked));
            prop_assert_eq!(set.next_absent(asked), run.map_or(asked, |(_, last)| last + 1));
        }
        let mut written = BytesMut::new();
        put_entry_set(&mut written, &set);
        let mut reader = Reader::new(&written);
        prop_assert_eq!(reader.entry_set("set"), Ok(set));
        prop_assert_eq!(reader.end(), Ok(()));
        // A block of bits may cut a run that passes through it.
        let cuts = 4 * 6;
        let as_runs: usize = 3 + runs.len() * 6 + cuts;
        let as_bits = 3 + 18 + naive.last().map_or(0, |last| *last as usize / 8 + 8);
        prop_assert!(written.len() <= as_runs.min(as_bits), "{} bytes", written.len());
    }
}
