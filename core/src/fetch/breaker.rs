//! Whether a host may be asked at all (C6, S2-27). Pure: the time is an argument.
//!
//! Three failures of the network in a row, or five of any kind, open the breaker: the host is left alone for five
//! minutes, and for twice as long each time it fails again, up to an hour. Then exactly one request goes as a
//! probe. A success closes the breaker. A cooldown that was asked for (`Retry-After`, the operator) uses
//! the same moment, with its reason, and ends the same way.
//!
//! What counts as a failure is decided by the verdict; this only counts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// S2-27: three in a row, because a single reset is normal on these hosts.
pub const NET_THRESHOLD: u32 = 3;
/// C6: errors that are answers are less of a sign: one page may be broken while the next is well.
pub const ANY_THRESHOLD: u32 = 5;
/// C6: how long the first opening lasts.
pub const OPEN_FIRST: Duration = Duration::from_secs(300);
/// C6: doubling ends here, so that a host that came back is noticed within the hour.
pub const OPEN_LONGEST: Duration = Duration::from_secs(3600);
/// A probe that has not reported by now never will: longer than the whole time of any page or download, shorter
/// than the first opening.
pub const PROBE_TIMEOUT: Duration = Duration::from_secs(240);
/// A cooldown that a host asked for is no longer than this (C8).
pub const COOL_LONGEST: Duration = super::retry_after::LONGEST;
/// The operator's own cooldown: beyond a year it is a setting, not a cooldown.
const OPERATOR_LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// Why a host is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Several failures of the network in a row.
    Network,
    /// Several failures in a row.
    Failures,
    /// The host said when to come back.
    RetryAfter,
    /// The host turned us away.
    Refused,
    /// Somebody said so.
    Operator,
    /// One request is on its way to see whether the host is well again.
    Probing,
}

impl Why {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Network => "network errors in a row",
            Why::Failures => "errors in a row",
            Why::RetryAfter => "the host said when to come back",
            Why::Refused => "the host turned us away",
            Why::Operator => "set by hand",
            Why::Probing => "a probe is under way",
        }
    }

    /// No opening for this reason lasts longer.
    fn longest(self) -> Duration {
        match self {
            Why::Network | Why::Failures | Why::Probing => OPEN_LONGEST,
            Why::RetryAfter | Why::Refused => COOL_LONGEST,
            Why::Operator => OPERATOR_LONGEST,
        }
    }

    /// Somebody asked for it: a success does not shorten it.
    fn was_asked_for(self) -> bool {
        matches!(self, Why::RetryAfter | Why::Refused | Why::Operator)
    }
}

/// The answer to one request that wants to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Admission {
    /// It may.
    Go,
    /// It may, alone: what becomes of it must be [recorded](Breaker::record), or nobody goes until
    /// [`PROBE_TIMEOUT`] has passed.
    Probe,
    /// It may not.
    Refuse {
        /// Ask again then.
        until: Timestamp,
        /// The reason.
        why: Why,
    },
}

/// How a request ended, as far as the host's health goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The host is well.
    Success,
    /// There was no answer.
    NetworkFailure,
    /// There was an answer that is none.
    Failure,
    /// It says nothing about the host: the request was dropped, or the answer was odd.
    Unclear,
}

