//! WHEN: what makes work due.
//!
//! The policies ([`cron`], [`classic`], [`predictive`]) and what becomes of a due time ([`due`]) are pure functions: no clock, no
//! randomness and no table of their own. A [`Schedule`] is a row with one due time; the [`Timer`] makes jobs of rows that are
//! due, each in the transaction that moves its due time.

pub mod budget;
pub mod classic;
pub mod cron;
pub mod due;
mod error;
pub mod explain;
pub mod load;
pub mod look;
mod once;
pub mod policy;
pub mod predictive;
mod row;
pub mod said;
mod schedules;
pub mod simulate;
mod table;
mod timer;
mod trigger;

pub use error::ScheduleError;
pub use once::{ONCE, OneShot};
pub use row::{
    BUILTIN_PREFIX, BY_HAND, ByHand, Change, Changed, Decided, NewSchedule, Rule, SCHEDULED, SERIAL,
    Schedule, ScheduleEdit, TARGET_PREFIX, target_schedule,
};
pub use schedules::Schedules;
pub use table::{
    FireAsk, Fired, FiredByHand, ScheduleCounts, ScheduleQuery, ScheduleTable, SiteFile, SourceCounts, Wake,
};
pub use timer::{Bell, Pass, Timer, TimerOptions};
pub use trigger::{Adaptive, Combine, LONGEST_INTERVAL, Misfire, Overlap, Trigger, TriggerError, cron_after};
