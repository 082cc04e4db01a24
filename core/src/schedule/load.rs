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
    /// What the same expression in the same zone brings.
    crons: HashMap<(String, Tz), Moments>,
}

/// The coming moments of an expression.
#[derive(Clone, Debug, Default)]
struct Moments {
    first: Option<i64>,
    /// By hour.
    counts: Vec<u64>,
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
            Trigger::Cron { cron } => self.cron(cron, coming.zone, due),
            Trigger::Interval { seconds } => {
                let step = i64::try_from(*seconds).unwrap_or(i64::MAX / 2_000).max(1) * 1_000;
                self.every(due, step, |hour| &mut hour.interval);
            }
            Trigger::Adaptive { .. } if coming.trigger.adapts() => {
                let gap = coming.last.map_or(USUAL, |last| coming.due.0 - last.0).max(LEAST);
                let mut from = due;
                // The moments of a cron beside it come as well; the next one may be one of them.
                if let Some(cron) = coming.trigger.cron() {
                    let moments = self.moments(cron, coming.zone).clone();
                    from += if moments.first == Some(due) { gap } else { 0 };
                    self.sum(&moments.counts);
                }
                self.every(from, gap, |hour| &mut hour.adaptive);
            }
            Trigger::Adaptive { .. } => {
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

    /// One that is due by an expression: then, and at the moments after.
    fn cron(&mut self, cron: &str, zone: Tz, due: i64) {
        let moments = self.moments(cron, zone).clone();
        let counts = match moments.first {
            // Planned beyond some of them, as after a clock that was set back.
            Some(first) if first < due => self.count(cron, zone, due).counts,
            _ => moments.counts,
        };
        if moments.first != Some(due)
            && let Some(hour) = self.hour(due)
        {
            hour.cron += 1;
        }
        self.sum(&counts);
    }

    fn sum(&mut self, counts: &[u64]) {
        for (hour, count) in self.load.hours.iter_mut().zip(counts) {
            hour.cron += count;
        }
    }

    /// The moments of an expression from now on, counted once for all who have it.
    fn moments(&mut self, cron: &str, zone: Tz) -> &Moments {
        let key = (cron.to_owned(), zone);
        if !self.crons.contains_key(&key) {
            let counted = self.count(cron, zone, self.now.0);
            self.crons.insert(key.clone(), counted);
        }
        &self.crons[&key]
    }

    fn count(&self, cron: &str, zone: Tz, after: i64) -> Moments {
        let mut moments = Moments { first: None, counts: vec![0; self.load.hours.len()] };
        let (begin, end) = (self.load.hours.first().map_or(0, |hour| hour.from.0), self.end());
        let mut at = Timestamp(after);
        while let Ok(Some(next)) = cron_after(cron, at, zone)
            && next.0 < end
        {
            moments.first = moments.first.or(Some(next.0));
            if let Some(count) = moments.counts.get_mut(((next.0 - begin) / HOUR) as usize) {
                *count += 1;
            }
            at = next;
        }
        moments
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
        // One that is overdue runs now and again with the others, who are not counted twice for it.
        assert_eq!(load(&[(cron("0 11 * * *"), -10, None), (cron("0 11 * * *"), 90, None)]), [1, 0, 2, 0]);
        // A cron beside a policy: its moments are there whatever the policy brings.
        let both = |due, last| {
            let (policy, combine) = (Adaptive::Predictive, Combine::Either);
            load(&[(Trigger::Adaptive { policy, cron: Some("0 11 * * *".into()), combine }, due, last)])
        };
        assert_eq!(both(0, Some(-600)), [1, 0, 1, 0]);
        assert_eq!(both(90, Some(-600)), [0, 0, 1, 0]);
        // What is overdue runs now, and once.
        let once = Trigger::Once { at: at(-600), expires_at: None };
        assert_eq!(load(&[(once, -600, None)]), [1, 0, 0, 0]);
        assert_eq!(load(&[(Trigger::Interval { seconds: 86_400 }, 4_000, None)]), [0, 0, 0, 0]);
    }
}
