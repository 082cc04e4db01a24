//! Whether work that is due should really be done now (§2.4): quiet hours, so many a day, only when idle, by chance.
//! Pure: the moment is an argument, clock and dice included.

use std::time::Duration;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, TimeZone as _, Timelike as _, Utc};
use chrono_tz::Tz;

use crate::clock::Timestamp;

/// All that a gate may go by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Now.
    pub now: Timestamp,
    /// The zone in which hours and days are counted.
    pub zone: Tz,
    /// How often it was done today, in that zone.
    pub done_today: u32,
    /// For how long nothing else happened.
    pub idle: Duration,
    /// Random in `0.0..1.0`.
    pub unit: f64,
}

/// What a gate says.
#[derive(Clone, Debug, PartialEq)]
pub enum Fire {
    /// Yes.
    Now,
    /// Not before this moment, and why.
    Later(Timestamp, &'static str),
    /// Not this time, and why.
    Skip(&'static str),
}

/// Says whether something that is due should be done now.
///
/// ```
/// use dibao::queue::{Fire, FireGate, Moment};
///
/// struct OddDays;
/// impl FireGate for OddDays {
///     fn check(&self, moment: &Moment) -> Fire {
///         match (moment.now.0 / 86_400_000) % 2 {
///             1 => Fire::Now,
///             _ => Fire::Skip("an even day"),
///         }
///     }
/// }
/// # let zone = chrono_tz::Asia::Shanghai;
/// # let moment = Moment { now: dibao::Timestamp(0), zone, done_today: 0, idle: Default::default(), unit: 0.0 };
/// assert_eq!(OddDays.check(&moment), Fire::Skip("an even day"));
/// ```
pub trait FireGate: Send + Sync {
    /// Says it.
    fn check(&self, moment: &Moment) -> Fire;
}

/// Silent from one hour to another, over midnight if need be: `QuietHours { from: 21, to: 8 }` (S3-12). Equal hours: never
/// silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// The first silent hour, 0 to 23.
    pub from: u32,
    /// The first hour that is not silent any more.
    pub to: u32,
}

/// At most so many a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerDay(pub u32);

/// Only when nothing else happened for this long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleFor(pub Duration);

/// Only with this probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance(pub f64);

impl FireGate for QuietHours {
    fn check(&self, moment: &Moment) -> Fire {
        let hour = local(moment).hour();
        let (from, to) = (self.from % 24, self.to % 24);
        let quiet = match from <= to {
            true => (from..to).contains(&hour),
            false => hour >= from || hour < to,
        };
        match quiet {
            true => Fire::Later(next(moment, to), "quiet hours"),
            false => Fire::Now,
        }
    }
}

impl FireGate for PerDay {
    fn check(&self, moment: &Moment) -> Fire {
        match moment.done_today >= self.0 {
            true => Fire::Later(next(moment, 0), "enough for today"),
            false => Fire::Now,
        }
    }
}

impl FireGate for IdleFor {
    fn check(&self, moment: &Moment) -> Fire {
        let missing = self.0.saturating_sub(moment.idle);
        if missing.is_zero() {
            return Fire::Now;
        }
        let wait = i64::try_from(missing.as_millis()).unwrap_or(i64::MAX).max(1);
        Fire::Later(Timestamp(moment.now.0.saturating_add(wait)), "somebody is busy")
    }
}

impl FireGate for Chance {
    fn check(&self, moment: &Moment) -> Fire {
        match moment.unit < self.0 {
            true => Fire::Now,
            false => Fire::Skip("chance said no"),
        }
    }
}

/// What several gates say together: a no is a no, of several waits the longest holds.
pub fn check_all(gates: &[&dyn FireGate], moment: &Moment) -> Fire {
    let mut said = Fire::Now;
    for gate in gates {
        match (gate.check(moment), &said) {
            (Fire::Skip(why), _) => return Fire::Skip(why),
            (Fire::Later(until, why), Fire::Now) => said = Fire::Later(until, why),
            (Fire::Later(until, why), Fire::Later(known, _)) if until > *known => {
                said = Fire::Later(until, why)
            }
            _ => {}
        }
    }
    said
}

fn local(moment: &Moment) -> DateTime<Tz> {
    moment.now.to_utc().with_timezone(&moment.zone)
}

/// The next time that a clock on the wall shows this hour; one that is left out in spring comes an hour later.
fn next(moment: &Moment, hour: u32) -> Timestamp {
    let now = local(moment);
    let at = NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or_default();
    for day in 0..=2 {
        let Some(date) = now.date_naive().checked_add_days(Days::new(day)) else { break };
        let wanted = date.and_time(at);
        let found = [wanted, wanted + TimeDelta::hours(1)]
            .into_iter()
            .find_map(|wanted| moment.zone.from_local_datetime(&wanted).earliest());
        if let Some(found) = found
            && found > now
        {
            return found.with_timezone(&Utc).into();
        }
    }
    Timestamp(moment.now.0.saturating_add(3_600_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Moment {
        let now = DateTime::parse_from_rfc3339(text).unwrap().into();
        Moment { now, zone: chrono_tz::Asia::Shanghai, done_today: 0, idle: Duration::ZERO, unit: 0.5 }
    }

    fn later(text: &str, why: &'static str) -> Fire {
        Fire::Later(DateTime::parse_from_rfc3339(text).unwrap().into(), why)
    }

    #[test]
    fn quiet_hours_end_when_they_say() {
        let night = QuietHours { from: 21, to: 8 };
        let noon = QuietHours { from: 12, to: 14 };
        let quiet = "quiet hours";
        for (gate, now, expected) in [
            (night, "2026-03-01T20:59:59+08:00", Fire::Now),
            (night, "2026-03-01T21:00:00+08:00", later("2026-03-02T08:00:00+08:00", quiet)),
            (night, "2026-03-02T07:59:59+08:00", later("2026-03-02T08:00:00+08:00", quiet)),
            (night, "2026-03-02T08:00:00+08:00", Fire::Now),
            (noon, "2026-03-02T13:00:00+08:00", later("2026-03-02T14:00:00+08:00", quiet)),
            (noon, "2026-03-02T14:00:00+08:00", Fire::Now),
            (QuietHours { from: 5, to: 5 }, "2026-03-02T05:00:00+08:00", Fire::Now),
        ] {
            assert_eq!(gate.check(&at(now)), expected, "{gate:?} {now}");
        }
        // In the night to 29 March 2026 Berlin has no two o'clock.
        let berlin = Moment { zone: chrono_tz::Europe::Berlin, ..at("2026-03-29T00:30:00+01:00") };
        let gate = QuietHours { from: 0, to: 2 };
        assert_eq!(gate.check(&berlin), later("2026-03-29T03:00:00+02:00", quiet));
    }

    #[test]
    fn gates_together_wait_for_the_last_and_stop_at_a_no() {
        let moment =
            Moment { done_today: 2, idle: Duration::from_secs(3_600), ..at("2026-03-01T22:00:00+08:00") };
        let (night, twice, idle) =
            (QuietHours { from: 21, to: 8 }, PerDay(2), IdleFor(Duration::from_secs(4 * 3_600)));
        assert_eq!(twice.check(&moment), later("2026-03-02T00:00:00+08:00", "enough for today"));
        assert_eq!(idle.check(&moment), later("2026-03-02T01:00:00+08:00", "somebody is busy"));
        assert_eq!(
            check_all(&[&twice, &night, &idle], &moment),
            later("2026-03-02T08:00:00+08:00", "quiet hours")
        );
        assert_eq!(check_all(&[&night, &Chance(0.5)], &moment), Fire::Skip("chance said no"));
        assert_eq!(Chance(0.51).check(&moment), Fire::Now);
        assert_eq!(check_all(&[], &moment), Fire::Now);
    }
}
