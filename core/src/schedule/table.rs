//! The seam between schedules and a database: each call is one transaction.

use std::sync::Arc;

use chrono_tz::Tz;
use serde::Serialize;

use super::classic::SourceStats;
use super::row::{Change, Changed, Decided, Rule, Schedule};
use crate::clock::Timestamp;
use crate::deliver::alert::AlertWatch;
use crate::store::StoreFuture;

/// Schedules in a database that several processes share.
pub trait ScheduleTable: Send + Sync + 'static {
    /// Makes, changes and removes schedules, all of them or none; each that is on gets its due time.
    fn change(&self, changes: Vec<Change>, now: Timestamp, zone: Tz) -> StoreFuture<'_, Vec<Changed>>;

    /// Makes the jobs of schedules that are due and moves their due times, in one transaction: no job is made twice or
    /// lost, whenever the process dies.
    fn fire(&self, ask: FireAsk) -> StoreFuture<'_, Fired>;

    /// Makes the job of one schedule now, whenever it is due; its due time stays.
    fn fire_by_hand(&self, name: &str, now: Timestamp) -> StoreFuture<'_, FiredByHand>;

    /// What a timer must know before it sleeps.
    fn wake(&self) -> StoreFuture<'_, Wake>;

    /// Only the count of changes: a timer that sleeps asks for it now and then.
    fn changes(&self) -> StoreFuture<'_, i64>;

    /// The clock was set back to `now`: brings due times forward that were planned under the old one, of at most `limit` rows
    /// after this number. Answers the last number looked at; none: that was all.
    fn clock_set_back(
        &self,
        now: Timestamp,
        zone: Tz,
        after: i64,
        limit: u32,
    ) -> StoreFuture<'_, Option<i64>>;

    /// One schedule.
    fn schedule(&self, name: &str) -> StoreFuture<'_, Option<Schedule>>;

    /// Schedules by name, or by due time.
    fn schedules(&self, query: ScheduleQuery) -> StoreFuture<'_, Vec<Schedule>>;

    /// The last decisions about a schedule, the newest first.
    fn decisions(&self, id: i64, limit: u32) -> StoreFuture<'_, Vec<Decided>>;

    /// The row of a source (S0-18); one that cannot be read counts as new (S0-38).
    fn source_stats(&self, source: &str, now: Timestamp) -> StoreFuture<'_, Option<SourceStats>>;
}

/// Which schedules are to be fired.
#[derive(Clone, Debug)]
pub struct FireAsk {
    /// Now.
    pub now: Timestamp,
    /// Only what came due after this; none: whatever is due, the longest overdue first.
    pub after: Option<Timestamp>,
    /// At most so many.
    pub limit: u32,
    /// The engine's zone.
    pub zone: Tz,
    /// Who is told of a schedule that had to be switched off (S3-8).
    pub alerts: Option<Arc<AlertWatch>>,
}

/// What came of firing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fired {
    /// Schedules that were due.
    pub due: u32,
    /// Jobs that were made.
    pub jobs: u32,
    /// What was decided about each that was due: its name, its due time, and the rule.
    pub decided: Vec<(String, Timestamp, Rule)>,
}

/// What came of firing by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum FiredByHand {
    /// The job that was made.
    Job(i64),
    /// The job of the last time is not over (S3-10).
    Busy(i64),
    /// Its target or site is off (S2-50).
    TargetOff,
    /// There is no such schedule.
    Missing,
}

/// What a timer must know before it sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// The earliest due time.
    pub earliest: Option<Timestamp>,
    /// A job waits or runs.
    pub busy: bool,
    /// Counts changes.
    pub changes: i64,
    /// The latest time from which a due time was computed.
    pub seen_at: Timestamp,
}

/// Which schedules, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleQuery {
    /// Only with names that begin so.
    pub prefix: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only those that are on.
    pub enabled_only: bool,
    /// Those that are due before this, by due time, in place of by name.
    pub due_before: Option<Timestamp>,
    /// Only with names after this one: the last one of the page before.
    pub after_name: Option<String>,
    /// At most so many; 0: 1,000.
    pub limit: u32,
}
