//! Appending, reading, trimming.

use super::bench::{Bench, text};
use letters::{LogReply, LogRequest, StoredEntry};
use vocabulary::Position;

fn texts(entries: &[StoredEntry]) -> Vec<String> {
    entries.iter().map(|entry| text(&entry.body)).collect()
}

pub(super) fn appends_are_answered_in_order_with_growing_positions(bench: &mut Bench<'_>) {
    bench.opened();
    let positions = bench.append(&["a", "b", "c", "d"]);
    assert!(positions.is_sorted_by(|a, b| a < b), "{positions:?}");
    let found: Vec<Position> = bench
        .read_all()
        .into_iter()
        .map(|(position, _)| position)
        .collect();
    assert_eq!(found, positions);
}

pub(super) fn reads_keep_to_their_limits(bench: &mut Bench<'_>) {
    bench.opened();
    let at = bench.append(&["aaaa", "bbbb", "cccc", "dddd"]);
    assert_eq!(
        texts(&bench.read(at[1], at[2], 10, 1000)),
        ["bbbb", "cccc"],
        "up to and including `until`"
    );
    assert_eq!(
        texts(&bench.read(at[0], at[3], 3, 1000)),
        ["aaaa", "bbbb", "cccc"],
        "so many entries"
    );
    assert_eq!(
        texts(&bench.read(at[0], at[3], 10, 9)),
        ["aaaa", "bbbb"],
        "so many bytes"
    );
    assert_eq!(
        texts(&bench.read(at[0], at[3], 10, 1)),
        ["aaaa"],
        "at least one"
    );
    assert_eq!(
        texts(&bench.read(at[3].after(), Position::LATEST, 10, 1000)),
        Vec::<String>::new(),
        "nothing there"
    );
    assert_eq!(
        texts(&bench.read(at[2], at[1], 10, 1000)),
        Vec::<String>::new(),
        "`until` before `from`"
    );
    assert_eq!(
        texts(&bench.read(Position::EARLIEST, at[0], 10, 1000)),
        ["aaaa"],
        "the first existing one"
    );
}

pub(super) fn exact_reads_leave_out_what_is_not_there(bench: &mut Bench<'_>) {
    bench.opened();
    let at = bench.append(&["a", "b", "c", "d"]);
    let nowhere = Position::new(at[3].ledger + 1000, 0);
    let asked = vec![at[3], at[0], nowhere, at[1], at[3].after(), at[0]];
    assert_eq!(texts(&bench.read_at(asked)), ["a", "b", "d"]);
    assert_eq!(bench.read_at(vec![]), []);
}

pub(super) fn reads_go_on_over_ledgers(bench: &mut Bench<'_>) {
    bench.opened();
    let at = bench.append_in_ledgers(&["a", "b", "c"]);
    let found = bench.read_all();
    assert_eq!(
        found
            .iter()
            .map(|(position, _)| *position)
            .collect::<Vec<_>>(),
        at
    );
    assert_eq!(texts(&bench.read_at(vec![at[0], at[2]])), ["a", "c"]);
}

pub(super) fn stored_entries_survive_a_crash(bench: &mut Bench<'_>) {
    bench.opened();
    let before = bench.append(&["a", "b"]);
    bench.logs.crash();
    let (extent, _) = bench.reopened();
    assert_eq!(extent.last(), Some(&(before[1].ledger, before[1].entry)));
    let after = bench.append(&["c"]);
    bench.logs.crash();
    bench.reopened();
    let expected: Vec<(Position, String)> = before
        .into_iter()
        .chain(after)
        .zip(["a", "b", "c"].map(str::to_owned))
        .collect();
    assert_eq!(bench.read_all(), expected);
}

pub(super) fn trimming_removes_only_what_is_consumed(bench: &mut Bench<'_>) {
    bench.opened();
    let at = bench.append_in_ledgers(&["a", "b", "c"]);
    assert!(
        at[1].ledger > at[0].ledger,
        "an opened log goes on in a new ledger"
    );
    let reply = bench.ask(LogRequest::Trim { up_to: at[0] });
    let LogReply::Trimmed { first } = reply else {
        panic!("something went: {reply:?}")
    };
    assert!(first > at[0] && first <= at[1], "{first}");
    assert_eq!(bench.read_all().len(), 2);
    assert_eq!(
        texts(&bench.read_at(at.clone())),
        ["b", "c"],
        "what was trimmed is left out"
    );
    bench.logs.crash();
    let (extent, _) = bench.reopened();
    assert_eq!(
        extent.first().map(|(ledger, _)| *ledger),
        Some(at[1].ledger)
    );
}
