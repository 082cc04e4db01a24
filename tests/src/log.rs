//! What was asked of the replica, in order, with a signal so that tests wait for a request instead of sleeping.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::world::calm;

/// One request as it arrived.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Seen {
    /// Counts from 1 over all hosts.
    pub number: u64,
    /// Since the replica started.
    pub at: Duration,
    /// `https` or `http`.
    pub scheme: &'static str,
    /// The host asked for, without port.
    pub host: String,
    /// GET, HEAD, …
    pub method: String,
    /// Path and query as they came.
    pub path: String,
    /// Header names (lower case) and values as they came.
    pub headers: Vec<(String, String)>,
}

impl Seen {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The bounded log.
#[derive(Debug)]
pub(crate) struct Log {
    started: Instant,
    capacity: usize,
    kept: Mutex<VecDeque<Seen>>,
    /// Requests in work by host: now, and the most at any moment.
    busy: Mutex<BTreeMap<String, (u64, u64)>>,
    count: watch::Sender<u64>,
}

impl Log {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            started: Instant::now(),
            capacity,
            kept: Mutex::default(),
            busy: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }

    /// Notes a request; number and time are filled in here.
    pub(crate) fn note(&self, mut seen: Seen) {
        let mut kept = calm(self.kept.lock());
        seen.at = self.started.elapsed();
        // The number is given under the lock, so that the log is in its order; watchers wake after the entry is in.
        seen.number = *self.count.borrow() + 1;
        let number = seen.number;
        if self.capacity > 0 {
            if kept.len() >= self.capacity {
                kept.pop_front();
            }
            kept.push_back(seen);
        }
        self.count.send_replace(number);
    }

    /// Marks a request as in work until the guard is dropped.
    pub(crate) fn enter(self: &std::sync::Arc<Self>, host: &str) -> Busy {
        let mut busy = calm(self.busy.lock());
        let entry = busy.entry(host.to_owned()).or_default();
        entry.0 += 1;
        entry.1 = entry.1.max(entry.0);
        Busy { log: std::sync::Arc::clone(self), host: host.to_owned() }
    }

    /// The most requests this host had in work at one moment.
    pub(crate) fn peak(&self, host: &str) -> u64 {
        calm(self.busy.lock()).get(host).map_or(0, |entry| entry.1)
    }

    pub(crate) fn all(&self) -> Vec<Seen> {
        calm(self.kept.lock()).iter().cloned().collect()
    }

    pub(crate) fn count(&self) -> u64 {
        *self.count.borrow()
    }

    pub(crate) fn clear(&self) {
        calm(self.kept.lock()).clear();
    }

    /// Returns once `wanted` of the remembered requests satisfy the test.
    pub(crate) async fn wait_until(&self, wanted: usize, test: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let mut count = self.count.subscribe();
        loop {
            count.borrow_and_update();
            let found: Vec<Seen> = calm(self.kept.lock()).iter().filter(|seen| test(seen)).cloned().collect();
            if found.len() >= wanted || count.changed().await.is_err() {
                return found;
            }
        }
    }
}

/// A request in work.
#[derive(Debug)]
pub(crate) struct Busy {
    log: std::sync::Arc<Log>,
    host: String,
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(entry) = calm(self.log.busy.lock()).get_mut(&self.host) {
            entry.0 -= 1;
        }
    }
}
