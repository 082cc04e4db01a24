//! WHAT is to be done: one durable row per piece of work.
//!
//! A job waits in a **lane** (a host for crawls, any name for other work) and runs in one of the lane's slots, one by
//! default. Lanes are served in turn, so a lane with ten thousand jobs keeps none with a single one waiting; within a
//! lane the expired come first, then priority, then due time. A worker leases a *slot*; every effect of its job is
//! committed with the lease's token, and a token that another worker has made worthless is refused, in the same
//! transaction. So a worker that was paused, or died, or lost its disk for a while can end up doing nothing, but never
//! doing something twice.
//!
//! ```text
//! scheduled ─due─▶ queued ─lease─▶ running ─▶ done │ failed │ expired │ cancelled
//!                    ▲  ▲             │ └─▶ retry_wait ─due─▶ queued
//!                    │  └─────────────┘ given back, or its worker was lost
//!                    └── retried by hand       running ─cancel─▶ cancelling ─▶ cancelled
//! ```
//!
//! | here | S1 | S2 | S3 | BullMQ |
//! |---|---|---|---|---|
//! | scheduled | scheduled | – | pending | delayed |
//! | queued | pending, outdated (`expiring`) | queued | pending | waiting |
//! | running | running | running | running | active |
//! | cancelling | – | running with `stop_requested` | – | – |
//! | retry_wait | – | – | – | delayed |
//! | done | accomplished (executed) | done | completed | completed |
//! | failed | accomplished with an error | failed | failed | failed |
//! | expired | accomplished (outdated) | – | – | – |
//! | cancelled | canceled | cancelled | – | – |
//!
//! Three clocks end a job (C5): each request has its own, a job without [progress](JobContext::progress) is given up,
//! and a kind of work may have a wall limit. Three layers hold one back (C7): its source rests, its host is left
//! alone, the job itself waits for its next attempt; the latest wins and is stored as the reason.

mod events;
mod fire;
mod handler;
mod job;
mod keeper;
mod lane;
mod owner;
mod retry;
mod table;
mod trouble;
mod worker;

pub use events::QueueEvent;
pub use fire::{Chance, Fire, FireGate, IdleFor, Moment, PerDay, QuietHours, check_all};
pub use handler::{Handlers, JobContext, JobDone, JobFailed, JobHandler, JobResult, JobRules};
pub use job::{Finish, Hold, Job, JobState, NewJob, Outcome, Submitted, UniqueFor};
pub use lane::LaneHold;
pub use owner::process;
pub use retry::RetryPolicy;
pub use table::{
    Collect, Ended, Finished, JobQuery, JobTable, LaneState, LeaseAsk, LeaseState, Leased, NextDue, Renewed,
    Retention, Stalled,
};
pub use worker::{Queue, WorkOptions};
