//! The thread of the journal, the threads that read old entries, and the one that prepares segments.
//!
//! All appends that wait are one turn of the bookie: one group commit, one sync, for everyone. Reads of old entries have
//! threads of their own, so that a backlog never stands before a receipt.
//!
//! **A failed sync** says nothing about what is on the disk, and a later one that succeeds does not mend that. The bookie
//! takes no more entries then, so the process ends: a start reads what is really there. A full disk is no such failure;
//! it is answered to whoever publishes, and passes.

use super::desk_inbox::DeskInbox;
use super::queue::{Queue, Taken};
use crate::counters::Counters;
use crate::fate::Fate;
use bookie::{Bookie, BookieReader, BookieReply, BookieRequest};
use disk_log::Spares;
use shard::ShardInput;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How often files that a reader held on to are looked at again.
const TIDY_INTERVAL: Duration = Duration::from_secs(60);

/// What waits for the journal.
enum Work {
    /// Requests of one desk, in order, and the bytes of entries in them.
    Requests(Vec<BookieRequest>, u64, Arc<DeskInbox>),
    /// Somebody wants to know whether the thread still works.
    Ping(oneshot::Sender<()>),
}

/// A read, and the desk that wants it.
type ReadWork = (BookieRequest, Arc<DeskInbox>);

/// The running threads.
pub struct Journal {
    door: JournalDoor,
    spare_calls: Arc<Queue<()>>,
    threads: Vec<JoinHandle<()>>,
}

/// Where requests go in. Cheap to clone. Its queues have no number of their own: `desk_inbox` says what bounds them.
#[derive(Clone)]
pub struct JournalDoor {
    work: Arc<Queue<Work>>,
    reads: Arc<[Queue<ReadWork>]>,
    backlog_bytes: Arc<AtomicU64>,
}

impl Journal {
    /// Starts the threads over a bookie that was just opened.
    pub fn start(
        fate: &Fate,
        bookie: Bookie,
        reader_threads: u32,
        counters: Arc<Counters>,
    ) -> io::Result<Journal> {
        let door = JournalDoor {
            work: Arc::default(),
            reads: (0..reader_threads.max(1))
                .map(|_| Queue::default())
                .collect(),
            backlog_bytes: Arc::default(),
        };
        let spare_calls = Arc::new(Queue::default());
        let mut threads = Vec::new();
        for number in 0..door.reads.len() {
            let (reader, reads) = (bookie.reader(), Arc::clone(&door.reads));
            let work = move || reads.get(number).map_or((), |queue| read(&reader, queue));
            threads.push(fate.spawn(&format!("hulse-reader-{number}"), work)?);
        }
        let (spares, calls) = (bookie.spares(), Arc::clone(&spare_calls));
        threads.push(fate.spawn("hulse-segments", move || prepare_segments(&spares, &calls))?);
        let thread = JournalThread {
            spares: bookie.spares(),
            bookie,
            door: door.clone(),
            spare_calls: Arc::clone(&spare_calls),
            counters,
            fate: fate.clone(),
            tidied: Instant::now(),
        };
        threads.push(fate.spawn("hulse-journal", move || thread.work())?);
        Ok(Journal {
            door,
            spare_calls,
            threads,
        })
    }

    /// Where requests go in.
    pub fn door(&self) -> JournalDoor {
        self.door.clone()
    }

    /// Carries out what waits, closes the log and ends the threads. Blocks.
    pub fn close(self) {
        self.door.work.close();
        self.door.reads.iter().for_each(Queue::close);
        self.spare_calls.close();
        for thread in self.threads {
            // A thread that panicked has told fate already.
            let _ = thread.join();
        }
    }
}

impl JournalDoor {
    /// Hands over requests of one desk; replies come to its inbox.
    pub fn send(&self, requests: Vec<BookieRequest>, desk: &Arc<DeskInbox>) {
        let mut own = Vec::with_capacity(requests.len());
        let mut bytes = 0;
        for request in requests {
            match &request {
                BookieRequest::Read { ledger, .. } => {
                    // Reads of one ledger stay on one thread, in their order.
                    let number = ledger.unsigned_abs() as usize % self.reads.len().max(1);
                    if let Some(queue) = self.reads.get(number) {
                        queue.push((request, Arc::clone(desk)));
                    }
                    continue;
                }
                BookieRequest::Append { body, .. } => bytes += body.len() as u64,
                _ => {}
            }
            own.push(request);
        }
        if !own.is_empty() {
            desk.entered_journal(bytes);
            self.backlog_bytes.fetch_add(bytes, Ordering::Relaxed);
            self.work.push(Work::Requests(own, bytes, Arc::clone(desk)));
        }
    }

    /// Bytes of entries that are handed over and not yet answered, of all desks.
    pub fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes.load(Ordering::Relaxed)
    }

    /// Answers when the journal's thread comes by.
    pub fn ping(&self, answer: oneshot::Sender<()>) {
        self.work.push(Work::Ping(answer));
    }
}

