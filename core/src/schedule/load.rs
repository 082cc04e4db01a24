//! How much comes due in each of the coming hours. Pure: rows are added one by one, so a million of them take no memory.
//!
//! Cron and interval are counted exactly, one-shots too. When an adaptive source is looked at after its next look nobody knows
//! yet: the distance between its last two looks is taken for the rest of the time.

use std::collections::HashMap;

use chrono_tz::Tz;
use serde::Serialize;

use super::trigger::{Trigger, cron_after};
use crate::clock::Timestamp;

/// As far as it is looked: 31 days.
pub const MOST_HOURS: u32 = 31 * 24;
const HOUR: i64 = 3_600_000;
/// Without a distance of its own: the default cadence.
const USUAL: i64 = HOUR;
/// No source is looked at more often.
const LEAST: i64 = 60_000;

/// What comes due, by the hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Load {
    /// The hours, the first of which begins with the hour that is now.
    pub hours: Vec<HourLoad>,
    /// Schedules that are on and have a due time.
    pub schedules: u64,
    /// Of them overdue.
    pub overdue: u64,
}

/// What comes due in one hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HourLoad {
    /// Its beginning.
    pub from: Timestamp,
    /// By cron expressions.
    pub cron: u64,
    /// By intervals.
    pub interval: u64,
    /// By adaptive policies.
    pub adaptive: u64,
    /// Once.
    pub once: u64,
}

impl HourLoad {
    /// All together.
    pub fn total(&self) -> u64 {
        self.cron + self.interval + self.adaptive + self.once
    }
}

/// What is known of a schedule that counts.
#[derive(Clone, Debug)]
pub struct Coming {
    /// What makes it due.
    pub trigger: Trigger,
    /// Its zone.
    pub zone: Tz,
    /// When it is due.
    pub due: Timestamp,
    /// When it was due last.
    pub last: Option<Timestamp>,
}

/// Adds up.
#[derive(Debug)]
pub struct Adder {
    now: Timestamp,
    load: Load,
    /// What the same expression in the same zone brought, by hour.
    crons: HashMap<(String, Tz), Vec<u64>>,
}

impl Adder {
    /// Counts from the beginning of the hour that is now; due times that are overdue count for it.
    pub fn new(now: Timestamp, hours: u32) -> Adder {
        let begin = now.0 - now.0.rem_euclid(HOUR);
        let hour = |n| HourLoad { from: Timestamp(begin + i64::from(n) * HOUR), ..HourLoad::default() };
        let hours = (0..hours.clamp(1, MOST_HOURS)).map(hour).collect();
        Adder { now, load: Load { hours, schedules: 0, overdue: 0 }, crons: HashMap::new() }
    }

    fn hour(&mut self, at: i64) -> Option<&mut HourLoad> {
        let begin = self.load.hours.first()?.from.0;
        let place = usize::try_from((at.max(begin) - begin) / HOUR).ok()?;
        self.load.hours.get_mut(place)
    }

    fn end(&self) -> i64 {
        self.load.hours.last().map_or(0, |hour| hour.from.0 + HOUR)
    }

    /// Adds a schedule.
    pub fn add(&mut self, coming: &Coming) {
        self.load.schedules += 1;
        let due = coming.due.0.max(self.now.0);
        self.load.overdue += u64::from(coming.due < self.now);
        if due >= self.end() {
            return;
        }
        match &coming.trigger {
            Trigger::Cron { cron } => {
                if let Some(hour) = self.hour(due) {
                    hour.cron += 1;
                }
                self.cron(cron, coming.zone, due);
            }
            Trigger::Interval { seconds } => {
                let step = i64::try_from(*seconds).unwrap_or(i64::MAX / 2_000).max(1) * 1_000;
                self.every(due, step, |hour| &mut hour.interval);
            }
            Trigger::Adaptive { .. } if coming.trigger.adapts() => {
                let gap = coming.last.map_or(USUAL, |last| coming.due.0 - last.0).max(LEAST);
                self.every(due, gap, |hour| &mut hour.adaptive);
            }
            Trigger::Adaptive { .. } => {
                if let Some(hour) = self.hour(due) {
                    hour.cron += 1;
                }
                if let Some(cron) = coming.trigger.cron() {
                    self.cron(cron, coming.zone, due);
                }
            }
            Trigger::Once { .. } => {
                if let Some(hour) = self.hour(due) {
                    hour.once += 1;
                }
            }
            Trigger::Manual => {}
        }
    }

