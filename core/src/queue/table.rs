//! The seam between the queue and a database: each call is one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::job::{Finish, Job, JobState, NewJob, Submitted};
use crate::clock::{Steady, Timestamp};
use crate::deliver::alert::AlertWatch;
use crate::store::StoreFuture;

/// Jobs, lanes and leases in a database that several processes share.
///
/// A **lease** is the right to run jobs in one slot of a lane. It has a token that only grows. Whoever takes over a slot
/// makes the old token worthless, and every call here that takes a token refuses a worthless one
/// ([`StoreError::Fenced`](crate::store::StoreError::Fenced)).
pub trait JobTable: Send + Sync + 'static {
    /// Submits jobs, all of them or none. The answers are in their order.
    fn submit(&self, jobs: Vec<NewJob>, now: Timestamp) -> StoreFuture<'_, Vec<Submitted>>;

    /// Takes a slot of the lane that waited longest, with its first job. None: nothing can start now.
    fn lease(&self, ask: LeaseAsk, now: Timestamp) -> StoreFuture<'_, Option<Leased>>;

    /// Ends a job, and goes on: with the next job of the same lane under the same lease while no other lane waits, else
    /// the slot is given back and the next lane is taken. `next` none: the slot is only given back.
    fn finish(&self, end: Ended, next: Option<LeaseAsk>, now: Timestamp) -> StoreFuture<'_, Finished>;

    /// Gives back jobs with their slots, given as tokens and jobs, as if they had not begun: their worker must go at once.
    /// Answers how many; what is not held any more is passed over.
    fn give_back(&self, held: Vec<(i64, i64)>, now: Timestamp) -> StoreFuture<'_, u64>;

    /// The jobs under these leases achieved something: workers that they lost before are held against them no more.
    fn forgive(&self, tokens: Vec<i64>) -> StoreFuture<'_, ()>;

    /// Stands in line for a slot of a lane, for work that is no job: takes one that is free, else the next that becomes free,
    /// before every job that waits there. Answers the token of its lease.
    fn reserve(&self, lane: &str, owner: &str, until: Steady, now: Timestamp) -> StoreFuture<'_, i64>;

    /// Whether whoever reserved has a slot now. Until then the lease is worth nothing but its place in line.
    fn enter(&self, token: i64) -> StoreFuture<'_, bool>;

    /// Prolongs leases. Answers which of them are lost, and which jobs under them were asked to stop.
    fn renew(&self, tokens: Vec<i64>, until: Steady) -> StoreFuture<'_, Renewed>;

    /// Takes back the slots whose owners are gone: a job that was at work there waits again, or has failed when that
    /// happened more than [`Collect::max_stalled`] times to it.
    fn collect(&self, collect: Collect, now: Timestamp) -> StoreFuture<'_, Vec<Stalled>>;

    /// The slots that are leased at the moment.
    fn leases(&self) -> StoreFuture<'_, Vec<LeaseState>>;

    /// Calls a job off. One that is at work is asked to stop.
    fn cancel(&self, id: i64, now: Timestamp) -> StoreFuture<'_, Option<JobState>>;

    /// Lets a job that ended badly (failed, expired, cancelled) wait again, as if it were new. None: no such job.
    /// The answer is its state now.
    fn retry(&self, id: i64, now: Timestamp) -> StoreFuture<'_, Option<JobState>>;

    /// One job.
    fn job(&self, id: i64) -> StoreFuture<'_, Option<Job>>;

    /// Jobs, the newest first.
    fn jobs(&self, query: JobQuery) -> StoreFuture<'_, Vec<Job>>;

    /// The lanes, those with waiting jobs first.
    fn lanes(&self) -> StoreFuture<'_, Vec<LaneState>>;

    /// When the next job comes due that waits for its time; `ready`: one could start now if a worker were free.
    fn next_due(&self, now: Timestamp) -> StoreFuture<'_, NextDue>;

    /// Whether a job of these kinds waits, for whatever, or runs; of the kinds in `lanes` only one in those lanes.
    fn has_open(&self, kinds: Vec<String>, lanes: BTreeMap<String, Vec<String>>) -> StoreFuture<'_, bool>;

    /// Sets how many slots a lane has.
    fn set_lane(&self, lane: &str, concurrency: u32) -> StoreFuture<'_, ()>;

    /// Forgets finished jobs beyond what is kept. Answers how many.
    fn prune(&self, keep: Retention, now: Timestamp) -> StoreFuture<'_, u64>;

    /// What does not add up, in words; empty: all is well. With `repair`, counters are set right.
    fn doctor(&self, steady: Steady, repair: bool) -> StoreFuture<'_, Vec<String>>;
}

