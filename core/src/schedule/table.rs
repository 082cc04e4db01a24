//! The seam between schedules and a database: each call is one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono_tz::Tz;
use serde::Serialize;

use super::budget::Budget;
use super::classic::{Entry, SourceStats};
use super::load::Load;
use super::look::LookHistory;
use super::row::{Change, Changed, Decided, Rule, Schedule};
use crate::clock::Timestamp;
use crate::deliver::alert::AlertWatch;
use crate::model::SourceType;
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

    /// How many schedules there are, by what they do.
    fn schedule_counts(&self, now: Timestamp) -> StoreFuture<'_, ScheduleCounts>;

    /// How much comes due in each of the next hours.
    fn load(&self, now: Timestamp, hours: u32, zone: Tz) -> StoreFuture<'_, Load>;

    /// Whether a target and its site are on; one that is not stored is not.
    fn target_is_on(&self, target: &str) -> StoreFuture<'_, bool>;

    /// Says that schedules may not be as sites and targets want them; changes of sites and targets say it by themselves.
    fn mark_dirty(&self) -> StoreFuture<'_, ()>;

    /// Schedules are as sites and targets wanted them when [`Wake::dirty`] was this; what changed since is still to do.
    fn settle(&self, dirty: i64) -> StoreFuture<'_, ()>;

    /// Site files as they were last read (I15).
    fn site_files(&self) -> StoreFuture<'_, Vec<SiteFile>>;

    /// Keeps what came of reading a site file; `alert`: who is told, in the same transaction, of one that cannot be read.
    fn keep_site_file(
        &self,
        file: SiteFile,
        alert: Option<Arc<AlertWatch>>,
        now: Timestamp,
    ) -> StoreFuture<'_, ()>;

    /// The row of a source (S0-18); one that cannot be read counts as new (S0-38).
    fn source_stats(&self, source: &str, now: Timestamp) -> StoreFuture<'_, Option<SourceStats>>;

    /// S0-18: the newest entries of a source, the newest first.
    fn recent_entries(&self, source: &str, limit: u32) -> StoreFuture<'_, Vec<Entry>>;

    /// S0-20: sources of a type that are due, the longest overdue first.
    fn due_sources(
        &self,
        now: Timestamp,
        source_type: Option<SourceType>,
        limit: u32,
    ) -> StoreFuture<'_, Vec<SourceStats>>;

    /// S0-20: all sources of a type together.
    fn source_counts(&self, now: Timestamp, source_type: Option<SourceType>)
    -> StoreFuture<'_, SourceCounts>;

    /// What all adaptive sources together may do.
    fn budget(&self) -> StoreFuture<'_, Budget>;

    /// Sets how many checks a day they may make; none: as many as they want.
    fn set_budget(&self, checks_per_day: Option<f64>) -> StoreFuture<'_, Budget>;

    /// Steers the price of a check by what was counted since it was last steered.
    fn steer_budget(&self, now: Timestamp) -> StoreFuture<'_, Budget>;

    /// What the looks at a target have shown.
    fn look_history(&self, target: &str) -> StoreFuture<'_, LookHistory>;
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
    /// Counts changes of sites and targets that schedules do not follow yet.
    pub dirty: i64,
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

/// How many schedules there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScheduleCounts {
    /// All.
    pub total: u64,
    /// Those that are on.
    pub enabled: u64,
    /// Those that are due now.
    pub due: u64,
    /// Those whose last job failed.
    pub failing: u64,
    /// Jobs that ended well, of all of them.
    pub runs: u64,
    /// Jobs that did not.
    pub errors: u64,
    /// When the next one is due.
    pub next_due_at: Option<Timestamp>,
}

/// A site file as it was last read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteFile {
    /// Code of the site.
    pub site: String,
    /// The file.
    pub path: String,
    /// sha256 of its bytes; empty when it could not be read.
    pub sha256: String,
    /// What is wrong with it; the last good one holds.
    pub error: Option<String>,
}

/// All sources of a type together (S0-20).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceCounts {
    /// How many there are.
    pub sources: u64,
    /// Looks at them.
    pub checks: u64,
    /// Looks that found something.
    pub hits: u64,
    /// Sources that are due.
    pub due: u64,
    /// Sources whose last look failed.
    pub failing: u64,
    /// How many there are of each cadence, P0 to P6.
    pub cadences: BTreeMap<String, u64>,
}
