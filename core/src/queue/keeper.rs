//! Keeps the leases of this process alive, from a thread of its own: a handler that blocks every thread of the runtime
//! must not cost it its place.

use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::table::{JobTable, Renewed};
use crate::clock::Clock;
use crate::store::StoreError;

/// How soon a job hears that it was called off by another process: leases are prolonged this often, and at least each
/// third of their time (C4). One small write, and only while something is at work.
const LISTEN: Duration = Duration::from_secs(2);

/// One lease as the keeper sees it.
#[derive(Clone)]
pub(super) struct Held {
    /// The job under it at the moment.
    pub job: i64,
    /// Told when the job should stop.
    pub stop: CancellationToken,
    /// Told when the lease is lost: what is under way is worth nothing any more.
    pub lost: CancellationToken,
}

/// The keeper of a process's leases. Ends with its last handle.
pub(super) struct Keeper {
    held: Arc<Mutex<HashMap<i64, Held>>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub fn start(
        table: Arc<dyn JobTable>,
        clock: Arc<dyn Clock>,
        lease: Duration,
    ) -> Result<Keeper, StoreError> {
        let held: Arc<Mutex<HashMap<i64, Held>>> = Arc::default();
        let (end, ended) = channel();
        let round = Round { table, clock, lease, held: held.clone() };
        let thread = std::thread::Builder::new()
            .name("dibao-leases".into())
            .spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(LISTEN.min(lease / 3)) {
                    round.renew();
                }
            })
            .map_err(|error| StoreError::Lost { reason: format!("no thread for the leases: {error}") })?;
        Ok(Keeper { held, end: Some(end), thread: Some(thread) })
    }

    pub fn hold(&self, token: i64, held: Held) {
        lock(&self.held).insert(token, held);
    }

    pub fn drop_lease(&self, token: i64) {
        lock(&self.held).remove(&token);
    }

    /// Asks a job of this process to stop, without waiting for the next round.
    pub fn stop_job(&self, job: i64) {
        if let Some(held) = lock(&self.held).values().find(|held| held.job == job) {
            held.stop.cancel();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Round {
    table: Arc<dyn JobTable>,
    clock: Arc<dyn Clock>,
    lease: Duration,
    held: Arc<Mutex<HashMap<i64, Held>>>,
}

impl Round {
    fn renew(&self) {
        let tokens: Vec<i64> = lock(&self.held).keys().copied().collect();
        if tokens.is_empty() {
            return;
        }
        let until = self.clock.steady().after(self.lease);
        // The store's writer is a thread too: this waits for it, whatever the runtime does.
        match futures::executor::block_on(self.table.renew(tokens, until)) {
            Ok(Renewed { lost, cancelling }) => {
                let mut held = lock(&self.held);
                for token in lost {
                    if let Some(gone) = held.remove(&token) {
                        tracing::warn!(token, job = gone.job, "the lease is lost; the job is dropped");
                        gone.lost.cancel();
                    }
                }
                held.values()
                    .filter(|held| cancelling.contains(&held.job))
                    .for_each(|held| held.stop.cancel());
            }
            // The next round tries again; a lease outlives two of them.
            Err(error) => tracing::warn!(%error, "leases could not be prolonged"),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
