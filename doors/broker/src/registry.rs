//! Who is connected: where letters to a session go, and how many there are from where.

use letters::{SessionLetter, ToSession};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use vocabulary::SessionId;

/// Where a session finds its letters, a batch at a time, in the order in which they were written. It has no number of
/// its own: what may be in it is bounded by what the session asked for (see `threads::desk_inbox`).
pub type Letterbox = UnboundedReceiver<Vec<SessionLetter>>;

/// All sessions of this process.
#[derive(Default)]
pub struct Registry {
    sessions: Mutex<Sessions>,
    somebody_left: Notify,
}

#[derive(Default)]
struct Sessions {
    boxes: HashMap<SessionId, UnboundedSender<Vec<SessionLetter>>, foldhash::fast::FixedState>,
    connections: u32,
    by_address: BTreeMap<IpAddr, u32>,
    last_id: u64,
}

/// Limits of [`Registry::admit`]; 0: none.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections of all together.
    pub connections_max: u32,
    /// Connections from one address.
    pub per_address_max: u32,
}

impl Registry {
    /// Lets a connection in, or says why not.
    pub fn admit(&self, address: IpAddr, limits: Limits) -> Result<(SessionId, Letterbox), String> {
        let mut sessions = self.lock();
        if limits.connections_max != 0 && sessions.connections >= limits.connections_max {
            return Err(format!(
                "Reached the maximum number of connections: {} are open (brokerMaxConnections)",
                sessions.connections
            ));
        }
        let from_there = sessions.by_address.get(&address).copied().unwrap_or(0);
        if limits.per_address_max != 0 && from_there >= limits.per_address_max {
            return Err(format!(
                "Reached the maximum number of connections from {address}: {from_there} are open (brokerMaxConnectionsPerIp)"
            ));
        }
        sessions.connections += 1;
        *sessions.by_address.entry(address).or_insert(0) += 1;
        Ok(sessions.add())
    }

    /// A session without a connection: for questions that the broker itself has to topics.
    pub fn admit_own(&self) -> (SessionId, Letterbox) {
        self.lock().add()
    }

    /// The connection is gone; letters to it are dropped from now on.
    pub fn leave(&self, session: SessionId, address: IpAddr) {
        let mut sessions = self.lock();
        sessions.boxes.remove(&session);
        sessions.connections = sessions.connections.saturating_sub(1);
        if let Some(count) = sessions.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                sessions.by_address.remove(&address);
            }
        }
        drop(sessions);
        self.somebody_left.notify_waiters();
    }

    /// Waits until no connection is left.
    pub async fn emptied(&self) {
        loop {
            let left = self.somebody_left.notified();
            tokio::pin!(left);
            left.as_mut().enable();
            if self.connections() == 0 {
                return;
            }
            left.await;
        }
    }

    /// How many connections there are.
    pub fn connections(&self) -> u32 {
        self.lock().connections
    }

    /// Puts letters into their boxes: one batch for each session, its letters in order.
    pub fn hand_out(&self, letters: impl Iterator<Item = ToSession>) {
        let mut batches: Vec<(SessionId, Vec<SessionLetter>)> = Vec::new();
        let mut places: HashMap<SessionId, usize, foldhash::fast::FixedState> = HashMap::default();
        for ToSession { session, letter } in letters {
            let place = *places.entry(session).or_insert_with(|| {
                batches.push((session, Vec::new()));
                batches.len() - 1
            });
            if let Some((_, batch)) = batches.get_mut(place) {
                batch.push(letter);
            }
        }
        if batches.is_empty() {
            return;
        }
        let sessions = self.lock();
        for (session, batch) in batches {
            if let Some(letterbox) = sessions.boxes.get(&session) {
                // A session that is just leaving drops its letters, as if it had left already.
                let _ = letterbox.send(batch);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sessions> {
        // Nothing that can panic runs under this lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions {
    fn add(&mut self) -> (SessionId, Letterbox) {
        self.last_id += 1;
        let session = SessionId(self.last_id);
        let (sender, receiver) = unbounded_channel();
        self.boxes.insert(session, sender);
        (session, receiver)
    }
}
