//! A schedule as it is stored, and what may be said about one. Plain data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::trigger::{Misfire, Overlap, Trigger};
use crate::clock::Timestamp;

/// Schedules of targets are named so (S2-47).
pub const TARGET_PREFIX: &str = "target.";
/// What the program brings itself; it may be changed and switched off, not renamed or removed (S3-11).
pub const BUILTIN_PREFIX: &str = "builtin:";
/// The lane in which one job runs at a time (S1-2).
pub const SERIAL: &str = "serial";

/// What begins the keys of jobs that schedules make: `schedule:<number>:<due time>` (C1).
pub const SCHEDULED: &str = "schedule:";
/// What ends the keys of those that were made by hand.
pub const BY_HAND: &str = ":hand";

/// The name of a target's schedule.
pub fn target_schedule(code: &str) -> String {
    format!("{TARGET_PREFIX}{code}")
}

/// The fields that can be set by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ByHand {
    /// The trigger. The cron expression of a target is not kept here but with the target (S2-48).
    Trigger,
    /// Whether it is on.
    Enabled,
    /// Its time zone.
    Zone,
    /// What is done about missed due times.
    Misfire,
}

/// A schedule as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Schedule {
    /// Its number.
    pub id: i64,
    /// Its name: `target.<code>`, `builtin:<name>` or any other.
    pub name: String,
    /// For people.
    pub title: String,
    /// The kind of job it makes.
    pub kind: String,
    /// The lane of that job.
    pub lane: String,
    /// What the handler is told.
    pub payload: Value,
    /// The priority of that job.
    pub priority: i32,
    /// What makes it due.
    pub trigger: Trigger,
    /// Its time zone; none: the engine's.
    #[serde(serialize_with = "zone_name")]
    #[schemars(with = "Option<String>")]
    pub zone: Option<chrono_tz::Tz>,
    /// What is done about missed due times.
    pub misfire: Misfire,
    /// How long after its due time it expires, with [`Misfire::Expire`].
    pub expires_sec: Option<u64>,
    /// What is done while the last job is not over.
    pub overlap: Overlap,
    /// Whether it is on.
    pub enabled: bool,
    /// Why it is off.
    pub off_why: Option<String>,
    /// Where its cron expression comes from (S2-48).
    pub origin: Option<String>,
    /// What was set by hand (I14).
    pub operator_set: Vec<ByHand>,
    /// When it is due; none: never by itself.
    pub next_due_at: Option<Timestamp>,
    /// What the adaptive policy last decided.
    pub adaptive_at: Option<Timestamp>,
    /// The due time that last made a job.
    pub last_due_at: Option<Timestamp>,
    /// When that was.
    pub last_fired_at: Option<Timestamp>,
    /// That job.
    pub last_job: Option<i64>,
    /// When a job of it last ended.
    pub last_run_at: Option<Timestamp>,
    /// `ok`, `error` or `skipped` (S3-6).
    pub last_status: Option<String>,
    /// The error of that job.
    pub last_error: Option<String>,
    /// What its handler said, at most 1,000 characters.
    pub last_response: Option<String>,
    /// Jobs that ended well.
    pub run_count: u64,
    /// Jobs that did not.
    pub error_count: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

fn zone_name<S: serde::Serializer>(zone: &Option<chrono_tz::Tz>, to: S) -> Result<S::Ok, S::Error> {
    zone.map(|zone| zone.name()).serialize(to)
}

impl Schedule {
    /// The code of the target it crawls.
    pub fn target(&self) -> Option<&str> {
        self.name.strip_prefix(TARGET_PREFIX)
    }

    /// Whether the program brings it.
    pub fn is_builtin(&self) -> bool {
        self.name.starts_with(BUILTIN_PREFIX)
    }

    /// The zone in which it counts.
    pub fn zone_or(&self, engine: chrono_tz::Tz) -> chrono_tz::Tz {
        self.zone.unwrap_or(engine)
    }
}

/// A schedule that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSchedule {
    /// Its name, which no other has.
    pub name: String,
    /// For people; empty: the name.
    pub title: String,
    /// The kind of job it makes: names the handler.
    pub kind: String,
    /// The lane of that job.
    pub lane: String,
    /// What the handler is told.
    pub payload: Value,
    /// The priority of that job.
    pub priority: i32,
    /// What makes it due.
    pub trigger: Trigger,
    /// Its time zone; none: the engine's.
    pub zone: Option<chrono_tz::Tz>,
    /// What is done about missed due times.
    pub misfire: Misfire,
    /// How long after its due time it expires, with [`Misfire::Expire`].
    pub expires_sec: Option<u64>,
    /// What is done while the last job is not over.
    pub overlap: Overlap,
    /// Whether it is on.
    pub enabled: bool,
    /// Where its cron expression comes from.
    pub origin: Option<String>,
}

