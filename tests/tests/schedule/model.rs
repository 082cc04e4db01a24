//! The timer against a scan of every minute: random schedules, restarts, suspends and clock jumps over a month.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{Datelike as _, Timelike as _};
use chrono_tz::Tz;
use dibao::schedule::{Misfire, NewSchedule, Overlap, ScheduleTable as _, Trigger};
use dibao::{Clock as _, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::bed::{add, at, jobs, store, timer};
use crate::clock::LeapClock;

const MINUTE: i64 = 60_000;
/// Later than this is late for `skip`.
const GRACE: i64 = 60_000;

/// A cron of which the model knows the fields without a parser.
#[derive(Clone, Debug)]
struct Plan {
    minutes: Vec<u32>,
    hours: Vec<u32>,
    days: Option<Vec<u32>>,
    weekdays: Option<Vec<u32>>,
    /// Every so many minutes, whatever `minutes` says; in zones with a summer time, whose change is in the month.
    every: Option<u32>,
    zone: Tz,
    misfire: Misfire,
}

impl Plan {
    fn random(dice: &mut Dice) -> Plan {
        let mut some = |from: u32, to: u32, most: u64| -> Vec<u32> {
            let mut picked: Vec<u32> =
                (0..=dice.below(most)).map(|_| from + dice.below(u64::from(to - from + 1)) as u32).collect();
            picked.sort_unstable();
            picked.dedup();
            picked
        };
        let (minutes, hours) = (some(0, 59, 2), some(0, 23, 4));
        let (days, weekdays) = (some(1, 28, 5), some(0, 6, 3));
        let zone =
            [chrono_tz::Asia::Shanghai, chrono_tz::UTC, chrono_tz::Asia::Kolkata][dice.below(3) as usize];
        let every = (dice.below(3) == 0).then(|| [7, 15, 20, 45][dice.below(4) as usize]);
        Plan {
            minutes,
            hours,
            days: (dice.below(3) == 0).then_some(days),
            weekdays: (dice.below(3) == 0).then_some(weekdays),
            // What names its hours has rules of its own where the clock changes; this skips a gap and comes twice in an overlap.
            zone: match every {
                Some(_) if dice.below(2) == 0 => chrono_tz::America::New_York,
                _ => zone,
            },
            every,
            misfire: if dice.below(3) == 0 { Misfire::Skip } else { Misfire::RunOnce },
        }
    }

    fn cron(&self) -> String {
        let list = |list: &[u32]| list.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let any = |field: &Option<Vec<u32>>| field.as_deref().map_or("*".to_owned(), list);
        let minutes = self.every.map_or_else(|| list(&self.minutes), |every| format!("*/{every}"));
        format!("{minutes} {} {} * {}", list(&self.hours), any(&self.days), any(&self.weekdays))
    }

    fn matches(&self, at: i64) -> bool {
        let local = Timestamp(at).to_utc().with_timezone(&self.zone);
        let day = || self.days.as_ref().is_some_and(|days| days.contains(&local.day()));
        let weekday = || {
            let number = local.weekday().num_days_from_sunday();
            self.weekdays.as_ref().is_some_and(|weekdays| weekdays.contains(&number))
        };
        let on_day = (self.days.is_none() && self.weekdays.is_none()) || day() || weekday();
        let on_minute = match self.every {
            Some(every) => local.minute().is_multiple_of(every),
            None => self.minutes.contains(&local.minute()),
        };
        on_day && on_minute && self.hours.contains(&local.hour())
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What happens in turn.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The timer runs until the clock shows this.
    Runs(i64),
    /// Nobody looks, and the clock shows this when somebody does again: off, asleep, or set ahead; or set back.
    Clock(i64),
    /// The program is started anew on the same files.
    Restart,
}

fn month(dice: &mut Dice, begin: i64) -> Vec<Event> {
    let (mut events, mut now) = (Vec::new(), begin);
    while now < begin + 30 * 24 * 60 * MINUTE {
        let run = now + (1 + dice.below(36 * 60) as i64) * MINUTE + dice.below(60_000) as i64;
        events.push(Event::Runs(run));
        now = run;
        match dice.below(5) {
            0 => events.push(Event::Restart),
            1 | 2 => {
                now += dice.below(20 * 60) as i64 * MINUTE;
                events.push(Event::Clock(now));
            }
            3 => {
                now -= dice.below(10 * 60) as i64 * MINUTE;
                events.push(Event::Clock(now));
            }
            _ => {}
        }
    }
    events
}

/// Minute by minute: `(made at, due)` of every job. `run_once` makes up for all that was missed with one job, under the first
/// missed due time; `skip` leaves out what is late.
fn scan(plan: &Plan, events: &[Event], begin: i64) -> Vec<(i64, i64)> {
    let (mut now, mut made, mut fired) = (begin, Vec::new(), BTreeSet::new());
    // The due times that count from `from` on: those that made no job yet.
    let first = |from: i64, fired: &BTreeSet<i64>| {
        let minute = (from.div_euclid(MINUTE) + 1) * MINUTE;
        (0..60 * 24 * 400).map(|n| minute + n * MINUTE).find(|at| plan.matches(*at) && !fired.contains(at))
    };
    let mut next = first(now, &fired);
    for event in events {
        match event {
            Event::Restart => {}
            Event::Clock(to) => {
                if *to < now {
                    let again = first(*to, &fired);
                    next = next.min(again).or(again);
                }
                now = *to;
            }
            Event::Runs(until) => {
                while let Some(due) = next.filter(|due| *due <= *until) {
                    now = now.max(due);
                    if plan.misfire == Misfire::RunOnce || now - due <= GRACE {
                        made.push((now, due));
                        fired.insert(due);
                        next = first(now, &fired);
                    } else {
                        // One that is not late yet still counts.
                        next = first(now - GRACE - 1, &fired);
                    }
                }
                now = *until;
            }
        }
    }
    made
}

#[tokio::test]
async fn a_month_of_restarts_and_clock_jumps_fires_what_a_scan_of_every_minute_says() {
    let begin = at("2026-02-20 10:07").0;
    for seed in 1..=5 {
        let mut dice = Dice(seed);
        let dir = tempfile::tempdir().unwrap();
        let mut table = store(dir.path());
        let clock = LeapClock::at(Timestamp(begin));
        let mut plans = Vec::new();
        for n in 0..8 {
            let plan = Plan::random(&mut dice);
            let trigger = Trigger::Cron { cron: plan.cron() };
            let new = NewSchedule {
                zone: Some(plan.zone),
                misfire: plan.misfire,
                // Nobody works here: a job that waits must not keep the next one from being made.
                overlap: Overlap::Queue,
                ..NewSchedule::new(format!("s{n}"), "hook", trigger)
            };
            plans.push((add(&table, new, clock.now()).await.id, plan));
        }
        let events = month(&mut dice, begin);
        for event in &events {
            match event {
                Event::Restart => {
                    drop(table);
                    table = store(dir.path());
                }
                Event::Clock(to) => clock.set(Timestamp(*to)),
                Event::Runs(until) => run_until(&table, &clock, *until).await,
            }
        }
        let made = jobs(&table).await;
        for (id, plan) in &plans {
            let expected = scan(plan, &events, begin);
            let key = format!("schedule:{id}:");
            let got: Vec<(i64, i64)> = made
                .iter()
                .filter(|job| job.unique_key.as_ref().unwrap().starts_with(&key))
                .map(|job| (job.created_at.0, job.due_at.0))
                .collect();
            assert_eq!(got, expected, "seed {seed}, {} in {}, {:?}", plan.cron(), plan.zone, plan.misfire);
            let dues: BTreeSet<i64> = got.iter().map(|(_, due)| *due).collect();
            assert_eq!(dues.len(), got.len(), "nothing fires twice");
            assert!(got.iter().all(|(made, due)| made >= due), "nothing fires early");
        }
        assert!(made.len() > 100, "a month without work proves nothing: {}", made.len());
        assert!(table.wake().await.unwrap().earliest.is_some());
    }
}

/// The timer itself, until the clock shows `until`.
async fn run_until(table: &Arc<dibao::store::SqliteStore>, clock: &Arc<LeapClock>, until: i64) {
    let timer = timer(table, clock.clone());
    let stop = CancellationToken::new();
    // The clock stops at the moment, as it would for somebody who looks then: it is stepped to it, not beyond.
    loop {
        let pass = timer.pass().await.unwrap();
        let left = until - clock.now().0;
        if left <= 0 {
            break;
        }
        let step = (pass.sleep.as_millis() as i64).min(left);
        clock.set(Timestamp(clock.now().0 + step));
    }
    stop.cancel();
    timer.run(stop).await.unwrap();
}
