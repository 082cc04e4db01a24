//! What follows from a verdict: take the answer, try the browser, leave the host alone, or give up (C8, S2-26). Pure.
//!
//! The browser is tried at most once per host and incident. An incident begins with the first answer that would
//! need it and ends with the first good one; whoever is in it already waits for that. Network errors never lead to a
//! browser: it would meet the same wire.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::breaker::{Outcome, Why};
use super::verdict::{NetworkFault, Verdict, VerdictKind};
use crate::clock::Timestamp;
use crate::error::ErrorClass;

/// S0-13, C8: how long the *source* rests after 429 that no browser could help.
pub const REST_TOO_MANY: Duration = Duration::from_secs(6 * 3600);
/// S0-13, C8: the same after 403 and its kin.
pub const REST_REFUSED: Duration = Duration::from_secs(12 * 3600);
/// An incident that saw no good answer for this long is over all the same: a browser that was away on the day it
/// began would otherwise never be tried again.
pub const INCIDENT_LAPSES: Duration = Duration::from_secs(24 * 3600);

/// How a site is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// HTTP, and the browser when HTTP is turned away and a browser is there.
    #[default]
    Auto,
    /// HTTP only.
    Http,
    /// The browser only.
    Browser,
}

/// What fetched an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// HTTP with the cookie pool.
    Http,
    /// A browser.
    Browser,
}

impl Strategy {
    /// The strategy of that name, those of the seed included; `auto` for any other.
    pub fn named(name: &str) -> Strategy {
        match name {
            "http" | "httpx" => Strategy::Http,
            "browser" | "playwright" | "drission" => Strategy::Browser,
            _ => Strategy::Auto,
        }
    }

    /// What is tried first; none when only a browser will do and there is none.
    pub fn first(self, browser_available: bool) -> Option<Tier> {
        match self {
            Strategy::Auto | Strategy::Http => Some(Tier::Http),
            Strategy::Browser => browser_available.then_some(Tier::Browser),
        }
    }
}

/// What is known beside the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// How the site is to be fetched.
    pub strategy: Strategy,
    /// What fetched the answer.
    pub tier: Tier,
    /// Whether a browser could be had.
    pub browser_available: bool,
    /// Whether one was tried already in this incident of the host.
    pub escalated: bool,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The answer is taken.
    Accept,
    /// The browser is asked the same.
    Escalate,
    /// The request has failed.
    Fail {
        /// As what.
        class: ErrorClass,
        /// How long the source should rest (C7: the source's own backoff, not the host's).
        rest: Option<Duration>,
    },
    /// The request has failed, and nobody asks that host before `until`.
    CoolDown {
        /// The end.
        until: Timestamp,
        /// The reason.
        why: Why,
    },
}

/// What follows from a verdict.
pub fn next(verdict: &Verdict, situation: Situation) -> Next {
    if let VerdictKind::RetryAfter(until) = verdict.kind {
        return Next::CoolDown { until, why: Why::RetryAfter };
    }
    let may = situation.strategy == Strategy::Auto
        && situation.tier == Tier::Http
        && situation.browser_available
        && !situation.escalated;
    if may && wants_browser(verdict) {
        return Next::Escalate;
    }
    settle(verdict)
}

/// S2-26: the answers a browser may better. 401 and 405 are not among them: the first wants an account, the second is
/// how these firewalls refuse for good.
pub fn wants_browser(verdict: &Verdict) -> bool {
    match verdict.kind {
        VerdictKind::Challenge(_) | VerdictKind::Thin | VerdictKind::ServerError => true,
        VerdictKind::Blocked => matches!(verdict.status, Some(403 | 412 | 429)),
        VerdictKind::Ok
        | VerdictKind::Gone
        | VerdictKind::RetryAfter(_)
        | VerdictKind::WrongContent
        | VerdictKind::NetworkError(_) => false,
    }
}

