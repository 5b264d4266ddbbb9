//! A random workload on a bookie and the check of what is left after it was cut short.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use bookie::Bookie;
use bytes::Bytes;
use disk_log::LogSettings;
use sim_world::{DiskOp, OpKind, SimDice, SimDisk, SyncWhat};
use world::Dice;

pub const DIRECTORY: &str = "data/bookie";
const ROUNDS: u64 = 24;
const SEGMENT_BYTES: u32 = 12 * 1024;

/// How the process ends before the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The power goes in the middle of an operation.
    PowerCut,
    /// The process dies there, starts again, shows what it found, and then the power goes.
    KillThenCut,
    /// The sync there fails (or the next one after), then as before.
    FailedSyncThenCut,
    /// The sync there fails, and the power goes while the next process recovers.
    FailedSyncThenCutInRecovery,
}

/// All of them.
pub const ENDINGS: [Ending; 4] = [
    Ending::PowerCut,
    Ending::KillThenCut,
    Ending::FailedSyncThenCut,
    Ending::FailedSyncThenCutInRecovery,
];

/// What the workload was told.
#[derive(Default)]
struct Told {
    /// Last confirmed entry of each ledger.
    confirmed: BTreeMap<i64, i64>,
    /// Last entry handed over.
    sent: BTreeMap<i64, i64>,
    forgotten: BTreeSet<i64>,
}

/// Changing operations of a workload that nobody disturbs.
pub fn operations_of(seed: u64) -> u64 {
    let disk = SimDisk::new();
    let mut told = Told::default();
    run(&disk, seed, &mut told);
    disk.operations()
}

/// Decides whether a sync is left out.
pub type Skip = Arc<dyn Fn(&SyncWhat) -> bool + Send + Sync>;

