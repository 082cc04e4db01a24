//! Keeps the leases of this process alive, from a thread of its own: a handler that blocks every thread of the runtime
//! must not cost it its place.

use std::collections::HashMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::handler::Life;
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
    /// The job's signs of life, and how long it may give none.
    pub life: Arc<Life>,
    /// See [`Held::life`].
    pub no_progress: Duration,
    /// Whether workers that were lost before are held against the job.
    pub suspect: bool,
    /// Its end is being written down: then the lease may be gone without a loss.
    pub ending: bool,
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

    /// The end of the job under this lease is being written down.
    pub fn ends(&self, token: i64) {
        if let Some(held) = lock(&self.held).get_mut(&token) {
            held.ending = true;
        }
    }

    /// Lets go of everything: tokens and jobs. What is under way is worth nothing any more.
    pub fn drop_all(&self) -> Vec<(i64, i64)> {
        let held: Vec<_> = lock(&self.held).drain().collect();
        held.into_iter()
            .map(|(token, held)| {
                held.lost.cancel();
                (token, held.job)
            })
            .collect()
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
    /// A handler that blocks its thread cannot be dropped by its worker. Its lease is left to run out, so that somebody else
    /// may have the job and the lane.
    fn give_up_the_blocked(&self) {
        lock(&self.held).retain(|token, held| {
            let blocked = !held.ending && held.life.idle() > held.no_progress.saturating_add(self.lease);
            if blocked {
                tracing::warn!(
                    token,
                    job = held.job,
                    "the job blocks its thread; its lease is left to run out"
                );
                held.lost.cancel();
            }
            !blocked
        });
    }

    fn renew(&self) {
        self.give_up_the_blocked();
        let (tokens, moving) = {
            let mut held = lock(&self.held);
            let moving: Vec<i64> = held
                .iter_mut()
                .filter(|(_, held)| held.suspect && held.life.take_achieved())
                .map(|(token, held)| {
                    held.suspect = false;
                    *token
                })
                .collect();
            (held.keys().copied().collect::<Vec<i64>>(), moving)
        };
        if tokens.is_empty() {
            return;
        }
        if !moving.is_empty()
            && let Err(error) = futures::executor::block_on(self.table.forgive(moving))
        {
            tracing::warn!(%error, "progress could not be noted");
        }
        let until = self.clock.steady().after(self.lease);
        // The store's writer is a thread too: this waits for it, whatever the runtime does.
        match futures::executor::block_on(self.table.renew(tokens, until)) {
            Ok(Renewed { lost, cancelling }) => {
                let mut held = lock(&self.held);
                for token in lost {
                    if let Some(gone) = held.remove(&token) {
                        gone.lost.cancel();
                        if gone.ending {
                            continue;
                        }
                        tracing::warn!(token, job = gone.job, "the lease is lost; the job is dropped");
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