/// What becomes of an answer that nothing will better.
fn settle(verdict: &Verdict) -> Next {
    let fail = |class, rest| Next::Fail { class, rest };
    match verdict.kind {
        // I20: a short page may be all there is to say; the adapter sees whether an article is in it, and the
        // verdict is stored.
        VerdictKind::Ok | VerdictKind::Thin => Next::Accept,
        VerdictKind::Gone => fail(ErrorClass::Gone, None),
        VerdictKind::Challenge(_) => fail(ErrorClass::Blocked, Some(REST_REFUSED)),
        VerdictKind::Blocked => match verdict.status {
            Some(401 | 407) => fail(ErrorClass::Auth, None),
            Some(429) => fail(ErrorClass::Blocked, Some(REST_TOO_MANY)),
            // The request was wrong, not the one who asked.
            Some(400 | 406 | 411 | 414..=417 | 422) => fail(ErrorClass::Blocked, None),
            _ => fail(ErrorClass::Blocked, Some(REST_REFUSED)),
        },
        VerdictKind::RetryAfter(until) => Next::CoolDown { until, why: Why::RetryAfter },
        VerdictKind::ServerError => fail(ErrorClass::Server, None),
        VerdictKind::WrongContent => fail(ErrorClass::Shape, None),
        VerdictKind::NetworkError(NetworkFault::Tls) => fail(ErrorClass::Tls, None),
        VerdictKind::NetworkError(_) => fail(ErrorClass::Network, None),
    }
}

/// What a verdict says about the health of its host, for the breaker.
pub fn outcome(verdict: &Verdict) -> Outcome {
    match verdict.kind {
        // A host that says "no longer here" is well.
        VerdictKind::Ok | VerdictKind::Thin | VerdictKind::Gone => Outcome::Success,
        // Dead attachments come in bunches and answer with the home page: no sign of illness, none of health.
        VerdictKind::WrongContent => Outcome::Unclear,
        VerdictKind::Challenge(_)
        | VerdictKind::Blocked
        | VerdictKind::RetryAfter(_)
        | VerdictKind::ServerError => Outcome::Failure,
        VerdictKind::NetworkError(_) => Outcome::NetworkFailure,
    }
}

/// The trouble a host is in, as far as the browser goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Incident {
    /// When the browser was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escalated_at: Option<Timestamp>,
}

impl Incident {
    /// Whether the browser was tried in the present incident.
    pub fn escalated(&self, now: Timestamp) -> bool {
        // A moment of the future is from before the clock was set back: it counts until that time comes.
        self.escalated_at.is_some_and(|at| now.0.saturating_sub(at.0) < INCIDENT_LAPSES.as_millis() as i64)
    }

    /// Takes the one attempt of this incident; false when somebody took it before.
    pub fn claim(&mut self, now: Timestamp) -> bool {
        let free = !self.escalated(now);
        if free {
            self.escalated_at = Some(now);
        }
        free
    }

