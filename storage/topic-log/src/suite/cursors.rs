//! Keeping cursors.

use super::bench::{Bench, cursor_text, delta, snapshot};
use bytes::Bytes;
use letters::log::CursorRecord;

fn after_crash(bench: &mut Bench<'_>) -> Vec<String> {
    bench.logs.crash();
    bench
        .reopened()
        .1
        .iter()
        .map(|cursor| format!("{}={}", cursor.name, cursor_text(cursor)))
        .collect()
}

pub(super) fn a_cursor_comes_back_as_it_was_saved(bench: &mut Bench<'_>) {
    bench.opened();
    bench
        .create_cursor("a", b"0")
        .expect("a cursor can be made");
    assert_eq!(after_crash(bench), ["a=0"]);
    for text in ["1", "2"] {
        bench
            .save_cursor("a", delta(text))
            .expect("a delta is kept");
    }
    assert_eq!(after_crash(bench), ["a=0+1+2"]);
    bench
        .save_cursor("a", delta("3"))
        .expect("a delta after a restart is kept");
    assert_eq!(after_crash(bench), ["a=0+1+2+3"]);
    bench
        .save_cursor("a", snapshot("S"))
        .expect("a snapshot is kept");
    bench.save_cursor("a", delta("4")).expect("a delta is kept");
    assert_eq!(after_crash(bench), ["a=S+4"]);
    bench.close();
    assert_eq!(
        bench
            .reopened()
            .1
            .iter()
            .map(cursor_text)
            .collect::<Vec<_>>(),
        ["S+4"]
    );
}

pub(super) fn many_cursors_are_kept_apart(bench: &mut Bench<'_>) {
    bench.opened();
    for name in ["b", "a/with slash", "ü*"] {
        bench
            .create_cursor(name, name.as_bytes())
            .expect("a cursor can be made");
    }
    bench.save_cursor("b", delta("1")).expect("a delta is kept");
    assert_eq!(
        after_crash(bench),
        ["a/with slash=a/with slash", "b=b+1", "ü*=ü*"]
    );
    bench.delete_cursor("b");
    assert_eq!(after_crash(bench), ["a/with slash=a/with slash", "ü*=ü*"]);
}

pub(super) fn a_large_snapshot_comes_back(bench: &mut Bench<'_>) {
    bench.opened();
    let large: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
    bench
        .create_cursor("large", &large)
        .expect("a large first snapshot is kept");
    bench
        .save_cursor("large", delta("d"))
        .expect("a delta is kept");
    bench
        .create_cursor("grown", b"small")
        .expect("a cursor can be made");
    let record = CursorRecord::Snapshot(Bytes::from(large.clone()));
    bench
        .save_cursor("grown", record)
        .expect("a large snapshot is kept");
    bench.logs.crash();
    let (_, cursors) = bench.reopened();
    assert!(
        cursors.iter().all(|cursor| cursor.snapshot == large),
        "both are whole"
    );
    assert_eq!(
        cursors
            .iter()
            .map(|cursor| cursor.deltas.len())
            .collect::<Vec<_>>(),
        [0, 1]
    );
}

pub(super) fn creating_and_deleting_follow_the_rules(bench: &mut Bench<'_>) {
    bench.opened();
    assert!(
        bench.save_cursor("a", delta("1")).is_err(),
        "it does not exist yet"
    );
    bench
        .create_cursor("a", b"0")
        .expect("a cursor can be made");
    assert!(bench.create_cursor("a", b"other").is_err(), "it exists");
    assert_eq!(after_crash(bench), ["a=0"]);
    bench.delete_cursor("a");
    bench.delete_cursor("a");
    assert_eq!(after_crash(bench), Vec::<String>::new());
    bench
        .create_cursor("a", b"again")
        .expect("a deleted cursor can be made again");
    assert_eq!(after_crash(bench), ["a=again"]);
}