    fn every(&mut self, due: i64, step: i64, field: impl Fn(&mut HourLoad) -> &mut u64) {
        for hour in &mut self.load.hours {
            let (from, until) = (hour.from.0, hour.from.0 + HOUR);
            // Moments `due + k·step`, k ≥ 0, before a bound.
            let before = |bound: i64| if bound <= due { 0 } else { (bound - due - 1) / step + 1 };
            *field(hour) += u64::try_from(before(until) - before(from)).unwrap_or(0);
        }
    }

    /// The moments of an expression after the one that is due next.
    fn cron(&mut self, cron: &str, zone: Tz, due: i64) {
        let key = (cron.to_owned(), zone);
        if !self.crons.contains_key(&key) {
            let mut counts = vec![0; self.load.hours.len()];
            let (begin, end) = (self.load.hours.first().map_or(0, |hour| hour.from.0), self.end());
            let mut at = Timestamp(due);
            while let Ok(Some(next)) = cron_after(cron, at, zone)
                && next.0 < end
            {
                if let Some(count) = counts.get_mut(((next.0 - begin) / HOUR) as usize) {
                    *count += 1;
                }
                at = next;
            }
            self.crons.insert(key.clone(), counts);
        }
        let Some(counts) = self.crons.get(&key) else { return };
        for (hour, count) in self.load.hours.iter_mut().zip(counts) {
            hour.cron += count;
        }
    }

    /// The sum.
    pub fn load(self) -> Load {
        self.load
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::trigger::{Adaptive, Combine};
    use chrono_tz::Asia::Shanghai;

    /// 2026-04-10T09:30:00+08:00.
    const NOW: Timestamp = Timestamp(1_775_784_600_000);

    fn at(minutes: i64) -> Timestamp {
        Timestamp(NOW.0 + minutes * 60_000)
    }

    fn load(coming: &[(Trigger, i64, Option<i64>)]) -> Vec<u64> {
        let mut adder = Adder::new(NOW, 4);
        for (trigger, due, last) in coming {
            let coming =
                Coming { trigger: trigger.clone(), zone: Shanghai, due: at(*due), last: last.map(at) };
            adder.add(&coming);
        }
        adder.load().hours.iter().map(HourLoad::total).collect()
    }

    #[test]
    fn each_hour_counts_what_comes_due_in_it() {
        let cron = |cron: &str| Trigger::Cron { cron: cron.into() };
        let adaptive =
            Trigger::Adaptive { policy: Adaptive::Predictive, cron: None, combine: Combine::Either };
        // It is half past nine: the first hour ends at ten.
        assert_eq!(load(&[(cron("0,30 * * * *"), 30, None)]), [0, 2, 2, 2]);
        assert_eq!(load(&[(cron("0 11 * * *"), 90, None)]), [0, 0, 1, 0]);
        assert_eq!(load(&[(cron("0,30 * * * *"), 30, None), (cron("0,30 * * * *"), 30, None)]), [0, 4, 4, 4]);
        assert_eq!(load(&[(Trigger::Interval { seconds: 1_200 }, 10, None)]), [1, 3, 3, 3]);
        assert_eq!(load(&[(adaptive, 45, Some(-45))]), [0, 1, 1, 0]);
        // What is overdue runs now, and once.
        let once = Trigger::Once { at: at(-600), expires_at: None };
        assert_eq!(load(&[(once, -600, None)]), [1, 0, 0, 0]);
        assert_eq!(load(&[(Trigger::Interval { seconds: 86_400 }, 4_000, None)]), [0, 0, 0, 0]);
    }
}
