//! Made-up sources of the kinds that are met, from a seed: the same seed makes the same history.

use chrono_tz::Tz;

use super::{History, Trace};
use crate::schedule::predictive::day_of;

const DAY: i64 = 86_400;
const HOUR: f64 = 3600.0;
/// Midnight of 2024-08-26 in Shanghai, a Monday: two holiday weeks and five make-up days follow.
pub const START: i64 = 1_724_601_600;
/// The zone they all live in.
pub const ZONE: Tz = chrono_tz::Asia::Shanghai;
/// How long a history is.
pub const DAYS: i64 = 112;

/// A kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Twice a working day at fixed times, give or take some minutes.
    FixedTimes,
    /// A batch of some items at nine on working days.
    DailyBatch,
    /// Any time of the working hours, a few items a day.
    WorkingHours,
    /// Tuesdays and Fridays in the morning.
    Weekly,
    /// Silence, then many items within hours.
    Bursty,
    /// Working hours, and nothing in holiday weeks but double before them.
    HolidayQuiet,
    /// Working hours, but the stamp is midnight of the day.
    DateOnly,
    /// Around midnight, on both sides.
    NearMidnight,
    /// Nothing any more after the first weeks.
    Dead,
    /// Nothing for months, then several a day.
    WakingUp,
    /// News by day and night, forty a day.
    News,
    /// An item now and then at any time.
    Irregular,
    /// As a set of feeds is: few very quick, many slow, with days, nights, weekends and small bursts.
    FeedSet,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 13] = [
        Kind::FixedTimes,
        Kind::DailyBatch,
        Kind::WorkingHours,
        Kind::Weekly,
        Kind::Bursty,
        Kind::HolidayQuiet,
        Kind::DateOnly,
        Kind::NearMidnight,
        Kind::Dead,
        Kind::WakingUp,
        Kind::News,
        Kind::Irregular,
        Kind::FeedSet,
    ];

    /// In a table.
    pub fn name(self) -> &'static str {
        match self {
            Kind::FixedTimes => "fixed times",
            Kind::DailyBatch => "daily batch",
            Kind::WorkingHours => "working hours",
            Kind::Weekly => "weekly",
            Kind::Bursty => "bursty",
            Kind::HolidayQuiet => "holiday-quiet",
            Kind::DateOnly => "date-only",
            Kind::NearMidnight => "near midnight",
            Kind::Dead => "dead",
            Kind::WakingUp => "waking up",
            Kind::News => "news",
            Kind::Irregular => "irregular",
            Kind::FeedSet => "feed set",
        }
    }

    /// The publish times of one source of this kind, in order.
    pub fn history(self, seed: u64) -> Vec<i64> {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9) ^ (self as u64) << 40);
        let mut out = Vec::new();
        let style = Style::of(&mut dice);
        for day in 0..DAYS {
            let start = START + day * DAY;
            let worked = is_worked(day);
            let weekday = day % 7;
            let mut at = |hour: f64| out.push(start + (hour * HOUR) as i64);
            match self {
                Kind::FixedTimes if worked => {
                    at(8.5 + dice.normal() * 0.08);
                    at(17.0 + dice.normal() * 0.08);
                }
                Kind::DailyBatch if worked => {
                    let hour = 9.0 + dice.normal().abs() * 0.15;
                    (0..2 + dice.below(6)).for_each(|i| at(hour + i as f64 * 0.01));
                }
                Kind::WorkingHours if worked => (0..dice.poisson(3.0)).for_each(|_| at(dice.office())),
                Kind::Weekly if weekday == 1 || weekday == 4 => at(10.0 + dice.normal() * 0.5),
                Kind::Bursty if dice.below(9) == 0 => {
                    let begin = 7.0 + dice.unit() * 12.0;
                    (0..3 + dice.below(20)).for_each(|_| at(begin + dice.exponential(1.5)));
                }
                Kind::HolidayQuiet if worked => {
                    let eve = (1..=3).any(|d| !is_worked(day + d));
                    (0..dice.poisson(if eve { 4.0 } else { 2.0 })).for_each(|_| at(dice.office()));
                }
                Kind::DateOnly if worked => (0..dice.poisson(2.0)).for_each(|_| at(0.0)),
                Kind::NearMidnight => (0..dice.poisson(1.2)).for_each(|_| at(24.0 + dice.normal() * 0.6)),
                Kind::Dead if day < 35 => (0..dice.poisson(1.0)).for_each(|_| at(dice.office())),
                Kind::Dead if day % 40 == 17 => at(dice.office()),
                Kind::WakingUp if day > 60 || day % 20 == 3 => {
                    (0..dice.poisson(4.0)).for_each(|_| at(dice.office()))
                }
                Kind::News => {
                    (0..dice.poisson(if worked { 44.0 } else { 30.0 })).for_each(|_| at(dice.newsroom()))
                }
                Kind::Irregular => (0..dice.poisson(0.7)).for_each(|_| at(dice.unit() * 24.0)),
                Kind::FeedSet => style.day(&mut dice, weekday >= 5, &mut at),
                _ => {}
            }
        }
        out.sort_unstable();
        out
    }
}

