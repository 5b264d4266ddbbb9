//! Bytes and names come back as they went in.

use super::Bench;
use crate::seam::{Expect, KeyKind};
use bytes::Bytes;

pub(super) fn values_come_back_as_they_were(bench: &mut Bench<'_>) {
    let all_bytes: Vec<u8> = (0..=255).collect();
    let values = [
        Vec::new(),
        vec![0],
        all_bytes,
        b"text\n".to_vec(),
        vec![0xff; 5000],
    ];
    for (number, value) in values.into_iter().enumerate() {
        let (path, value) = (bench.path(&format!("{number}")), Bytes::from(value));
        bench
            .try_put(&path, value.clone(), Expect::Absent, KeyKind::Persistent)
            .expect("written");
        assert_eq!(
            bench.get(&path).expect("an empty value is a value").0,
            value
        );
    }
}

pub(super) fn a_large_value_comes_back(bench: &mut Bench<'_>) {
    let size = bench.store.largest_value_bytes();
    let value: Bytes = (0..size).map(|at| (at % 251) as u8).collect();
    let path = bench.path("large");
    bench
        .try_put(&path, value.clone(), Expect::Absent, KeyKind::Persistent)
        .expect("written");
    let (got, _) = bench.get(&path).expect("there");
    assert!(
        got == value,
        "{size} bytes came back as {} others",
        got.len()
    );
    bench.put_plain(&path, "small");
    assert_eq!(bench.read(&path), Some(("small".to_owned(), 1)));
    bench.delete(&path);
    assert_eq!(bench.get(&path), None);
}

/// Names as Pulsar makes them (escaped topic names) and as people do.
pub(super) fn unusual_names_are_kept(bench: &mut Bench<'_>) {
    let long = "x".repeat(1000);
    let names = [
        "a%2Fb%3A%25",
        "-",
        "0x00000000_0xffffffff",
        "with space",
        "...",
        "ünï-çødé",
        "日本語",
        "😀",
        &long,
    ];
    for name in names {
        let path = bench.path(name);
        bench.put_plain(&path, "here");
        assert_eq!(bench.read(&path), Some(("here".to_owned(), 0)), "{name}");
    }
    let mut sorted: Vec<String> = names.into_iter().map(str::to_owned).collect();
    sorted.sort_unstable();
    let root = bench.root.clone();
    assert_eq!(
        bench.children(&root),
        sorted,
        "names come back unchanged, sorted by their bytes"
    );
}