    /// A good answer ends it.
    pub fn observe(&mut self, verdict: &Verdict) {
        if verdict.kind == VerdictKind::Ok {
            self.escalated_at = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::challenge::Product;

    const T: Timestamp = Timestamp(1_794_988_800_000);
    const HOUR: i64 = 3_600_000;

    fn verdict(kind: VerdictKind, status: u16) -> Verdict {
        Verdict { kind, status: (status != 0).then_some(status), evidence: "".into() }
    }

    /// Every kind with the statuses that matter: (verdict, may a browser better it, what becomes of it otherwise).
    fn table() -> Vec<(Verdict, bool, Next)> {
        let fail = |class, hours: u64| Next::Fail {
            class,
            rest: (hours > 0).then(|| Duration::from_secs(hours * 3600)),
        };
        use ErrorClass as C;
        use VerdictKind::*;
        let mut rows = vec![
            (verdict(Ok, 200), false, Next::Accept),
            (verdict(Ok, 304), false, Next::Accept),
            (verdict(Thin, 200), true, Next::Accept),
            (verdict(Blocked, 403), true, fail(C::Blocked, 12)),
            (verdict(Blocked, 412), true, fail(C::Blocked, 12)),
            (verdict(Blocked, 429), true, fail(C::Blocked, 6)),
            (verdict(Blocked, 405), false, fail(C::Blocked, 12)),
            (verdict(Blocked, 200), false, fail(C::Blocked, 12)),
            (verdict(Blocked, 401), false, fail(C::Auth, 0)),
            (verdict(Blocked, 400), false, fail(C::Blocked, 0)),
            (verdict(Gone, 404), false, fail(C::Gone, 0)),
            (verdict(ServerError, 500), true, fail(C::Server, 0)),
            (verdict(ServerError, 503), true, fail(C::Server, 0)),
            (verdict(WrongContent, 200), false, fail(C::Shape, 0)),
            (
                verdict(RetryAfter(Timestamp(T.0 + HOUR)), 429),
                false,
                Next::CoolDown { until: Timestamp(T.0 + HOUR), why: Why::RetryAfter },
            ),
        ];
        for product in [Product::Jiasule, Product::Ruishu, Product::Ctct, Product::Ct6t, Product::Unknown] {
            rows.push((verdict(Challenge(product), 412), true, fail(C::Blocked, 12)));
        }
        for fault in [
            NetworkFault::Dns,
            NetworkFault::Connect,
            NetworkFault::Reset,
            NetworkFault::Timeout,
            NetworkFault::Truncated,
            NetworkFault::Protocol,
        ] {
            rows.push((verdict(NetworkError(fault), 0), false, fail(C::Network, 0)));
        }
        rows.push((verdict(NetworkError(NetworkFault::Tls), 0), false, fail(C::Tls, 0)));
        rows
    }

    #[test]
    fn the_browser_is_asked_only_when_all_conditions_hold() {
        let mut escalations = 0;
        for (verdict, bettered, otherwise) in table() {
            for strategy in [Strategy::Auto, Strategy::Http, Strategy::Browser] {
                for tier in [Tier::Http, Tier::Browser] {
                    for browser_available in [true, false] {
                        for escalated in [true, false] {
                            let situation = Situation { strategy, tier, browser_available, escalated };
                            let all = bettered
                                && strategy == Strategy::Auto
                                && tier == Tier::Http
                                && browser_available
                                && !escalated;
                            let expected = if all { Next::Escalate } else { otherwise };
                            assert_eq!(next(&verdict, situation), expected, "{verdict} in {situation:?}");
                            escalations += usize::from(all);
                        }
                    }
                }
            }
        }
        assert_eq!(escalations, table().iter().filter(|row| row.1).count(), "one situation in 24");
    }

    #[test]
    fn a_strategy_knows_where_it_begins() {
        for (strategy, browser, expected) in [
            (Strategy::Auto, true, Some(Tier::Http)),
            (Strategy::Auto, false, Some(Tier::Http)),
            (Strategy::Http, true, Some(Tier::Http)),
            (Strategy::Browser, true, Some(Tier::Browser)),
            (Strategy::Browser, false, None),
        ] {
            assert_eq!(strategy.first(browser), expected, "{strategy:?} {browser}");
        }
    }

    #[test]
    fn an_incident_gives_one_attempt_and_ends_with_a_good_answer_or_after_a_day() {
        let mut incident = Incident::default();
        assert!(incident.claim(T));
        assert!(!incident.claim(T), "the second request of the same moment is too late");
        for (kind, status) in [
            (VerdictKind::Thin, 200),
            (VerdictKind::Gone, 404),
            (VerdictKind::Blocked, 403),
            (VerdictKind::NetworkError(NetworkFault::Reset), 0),
        ] {
            incident.observe(&verdict(kind, status));
            assert!(incident.escalated(Timestamp(T.0 + 23 * HOUR)), "{kind} does not end it");
        }
        incident.observe(&verdict(VerdictKind::Ok, 200));
        assert!(incident.claim(T), "a good answer does");
        assert!(!incident.claim(Timestamp(T.0 + 24 * HOUR - 1)));
        assert!(incident.claim(Timestamp(T.0 + 24 * HOUR)), "and so does a day");
    }

    #[test]
    fn the_breaker_hears_of_network_errors_failures_and_health() {
        for (verdict, _, _) in table() {
            let expected = match verdict.kind.name() {
                "ok" | "thin" | "gone" => Outcome::Success,
                "network_error" => Outcome::NetworkFailure,
                "wrong_content" => Outcome::Unclear,
                _ => Outcome::Failure,
            };
            assert_eq!(outcome(&verdict), expected, "{verdict}");
        }
    }
}
