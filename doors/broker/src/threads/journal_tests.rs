use super::desk_inbox::{BACKLOG_BYTES_MAX, DeskInbox};
use super::journal::Journal;
use crate::counters::Counters;
use crate::fate::Fate;
use bookie::{Bookie, BookieReply, BookieRequest};
use bytes::Bytes;
use disk_log::LogSettings;
use shard::ShardInput;
use sim_world::SimDisk;
use sim_world::disk::OpKind;
use std::sync::Arc;

fn bookie(disk: &SimDisk) -> Bookie {
    let mut settings = LogSettings::new("log", [7; 16]);
    settings.segment_bytes = 64 * 1024;
    Bookie::open(Arc::new(disk.clone()), settings).unwrap()
}

fn append(ledger: i64, entry: i64) -> BookieRequest {
    let body = Bytes::from_static(b"body");
    let length = 4 * (entry as u64 + 1);
    BookieRequest::Append {
        ledger,
        entry,
        last_confirmed: entry - 1,
        length,
        body,
    }
}

/// Waits until so many replies have come.
fn replies(inbox: &DeskInbox, count: usize) -> Vec<BookieReply> {
    let mut inputs = Vec::new();
    while inputs.len() < count {
        inbox.take(&mut inputs, false, None);
    }
    inputs
        .into_iter()
        .map(|input| match input {
            ShardInput::Bookie(reply) => reply,
            other => panic!("not a bookie's reply: {other:?}"),
        })
        .collect()
}

#[test]
fn each_desk_gets_the_replies_to_its_own_requests() {
    let journal =
        Journal::start(&Fate::default(), bookie(&SimDisk::new()), 2, Arc::default()).unwrap();
    let desks: Vec<Arc<DeskInbox>> = (0..3).map(|_| Arc::default()).collect();
    for entry in 0..50 {
        for (desk, ledger) in desks.iter().zip(10..) {
            let ask = BookieRequest::LastEntry {
                ticket: entry as u64,
                ledger,
            };
            journal.door().send(vec![append(ledger, entry), ask], desk);
        }
    }
    for (desk, own) in desks.iter().zip(10..) {
        let mut appended = 0;
        for reply in replies(desk, 100) {
            match reply {
                BookieReply::Appended {
                    ledger,
                    entry,
                    result,
                } => {
                    assert_eq!((ledger, entry, result), (own, appended, Ok(())));
                    appended += 1;
                }
                BookieReply::LastEntry {
                    ticket,
                    ledger,
                    result,
                } => {
                    assert_eq!(ledger, own);
                    assert!(result.unwrap().0 >= ticket as i64);
                }
                other => panic!("nobody asked for {other:?}"),
            }
        }
        assert_eq!(appended, 50);
        let read = BookieRequest::Read {
            ticket: 1,
            ledger: own,
            first: 0,
            last: 49,
            bytes_max: 1 << 20,
        };
        journal.door().send(vec![read], desk);
        let BookieReply::Read {
            result: Ok(entries),
            ..
        } = &replies(desk, 1)[0]
        else {
            panic!("no entries")
        };
        assert_eq!(entries.len(), 50);
    }
    assert_eq!(journal.door().backlog_bytes(), 0);
    journal.close();
}

/// No reply comes to a desk that asked for nothing, so nothing would make it look again.
#[test]
fn what_others_have_on_their_way_stops_no_desk_that_has_nothing_there() {
    let (busy, quiet) = (DeskInbox::default(), DeskInbox::default());
    busy.entered_journal(BACKLOG_BYTES_MAX + 1);
    assert!(!busy.wants_letters(BACKLOG_BYTES_MAX + 1));
    assert!(quiet.wants_letters(BACKLOG_BYTES_MAX + 1));
    busy.left_journal(BACKLOG_BYTES_MAX + 1);
    assert!(busy.wants_letters(BACKLOG_BYTES_MAX + 1));
}

#[test]
fn a_reply_comes_after_its_bytes_are_counted_off() {
    let journal =
        Journal::start(&Fate::default(), bookie(&SimDisk::new()), 1, Arc::default()).unwrap();
    let desk: Arc<DeskInbox> = Arc::default();
    journal.door().send(vec![append(1, 0)], &desk);
    replies(&desk, 1);
    assert!(desk.wants_letters(u64::MAX));
    journal.close();
}

#[test]
fn what_waits_at_the_close_is_still_written() {
    let disk = SimDisk::new();
    let journal = Journal::start(&Fate::default(), bookie(&disk), 1, Arc::default()).unwrap();
    let desk: Arc<DeskInbox> = Arc::default();
    for entry in 0..20 {
        journal.door().send(vec![append(1, entry)], &desk);
    }
    journal.close();
    assert_eq!(replies(&desk, 20).len(), 20);
    assert_eq!(bookie(&disk).last_entry(1), Ok((19, 80)));
}

#[tokio::test]
async fn a_failed_sync_ends_the_process_and_confirms_nothing() {
    let disk = SimDisk::new();
    let fate = Fate::default();
    let journal = Journal::start(&fate, bookie(&disk), 1, Arc::<Counters>::default()).unwrap();
    let desk: Arc<DeskInbox> = Arc::default();
    journal.door().send(vec![append(1, 0)], &desk);
    assert!(matches!(
        replies(&desk, 1)[0],
        BookieReply::Appended { result: Ok(()), .. }
    ));
    disk.inject(Box::new(|op| {
        let is_sync = op.kind == OpKind::Sync && op.path.ends_with(".seg");
        is_sync.then(|| std::io::Error::other("the platter is scratched"))
    }));
    journal.door().send(vec![append(1, 1)], &desk);
    assert!(matches!(
        replies(&desk, 1)[0],
        BookieReply::Appended { result: Err(_), .. }
    ));
    let why = fate.failed().await;
    assert!(
        why.contains("takes no more entries") && why.contains("start again"),
        "{why}"
    );
    journal.close();
}
