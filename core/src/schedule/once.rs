//! One-shots (S1): something that is to be done once, later, and is worth nothing after a while.
//!
//! A one-shot is a job that waits for its time: states, order and expiry are the queue's. In the lane [`SERIAL`] one runs at a
//! time (S1-2); those whose time has passed go first, by when it passed, then the others by when they were to run (S1-10).
//! The handler of their kind is told with `run`, or with `on_expired` when it is too late (S1-11).

use std::time::Duration;

use serde_json::Value;

use super::row::SERIAL;
use super::schedules::Schedules;
use crate::Result;
use crate::clock::Timestamp;
use crate::queue::{Job, JobQuery, JobState, NewJob};

/// The kind of a one-shot that names none.
pub const ONCE: &str = "once";

/// How long lost workers are remembered as stalls: a one-shot whose program died is taken up again (S1-12).
const MOST_STALLS: u32 = 1_000;

/// A one-shot that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct OneShot {
    /// What the handler is told.
    pub payload: Value,
    /// How long until it is due.
    pub delay: Duration,
    /// How long after that it is too late.
    pub expires_in: Option<Duration>,
    /// The kind: names the handler.
    pub kind: String,
    /// The lane.
    pub lane: String,
}

impl OneShot {
    /// A one-shot of the kind [`ONCE`] in the lane [`SERIAL`].
    pub fn new(delay: Duration, payload: Value) -> OneShot {
        OneShot { payload, delay, expires_in: None, kind: ONCE.to_owned(), lane: SERIAL.to_owned() }
    }

    /// Too late so long after it was due.
    pub fn expires_in(mut self, after: Duration) -> Self {
        self.expires_in = Some(after);
        self
    }

    /// For the handler of another kind.
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = kind.into();
        self
    }
}

impl Schedules {
    /// Makes a one-shot (S1-13). It is stored when this returns; the answer is the number of its job.
    pub async fn add_once(&self, one: OneShot) -> Result<i64> {
        let millis = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4);
        let due = Timestamp(self.clock.now().0.saturating_add(millis(one.delay)));
        let mut job = NewJob::new(one.kind, one.lane).payload(one.payload).run_after(due);
        if let Some(after) = one.expires_in {
            job = job.expires_at(Timestamp(due.0.saturating_add(millis(after))));
        }
        Ok(self.queue.submit(job).await?.id)
    }

    /// Calls a one-shot off; one that runs is asked to stop. None: there is no such job.
    pub async fn cancel_once(&self, id: i64) -> Result<Option<JobState>> {
        self.queue.cancel(id).await
    }

    /// The one-shots of the kind [`ONCE`], the newest first.
    pub async fn one_shots(&self, limit: u32) -> Result<Vec<Job>> {
        let query = JobQuery { kind: Some(ONCE.to_owned()), limit, ..JobQuery::default() };
        Ok(self.queue.table().jobs(query).await?)
    }

    /// Takes up what a program that died left at work (S1-12), as workers do by themselves when they start: as soon as it is
    /// certain that the program is gone, it waits again, or its expiry is told. Answers how many.
    pub async fn rehydrate(&self) -> Result<usize> {
        self.queue.collect(MOST_STALLS).await
    }
}
