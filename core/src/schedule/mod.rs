//! WHEN: what makes work due.
//!
//! The policies ([`cron`], [`classic`], [`predictive`]) and what becomes of a due time ([`due`]) are pure functions: no clock, no
//! randomness and no table of their own. A [`Schedule`] is a row with one due time; the [`Timer`] makes jobs of rows that are
//! due, each in the transaction that moves its due time.

pub mod classic;
pub mod cron;
pub mod due;
pub mod policy;
pub mod predictive;
mod row;
pub mod simulate;
mod table;
mod timer;
mod trigger;

pub use row::{
    BUILTIN_PREFIX, ByHand, Change, Changed, Decided, NewSchedule, Rule, SERIAL, Schedule, ScheduleEdit,
    TARGET_PREFIX, target_schedule,
};
pub use table::{FireAsk, Fired, FiredByHand, ScheduleQuery, ScheduleTable, Wake};
pub use timer::{Bell, Pass, Timer, TimerOptions};
pub use trigger::{Adaptive, Combine, LONGEST_INTERVAL, Misfire, Overlap, Trigger, TriggerError, cron_after};
