//! What makes work due: one [`Trigger`], and when it is due next. Pure.

use std::str::FromStr;

use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cron::CronExpr;
use crate::clock::Timestamp;

/// The longest interval: a year.
pub const LONGEST_INTERVAL: u64 = 366 * 86_400;

/// What makes work due (C1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Trigger {
    /// The moments of a cron expression.
    Cron {
        /// Five fields, or `@daily` and its like.
        cron: String,
    },
    /// Every so many seconds.
    Interval {
        /// So many.
        seconds: u64,
    },
    /// When something new is expected; a cron expression may stand beside it.
    Adaptive {
        /// Which policy decides.
        policy: Adaptive,
        /// Moments at which it is looked in any case.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cron: Option<String>,
        /// How the two share the target.
        #[serde(default)]
        combine: Combine,
    },
    /// Once.
    Once {
        /// Then.
        at: Timestamp,
        /// From then on it is too late: the handler's `on_expired` is called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    /// Only by hand.
    Manual,
}

/// The adaptive policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Adaptive {
    /// [`predictive`](super::predictive), within two base intervals of the cadence.
    #[default]
    Predictive,
    /// [`classic`](super::classic): the seed's cadences P0–P6.
    Classic,
    /// Predictive without that bound.
    Budget,
}

/// How cron and adaptive share a target (C1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// Cron for the moments that must be, adaptive for more of them.
    #[default]
    Either,
    /// Only the cron; what the policy would do is still learned.
    CronOnly,
    /// Only the policy.
    AdaptiveOnly,
}

/// What is done about a due time that was missed (C12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Misfire {
    /// It is made up for once, however many were missed.
    #[default]
    RunOnce,
    /// It is left out when it is more than a minute late.
    Skip,
    /// It is made up for until it expires; then the handler's `on_expired` is called.
    Expire,
}

/// What is done when the job of the last due time still waits or runs (S3-5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// Nothing: that job counts for this due time too.
    #[default]
    Skip,
    /// Another job gets in line.
    Queue,
}

/// Enums that are stored and typed as words.
macro_rules! words {
    ($($type:ty, $what:literal: $($value:path = $word:literal),+;)+) => {$(
        impl $type {
            /// The word under which it is stored, shown and typed.
            pub fn as_str(self) -> &'static str {
                match self { $($value => $word),+ }
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok($value),)+
                    _ => Err(format!("`{word}` is no {}; there are {}", $what, [$($word),+].join(", "))),
                }
            }
        }
    )+};
}

words! {
    Adaptive, "adaptive policy": Adaptive::Predictive = "predictive", Adaptive::Classic = "classic", Adaptive::Budget = "budget";
    Combine, "way to combine": Combine::Either = "either", Combine::CronOnly = "cron_only", Combine::AdaptiveOnly = "adaptive_only";
    Misfire, "misfire policy": Misfire::RunOnce = "run_once", Misfire::Skip = "skip", Misfire::Expire = "expire";
    Overlap, "overlap rule": Overlap::Skip = "skip", Overlap::Queue = "queue";
}

/// A trigger that cannot work, with what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TriggerError(pub String);

