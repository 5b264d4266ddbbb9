//! Requests that the broker has not answered.

use std::collections::BTreeMap;
use std::time::Duration;
use vocabulary::{ConsumerId, Moment, ProducerId, RequestId};

/// A producer or a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Handle {
    Producer(ProducerId),
    Consumer(ConsumerId),
}

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Partitions(Handle),
    Lookup(Handle),
    Open(Handle),
    /// PRODUCER that was answered with "wait".
    OpenLater(Handle),
    Close(Handle),
    /// CLOSE_PRODUCER in order to open it again.
    Reopen(ProducerId),
    Ack {
        consumer_id: ConsumerId,
        token: u64,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Requests {
    last_id: RequestId,
    /// In the order of asking, which is the order of deadlines.
    open: BTreeMap<RequestId, (Moment, Request)>,
}

impl Requests {
    pub fn add(&mut self, request: Request, now: Moment, timeout: Duration) -> RequestId {
        self.last_id += 1;
        self.open
            .insert(self.last_id, (now.after(timeout), request));
        self.last_id
    }

    pub fn take(&mut self, id: RequestId) -> Option<Request> {
        self.open.remove(&id).map(|(_, request)| request)
    }

    /// Waits on, without a deadline.
    pub fn put_back(&mut self, id: RequestId, request: Request) {
        self.open.insert(id, (Moment(u64::MAX), request));
    }

    pub fn next_deadline(&self) -> Option<Moment> {
        self.open
            .values()
            .map(|(deadline, _)| *deadline)
            .find(|deadline| *deadline != Moment(u64::MAX))
    }

    pub fn take_overdue(&mut self, now: Moment) -> Vec<(RequestId, Request)> {
        let overdue = self
            .open
            .iter()
            .filter(|(_, (deadline, _))| *deadline <= now);
        let overdue: Vec<_> = overdue.map(|(id, (_, request))| (*id, *request)).collect();
        for (id, _) in &overdue {
            self.open.remove(id);
        }
        overdue
    }

    /// All of them, when the connection is gone.
    pub fn take_all(&mut self) -> impl Iterator<Item = Request> + use<> {
        std::mem::take(&mut self.open)
            .into_values()
            .map(|(_, request)| request)
    }
}
