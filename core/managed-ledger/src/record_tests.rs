use crate::record::{Kind, Part, State, assemble, cut};
use bytes::Bytes;

fn entries(records: &[(Kind, i64, &str)]) -> Vec<Bytes> {
    records
        .iter()
        .flat_map(|(kind, base, text)| cut(*kind, *base, &Bytes::from(text.to_string()), 4))
        .collect()
}

#[test]
fn the_layout_is_fixed() {
    let [entry] = &cut(Kind::Delta, 258, &Bytes::from_static(b"abc"), 100)[..] else {
        panic!("one part")
    };
    assert_eq!(
        entry,
        &[
            1, 2, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 1, b'a', b'b', b'c'
        ][..]
    );
    let part = Part::decode(300, entry.clone()).expect("it can be read");
    assert_eq!(
        (part.kind, part.base, part.part, part.parts),
        (Kind::Delta, 258, 0, 1)
    );
}

#[test]
fn records_are_cut_and_put_together() {
    let all = entries(&[
        (Kind::Snapshot, 0, "0123456789"),
        (Kind::Delta, 0, ""),
        (Kind::Delta, 0, "abcdefgh"),
    ]);
    assert_eq!(all.len(), 3 + 1 + 2);
    let state = |deltas: &[&str]| State {
        snapshot: Bytes::from_static(b"0123456789"),
        deltas: deltas
            .iter()
            .map(|text| Bytes::from(text.to_string()))
            .collect(),
    };
    assert_eq!(assemble(0, all.clone()), Ok(state(&["", "abcdefgh"])));
    assert_eq!(
        assemble(0, all[..5].to_vec()),
        Ok(state(&[""])),
        "a record cut short does not count"
    );
    assert!(
        assemble(0, all[..2].to_vec()).is_err(),
        "a snapshot cut short is none"
    );
}

#[test]
fn entries_in_the_wrong_place_are_refused() {
    let fine = entries(&[(Kind::Snapshot, 0, "01234567"), (Kind::Delta, 0, "a")]);
    for swapped in [[1, 0, 2], [0, 2, 1], [2, 0, 1], [0, 0, 2]] {
        let order = swapped.iter().map(|at: &usize| fine[*at].clone()).collect();
        assert!(assemble(0, order).is_err(), "{swapped:?}");
    }
    assert!(assemble(7, fine).is_err(), "a snapshot is its own base");
}

#[test]
fn hostile_entries_are_errors() {
    let good = entries(&[(Kind::Snapshot, 0, "x")]).remove(0);
    for end in 0..18 {
        assert!(Part::decode(0, good.slice(..end)).is_err());
    }
    for (at, value) in [(0, 2), (1, 3), (2, 0x80), (9, 1), (13, 1), (17, 0)] {
        let mut bytes = good.to_vec();
        bytes[at] = value;
        assert!(
            Part::decode(0, bytes.into()).is_err(),
            "byte {at} = {value}"
        );
    }
}