/// The state of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Breaker {
    /// Network failures in a row.
    #[serde(skip_serializing_if = "is_zero")]
    pub net_failures: u32,
    /// Failures of any kind in a row.
    #[serde(skip_serializing_if = "is_zero")]
    pub any_failures: u32,
    /// Openings since the last success.
    #[serde(skip_serializing_if = "is_zero")]
    pub trips: u32,
    /// Nobody goes before; afterwards one probe. None: closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_until: Option<Timestamp>,
    /// The reason for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// A probe is under way since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probing_since: Option<Timestamp>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Breaker {
    /// Whether a request may go now. A [`Probe`](Admission::Probe) is given out once.
    pub fn admit(&mut self, now: Timestamp) -> Admission {
        let Some(until) = self.settle(now) else { return Admission::Go };
        if now < until {
            return Admission::Refuse { until, why: self.reason() };
        }
        if let Some(since) = self.probing_since {
            let given_up = after(since, PROBE_TIMEOUT);
            // A probe of the future is one from before the clock was set back.
            if since <= now && now < given_up {
                return Admission::Refuse { until: given_up, why: Why::Probing };
            }
        }
        self.probing_since = Some(now);
        Admission::Probe
    }

    /// What [`admit`](Self::admit) would refuse with, without asking to go.
    pub fn refusal(&self, now: Timestamp) -> Option<(Timestamp, Why)> {
        match self.clone().admit(now) {
            Admission::Refuse { until, why } => Some((until, why)),
            _ => None,
        }
    }

    /// Counts a request that has ended. `probe`: it was admitted as one. Requests that were sent before the breaker
    /// opened end while a probe is under way, and must not give its place away.
    pub fn record(&mut self, outcome: Outcome, probe: bool, now: Timestamp) {
        let until = self.settle(now);
        let half_open = until.is_some_and(|until| now >= until);
        if probe {
            self.probing_since = None;
        }
        match outcome {
            Outcome::Unclear => return,
            Outcome::Success => {
                // An answer that was under way when the host asked for peace does not end the peace.
                if until.is_some() && !half_open && self.reason().was_asked_for() {
                    (self.net_failures, self.any_failures, self.trips) = (0, 0, 0);
                } else {
                    *self = Breaker::default();
                }
                return;
            }
            Outcome::NetworkFailure => {
                self.net_failures = self.net_failures.saturating_add(1);
                self.any_failures = self.any_failures.saturating_add(1);
            }
            Outcome::Failure => {
                self.net_failures = 0;
                self.any_failures = self.any_failures.saturating_add(1);
            }
        }
        let why = if outcome == Outcome::NetworkFailure { Why::Network } else { Why::Failures };
        let too_many = self.net_failures >= NET_THRESHOLD || self.any_failures >= ANY_THRESHOLD;
        // While it is open, what comes in was sent before: it is no news. Only the probe is.
        if (half_open && probe) || (until.is_none() && too_many) {
            self.trip(why, now);
        }
    }

    /// Leaves the host alone until `until`; never shortens what is in force. Bounded by the reason: a host can
    /// silence itself for a day, the operator for a year.
    pub fn cool(&mut self, until: Timestamp, why: Why, now: Timestamp) {
        let until = until.min(after(now, why.longest()));
        let in_force = self.settle(now).filter(|in_force| *in_force > now);
        if until <= now || in_force.is_some_and(|in_force| in_force >= until) {
            return;
        }
        self.open_until = Some(until);
        self.why = Some(why);
    }

    /// Takes over a cooldown of another's that somebody asked for and that lasts longer than this one's.
    pub(super) fn not_shorter_than(&mut self, other: &Breaker, now: Timestamp) {
        if other.reason().was_asked_for()
            && let Some(until) = other.open_until
        {
            self.cool(until, other.reason(), now);
        }
    }

    /// Nothing is held against the host.
    pub fn is_at_rest(&self) -> bool {
        *self == Breaker::default()
    }

    fn trip(&mut self, why: Why, now: Timestamp) {
        self.trips = self.trips.saturating_add(1);
        self.open_until = Some(after(now, open_time(self.trips)));
        self.why = Some(why);
    }

    /// The end of the opening. One that lies further ahead than its reason allows is from before the clock was
    /// set back, or from a damaged row: it ends when it would if it began now.
    fn settle(&mut self, now: Timestamp) -> Option<Timestamp> {
        let latest = after(now, self.reason().longest());
        self.open_until = self.open_until.map(|until| until.min(latest));
        self.open_until
    }

    fn reason(&self) -> Why {
        self.why.unwrap_or(Why::Failures)
    }
}

/// How long the `trips`-th opening in a row lasts.
fn open_time(trips: u32) -> Duration {
    let doubled = OPEN_FIRST.saturating_mul(1u32 << trips.saturating_sub(1).min(16));
    doubled.min(OPEN_LONGEST)
}

/// How long a job waits before its `attempt`-th retry: 2ⁿ s (C6), a quarter less or more so that jobs that failed
/// together do not come back together, and at most a minute: longer is the breaker's business. `unit` is in
/// `0.0..1.0`.
pub fn retry_delay(attempt: u32, unit: f64) -> Duration {
    const LONGEST: Duration = Duration::from_secs(60);
    let unit = if unit.is_finite() { unit.clamp(0.0, 1.0) } else { 0.5 };
    let doubled = Duration::from_secs(1u64 << attempt.min(6));
    doubled.mul_f64(0.75 + 0.5 * unit).min(LONGEST)
}

fn after(at: Timestamp, wait: Duration) -> Timestamp {
    Timestamp(at.0.saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests;
