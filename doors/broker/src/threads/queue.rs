//! What waits in front of a thread: pushed by anybody, taken all at once by the one thread.
//!
//! A push never blocks; what bounds each queue is said where the queue is made.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A queue in front of one thread.
pub struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: Vec<T>,
    closed: bool,
}

/// What [`Queue::take`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Something was there, or the deadline passed.
    Open,
    /// The queue is closed and nothing is left in it.
    Ended,
}

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue {
            state: Mutex::new(State {
                waiting: Vec::new(),
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }
}

impl<T> Queue<T> {
    /// Adds items in order. Returns false, with the items dropped, if the queue is closed.
    pub fn push_all(&self, items: impl IntoIterator<Item = T>) -> bool {
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        let was_empty = state.waiting.is_empty();
        state.waiting.extend(items);
        let is_news = was_empty && !state.waiting.is_empty();
        drop(state);
        if is_news {
            self.changed.notify_one();
        }
        true
    }

    /// Adds one item; see [`Queue::push_all`].
    pub fn push(&self, item: T) -> bool {
        self.push_all([item])
    }

    /// Waits until something is there, the deadline passes or the queue is closed; then moves all of it into `into`.
    pub fn take(&self, into: &mut Vec<T>, deadline: Option<Instant>) -> Taken {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.closed {
            let Some(deadline) = deadline else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        let ended = state.closed && state.waiting.is_empty();
        into.append(&mut state.waiting);
        if ended { Taken::Ended } else { Taken::Open }
    }

    /// Lets nothing more in; the thread takes what is there and then hears that it has ended.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing that can panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