/// What the journal's thread owns.
struct JournalThread {
    bookie: Bookie,
    spares: Spares,
    door: JournalDoor,
    spare_calls: Arc<Queue<()>>,
    counters: Arc<Counters>,
    fate: Fate,
    tidied: Instant,
}

impl JournalThread {
    fn work(mut self) {
        let mut waiting = Vec::new();
        self.call_for_spare();
        while self.door.work.take(&mut waiting, None) == Taken::Open {
            self.turn(waiting.drain(..));
            self.call_for_spare();
            if self.tidied.elapsed() > TIDY_INTERVAL {
                self.tidied = Instant::now();
                self.bookie.tidy();
            }
        }
        match self.bookie.close() {
            Ok(_) => {}
            Err(error) => tracing::warn!(
                "the log could not be closed: {error}. What was confirmed is safe; the next start takes a little longer"
            ),
        }
    }

    fn turn(&mut self, waiting: impl Iterator<Item = Work>) {
        let mut batch = Batch::default();
        let mut pings = Vec::new();
        for work in waiting {
            match work {
                Work::Requests(requests, bytes, desk) => batch.add(requests, bytes, desk),
                Work::Ping(answer) => pings.push(answer),
            }
        }
        if !batch.requests.is_empty() {
            let began = Instant::now();
            let replies = self.bookie.turn(std::mem::take(&mut batch.requests));
            self.counters.journal_commit.record(began.elapsed());
            self.door
                .backlog_bytes
                .fetch_sub(batch.bytes, Ordering::Relaxed);
            batch.hand_back(replies);
        }
        if let Some(poison) = self.bookie.poison() {
            self.fate.fail(format!(
                "the log could not be written and takes no more entries: {poison}. The process ends; what was \
                 confirmed is safe, what was not is answered after the next start. Check the disk (errors in the \
                 system's log), then start again"
            ));
        }
        for ping in pings {
            // Who waits no more needs no answer.
            let _ = ping.send(());
        }
    }

    fn call_for_spare(&self) {
        if self.spares.ready() == 0 {
            self.spare_calls.push(());
        }
    }
}

/// Requests that make one turn, and whose they are.
#[derive(Default)]
struct Batch {
    requests: Vec<BookieRequest>,
    bytes: u64,
    /// With the bytes of each.
    desks: Vec<(Arc<DeskInbox>, u64)>,
    /// Places in `desks`, for each append, then for each other request: the order of the replies.
    appends: Vec<usize>,
    others: Vec<usize>,
}

impl Batch {
    fn add(&mut self, requests: Vec<BookieRequest>, bytes: u64, desk: Arc<DeskInbox>) {
        let known = self
            .desks
            .iter()
            .position(|(other, _)| Arc::ptr_eq(other, &desk));
        let place = known.unwrap_or_else(|| {
            self.desks.push((desk, 0));
            self.desks.len() - 1
        });
        if let Some((_, own)) = self.desks.get_mut(place) {
            *own += bytes;
        }
        for request in &requests {
            match request {
                BookieRequest::Append { .. } => self.appends.push(place),
                _ => self.others.push(place),
            }
        }
        self.bytes += bytes;
        self.requests.extend(requests);
    }

    /// The bookie answers all appends in their order, then all others in theirs.
    fn hand_back(&self, replies: Vec<BookieReply>) {
        // Invariant: one reply for each request, or a desk would wait for good.
        assert_eq!(
            replies.len(),
            self.appends.len() + self.others.len(),
            "replies of the bookie"
        );
        let mut of_desks: Vec<Vec<ShardInput>> = self.desks.iter().map(|_| Vec::new()).collect();
        for (reply, place) in replies
            .into_iter()
            .zip(self.appends.iter().chain(&self.others))
        {
            if let Some(own) = of_desks.get_mut(*place) {
                own.push(ShardInput::Bookie(reply));
            }
        }
        for ((desk, bytes), own) in self.desks.iter().zip(of_desks) {
            desk.left_journal(*bytes);
            desk.reply(own);
        }
    }
}

fn read(reader: &BookieReader, queue: &Queue<ReadWork>) {
    let mut waiting = Vec::new();
    while queue.take(&mut waiting, None) == Taken::Open {
        for (request, desk) in waiting.drain(..) {
            desk.reply(reader.answer(&request).map(ShardInput::Bookie));
        }
    }
}

fn prepare_segments(spares: &Spares, calls: &Queue<()>) {
    let mut waiting = Vec::new();
    while calls.take(&mut waiting, None) == Taken::Open {
        waiting.clear();
        if let Err(error) = spares.prepare() {
            tracing::warn!(
                "no segment could be prepared ahead: {error}; commits that need one wait for it, or fail"
            );
        }
    }
}
