//! Who does the work: one handler per kind, of the library or of the program around it (§2.4).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::job::{Hold, Job, NewJob};
use super::retry::RetryPolicy;
use crate::clock::Timestamp;
use crate::error::{Error, ErrorClass};
use crate::pulse::Pulse;
use crate::store::Store;

/// Does one kind of work.
///
/// A job may be run again after a crash, so what it does outside the store should bear that; what it does *in* the store
/// goes through [`JobContext::store`], which refuses to write for a worker that has lost its place.
pub trait JobHandler: Send + Sync + 'static {
    /// Does the work. Dropping the future must be safe: it is dropped when the lease is lost or the time is up.
    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, JobResult>;

    /// The job's time passed before it could start (S1-11). Does nothing unless it is overridden.
    fn on_expired<'a>(&'a self, _job: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(std::future::ready(Ok(JobDone::default())))
    }

    /// The lanes of this kind's work that can be done here; none: any. What is in others is left to other processes.
    fn lanes(&self) -> Option<Vec<String>> {
        None
    }

    /// Retries and clocks of this kind.
    fn rules(&self) -> JobRules {
        JobRules::default()
    }
}

/// Retries and clocks of a kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRules {
    /// Whether and when it is tried again.
    pub retry: RetryPolicy,
    /// C5: given up when it made no [progress](JobContext::progress) and gave no [sign of life](JobContext::alive) for this
    /// long.
    pub no_progress: Duration,
    /// C5: given up after this long in any case; none: never.
    pub wall: Option<Duration>,
}

impl Default for JobRules {
    /// No retry (S1-15), 300 s without progress (S3-5).
    fn default() -> Self {
        JobRules { retry: RetryPolicy::NEVER, no_progress: Duration::from_secs(300), wall: None }
    }
}

/// What a handler brings back.
pub type JobResult = Result<JobDone, JobFailed>;

/// Work that was carried out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobDone {
    /// What there is to say; shown with the job.
    pub response: Option<String>,
    /// Work that follows, submitted in the transaction that ends this job.
    pub then: Vec<NewJob>,
}

impl JobDone {
    /// With something to say.
    pub fn saying(response: impl Into<String>) -> JobDone {
        JobDone { response: Some(response.into()), then: Vec::new() }
    }
}

/// Work that could not be carried out.
#[derive(Clone, Debug, PartialEq)]
pub enum JobFailed {
    /// It failed.
    Error {
        /// What kind of trouble; decides whether it is tried again.
        class: ErrorClass,
        /// In words.
        message: String,
        /// Another layer that holds it back, and until when (C7): the later of this and the policy's own delay wins.
        not_before: Option<(Hold, Timestamp)>,
    },
    /// It could not begin; it is no attempt.
    Postponed {
        /// Until then.
        until: Timestamp,
        /// Which layer holds it back.
        hold: Hold,
        /// In words.
        why: String,
    },
    /// It stopped because it was asked to; what is done is done, the rest is for the next time.
    Interrupted,
}

impl From<Error> for JobFailed {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => JobFailed::Interrupted,
            error => JobFailed::Error { class: error.class(), message: error.to_string(), not_before: None },
        }
    }
}

/// A job at work, as its handler sees it.
pub struct JobContext {
    /// The job.
    pub job: Job,
    /// The store, under this job's lease.
    pub store: Arc<dyn Store>,
    /// Cancelled when the job should stop: it was called off, or the worker ends. What is under way may be finished.
    pub stop: CancellationToken,
    pub(super) life: Arc<Life>,
}

/// The signs of life of a job.
#[derive(Debug)]
pub(super) struct Life {
    begun: Instant,
    /// Up to here all is well, in milliseconds since it began.
    well_until: AtomicU64,
    /// It achieved something, and nobody has written that down yet.
    achieved: AtomicBool,
}

impl Life {
    pub fn begins() -> Arc<Life> {
        let begun = Instant::now();
        Arc::new(Life { begun, well_until: AtomicU64::new(0), achieved: AtomicBool::new(false) })
    }

    fn rest(&self, silent: Duration) {
        let until = self.begun.elapsed().saturating_add(silent);
        // Of several things under way the one that takes longest counts.
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.well_until.fetch_max(until, Ordering::Relaxed);
    }

    fn achieve(&self) {
        self.rest(Duration::ZERO);
        self.achieved.store(true, Ordering::Relaxed);
    }

    /// Whether it achieved something since this was last asked.
    pub fn take_achieved(&self) -> bool {
        self.achieved.swap(false, Ordering::Relaxed)
    }

    /// How long nothing was heard of it that should have been.
    pub fn idle(&self) -> Duration {
        let until = Duration::from_millis(self.well_until.load(Ordering::Relaxed));
        self.begun.elapsed().saturating_sub(until)
    }
}

impl JobContext {
    /// Something was achieved that need not be done again: the clock that looks for stuck jobs starts anew (C5), and
    /// workers that were lost before this are held against the job no more.
    pub fn progress(&self) {
        self.life.achieve();
    }

    /// It is at work, though nothing is achieved yet: the clock that looks for stuck jobs starts anew after `silent`, which
    /// is how long something takes that has a known end, such as waiting for a host's turn. Zero: now.
    pub fn alive(&self, silent: Duration) {
        self.life.rest(silent);
    }

    /// The same as a value, for what works for this job elsewhere.
    pub fn pulse(&self) -> Pulse {
        let life = self.life.clone();
        Pulse::new(move |silent| life.rest(silent))
    }
}

/// The handlers of a program, by kind.
#[derive(Clone, Default)]
pub struct Handlers(HashMap<String, Arc<dyn JobHandler>>);

impl Handlers {
    /// None yet.
    pub fn new() -> Handlers {
        Handlers::default()
    }

    /// Adds the handler of a kind, in place of the one before.
    pub fn with(mut self, kind: impl Into<String>, handler: impl JobHandler) -> Handlers {
        self.0.insert(kind.into(), Arc::new(handler));
        self
    }

    /// Adds these handlers, each in place of the one of its kind.
    pub fn and(mut self, more: Handlers) -> Handlers {
        self.0.extend(more.0);
        self
    }

    /// The kinds there are.
    pub fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self.0.keys().cloned().collect();
        kinds.sort();
        kinds
    }

    /// The kinds of which only some lanes can be done, with those.
    pub fn lanes(&self) -> BTreeMap<String, Vec<String>> {
        let limited =
            |(kind, handler): (&String, &Arc<dyn JobHandler>)| Some((kind.clone(), handler.lanes()?));
        self.0.iter().filter_map(limited).collect()
    }

    pub(super) fn of(&self, kind: &str) -> Option<&Arc<dyn JobHandler>> {
        self.0.get(kind)
    }
}
