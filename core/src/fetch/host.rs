//! What is known of one host: as a row that is stored and shown, and how two rows of it become one.
//!
//! Several processes may work on one store, and an operator may change a row under a running one. So rows are joined
//! and never just replaced: a reset by hand wins over everything before it, a cooldown that somebody asked for is
//! not shortened, else the later word about the breaker holds.

use std::cmp::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::breaker::Breaker;
use super::cookies::CookiePool;
use super::escalate::Incident;
use super::ledger::Ledger;
use super::reserve::Probe;
use super::verdict::{Verdict, VerdictKind};
use crate::clock::Timestamp;

/// What a host taught us. It raises the interval of a site's settings and never lowers it (C10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// `Crawl-delay` of its robots.txt, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_delay_ms: Option<u32>,
    /// The interval it was found to bear after it said "too many requests", in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_ms: Option<u32>,
    /// Good answers since that interval last changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub calm: u16,
}

fn is_zero(number: &u16) -> bool {
    *number == 0
}

fn no_room(ms: &u32) -> bool {
    *ms == 0
}

/// The slowest pace that is learned: slower than a request a minute is what cooldowns are for.
const SLOWEST_MS: u32 = 60_000;
/// Learning begins here: a host that is asked without any interval and complains wants one.
const FIRST_MS: u32 = 1_000;
/// So many good answers in a row, and the pace is tried at twice the speed.
const CALM_ANSWERS: u16 = 50;

impl Limits {
    /// What its robots.txt asks for.
    pub fn crawl_delay(&self) -> Duration {
        Duration::from_millis(u64::from(self.crawl_delay_ms.unwrap_or(0)))
    }

    /// No request sooner than this after the last.
    pub fn floor(&self) -> Duration {
        Duration::from_millis(u64::from(self.crawl_delay_ms.max(self.interval_ms).unwrap_or(0)))
    }

    /// What an answer teaches, at an interval of `interval` between requests: "too many requests" doubles the
    /// interval, a long run of good answers halves it until it is what the settings say. True when the interval changed.
    pub fn learn(&mut self, verdict: &Verdict, interval: Duration) -> bool {
        let set = u32::try_from(interval.as_millis()).unwrap_or(u32::MAX);
        let before = self.interval_ms;
        match verdict.kind {
            VerdictKind::Blocked | VerdictKind::RetryAfter(_) if verdict.status == Some(429) => {
                let now = before.unwrap_or(0).max(set).max(FIRST_MS / 2);
                // Settings that are slower still need no help.
                self.interval_ms = Some(now.saturating_mul(2).min(SLOWEST_MS)).filter(|new| *new > set);
                self.calm = 0;
            }
            VerdictKind::Ok => {
                let Some(learned) = before else { return false };
                self.calm = self.calm.saturating_add(1);
                if self.calm >= CALM_ANSWERS {
                    self.calm = 0;
                    self.interval_ms = Some(learned / 2).filter(|half| *half > set && *half >= FIRST_MS);
                }
            }
            _ => {}
        }
        self.interval_ms != before
    }
}

/// One verdict of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// When.
    pub at: Timestamp,
    /// Its kind.
    pub kind: VerdictKind,
    /// The status, if there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// A host as it is stored and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostRow {
    /// When something last happened.
    pub seen_at: Timestamp,
    /// When a request to it last started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// The room that was asked for around it, in milliseconds: the next one keeps it, whoever sends that.
    #[serde(skip_serializing_if = "no_room")]
    pub started_room_ms: u32,
    /// Whose that was, where it is known; only [`reserve`](super::reserve::reserve) writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_by: Option<u64>,
    /// When somebody last wiped what was held against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_at: Option<Timestamp>,
    /// Whether it may be asked.
    pub breaker: Breaker,
    /// When that last changed.
    pub breaker_at: Timestamp,
    /// The probe that a process has sent; only [`reserve`](super::reserve::reserve) writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Whether the browser was tried.
    pub incident: Incident,
    /// What it taught us.
    pub limits: Limits,
    /// The last verdicts, oldest first.
    pub recent: Vec<Seen>,
    /// The last verdict that was not good, with its evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Verdict>,
    /// What a browser earned there.
    #[serde(skip_serializing_if = "CookiePool::is_empty")]
    pub cookies: CookiePool,
    /// What was counted since the row was last stored, a page a day. Pages are added up in the store, not replaced.
    #[serde(skip)]
    pub days: Vec<Ledger>,
}

