//! At which time of the day and on which days a source publishes, learned from its items.
//!
//! Three pictures of the day compete for each source: a flat one, one of smoothed half hours, and a sharp one of ten
//! minutes for sources with a fixed hour. Each is asked what it thought of an item before it learns from it, and is
//! believed by its record (a Bayesian mixture), so that a young or irregular source stays flat and a punctual one
//! becomes sharp without a threshold in between. Working days and days of rest have pictures of their own, which lean
//! on the common one.

use std::f64::consts::LN_2;
use std::ops::Range;

use chrono_tz::Tz;

use super::calendar::{Day, day_of};
use super::minute::Minutes;

/// Ten minutes: bins of the sharp picture, and of the whole that is made of all three.
const BINS: usize = 144;
const HALF_HOURS: usize = 48;
const DAY: i64 = 86_400;
const BIN: i64 = DAY / BINS as i64;
/// Evidence of the hour and of the weekday fades by half in this many days.
const HALF_LIFE: f64 = 63.0;
/// Flat pseudo-items in the smoothed and in the sharp picture.
const FLAT: [f64; 2] = [4.0, 3.0];
/// The picture of one kind of day leans on the common one by this many items.
const LEAN_KIND: f64 = 10.0;
/// Working days and rest, and the single weekdays below them, lean on "all the same" by this many items.
const LEAN_DAY: [f64; 2] = [5.0, 8.0];
/// Items closer together are one event: ten items of one minute are not ten proofs of the hour.
const ONE_EVENT: i64 = 1200;
/// No picture is written off for good: at worst it is this far behind, in natural logarithms.
const MOST_BEHIND: f64 = 6.0;
/// Into how many moments a stretch is cut in which items are known to lie.
const MOMENTS: i64 = 24;
/// Steps in which time that passed is weighed: a quarter of an hour, or so many between two looks.
const STEP: i64 = 900;
const MOST_STEPS: i64 = 200;

/// One picture of the day for each kind of day: 0 worked, 1 rest.
#[derive(Clone, Debug)]
struct Picture<const N: usize> {
    seen: [[f32; N]; 2],
    total: [f64; 2],
    flat: f64,
}

impl<const N: usize> Picture<N> {
    fn new(flat: f64) -> Self {
        Picture { seen: [[0.0; N]; 2], total: [0.0; 2], flat }
    }

    fn bin(second: i64) -> usize {
        (second.rem_euclid(DAY) * N as i64 / DAY) as usize
    }

    fn fade(&mut self, kept: f64) {
        self.seen.iter_mut().flatten().for_each(|seen| *seen *= kept as f32);
        self.total.iter_mut().for_each(|total| *total *= kept);
    }

    /// Spreads an item over its bin and `reach` neighbours on each side, falling off evenly.
    fn add(&mut self, kind: usize, second: i64, reach: i64, weight: f64) {
        let bin = Self::bin(second) as i64;
        let sum = ((reach + 1) * (reach + 1)) as f64;
        for step in -reach..=reach {
            let at = (bin + step).rem_euclid(N as i64) as usize;
            self.seen[kind][at] += (weight * (reach + 1 - step.abs()) as f64 / sum) as f32;
        }
        self.total[kind] += weight;
    }

    /// How busy a bin is, 1 = as in a flat day.
    fn density(&self, kind: usize, bin: usize) -> f64 {
        let [own, other] = [kind, 1 - kind].map(|kind| f64::from(self.seen[kind][bin]) * N as f64);
        let common = (own + other + self.flat) / (self.total[0] + self.total[1] + self.flat);
        (own + LEAN_KIND * common) / (self.total[kind] + LEAN_KIND)
    }
}

/// What is known of the hours and days of one source. Moments are local seconds: those of UTC plus the zone's offset.
#[derive(Clone, Debug)]
pub struct Habit {
    zone: Tz,
    wide: Picture<HALF_HOURS>,
    sharp: Picture<BINS>,
    minutes: Minutes,
    /// How well flat, wide and sharp foretold so far, in natural logarithms.
    record: [f64; 3],
    /// Decayed days watched and items seen, by weekday.
    days: [f64; 7],
    items: [f64; 7],
    last_event: i64,
    /// The mixture of the pictures, for worked and rest days; made anew on evidence.
    day: [[f32; BINS]; 2],
    /// How busy each weekday is, 1 = as the mean day.
    week: [f64; 7],
}

impl Habit {
    /// Nothing is known: flat.
    pub fn new(zone: Tz) -> Habit {
        Habit {
            zone,
            wide: Picture::new(FLAT[0]),
            sharp: Picture::new(FLAT[1]),
            minutes: Minutes::default(),
            record: [0.0, 0.0, -1.0],
            days: [0.0; 7],
            items: [0.0; 7],
            last_event: i64::MIN,
            day: [[1.0; BINS]; 2],
            week: [1.0; 7],
        }
    }

    /// The kind of day that a moment is on.
    pub fn day(&self, local: i64) -> Day {
        day_of(local.div_euclid(DAY), self.zone)
    }

    fn kind(&self, local: i64) -> usize {
        usize::from(!self.day(local).is_worked())
    }

    /// How busy consecutive pieces of time are against the mean, from a moment on.
    pub fn busy(&self, from: i64, edges: &[i64], mut piece: impl FnMut(f64)) {
        let mut today = i64::MIN;
        let (mut kind, mut factor) = (0, 1.0);
        for pair in edges.windows(2) {
            let (at, length) = (from + (pair[0] + pair[1]) / 2, pair[1] - pair[0]);
            if at.div_euclid(DAY) != today {
                today = at.div_euclid(DAY);
                let day = day_of(today, self.zone);
                (kind, factor) = (usize::from(!day.is_worked()), self.week[day.like]);
            }
            let hour = f64::from(self.day[kind][(at.rem_euclid(DAY) / BIN) as usize]);
            piece(factor * hour * self.minutes.busy(at, length));
        }
    }

