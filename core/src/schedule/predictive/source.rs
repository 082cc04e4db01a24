//! One source: what its looks have shown, and when the next one pays.

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::habit::Habit;
use super::plan::{Ask, Plan};
use super::pulse::Pulse;
use super::rate::Rate;
use crate::schedule::classic::{Cadence, cadence_of_interval};
use crate::schedule::policy::Decision;

const DAY: i64 = 86_400;
/// What a look costs at knob 1, in item-seconds: a source with an item a day is then looked at about every hour.
const PRICE: f64 = 525.0;
/// An item weighs `1 + SLOW / rate`, in items a day over months: a source slower than this is served for its own sake.
/// Measured: half of it costs sources some per cent and gives items twice as much, the double of it the reverse.
const SLOW: f64 = 6.0;
/// As many rows as a list usually shows; so many new ones at once, and some may have been pushed off.
const PAGE: usize = 20;
/// Never sooner, whatever the price.
const SOONEST: i64 = 60;
/// Pieces of time in the near part of a plan, and their shortest and longest; the far part has the longest.
const NEAR: usize = 96;
const PIECE: [i64; 2] = [20, 600];
/// Steps in which the pulse is taken: a quarter of an hour, or so many between two items.
const STEP: i64 = 900;
const MOST_STEPS: i64 = 200;
/// How far a plan looks: over the coming day and a little into the next.
const HORIZON: i64 = 26 * 3600;

/// What a decision came down to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The waiting of what is expected reaches the price of a look.
    #[default]
    Pays,
    /// It would pay later, but no source waits longer than a day.
    Day,
    /// It would pay later, but a source of this cadence waits no longer.
    Cadence,
    /// It would pay later, but the last page was full of new items.
    FullPage,
}

/// Which bounds hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// At most two base intervals of the source's cadence, and at most 24 hours.
    #[default]
    Bounded,
    /// At most 24 hours, so that a set of sources can be held to any budget.
    Budget,
}

/// What is known of one source. Times are seconds since 1970.
#[derive(Clone, Debug)]
pub struct Source {
    zone: Tz,
    habit: Habit,
    rate: Rate,
    pulse: Pulse,
    looked_at: i64,
    found: usize,
    /// Publish times at midnight sharp, and all of them, the latest counting most.
    midnights: f64,
    stamps: f64,
    edges: Vec<i64>,
    items: Vec<f64>,
    plan: Plan,
    expected: f64,
    reason: Reason,
}

impl Source {
    /// A source at its first look, with the publish times on its page in any order.
    pub fn open(zone: Tz, now: i64, page: &[i64]) -> Source {
        let now = within_reason(now);
        let mut source = Source {
            zone,
            habit: Habit::new(zone),
            rate: Rate::default(),
            pulse: Pulse::default(),
            looked_at: now,
            found: 0,
            midnights: 0.0,
            stamps: 0.0,
            edges: Vec::new(),
            items: Vec::new(),
            plan: Plan::default(),
            expected: 0.0,
            reason: Reason::default(),
        };
        let mut known: Vec<i64> = page.iter().copied().filter(|at| *at > 0 && *at < now).collect();
        known.sort_unstable();
        let Some((&first, rest)) = known.split_first() else {
            return source;
        };
        known.iter().for_each(|at| source.stamp(*at));
        let date_only = source.is_date_only();
        // The oldest item says where the page begins, and nothing about how often items come.
        source.rate.watched(days(first, now), days(first, now));
        let mut clock = source.local(first);
        for &at in rest {
            // A date is anywhere in its day.
            let came = if date_only { at + (now - at).min(DAY) / 2 } else { at };
            source.rate.came(1.0, days(came, now));
            if !date_only {
                let local = source.local(at);
                source.habit.watched(clock, local);
                source.habit.published(local);
                clock = clock.max(local);
            }
        }
        let local = source.local(now);
        source.habit.watched(clock, local);
        source.habit.learn();
        if !date_only {
            source.pulse.item(first);
            source.feel(first, rest, now);
        }
        source
    }

    /// A look, and the publish times that it was the first to see.
    pub fn look(&mut self, now: i64, new: &[i64]) {
        let before = self.looked_at;
        let now = within_reason(now).max(before);
        let (from, until) = (self.local(before), self.local(now));
        self.rate.watched(days(before, now), self.habit.usual_days(from, until));
        self.habit.watched(from, until);
        (self.looked_at, self.found) = (now, new.len());
        self.pulse.fade(days(before, now));
        if new.is_empty() {
            return self.feel(before, &[], now);
        }
        new.iter().for_each(|at| self.stamp(*at));
        let date_only = self.is_date_only();
        let (mut somewhere, mut exact) = (0.0, Vec::with_capacity(new.len()));
        for &at in new {
            if at >= now || at <= before || (date_only && self.is_midnight(at)) {
                somewhere += 1.0;
            } else {
                self.rate.came(1.0, days(at, now));
                self.habit.published(self.local(at));
                exact.push(at);
            }
        }
        if somewhere > 0.0 {
            exact.push(before + (now - before) / 2);
            self.rate.came(somewhere, days(before, now) / 2.0);
            self.habit.published_between(from, until, somewhere);
        }
        self.habit.learn();
        exact.sort_unstable();
        self.feel(before, &exact, now);
    }