impl HostRow {
    /// This row with what another process, or somebody by hand, wrote down about the same host.
    pub fn join(mut self, other: HostRow, now: Timestamp) -> HostRow {
        let started_at = self.started_at.max(other.started_at);
        let started_room_ms = match self.started_at.cmp(&other.started_at) {
            Ordering::Less => other.started_room_ms,
            Ordering::Equal => self.started_room_ms.max(other.started_room_ms),
            Ordering::Greater => self.started_room_ms,
        };
        if other.reset_at > self.reset_at {
            let seen_at = self.seen_at.max(other.seen_at);
            return HostRow { days: self.days, seen_at, started_at, started_room_ms, ..other };
        }
        (self.started_at, self.started_room_ms) = (started_at, started_room_ms);
        self.started_by = other.started_by.or(self.started_by);
        if other.reset_at == self.reset_at {
            self.probe = match (self.probe, other.probe) {
                (Some(ours), Some(theirs)) if theirs.since > ours.since => Some(theirs),
                (ours, theirs) => ours.or(theirs),
            };
            let (ours, theirs) = ((self.breaker_at, &self.breaker), (other.breaker_at, &other.breaker));
            let (later, earlier) = if theirs.0 > ours.0 { (theirs, ours) } else { (ours, theirs) };
            let mut breaker = later.1.clone();
            breaker.not_shorter_than(earlier.1, now);
            let breaker_at = later.0;
            self.incident.escalated_at = self.incident.escalated_at.max(other.incident.escalated_at);
            if other.seen_at > self.seen_at {
                (self.limits, self.cookies) = (other.limits, other.cookies);
                (self.recent, self.trouble) = (other.recent, other.trouble.or(self.trouble));
            }
            (self.breaker, self.breaker_at) = (breaker, breaker_at);
        }
        self.seen_at = self.seen_at.max(other.seen_at);
        self
    }

    /// Leaves the host alone until then, by the operator's word.
    pub fn cool(&mut self, until: Timestamp, why: super::breaker::Why, now: Timestamp) {
        self.breaker.cool(until, why, now);
        (self.breaker_at, self.seen_at) = (now, now);
    }

    /// Holds nothing against the host any more: breaker, incident, learned interval, cookies.
    pub fn reset(&mut self, now: Timestamp) {
        self.breaker = Breaker::default();
        self.probe = None;
        self.incident = Incident::default();
        self.limits = Limits { crawl_delay_ms: self.limits.crawl_delay_ms, ..Limits::default() };
        self.cookies = CookiePool::default();
        (self.reset_at, self.breaker_at, self.seen_at) = (Some(now), now, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::breaker::Why;

    const T0: i64 = 1_794_988_800_000;
    const MINUTE: i64 = 60_000;

    fn at(minutes: i64) -> Timestamp {
        Timestamp(T0 + minutes * MINUTE)
    }

    fn verdict(kind: VerdictKind, status: u16) -> Verdict {
        Verdict { kind, status: Some(status), evidence: "".into() }
    }

    #[test]
    fn too_many_requests_slow_the_pace_and_calm_brings_it_back() {
        let second = Duration::from_secs(1);
        let too_many = verdict(VerdictKind::Blocked, 429);
        for (interval, steps) in [
            (Duration::ZERO, vec![1, 2, 4, 8, 16, 32, 60, 60]),
            (5 * second, vec![10, 20, 40, 60, 60]),
            (50 * second, vec![60, 60]),
            (90 * second, vec![90, 90]),
        ] {
            let mut limits = Limits::default();
            for expected in steps {
                limits.learn(&too_many, interval);
                assert_eq!(limits.floor().max(interval).as_secs(), expected, "{interval:?}");
            }
            for _ in 0..CALM_ANSWERS as usize * 8 {
                limits.learn(&verdict(VerdictKind::Ok, 200), interval);
            }
            assert_eq!(limits.interval_ms, None, "{interval:?}: all is forgiven");
        }
        let mut limits = Limits { interval_ms: Some(8_000), ..Limits::default() };
        for other in [verdict(VerdictKind::Blocked, 403), verdict(VerdictKind::ServerError, 503)] {
            assert!(!limits.learn(&other, second));
        }
    }

    #[test]
    fn rows_of_two_processes_are_joined_and_what_was_asked_for_is_not_shortened() {
        let row = |change: &dyn Fn(&mut HostRow)| {
            let mut row = HostRow::default();
            change(&mut row);
            row
        };
        let now = at(10);
        let cooled = row(&|row| row.cool(at(60), Why::Operator, at(5)));
        // A later good answer of a process that did not know of the cooldown does not end it.
        let busy = row(&|row| (row.breaker_at, row.seen_at) = (at(9), at(9)));
        for joined in [busy.clone().join(cooled.clone(), now), cooled.clone().join(busy.clone(), now)] {
            assert_eq!(joined.breaker.refusal(now), Some((at(60), Why::Operator)));
            assert_eq!(joined.seen_at, at(9));
        }
        // A breaker that opened by itself closes with the later word.
        let mut opened = HostRow { breaker_at: at(5), seen_at: at(5), ..HostRow::default() };
        opened.breaker.open_until = Some(at(20));
        opened.breaker.why = Some(Why::Network);
        assert_eq!(busy.clone().join(opened.clone(), now).breaker.refusal(now), None);
        assert!(opened.clone().join(HostRow::default(), now).breaker.refusal(now).is_some());
        // A reset wins over all that was before it, whoever stores last.
        let reset = row(&|row| row.reset(at(8)));
        for joined in [cooled.clone().join(reset.clone(), now), reset.clone().join(cooled, now)] {
            assert_eq!(joined.breaker.refusal(now), None);
            assert_eq!(joined.reset_at, Some(at(8)));
        }
        // What was counted here stays here.
        let counted = HostRow { days: vec![Ledger::default()], ..HostRow::default() };
        assert_eq!(counted.join(reset, now).days.len(), 1);
    }
}
