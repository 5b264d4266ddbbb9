//! What waits in front of a desk, in two lanes.
//!
//! **Letters** of sessions need credit, a number of bytes per desk that is given back when the desk takes the letter.
//! A connection that gets none hands in nothing and reads nothing from its socket, which stops its peer.
//! **Replies** of disks, and asks about the shard, need no credit and are never refused.
//!
//! Why nothing here can stop for good, and nothing can grow for good:
//! - The only one who ever waits is a connection, for credit. The desk gives credit back as it takes letters. It takes
//!   them always, except while more than [`BACKLOG_BYTES_MAX`] of all desks are on their way to the journal, and some of
//!   them are its own; and then it still takes replies, one of which is sure to come and makes it look again. A desk
//!   without any of its own would hear of nobody when that number falls.
//! - Journal, readers and metadata store wait for nobody but their disks: they push replies without credit. A reply
//!   answers one request, so there are never more of them than requests the desk made.
//! - What a desk asks of disks is bounded by the letters it admitted: publishes by their bytes (above), reads by the
//!   one read a subscription has under way, cursor records by one under way for each cursor.
//! - What a desk writes to sessions is bounded by what sessions asked: receipts by pending publishes, answers by
//!   pending requests (a session stops reading above a number of either), deliveries by `UNWRITTEN_BYTES_MAX` for each
//!   consumer. So that lane needs no credit either, and a desk never waits for a slow socket.

use shard::ShardInput;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Credit of a desk, bytes of letters that may wait for it.
pub const LETTER_BYTES_MAX: u32 = 64 * 1024 * 1024;

/// Bytes of all desks on their way to the journal above which a desk that has some there takes no more letters.
pub const BACKLOG_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Letters of one turn, so that a turn stays short.
const LETTERS_PER_TURN_MAX: usize = 4096;

/// What a letter without an entry costs, bytes.
const LETTER_BYTES: usize = 256;

/// Credit taken from a desk for letters, handed in with them.
pub type Credit = OwnedSemaphorePermit;

/// The two lanes in front of one desk.
pub struct DeskInbox {
    lanes: Mutex<Lanes>,
    changed: Condvar,
    credit: Arc<Semaphore>,
    in_journal_bytes: AtomicU64,
}

#[derive(Default)]
struct Lanes {
    letters: std::collections::VecDeque<(Vec<ShardInput>, Credit)>,
    replies: Vec<ShardInput>,
    closed: bool,
}

/// The desk is gone: the process is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeskGone;

impl Default for DeskInbox {
    fn default() -> DeskInbox {
        DeskInbox {
            lanes: Mutex::new(Lanes::default()),
            changed: Condvar::new(),
            credit: Arc::new(Semaphore::new(LETTER_BYTES_MAX as usize)),
            in_journal_bytes: AtomicU64::new(0),
        }
    }
}

impl DeskInbox {
    /// What letters with so many bytes of entries cost. Never more than a desk has to give.
    pub fn cost(letters: usize, entry_bytes: usize) -> u32 {
        let bytes = letters
            .saturating_mul(LETTER_BYTES)
            .saturating_add(entry_bytes);
        u32::try_from(bytes)
            .unwrap_or(LETTER_BYTES_MAX)
            .min(LETTER_BYTES_MAX)
    }

    /// Takes credit if there is some right now and nobody waits for it.
    pub fn try_credit(&self, cost: u32) -> Option<Credit> {
        Arc::clone(&self.credit).try_acquire_many_owned(cost).ok()
    }

    /// Waits for credit; first come, first served.
    pub async fn credit(self: Arc<Self>, cost: u32) -> Result<Credit, DeskGone> {
        Arc::clone(&self.credit)
            .acquire_many_owned(cost)
            .await
            .map_err(|_| DeskGone)
    }

    /// Hands in letters with the credit taken for them.
    pub fn hand_in(&self, letters: Vec<ShardInput>, credit: Credit) -> Result<(), DeskGone> {
        let mut lanes = self.lock();
        if lanes.closed {
            return Err(DeskGone);
        }
        lanes.letters.push_back((letters, credit));
        drop(lanes);
        self.changed.notify_one();
        Ok(())
    }

    /// Hands in replies (or asks), which need no credit. Dropped if the desk is gone.
    pub fn reply(&self, replies: impl IntoIterator<Item = ShardInput>) {
        let mut lanes = self.lock();
        if lanes.closed {
            return;
        }
        lanes.replies.extend(replies);
        drop(lanes);
        self.changed.notify_one();
    }

    /// The desk has handed so many bytes of entries to the journal.
    pub fn entered_journal(&self, bytes: u64) {
        self.in_journal_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The journal is done with so many of them; to be said before it replies.
    pub fn left_journal(&self, bytes: u64) {
        self.in_journal_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether the desk takes letters while all desks have so many bytes on their way to the journal.
    pub fn wants_letters(&self, backlog_bytes: u64) -> bool {
        backlog_bytes <= BACKLOG_BYTES_MAX || self.in_journal_bytes.load(Ordering::Relaxed) == 0
    }

    /// Waits until there is something to take, or the deadline passes; then moves all replies into `into`, and behind
    /// them as many letters as a turn may have, if letters are wanted.
    pub fn take(
        &self,
        into: &mut Vec<ShardInput>,
        letters_wanted: bool,
        deadline: Option<Instant>,
    ) {
        let mut lanes = self.lock();
        while lanes.replies.is_empty() && (lanes.letters.is_empty() || !letters_wanted) {
            let Some(deadline) = deadline else {
                lanes = self
                    .changed
                    .wait(lanes)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            lanes = self
                .changed
                .wait_timeout(lanes, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        into.append(&mut lanes.replies);
        let mut taken = 0;
        while letters_wanted && taken < LETTERS_PER_TURN_MAX {
            let Some((letters, credit)) = lanes.letters.pop_front() else {
                break;
            };
            taken += letters.len();
            into.extend(letters);
            drop(credit);
        }
    }

    /// Lets nothing more in; whoever waits for credit hears that the desk is gone.
    pub fn close(&self) {
        let mut lanes = self.lock();
        lanes.closed = true;
        lanes.letters.clear();
        lanes.replies.clear();
        drop(lanes);
        self.credit.close();
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        // Nothing that can panic runs under this lock.
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
