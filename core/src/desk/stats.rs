//! Numbers to watch. Plain data; how they are counted is the store's business.

use std::collections::BTreeMap;

use serde::Serialize;

use super::advice::Advice;
use crate::clock::Timestamp;

/// Jobs by state.
pub type JobCounts = BTreeMap<String, u64>;

/// The dashboard in one answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Overview {
    /// When it was counted.
    pub at: Timestamp,
    /// Sites.
    pub sites: u64,
    /// Sites that are on.
    pub sites_enabled: u64,
    /// Targets.
    pub targets: u64,
    /// Targets that are on, of sites that are on.
    pub targets_enabled: u64,
    /// Targets whose last run failed.
    pub targets_failing: u64,
    /// Articles.
    pub articles: u64,
    /// Articles by status.
    pub by_status: BTreeMap<String, u64>,
    /// Articles stored since midnight.
    pub articles_today: u64,
    /// Articles stored in the last seven days, today included.
    pub articles_week: u64,
    /// Attachments.
    pub attachments: u64,
    /// Entries that wait to be fetched.
    pub frontier: u64,
    /// Entries that were given up.
    pub given_up: u64,
    /// Jobs by state: those that wait or run, and those that ended in the last 24 hours.
    pub jobs: JobCounts,
    /// Subjects of alerts.
    pub alerts: u64,
    /// The last 24 hours, the oldest first.
    pub hours: Vec<HourCount>,
    /// When something was last stored.
    pub last_article_at: Option<Timestamp>,
}

/// What happened in an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct HourCount {
    /// Its beginning.
    pub from: Timestamp,
    /// Articles stored.
    pub articles: u64,
    /// Requests made.
    pub requests: u64,
    /// Requests whose answers were of no use.
    pub failed: u64,
}

/// A day of articles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct DayCount {
    /// `YYYY-MM-DD` in the engine's zone.
    pub day: String,
    /// Articles stored on it.
    pub fetched: u64,
    /// Articles published on it.
    pub published: u64,
}

/// Articles of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SiteCount {
    /// Its code.
    pub site: String,
    /// Its name.
    pub name: String,
    /// Whether it is on.
    pub enabled: bool,
    /// Its targets.
    pub targets: u64,
    /// Its articles.
    pub articles: u64,
    /// Stored since midnight.
    pub today: u64,
    /// Stored in the last seven days.
    pub week: u64,
    /// Not `ready`.
    pub not_ready: u64,
}

/// Jobs of one kind that wait.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct KindWaiting {
    /// The kind.
    pub kind: String,
    /// How many.
    pub jobs: u64,
    /// When the first of them was due.
    pub since: Timestamp,
}

/// Articles of a department.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct DeptCount {
    /// Its number; none: articles without a department.
    pub dept_id: Option<i64>,
    /// Its name.
    pub name: Option<String>,
    /// Where.
    pub region: Option<String>,
    /// Of what kind.
    pub category: Option<String>,
    /// Its targets.
    pub targets: u64,
    /// Its articles.
    pub articles: u64,
    /// Stored in the last seven days.
    pub week: u64,
}

/// How a target or site is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pulse {
    /// Its last run went well.
    Ok,
    /// Its last run failed.
    Failing,
    /// It never ran to an end.
    Never,
    /// It is off.
    Off,
}

/// How fresh a site is.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Freshness {
    /// Its code.
    pub site: String,
    /// Its name.
    pub name: String,
    /// The worst of its targets that are on.
    pub pulse: Pulse,
    /// Targets that are on.
    pub targets: u64,
    /// Those of them whose last run failed.
    pub failing: u64,
    /// When a run of it last went well.
    pub last_good_run: Option<Timestamp>,
    /// When an article of it was last stored.
    pub last_article: Option<Timestamp>,
    /// The newest publication time seen.
    pub newest_published: Option<Timestamp>,
}

/// A run of a target.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RunRow {
    /// Its number.
    pub id: i64,
    /// `running`, `interrupted`, `done`, `failed`.
    pub state: String,
    /// Why it ended.
    pub reason: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What came of it.
    #[serde(flatten)]
    pub counts: crate::store::RunCounts,
}

/// How a target is doing, and what could be done.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TargetHealth {
    /// Code of the target.
    pub target: String,
    /// In one word.
    pub pulse: Pulse,
    /// When a run of it last went well.
    pub last_good_run: Option<Timestamp>,
    /// When an article of it was last stored.
    pub last_article: Option<Timestamp>,
    /// What is wrong; none: nothing.
    pub trouble: Option<Trouble>,
    /// Its last runs, the newest first.
    pub runs: Vec<RunRow>,
    /// Its last failed requests, the newest first.
    pub errors: Vec<super::LogRow>,
    /// Entries that failed or were given up.
    pub failed_entries: u64,
}

/// What is wrong with a target.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Trouble {
    /// The first failure after the last good run.
    pub since: Timestamp,
    /// Runs that failed since.
    pub failures: u64,
    /// The reason of the last one.
    pub why: String,
    /// What kind of trouble, where it is known.
    pub class: Option<String>,
    /// What to try.
    pub advice: Advice,
}