/// Who wants to work on what.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseAsk {
    /// The process, for people.
    pub owner: String,
    /// The kinds of work it can do.
    pub kinds: Vec<String>,
    /// Of these kinds only the work in these lanes.
    pub lanes: BTreeMap<String, Vec<String>>,
    /// Its lease ends then, unless it is prolonged.
    pub until: Steady,
}

/// A job with the lease it runs under.
#[derive(Clone, Debug, PartialEq)]
pub struct Leased {
    /// The lease.
    pub token: i64,
    /// The job, running.
    pub job: Job,
}

/// A job that ended, or goes back.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The lease it ran under.
    pub token: i64,
    /// The job.
    pub id: i64,
    /// How.
    pub how: Finish,
    /// Who is told, in the same transaction, when this kind of work keeps failing (S2-66).
    pub alerts: Option<Arc<AlertWatch>>,
}

/// What came of a job's end.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// Where the job stands now. Who was asked to stop does not come back, whatever its worker says.
    pub state: JobState,
    /// What there is to do next.
    pub next: Option<Leased>,
}

/// Which slots are taken back, and what that means for their jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Collect {
    /// Leases that ended before this have run out, and so have those of another start of the machine.
    pub steady: Steady,
    /// Owners who are known to be dead: their leases need not run out.
    pub dead: Vec<String>,
    /// How often a job may lose its worker before it counts as failed.
    pub max_stalled: u32,
    /// Who is told, in the same transaction, when that makes one failure too many.
    pub alerts: Option<Arc<AlertWatch>>,
}

/// A slot that is leased.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeaseState {
    /// The token.
    pub token: i64,
    /// The lane.
    pub lane: String,
    /// The slot of it.
    pub slot: u32,
    /// The process.
    pub owner: String,
    /// Which start of the machine it was given out under.
    pub boot: String,
    /// The job that runs under it.
    pub job: Option<i64>,
    /// It is only the next in line for a slot.
    pub waiting: bool,
    /// When it was taken.
    pub taken_at: Timestamp,
}

/// What came of prolonging.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewed {
    /// Tokens that are worth nothing any more.
    pub lost: Vec<i64>,
    /// Jobs that should stop.
    pub cancelling: Vec<i64>,
}

/// A job whose worker was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stalled {
    /// The job.
    pub id: i64,
    /// Its kind.
    pub kind: String,
    /// Its lane.
    pub lane: String,
    /// What became of it.
    pub state: JobState,
}

/// Which jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobQuery {
    /// Only in these states; empty: in any.
    pub states: Vec<JobState>,
    /// Only of this lane.
    pub lane: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only these jobs; none: any.
    pub ids: Option<Vec<i64>>,
    /// Only with smaller numbers: the last one of the page before.
    pub before_id: Option<i64>,
    /// At most so many; 0: 100.
    pub limit: u32,
}

/// What a lane looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LaneState {
    /// Its name.
    pub lane: String,
    /// Its slots.
    pub concurrency: u32,
    /// Jobs that could start.
    pub queued: u32,
    /// Jobs that wait for their time.
    pub waiting: u32,
    /// Slots in use.
    pub running: u32,
    /// When the oldest job that could start came due.
    pub oldest: Option<Timestamp>,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextDue {
    /// A job could start now.
    pub ready: bool,
    /// When the next one comes due, or expires.
    pub at: Option<Timestamp>,
}

/// How many finished jobs are kept in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// S2-44: so many.
    pub per_lane: u32,
    /// None older than this.
    pub age: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { per_lane: 200, age: Duration::from_secs(90 * 86_400) }
    }
}
