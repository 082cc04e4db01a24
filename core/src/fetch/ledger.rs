//! What was done to a host on one day: the politeness ledger. Plain counters.

use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::verdict::{Verdict, VerdictKind};
use crate::clock::Timestamp;

/// A day in UTC, as days since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i32);

const DAY_MS: i64 = 86_400_000;

impl Day {
    /// The day of a moment.
    pub fn of(at: Timestamp) -> Day {
        Day(at.0.div_euclid(DAY_MS).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Timestamp(i64::from(self.0) * DAY_MS).to_utc().format("%Y-%m-%d"))
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Day {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date" })
    }
}

/// The counters of one host and day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Ledger {
    /// The day, in UTC.
    pub day: Day,
    /// Requests that were sent, each redirect hop and each tier by itself.
    pub requests: u32,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// How they ended.
    pub verdicts: Counts,
    /// Requests that robots.txt forbade; they were not sent.
    pub robots_denied: u32,
    /// Requests that were refused while the host was left alone; they were not sent.
    pub refused: u32,
    /// `Retry-After` that were heeded.
    pub retry_after_honoured: u32,
    /// Cooldowns that began, for whatever reason.
    pub cooldowns: u32,
}

/// How many verdicts of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
#[allow(missing_docs)] // the names of the kinds
pub struct Counts {
    pub ok: u32,
    pub thin: u32,
    pub challenge: u32,
    pub blocked: u32,
    pub gone: u32,
    pub retry_after: u32,
    pub server_error: u32,
    pub wrong_content: u32,
    pub network_error: u32,
}

impl Counts {
    pub(super) fn count(&mut self, verdict: &Verdict) {
        let counter = match verdict.kind {
            VerdictKind::Ok => &mut self.ok,
            VerdictKind::Thin => &mut self.thin,
            VerdictKind::Challenge(_) => &mut self.challenge,
            VerdictKind::Blocked => &mut self.blocked,
            VerdictKind::Gone => &mut self.gone,
            VerdictKind::RetryAfter(_) => &mut self.retry_after,
            VerdictKind::ServerError => &mut self.server_error,
            VerdictKind::WrongContent => &mut self.wrong_content,
            VerdictKind::NetworkError(_) => &mut self.network_error,
        };
        *counter = counter.saturating_add(1);
    }
}

impl FromStr for Day {
    type Err = chrono::ParseError;

    /// `2026-11-18`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let date = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d")?;
        Ok(Day::of(Timestamp(date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_millis())))
    }
}

/// Two pages of one day.
impl AddAssign<&Ledger> for Ledger {
    fn add_assign(&mut self, more: &Ledger) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        let mut more = more.clone();
        for ((counter, _), (more, _)) in self.counters().into_iter().zip(more.counters()) {
            *counter = counter.saturating_add(*more);
        }
    }
}

impl Ledger {
    /// Every counter with the name under which it is stored; bytes are apart, being larger.
    pub(crate) fn counters(&mut self) -> [(&mut u32, &'static str); 14] {
        let verdicts = &mut self.verdicts;
        [
            (&mut self.requests, "requests"),
            (&mut verdicts.ok, "ok"),
            (&mut verdicts.thin, "thin"),
            (&mut verdicts.challenge, "challenge"),
            (&mut verdicts.blocked, "blocked"),
            (&mut verdicts.gone, "gone"),
            (&mut verdicts.retry_after, "retry_after"),
            (&mut verdicts.server_error, "server_error"),
            (&mut verdicts.wrong_content, "wrong_content"),
            (&mut verdicts.network_error, "network_error"),
            (&mut self.robots_denied, "robots_denied"),
            (&mut self.refused, "refused"),
            (&mut self.retry_after_honoured, "retry_after_honoured"),
            (&mut self.cooldowns, "cooldowns"),
        ]
    }

    /// An empty page for the day of `now`.
    pub(super) fn of(now: Timestamp) -> Ledger {
        Ledger { day: Day::of(now), ..Ledger::default() }
    }

    /// Whether anything is written on it.
    pub fn is_empty(&self) -> bool {
        *self == Ledger { day: self.day, ..Ledger::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_kept_by_its_date() {
        for (ms, date) in [(0, "1970-01-01"), (-1, "1969-12-31"), (1_794_988_800_000, "2026-11-18")] {
            let day = Day::of(Timestamp(ms));
            assert_eq!(day.to_string(), date);
            let json = serde_json::to_string(&day).unwrap();
            assert_eq!(serde_json::from_str::<Day>(&json).unwrap(), day);
        }
        assert!(serde_json::from_str::<Day>("\"yesterday\"").is_err());
        let _ = Day::of(Timestamp(i64::MAX)).to_string();
    }
}