    /// How many mean days a stretch is worth: a night or a holiday hardly any.
    pub fn usual_days(&self, from: i64, until: i64) -> f64 {
        let step = ((until - from) / MOST_STEPS).max(STEP);
        let edges: Vec<i64> = (0..).map(|i| i * step).take_while(|at| *at < until - from).collect();
        let mut days = 0.0;
        for (i, at) in edges.iter().enumerate() {
            let end = edges.get(i + 1).copied().unwrap_or(until - from);
            self.busy(from, &[*at, end], |busy| days += busy * (end - at) as f64 / DAY as f64);
        }
        days
    }

    /// Time passed in which everything that was published is known.
    pub fn watched(&mut self, from: i64, until: i64) {
        if until <= from {
            return;
        }
        let kept = (-((until - from) as f64) / DAY as f64 * LN_2 / HALF_LIFE).exp();
        self.days.iter_mut().chain(&mut self.items).chain(&mut self.record).for_each(|sum| *sum *= kept);
        self.minutes.fade(kept);
        self.wide.fade(kept);
        self.sharp.fade(kept);
        let mut at = from.max(until - 120 * DAY);
        while at < until {
            let end = ((at.div_euclid(DAY) + 1) * DAY).min(until);
            self.days[self.day(at).like] += (end - at) as f64 / DAY as f64;
            at = end;
        }
    }

    /// An item was published at a moment.
    pub fn published(&mut self, local: i64) {
        let kind = self.kind(local);
        let wide = self.wide.density(kind, Picture::<HALF_HOURS>::bin(local));
        let sharp = self.sharp.density(kind, Picture::<BINS>::bin(local));
        self.judge(local, [1.0, wide, sharp]);
        self.minutes.published(local);
        self.wide.add(kind, local, 2, 1.0);
        self.sharp.add(kind, local, 1, 1.0);
        let like = self.day(local).like;
        self.items[like] += 1.0;
    }

    /// Items lie somewhere between two moments, and that is all that is known: they count where they were expected.
    pub fn published_between(&mut self, from: i64, until: i64, items: f64) {
        let width = ((until - from) / MOMENTS).max(1);
        let moments = || (0..MOMENTS).map(|i| from + width / 2 + i * width).filter(|at| *at <= until);
        let (mut busy, mut seen) = (Vec::with_capacity(MOMENTS as usize), [0.0; 3]);
        for at in moments() {
            let kind = self.kind(at);
            let wide = self.wide.density(kind, Picture::<HALF_HOURS>::bin(at));
            let sharp = self.sharp.density(kind, Picture::<BINS>::bin(at));
            seen.iter_mut().zip([1.0, wide, sharp]).for_each(|(seen, density)| *seen += density);
            busy.push(f64::from(self.day[kind][Picture::<BINS>::bin(at)]));
        }
        let total: f64 = busy.iter().sum();
        if total <= 0.0 {
            return;
        }
        self.judge(until, seen.map(|seen| seen / busy.len() as f64));
        for (at, busy) in moments().zip(busy) {
            let (kind, like, share) = (self.kind(at), self.day(at).like, items * busy / total);
            self.wide.add(kind, at, 1, share);
            self.sharp.add(kind, at, 0, share);
            self.items[like] += share;
        }
    }

    /// Keeps the record: what each picture thought of this moment before it was told.
    fn judge(&mut self, local: i64, densities: [f64; 3]) {
        if local.saturating_sub(self.last_event) < ONE_EVENT {
            return;
        }
        self.last_event = local;
        for (record, density) in self.record.iter_mut().zip(densities) {
            *record += density.max(0.02).ln();
        }
        let best = self.record.iter().copied().fold(f64::MIN, f64::max);
        self.record.iter_mut().for_each(|record| *record = (*record - best).max(-MOST_BEHIND));
    }

    /// Makes one picture of the three, and the week, after evidence came in.
    pub fn learn(&mut self) {
        self.minutes.learn();
        let trust = self.record.map(f64::exp);
        let trust = trust.map(|one| one / trust.iter().sum::<f64>());
        for kind in 0..2 {
            let mut wide = [0.0; HALF_HOURS];
            for (bin, wide) in wide.iter_mut().enumerate() {
                *wide = trust[0] + trust[1] * self.wide.density(kind, bin);
            }
            for bin in 0..BINS {
                let sharp = trust[2] * self.sharp.density(kind, bin);
                self.day[kind][bin] = (wide[bin * HALF_HOURS / BINS] + sharp) as f32;
            }
        }
        let sum = |sums: &[f64; 7], range: Range<usize>| sums[range].iter().sum::<f64>();
        let rate = (sum(&self.items, 0..7) + 1.0) / (sum(&self.days, 0..7) + 1.0);
        let kinds = [0..5, 5..7].map(|days| {
            (sum(&self.items, days.clone()) + LEAN_DAY[0]) / (sum(&self.days, days) * rate + LEAN_DAY[0])
        });
        for (day, busy) in self.week.iter_mut().enumerate() {
            let kind = kinds[usize::from(day >= 5)];
            *busy = kind * (self.items[day] + LEAN_DAY[1]) / (self.days[day] * rate * kind + LEAN_DAY[1]);
        }
        let mean = self.week.iter().sum::<f64>() / 7.0;
        self.week.iter_mut().for_each(|busy| *busy = (*busy / mean).max(0.02));
    }
}