thread_local! {
    static OPENING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a bookie is being opened on this thread.
pub fn is_opening() -> bool {
    OPENING.get()
}

/// Runs a workload until an operation, ends it there, starts again and checks. `skip`: syncs left out.
pub fn violation_after_cut(
    seed: u64,
    operation: u64,
    outcome: u64,
    ending: Ending,
    skip: Option<fn(&SyncWhat) -> bool>,
) -> Option<String> {
    let skip = move |what: &SyncWhat| skip.is_some_and(|skip| skip(what));
    violation_on(
        &SimDisk::new(),
        seed,
        operation,
        outcome,
        ending,
        Arc::new(skip),
    )
}

/// The same on a given disk.
pub fn violation_on(
    disk: &SimDisk,
    seed: u64,
    operation: u64,
    outcome: u64,
    ending: Ending,
    skip: Skip,
) -> Option<String> {
    disable(disk, &skip);
    let mut told = Told::default();
    let mut dice = SimDice::new(outcome.wrapping_mul(1_000_003) ^ operation);
    if ending == Ending::PowerCut {
        disk.cut_at(operation);
        run(disk, seed, &mut told);
    } else {
        fail_from(disk, operation, ending);
        run(disk, seed, &mut told);
        disk.kill();
        disk.heal();
        disable(disk, &skip);
        if ending == Ending::FailedSyncThenCutInRecovery {
            disk.cut_at(disk.operations() + 1 + dice.below(14));
        }
        // What a process shows after a start counts as confirmed from then on.
        match open(disk, seed) {
            Ok(bookie) => told.take_for_confirmed(&bookie),
            Err(_) if disk.is_off() => {}
            Err(text) => return Some(text),
        }
    }
    disk.restart(&mut dice);
    if let Some(violation) = check(disk, seed, &told) {
        return Some(violation);
    }
    // Recovery itself may be cut as well; a second start finds the same.
    disk.restart(&mut dice);
    check(disk, seed, &told)
}

/// From a certain operation on everything changing fails (a dying process), or syncs do (a dying disk).
fn fail_from(disk: &SimDisk, operation: u64, ending: Ending) {
    let mut count = 0;
    let fault = move |op: &DiskOp| {
        if matches!(op.kind, OpKind::Open | OpKind::Read) {
            return None;
        }
        count += 1;
        let is_hit = ending == Ending::KillThenCut || op.kind == OpKind::Sync;
        (count >= operation && is_hit).then(|| io::Error::other("made to fail"))
    };
    disk.inject(Box::new(fault));
}

fn disable(disk: &SimDisk, skip: &Skip) {
    let skip = Arc::clone(skip);
    disk.disable_sync(Box::new(move |what| skip(what)));
}

fn settings(seed: u64) -> LogSettings {
    LogSettings {
        segment_bytes: SEGMENT_BYTES,
        spares_max: 1,
        ..LogSettings::new(DIRECTORY, [seed as u8; 16])
    }
}

fn open(disk: &SimDisk, seed: u64) -> Result<Bookie, String> {
    OPENING.set(true);
    let opened = Bookie::open(Arc::new(disk.clone()), settings(seed));
    OPENING.set(false);
    opened.map_err(|error| format!("cannot open: {error}"))
}

/// Appends, commits, forgets, closes and starts again until it is done or the disk says no.
fn run(disk: &SimDisk, seed: u64, told: &mut Told) {
    let mut dice = SimDice::new(seed);
    let Ok(mut bookie) = open(disk, seed) else {
        return;
    };
    let mut ledgers: Vec<i64> = vec![1, 2];
    let mut next_ledger = 3;
    for _ in 0..ROUNDS {
        for _ in 0..=dice.below(4) {
            let ledger = ledgers[dice.below(ledgers.len() as u64) as usize];
            let entry = told.sent.get(&ledger).map_or(0, |last| last + 1);
            told.sent.insert(ledger, entry);
            bookie.append(
                ledger,
                entry,
                entry - 1,
                length(ledger, entry),
                body(ledger, entry),
            );
        }
        for done in bookie.commit() {
            if done.result.is_ok() {
                told.confirmed.insert(done.ledger, done.entry);
            }
        }
        if bookie.poison().is_some() || disk.is_off() {
            return;
        }
        match dice.below(8) {
            0 | 1 => {
                let at = dice.below(ledgers.len() as u64) as usize;
                let gone = std::mem::replace(&mut ledgers[at], next_ledger);
                next_ledger += 1;
                told.forgotten.insert(gone);
                bookie.forget(gone);
            }
            2 => drop(bookie.spares().prepare()),
            3 => {
                let closed = bookie.close();
                drop(bookie);
                match (closed, open(disk, seed)) {
                    (Ok(_), Ok(opened)) => bookie = opened,
                    _ => return,
                }
            }
            _ => {}
        }
        if disk.is_off() {
            return;
        }
    }
}

fn check(disk: &SimDisk, seed: u64, told: &Told) -> Option<String> {
    let mut bookie = match open(disk, seed) {
        Ok(bookie) => bookie,
        Err(text) => return Some(text),
    };
    let report = bookie.report();
    if report.damaged > 0 || report.damaged_headers > 0 {
        return Some(format!(
            "recovery found damage that no cut makes: {report:?}"
        ));
    }
    if report.scanned > 1 {
        return Some(format!(
            "{} segments had to be read through",
            report.scanned
        ));
    }
    for (&ledger, &sent) in &told.sent {
        if told.forgotten.contains(&ledger) {
            continue;
        }
        let confirmed = told.confirmed.get(&ledger).copied().unwrap_or(-1);
        if let Some(text) = check_ledger(&bookie, ledger, confirmed, sent) {
            return Some(text);
        }
    }
    check_appends(&mut bookie)
}

fn check_ledger(bookie: &Bookie, ledger: i64, confirmed: i64, sent: i64) -> Option<String> {
    let (last, sum) = match bookie.last_entry(ledger) {
        Ok(end) => end,
        Err(error) => return Some(format!("ledger {ledger}: {error}")),
    };
    if last < confirmed || last > sent {
        return Some(format!(
            "ledger {ledger} ends at {last}; confirmed {confirmed}, sent {sent}"
        ));
    }
    if last >= 0 && sum != length(ledger, last) {
        return Some(format!("ledger {ledger} has {sum} bytes"));
    }
    let mut next = 0;
    while next <= last {
        let found = match bookie.reader().read(ledger, next, last, 1500) {
            Ok(found) => found,
            Err(error) => return Some(format!("{error}; confirmed up to {confirmed}")),
        };
        for entry in found {
            if entry.entry != next || entry.body != body(ledger, next) {
                return Some(format!(
                    "entry {ledger}:{next} reads back as something else"
                ));
            }
            next += 1;
        }
    }
    None
}

/// The bookie must go on working after a recovery, too.
fn check_appends(bookie: &mut Bookie) -> Option<String> {
    let ledger = 1_000_000;
    let next = bookie.last_entry(ledger).map_or(0, |(last, _)| last + 1);
    bookie.append(
        ledger,
        next,
        next - 1,
        length(ledger, next),
        body(ledger, next),
    );
    let answers = bookie.commit();
    match answers.first().map(|done| &done.result) {
        Some(Ok(())) => check_ledger(bookie, ledger, next, next),
        other => Some(format!("an append after recovery failed: {other:?}")),
    }
}

impl Told {
    fn take_for_confirmed(&mut self, bookie: &Bookie) {
        for &ledger in self.sent.keys() {
            if let Ok((last, _)) = bookie.last_entry(ledger)
                && last >= 0
                && !self.forgotten.contains(&ledger)
            {
                let confirmed = self.confirmed.entry(ledger).or_insert(-1);
                *confirmed = last.max(*confirmed);
            }
        }
    }
}

fn body_bytes(ledger: i64, entry: i64) -> u64 {
    SimDice::new((ledger as u64) << 32 | entry as u64).below(900)
}

fn body(ledger: i64, entry: i64) -> Bytes {
    let mut dice = SimDice::new((ledger as u64) << 20 ^ entry as u64);
    let count = body_bytes(ledger, entry) as usize;
    let words = std::iter::repeat_with(|| dice.roll().to_be_bytes());
    words.flatten().take(count).collect()
}

fn length(ledger: i64, entry: i64) -> u64 {
    (0..=entry).map(|entry| body_bytes(ledger, entry)).sum()
}