    /// Takes the pulse over a stretch of time with these items in it, in order.
    fn feel(&mut self, from: i64, items: &[i64], until: i64) {
        let per_second = self.rate.per_day() / DAY as f64;
        let mut at = from;
        for (end, is_item) in items.iter().map(|item| (*item, true)).chain([(until, false)]) {
            let step = ((end - at) / MOST_STEPS).max(STEP);
            while at < end {
                let piece = step.min(end - at);
                let mut busy = 1.0;
                self.habit.busy(self.local(at), &[0, piece], |usual| busy = usual);
                self.pulse.quiet(at + piece / 2, per_second * busy * piece as f64);
                at += piece;
            }
            if is_item {
                self.pulse.item(end);
            }
        }
        self.pulse.learn();
    }

    /// When to look next. `knob` multiplies the price of a look: bigger means fewer looks.
    pub fn decide(&mut self, knob: f64, mode: Mode) -> Decision {
        let rate = self.rate.per_day();
        let knob = if knob.is_finite() { knob.clamp(1e-9, 1e12) } else { 1.0 };
        let price = PRICE * knob / (1.0 + SLOW / self.rate.of_months());
        let per_second = rate / DAY as f64;
        self.cut((2.0 * price / per_second).sqrt());
        let (items, edges) = (&mut self.items, &self.edges);
        items.clear();
        let local = local(self.zone, self.looked_at);
        self.habit.busy(local, edges, |busy| {
            let k = items.len();
            items.push(per_second * busy * (edges[k + 1] - edges[k]) as f64);
        });
        self.pulse.bend(self.looked_at, edges, items);
        let edge = self.plan.first_look(&Ask { edges, items, price });
        let planned = edges[edge];
        let mut wait = planned;
        let full = self.found >= PAGE;
        if full {
            wait = wait * 17 / 20;
        }
        let cadence = self.cadence();
        let longest = match mode {
            Mode::Bounded => DAY.min(2 * cadence.seconds()),
            Mode::Budget => DAY,
        };
        let wait = wait.clamp(SOONEST, longest);
        let expected = self.plan.expected(edge) * wait as f64 / planned.max(1) as f64;
        self.expected = expected;
        let then = local + wait;
        self.reason = match (wait < planned, full) {
            (false, _) => Reason::Pays,
            (true, _) if wait == longest && longest == DAY => Reason::Day,
            (true, _) if wait == longest => Reason::Cadence,
            (true, _) => Reason::FullPage,
        };
        let reason = match self.reason {
            Reason::Pays => "waiting reaches the price of a look then".to_owned(),
            Reason::Day => "no source waits longer than a day".to_owned(),
            Reason::Cadence => format!("a source of cadence {} waits no longer", cadence.name()),
            Reason::FullPage => "the page was full of new items, so earlier than planned".to_owned(),
        };
        let why = format!(
            "expects {expected:.2} items by {:02}:{:02} on {}, {rate:.2} a day; {reason}",
            then.rem_euclid(DAY) / 3600,
            then.rem_euclid(3600) / 60,
            self.habit.day(then).words(),
        );
        Decision { next: self.looked_at + wait, why }
    }

    /// Items a day.
    pub fn per_day(&self) -> f64 {
        self.rate.per_day()
    }

    /// Items expected by the look that was decided last.
    pub fn expected(&self) -> f64 {
        self.expected
    }

    /// What the last decision came down to.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The label that goes with the rate (S0-12).
    pub fn cadence(&self) -> Cadence {
        let rate = self.rate.per_day();
        cadence_of_interval(24.0 / rate, rate).cadence()
    }

    /// Cuts the time ahead into pieces, fine enough for the interval that an even source of this rate would have.
    fn cut(&mut self, even: f64) {
        let near = ((even / 12.0) as i64).clamp(PIECE[0], PIECE[1]);
        self.edges.clear();
        let mut edge = 0;
        while edge < HORIZON {
            self.edges.push(edge);
            edge += if self.edges.len() <= NEAR { near } else { PIECE[1] };
        }
        self.edges.push(edge);
    }

    fn local(&self, at: i64) -> i64 {
        local(self.zone, at)
    }

    fn is_midnight(&self, at: i64) -> bool {
        self.local(at).rem_euclid(DAY) == 0
    }

    fn stamp(&mut self, at: i64) {
        self.midnights = self.midnights * 0.95 + f64::from(u8::from(self.is_midnight(at)));
        self.stamps = self.stamps * 0.95 + 1.0;
    }

    fn is_date_only(&self) -> bool {
        self.midnights * 2.0 > self.stamps
    }
}

fn days(from: i64, until: i64) -> f64 {
    (until - from) as f64 / DAY as f64
}

/// Nobody looks before 1970 or after the year 5000; a stray number must not overflow.
fn within_reason(at: i64) -> i64 {
    at.clamp(0, 95_617_584_000)
}

/// Seconds as the clocks of the zone show them. A plan takes the offset of its start for the whole day ahead: the two
/// nights a year on which that is an hour off are made up for at the next look.
fn local(zone: Tz, at: i64) -> i64 {
    let offset = DateTime::from_timestamp(at, 0)
        .map(|at| zone.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc());
    at.saturating_add(i64::from(offset.unwrap_or_default()))
}
