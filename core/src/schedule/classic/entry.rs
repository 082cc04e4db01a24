//! What a source's recent entries say: how often it publishes, and at which hour (S0-14, S0-15).

use std::f64::consts::TAU;

use chrono::{DateTime, Timelike};
use chrono_tz::Tz;

use super::cadence::{Cadence, Frequency, cadence_of_interval};

/// Fewer entries than this say nothing (S0-14, S0-15).
const FEWEST: usize = 3;
/// Arithmetic and circular mean further apart than this: the hours lie around midnight, the mean means nothing (I3).
const HOURS_APART: f64 = 3.0;

/// One entry of a source, as far as its rhythm is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What the source says; not above zero counts as unreadable and is skipped (S0-37).
    pub published_at: i64,
    /// When we first saw it, for sources that publish dates without times; zero when unknown.
    pub first_seen_at: i64,
    /// The source gave a day and no hour (I4).
    pub date_only: bool,
}

impl Entry {
    /// An entry published at a known second.
    pub fn at(published_at: i64) -> Entry {
        Entry { published_at, first_seen_at: 0, date_only: false }
    }

    /// The hour of the day in the zone, minutes as a fraction; of a date-only entry the hour at which we saw it.
    fn hour(&self, zone: Tz) -> Option<f64> {
        let at = if self.date_only { self.first_seen_at } else { self.published_at };
        let at = DateTime::from_timestamp(at, 0).filter(|_| at > 0)?.with_timezone(&zone);
        Some(f64::from(at.num_seconds_from_midnight()) / 3600.0)
    }
}

/// How often a source publishes, and the cadence that goes with it (S0-14). Fewer than three readable entries: the
/// default. Entries of the same day that have no hour count as one (I4), so that an upload of a whole day's list is not
/// taken for news in real time.
pub fn classify_update_frequency(entries: &[Entry], zone: Tz) -> (Frequency, Cadence) {
    let mut times: Vec<i64> =
        entries.iter().filter(|entry| entry.published_at > 0).map(interval_mark(zone)).collect();
    times.sort_unstable();
    if times.len() >= FEWEST && entries.iter().all(|entry| entry.date_only) {
        times.dedup();
    }
    let (Some(first), Some(last), true) = (times.first(), times.last(), times.len() >= FEWEST) else {
        return (Frequency::default(), Cadence::default());
    };
    let span = last.saturating_sub(*first) as f64;
    let hours = span / 3600.0 / (times.len() - 1) as f64;
    let per_day = times.len() as f64 / (span / 86_400.0).max(1.0);
    let frequency = cadence_of_interval(hours, per_day);
    (frequency, frequency.cadence())
}

/// The moment that counts for intervals: of a date-only entry the start of its day, so that a day is one mark.
fn interval_mark(zone: Tz) -> impl Fn(&Entry) -> i64 {
    move |entry| {
        let local = DateTime::from_timestamp(entry.published_at, 0).map(|at| at.with_timezone(&zone));
        match local {
            Some(at) if entry.date_only => entry.published_at - i64::from(at.num_seconds_from_midnight()),
            _ => entry.published_at,
        }
    }
}

/// Arithmetic mean and deviation of the publish hours, the deviation within 1 … 6 (S0-15); none below three.
pub fn calculate_publish_time_stats(entries: &[Entry], zone: Tz) -> (Option<f64>, Option<f64>) {
    let hours = hours(entries, zone);
    if hours.len() < FEWEST {
        return (None, None);
    }
    let n = hours.len() as f64;
    let mean = hours.iter().sum::<f64>() / n;
    let variance = hours.iter().map(|hour| (hour - mean).powi(2)).sum::<f64>() / n;
    (Some(mean), Some(variance.sqrt().clamp(1.0, 6.0)))
}

/// The hour to predict with: the circular mean, when it and the arithmetic one agree (I3). A source that publishes
/// at 23:50 and at 00:10 has an arithmetic mean at noon and no use for it.
pub fn typical_hour(entries: &[Entry], zone: Tz) -> Option<f64> {
    let mean = calculate_publish_time_stats(entries, zone).0?;
    let (sin, cos) = hours(entries, zone)
        .into_iter()
        .map(|hour| (hour * TAU / 24.0).sin_cos())
        .fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    let circular = (sin.atan2(cos) * 24.0 / TAU).rem_euclid(24.0);
    let apart = (circular - mean).abs();
    (apart.min(24.0 - apart) <= HOURS_APART).then_some(circular)
}

fn hours(entries: &[Entry], zone: Tz) -> Vec<f64> {
    entries.iter().filter_map(|entry| entry.hour(zone)).collect()
}