/// Whether offices work, that many days after the start; START is a local midnight, so whole days are local days.
fn is_worked(day: i64) -> bool {
    day_of((START + 8 * 3600) / DAY + day, ZONE).is_worked()
}

/// What one feed of a set is like.
struct Style {
    per_day: f64,
    weekend: f64,
    peak: f64,
    width: f64,
    flat: f64,
    burst: f64,
    sharp: Option<f64>,
}

impl Style {
    fn of(dice: &mut Dice) -> Style {
        Style {
            per_day: (dice.normal() * 1.9 + 0.3).exp().clamp(0.02, 250.0),
            weekend: dice.unit(),
            peak: 8.0 + dice.unit() * 12.0,
            width: 1.5 + dice.unit() * 4.0,
            flat: dice.unit() * 0.5,
            burst: if dice.below(2) == 0 { 1.0 } else { 1.0 + dice.exponential(3.0) },
            sharp: (dice.below(4) == 0).then(|| (dice.below(48) as f64) / 2.0),
        }
    }

    fn day(&self, dice: &mut Dice, weekend: bool, at: &mut impl FnMut(f64)) {
        let mood = (dice.normal() * 0.5).exp();
        let rate = self.per_day * mood * if weekend { self.weekend } else { 1.0 };
        for _ in 0..dice.poisson(rate / self.burst) {
            let hour = match self.sharp {
                Some(hour) if dice.unit() < 0.7 => hour + dice.unit() * 0.08,
                _ if dice.unit() < self.flat => dice.unit() * 24.0,
                _ => (self.peak + dice.normal() * self.width).rem_euclid(24.0),
            };
            let n = if self.burst > 1.0 { 1 + dice.poisson(self.burst - 1.0) } else { 1 };
            (0..n).for_each(|_| at(hour + dice.unit() * 0.1));
        }
    }
}

/// SplitMix64: small, even enough, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (self.unit() * std::f64::consts::TAU).cos()
    }

    fn poisson(&mut self, mean: f64) -> u64 {
        let mut left = mean;
        let mut n = 0;
        loop {
            left -= self.exponential(1.0);
            if left < 0.0 {
                return n;
            }
            n += 1;
        }
    }

    /// An hour between half past eight and six, with a pause at noon.
    fn office(&mut self) -> f64 {
        loop {
            let hour = 8.5 + self.unit() * 9.5;
            if !(12.0..14.0).contains(&hour) || self.below(5) == 0 {
                return hour;
            }
        }
    }

    /// Any hour, few at night.
    fn newsroom(&mut self) -> f64 {
        loop {
            let hour = self.unit() * 24.0;
            if (6.5..23.5).contains(&hour) || self.below(8) == 0 {
                return hour;
            }
        }
    }
}

/// A trace of several sources of one kind.
pub fn trace(kind: Kind, sources: u64) -> Trace {
    let history =
        |seed| History { id: format!("{}-{seed}", kind.name()), tz: ZONE, published: kind.history(seed) };
    Trace { sources: (0..sources).map(history).collect() }
}