impl Trigger {
    /// `cron`, `interval`, `adaptive`, `once` or `manual`.
    pub fn name(&self) -> &'static str {
        match self {
            Trigger::Cron { .. } => "cron",
            Trigger::Interval { .. } => "interval",
            Trigger::Adaptive { .. } => "adaptive",
            Trigger::Once { .. } => "once",
            Trigger::Manual => "manual",
        }
    }

    /// The cron expression that counts, if one does.
    pub fn cron(&self) -> Option<&str> {
        match self {
            Trigger::Cron { cron } => Some(cron),
            Trigger::Adaptive { combine: Combine::AdaptiveOnly, .. } => None,
            Trigger::Adaptive { cron, .. } => cron.as_deref(),
            _ => None,
        }
    }

    /// Whether the adaptive policy has a say in when it is due.
    pub fn adapts(&self) -> bool {
        match self {
            Trigger::Adaptive { combine: Combine::CronOnly, cron, .. } => cron.is_none(),
            Trigger::Adaptive { .. } => true,
            _ => false,
        }
    }

    /// Whether it can work: the cron can be read and comes due at all, the interval is one.
    pub fn check(&self, now: Timestamp, zone: Tz) -> Result<(), TriggerError> {
        let written = match self {
            Trigger::Adaptive { cron, .. } => cron.as_deref(),
            other => other.cron(),
        };
        if let Some(cron) = written
            && cron_after(cron, now, zone)?.is_none()
        {
            return Err(TriggerError(format!("`{cron}` never comes due; see `dibao cron next '{cron}'`")));
        }
        match self {
            Trigger::Interval { seconds } if !(1..=LONGEST_INTERVAL).contains(seconds) => {
                Err(TriggerError(format!("an interval has 1 to {LONGEST_INTERVAL} seconds, not {seconds}")))
            }
            Trigger::Once { at, expires_at: Some(expires) } if expires <= at => {
                Err(TriggerError("it expires before it is due; give a later time to expire".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// When it is due for the first time, or after it was changed. `adaptive_at` is what the policy last decided.
    pub fn first(
        &self,
        now: Timestamp,
        zone: Tz,
        adaptive_at: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, TriggerError> {
        match self {
            Trigger::Once { at, .. } => Ok(Some(*at)),
            // A source that nobody looked at yet is due at once.
            _ => self.after(now, now, zone, Some(adaptive_at.unwrap_or(now))),
        }
    }

    /// When it is due next after it came due at `due`, which is now or was missed.
    pub fn after(
        &self,
        due: Timestamp,
        now: Timestamp,
        zone: Tz,
        adaptive_at: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, TriggerError> {
        let now = now.max(due);
        let cron = match self.cron() {
            Some(cron) => cron_after(cron, now, zone)?,
            None => None,
        };
        Ok(match self {
            Trigger::Cron { .. } => cron,
            Trigger::Interval { seconds } => {
                let step = i64::try_from(*seconds).unwrap_or(i64::MAX / 2_000).max(1) * 1_000;
                let missed = now.0.saturating_sub(due.0) / step;
                Some(Timestamp(due.0.saturating_add(step.saturating_mul(missed + 1))))
            }
            Trigger::Adaptive { .. } if self.adapts() => [cron, adaptive_at].into_iter().flatten().min(),
            Trigger::Adaptive { .. } => cron,
            Trigger::Once { .. } | Trigger::Manual => None,
        })
    }
}

/// The next moment of a cron expression; none: never.
pub fn cron_after(cron: &str, after: Timestamp, zone: Tz) -> Result<Option<Timestamp>, TriggerError> {
    let parsed = CronExpr::parse(cron).map_err(|error| TriggerError(error.to_string()))?;
    Ok(parsed.next_after(after.to_utc(), zone).map(Timestamp::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono_tz::Asia::Shanghai;

    /// 2026-04-10T09:30:00+08:00, a Friday.
    const NOW: Timestamp = Timestamp(1_775_784_600_000);

    fn minutes(minutes: i64) -> Timestamp {
        Timestamp(NOW.0 + minutes * 60_000)
    }

    #[test]
    fn each_trigger_knows_its_next_moment() {
        let hourly = || Some("0 * * * *".to_owned());
        let adaptive = |combine, cron| Trigger::Adaptive { policy: Adaptive::Predictive, cron, combine };
        let once = Trigger::Once { at: minutes(5), expires_at: None };
        for (trigger, due, adaptive_at, expected) in [
            (Trigger::Cron { cron: "0 * * * *".into() }, NOW, None, Some(minutes(30))),
            (Trigger::Interval { seconds: 600 }, NOW, None, Some(minutes(10))),
            // Three were missed: the next one keeps the rhythm.
            (Trigger::Interval { seconds: 600 }, minutes(-35), None, Some(minutes(5))),
            (adaptive(Combine::Either, hourly()), NOW, Some(minutes(10)), Some(minutes(10))),
            (adaptive(Combine::Either, hourly()), NOW, Some(minutes(50)), Some(minutes(30))),
            (adaptive(Combine::CronOnly, hourly()), NOW, Some(minutes(10)), Some(minutes(30))),
            (adaptive(Combine::AdaptiveOnly, hourly()), NOW, Some(minutes(50)), Some(minutes(50))),
            // Without a cron there is nothing else to go by.
            (adaptive(Combine::CronOnly, None), NOW, Some(minutes(50)), Some(minutes(50))),
            (once.clone(), NOW, None, None),
            (Trigger::Manual, NOW, None, None),
        ] {
            assert_eq!(trigger.after(due, NOW, Shanghai, adaptive_at), Ok(expected), "{trigger:?}");
        }
        assert_eq!(once.first(NOW, Shanghai, None), Ok(Some(minutes(5))));
        assert_eq!(adaptive(Combine::Either, hourly()).first(NOW, Shanghai, None), Ok(Some(NOW)));
        assert_eq!(Trigger::Manual.first(NOW, Shanghai, None), Ok(None));
    }

    #[test]
    fn a_trigger_that_cannot_work_is_refused_with_the_reason() {
        let expired = Trigger::Once { at: NOW, expires_at: Some(minutes(-1)) };
        for (trigger, words) in [
            (Trigger::Cron { cron: "61 * * * *".into() }, "minute"),
            (Trigger::Cron { cron: "0 0 30 2 *".into() }, "never comes due"),
            (Trigger::Interval { seconds: 0 }, "1 to"),
            (expired, "expires before"),
        ] {
            let error = trigger.check(NOW, Shanghai).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