impl NewSchedule {
    /// A schedule that makes jobs of a kind, in the lane of its own name.
    pub fn new(name: impl Into<String>, kind: impl Into<String>, trigger: Trigger) -> NewSchedule {
        let (name, kind) = (name.into(), kind.into());
        NewSchedule {
            title: String::new(),
            lane: name.clone(),
            name,
            kind,
            payload: Value::Null,
            priority: 0,
            trigger,
            zone: None,
            misfire: Misfire::default(),
            expires_sec: None,
            overlap: Overlap::default(),
            enabled: true,
            origin: None,
        }
    }

    /// What the handler is told.
    pub fn payload(mut self, payload: Value) -> Self {
        self.payload = payload;
        self
    }

    /// The lane of its jobs.
    pub fn lane(mut self, lane: impl Into<String>) -> Self {
        self.lane = lane.into();
        self
    }

    /// A name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }
}

/// A change to a schedule; none: as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleEdit {
    /// For people.
    pub title: Option<String>,
    /// What the handler is told.
    pub payload: Option<Value>,
    /// What makes it due.
    pub trigger: Option<Trigger>,
    /// Where its cron expression comes from now.
    pub origin: Option<Option<String>>,
    /// The lane of its jobs.
    pub lane: Option<String>,
    /// The priority of its jobs.
    pub priority: Option<i32>,
    /// Its time zone.
    pub zone: Option<Option<chrono_tz::Tz>>,
    /// What is done about missed due times.
    pub misfire: Option<(Misfire, Option<u64>)>,
    /// What is done while the last job is not over.
    pub overlap: Option<Overlap>,
    /// On or off, and why.
    pub enabled: Option<(bool, Option<String>)>,
    /// What is set by hand with this change.
    pub by_hand: Vec<ByHand>,
    /// What is not set by hand any more.
    pub not_by_hand: Vec<ByHand>,
}

/// A change of one row, as the table is told of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A row that is new; one of that name that is there already stays as it is.
    Add(Box<NewSchedule>),
    /// A row that changes.
    Edit(String, Box<ScheduleEdit>),
    /// A row that goes.
    Remove(String),
}

/// What became of a [`Change`].
#[derive(Clone, Debug, PartialEq)]
pub enum Changed {
    /// The row as it is now.
    Row(Box<Schedule>),
    /// The row was there already, and is as it was.
    Kept(Box<Schedule>),
    /// It is gone.
    Removed,
    /// There is no such row.
    Missing,
}

/// Why something was decided: a record that is kept, and read back in words.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Decided {
    /// When.
    pub at: Timestamp,
    /// The rule, in one word.
    pub rule: Rule,
    /// The due time it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
    /// When it is due next because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// The job that was made, or that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<i64>,
    /// The numbers it went by.
    pub inputs: Value,
}

/// The rules by which schedules are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// A job was made when it came due.
    Fired,
    /// A job was made for one or more due times that were missed.
    FiredLate,
    /// A job was made by hand.
    ByHand,
    /// It was too late, and is left out.
    Skipped,
    /// The job of the due time before is not over.
    StillBusy,
    /// This due time made its job before: the clock was set back.
    AlreadyFired,
    /// Its target or site is off.
    TargetOff,
    /// Its cron expression cannot be read or never comes due; it was switched off (S3-8).
    BadCron,
    /// It was made, or changed.
    Set,
    /// After a look: the policy and what holds it back.
    Planned,
    /// The clock was set back, and it was due later than it should be.
    ClockSetBack,
}

impl Rule {
    /// The word under which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Fired => "fired",
            Rule::FiredLate => "fired_late",
            Rule::ByHand => "by_hand",
            Rule::Skipped => "skipped",
            Rule::StillBusy => "still_busy",
            Rule::AlreadyFired => "already_fired",
            Rule::TargetOff => "target_off",
            Rule::BadCron => "bad_cron",
            Rule::Set => "set",
            Rule::Planned => "planned",
            Rule::ClockSetBack => "clock_set_back",
        }
    }
}
