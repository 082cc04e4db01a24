//! When a source is looked at next by the classic policy (S0-16), and nothing about failures.

use chrono::{DateTime, Timelike};
use chrono_tz::Tz;

use super::cadence::{Cadence, Frequency};

/// No source waits longer.
pub(super) const DAY: i64 = 86_400;
/// A deviation above this is no rhythm.
const REGULAR: f64 = 3.0;

/// The next look, in seconds since 1970: after the predicted hour of a regular source, else one base interval with
/// 15 % of jitter either way. Always later than now, at most 24 hours and at most two base intervals away; the jitter
/// is clamped too, so that P6 stays within its day (I1).
///
/// `random` is in `0.0..1.0`. Real-time and high-frequency sources are never predicted: their base is shorter than any
/// rhythm of hours.
#[expect(
    clippy::too_many_arguments,
    reason = "the seed's signature, with now, randomness and zone made visible"
)]
pub fn calculate_next_check_time(
    now: i64,
    random: f64,
    zone: Tz,
    cadence: Cadence,
    frequency: Frequency,
    avg_publish_hour: Option<f64>,
    std_publish_hour: Option<f64>,
    last_article_at: i64,
) -> i64 {
    let base = cadence.seconds();
    let quick = matches!(frequency, Frequency::Realtime | Frequency::High);
    let predicted = match (avg_publish_hour, std_publish_hour) {
        (Some(hour), Some(std)) if !quick && std <= REGULAR && hour.is_finite() => {
            after_hour(now, zone, hour + std / 2.0, last_article_at)
        }
        _ => None,
    };
    let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 0.5 };
    let wait = predicted.unwrap_or((base as f64 * (0.85 + 0.3 * random)) as i64);
    now.saturating_add(wait.clamp(1, DAY.min(2 * base)))
}

/// Seconds until that hour of the day comes next; when today's item is there already, until tomorrow's.
fn after_hour(now: i64, zone: Tz, hour: f64, last_article_at: i64) -> Option<i64> {
    let local = DateTime::from_timestamp(now, 0)?.with_timezone(&zone);
    let since_midnight = i64::from(local.num_seconds_from_midnight());
    let mark = (hour.rem_euclid(24.0) * 3600.0) as i64;
    let wait = mark - since_midnight;
    let published_today = last_article_at >= now.saturating_sub(since_midnight) && last_article_at <= now;
    Some(if wait <= 0 || published_today { wait + DAY } else { wait })
}
