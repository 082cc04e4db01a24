//! The one writer: a thread that takes steps from a bounded queue and commits them in groups.
//!
//! While one group is on its way to the disk the next one gathers, so sixteen callers share one fsync; a busy
//! store also leaves a few milliseconds between two commits. Each step runs in a savepoint: one that fails takes
//! back itself only. Answers are given after the commit. Should a whole group be lost (a full disk), its steps
//! are tried one by one, so that each succeeds or hears its own reason; that is why a step can be run twice.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, oneshot};

use super::BUSY_TRIES;
use super::rows::Fault;
use crate::store::StoreError;
use crate::store::files::Files;

/// Steps that may wait. More callers than this are held back, which bounds memory.
const QUEUE: usize = 256;

/// Steps in one transaction: keeps the first of a burst from waiting for all of it.
const GROUP: usize = 128;

/// The least time between two commits. Each writes the pages of a dozen indexes again, however few rows it brings;
/// a store that is not busy never waits for this.
const BETWEEN_COMMITS: Duration = Duration::from_millis(4);

/// Steps that are committed without waiting for more.
const ENOUGH: usize = GROUP / 4;

#[derive(Debug)]
pub(super) struct Writer {
    // Taken by drop, which ends the thread's loop.
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

/// A step with the caller who waits for it.
trait Job: Send {
    fn run(&mut self, db: &Connection, path: &Path) -> Result<(), StoreError>;
    fn answer(self: Box<Self>, outcome: Result<(), StoreError>);
}

struct Step<T, F> {
    doing: &'static str,
    step: F,
    done: Option<T>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Step<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<T, Fault> + Send,
{
    fn run(&mut self, db: &Connection, path: &Path) -> Result<(), StoreError> {
        self.done = None;
        let (step, doing) = (&mut self.step, self.doing);
        let ran = catch_unwind(AssertUnwindSafe(|| step(db)));
        let outcome = ran.map_err(|_| StoreError::Bug { doing })?;
        self.done = Some(outcome.map_err(|fault| fault.at(path, doing))?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Step { done, caller, .. } = *self;
        // The caller may have lost interest; the step is done all the same.
        let _ = caller.send(outcome.and_then(|()| done.ok_or(StoreError::Closed)));
    }
}

impl Writer {
    pub(super) fn start(connection: Connection, path: Arc<Path>, files: Files) -> Result<Writer, StoreError> {
        let (queue, steps) = mpsc::channel(QUEUE);
        let at = path.to_path_buf();
        let thread = std::thread::Builder::new()
            .name("dibao-writer".into())
            .spawn(move || Group { db: connection, path, files }.work(steps))
            .map_err(|error| StoreError::Open { path: at, reason: error.to_string() })?;
        Ok(Writer { queue: Some(queue), thread: Some(thread) })
    }

    pub(super) async fn run<T, F>(&self, doing: &'static str, step: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        let (caller, answer) = oneshot::channel();
        let step = Step { doing, step, done: None, caller };
        queue.send(Box::new(step)).await.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Group {
    db: Connection,
    path: Arc<Path>,
    files: Files,
}

impl Group {
    fn work(self, mut steps: mpsc::Receiver<Box<dyn Job>>) {
        let mut jobs = Vec::with_capacity(GROUP);
        let mut last: Option<Instant> = None;
        while steps.blocking_recv_many(&mut jobs, GROUP) > 0 {
            let early = last.and_then(|last| BETWEEN_COMMITS.checked_sub(last.elapsed()));
            // A group that is large already gains nothing by waiting for more.
            if let Some(early) = early
                && jobs.len() < ENOUGH
            {
                std::thread::sleep(early);
                while jobs.len() < GROUP
                    && let Ok(job) = steps.try_recv()
                {
                    jobs.push(job);
                }
            }
            let taken = std::mem::take(&mut jobs);
            self.commit(taken);
            last = Some(Instant::now());
        }
    }

    fn commit(&self, mut jobs: Vec<Box<dyn Job>>) {
        match self.attempt(&mut jobs) {
            Ok(outcomes) => {
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    job.answer(outcome);
                }
            }
            Err(error) if jobs.len() == 1 => {
                jobs.into_iter().for_each(|job| job.answer(Err(reworded(&error))))
            }
            Err(error) => {
                tracing::debug!(%error, steps = jobs.len(), "a group was lost; its steps are tried one by one");
                jobs.into_iter().for_each(|job| self.commit(vec![job]));
            }
        }
    }

    /// One transaction with all the jobs; an error means that none of them took effect.
    fn attempt(&self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let alone = jobs.len() == 1;
        self.begin()?;
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            let outcome = self.in_savepoint(job.as_mut());
            // A full disk or a failing one takes back the whole transaction, not the statement.
            let lost = self.db.is_autocommit();
            match outcome {
                Err(error) if alone || lost => {
                    self.roll_back();
                    return if alone { Ok(vec![Err(error)]) } else { Err(error) };
                }
                outcome => outcomes.push(outcome),
            }
        }
        // The files that these rows name must not be behind them.
        let committed = self.files.settle().and_then(|()| self.execute("COMMIT"));
        if committed.is_err() {
            self.roll_back();
        }
        committed.map(|()| outcomes)
    }

    fn in_savepoint(&self, job: &mut dyn Job) -> Result<(), StoreError> {
        self.execute("SAVEPOINT step")?;
        let outcome = job.run(&self.db, &self.path);
        if self.db.is_autocommit() {
            return outcome;
        }
        if outcome.is_err() {
            self.execute("ROLLBACK TO step")?;
        }
        self.execute("RELEASE step")?;
        outcome
    }

    /// Takes the write lock, so that nothing later in the transaction can meet `SQLITE_BUSY`.
    fn begin(&self) -> Result<(), StoreError> {
        let mut tries = 1;
        loop {
            let begun = self.db.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([]));
            match begun {
                Ok(_) => return Ok(()),
                Err(error)
                    if tries < BUSY_TRIES && error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
                {
                    tries += 1;
                    tracing::warn!(path = %self.path.display(), "another process holds the store; still waiting");
                }
                Err(error) => return Err(StoreError::sql(&self.path, "began to write", error)),
            }
        }
    }

    fn roll_back(&self) {
        if !self.db.is_autocommit()
            && let Err(error) = self.execute("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be taken back");
        }
    }

    fn execute(&self, sql: &'static str) -> Result<(), StoreError> {
        let executed = self.db.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        executed.map(|_| ()).map_err(|error| StoreError::sql(&self.path, "wrote", error))
    }
}

/// The same error once more; errors of SQLite cannot be cloned.
fn reworded(error: &StoreError) -> StoreError {
    match error {
        StoreError::Full { path } => StoreError::Full { path: path.clone() },
        StoreError::ReadOnly { path } => StoreError::ReadOnly { path: path.clone() },
        StoreError::Locked { path } => StoreError::Locked { path: path.clone() },
        StoreError::Corrupt { path, reason } => {
            StoreError::Corrupt { path: path.clone(), reason: reason.clone() }
        }
        other => StoreError::Lost { reason: other.to_string() },
    }
}
