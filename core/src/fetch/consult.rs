//! Asks an origin's robots.txt before a page of it (S2-53): what is asked, and what the answer counts as. What the
//! file says and how long it holds is decided in [`robots`](super::robots).

use std::time::Duration;

use futures::future::BoxFuture;
use url::Url;

use super::ask::{Aside, Ask, Expects, Hop, Method, Purpose, RobotsMode};
use super::chain::Opened;
use super::error::FetchErrorKind;
use super::escalate::Strategy;
use super::gate::Shared;
use super::retry_after;
use super::robots::{
    Basis, MAX_BODY, MAX_REDIRECTS, Origin, RobotsAnswer, RobotsRequest, RobotsVerdict, Standing,
};
use super::trip::Trip;
use super::validators;
use super::verdict::{Verdict, VerdictKind};

impl Shared {
    /// 4. robots: refuses what the site does not want fetched; else the room it asks for between two requests.
    pub(super) async fn consult(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        key: &str,
    ) -> Result<Duration, FetchErrorKind> {
        let RobotsMode::Respect { on_unreachable } = ask.robots else {
            if ask.purpose != Purpose::Robots {
                trip.say("robots", true, || "not asked: the site's settings pass over it");
            }
            return Ok(Duration::ZERO);
        };
        let Some(origin) = Origin::of(&trip.url) else { return Ok(Duration::ZERO) };
        let before = trip.asides.len();
        let asides = &mut trip.asides;
        let standing = self
            .robots
            .consult(&origin, on_unreachable, move |request| self.file_of(ask, request, asides))
            .await;
        let made: Vec<String> = trip.asides[before..].iter().map(told).collect();
        let made =
            if made.is_empty() { String::new() } else { format!("; asked just now: {}", made.join(", ")) };
        let verdict = standing.check(self.agent_text(ask), &trip.url);
        if verdict.allow {
            let delay = verdict.crawl_delay.unwrap_or_default();
            self.register.hosts.crawl_delay(key, delay);
            trip.say("robots", true, || match &verdict.rule {
                Some(rule) => format!("allowed by line {}: {}{made}", rule.line, rule.text),
                None => format!("no rule forbids it ({}){made}", standing.decision.reason),
            });
            return Ok(delay);
        }
        self.register.hosts.robots_denied(key);
        trip.checked("robots", Err(refused(verdict, &standing)), "")
    }

    /// What holds for an address by its robots.txt, which is asked for if it has to be: the standing of its origin.
    pub(super) async fn standing(&self, ask: &Ask) -> Option<Standing> {
        let RobotsMode::Respect { on_unreachable } = ask.robots else { return None };
        let origin = Origin::of(&ask.url)?;
        let asides = &mut Vec::new();
        let standing = self
            .robots
            .consult(&origin, on_unreachable, move |request| self.file_of(ask, request, asides))
            .await;
        Some(standing)
    }

    /// Refuses an address that a robots.txt forbids which was read before. For places that cannot wait.
    pub(super) fn known_to_be_forbidden(&self, ask: &Ask, url: &Url) -> Result<(), FetchErrorKind> {
        let RobotsMode::Respect { on_unreachable } = ask.robots else { return Ok(()) };
        let Some(standing) = Origin::of(url).and_then(|origin| self.robots.known(&origin, on_unreachable))
        else {
            return Ok(());
        };
        let verdict = standing.check(self.agent_text(ask), url);
        if verdict.allow { Ok(()) } else { Err(refused(verdict, &standing)) }
    }

    /// Fetches a robots.txt through the gate itself. Boxed: the gate is inside of it once more, though not twice,
    /// since nobody asks for permission to ask for permission.
    fn file_of<'a>(
        &'a self,
        ask: &'a Ask,
        request: RobotsRequest,
        asides: &'a mut Vec<Aside>,
    ) -> BoxFuture<'a, RobotsAnswer> {
        Box::pin(async move {
            let url = match Url::parse(&request.url) {
                Ok(url) => url,
                Err(error) => return RobotsAnswer::Unreachable(error.to_string()),
            };
            let conditions = [("if-none-match", request.etag), ("if-modified-since", request.last_modified)];
            let own = Ask {
                purpose: Purpose::Robots,
                method: Method::Get,
                url,
                headers: conditions
                    .into_iter()
                    .filter_map(|(name, value)| Some((name.into(), value?)))
                    .collect(),
                body: None,
                expects: Expects::Any,
                grant: ask.grant.clone(),
                public: ask.public.clone(),
                policy: ask.policy,
                robots: RobotsMode::Bypass,
                strategy: Strategy::Http,
                wire: ask.wire.clone(),
                pulse: ask.pulse.clone(),
            };
            let mut trip = Trip::new(&own, &self.agent_for(ask), self.page_time, &self.clock);
            trip.max_hops = MAX_REDIRECTS;
            let done = self.read_robots(&own, &mut trip).await;
            self.settle(&mut trip).await;
            note(asides, trip, &done);
            match done {
                Ok((_, _, answer)) => answer,
                Err(FetchErrorKind::RedirectLoop | FetchErrorKind::TooManyRedirects(_)) => {
                    RobotsAnswer::TooManyRedirects
                }
                // That we leave the host alone says nothing about its file: it is asked for when that is over.
                Err(kind @ FetchErrorKind::CoolingDown { .. }) => RobotsAnswer::NotAsked(kind.to_string()),
                Err(kind) => RobotsAnswer::Unreachable(kind.to_string()),
            }
        })
    }

    async fn read_robots(
        &self,
        own: &Ask,
        trip: &mut Trip,
    ) -> Result<(u16, Verdict, RobotsAnswer), FetchErrorKind> {
        let Opened { response, pass, admitted, status, headers } = self.open(own, trip).await?;
        // One byte more than counts, so that a file which is cut is known to be: half a rule would be another rule.
        let body = match self.beginning(response, trip, MAX_BODY + 1).await {
            Ok(body) => body,
            Err(kind) => {
                self.finish_failed(own, trip, admitted, &kind);
                return Err(kind);
            }
        };
        let verdict = self.classify(own, trip, status, &headers, &body);
        self.finish(own, trip, admitted, &verdict, (1, body.len() as u64));
        drop(pass);
        let now = self.clock.now();
        let header =
            |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let (etag, last_modified) = validators::read(&headers, now);
        // A firewall that answers in the host's place says nothing about what the host wants, at any status.
        let hijacked = matches!(verdict.kind, VerdictKind::Challenge(_))
            || (verdict.kind == VerdictKind::Blocked && status < 300);
        let answer = match status {
            _ if hijacked => RobotsAnswer::Unreachable(verdict.to_string()),
            200..=299 => RobotsAnswer::File { status, etag, last_modified, body },
            _ => {
                let until = header("retry-after")
                    .and_then(|value| retry_after::until(&value, header("date").as_deref(), now));
                let wait = until.map(|until| Duration::from_millis((until.0 - now.0).max(0) as u64));
                RobotsAnswer::Status { status, retry_after: wait }
            }
        };
        Ok((status, verdict, answer))
    }
}

/// Why it may not be fetched: a rule of the file, or that there is no file to go by.
fn refused(verdict: RobotsVerdict, standing: &Standing) -> FetchErrorKind {
    match (standing.decision.basis, verdict.rule) {
        (Basis::Copy, Some(rule)) => FetchErrorKind::Robots { line: rule.line, rule: rule.text },
        _ => FetchErrorKind::RobotsUnreachable {
            reason: standing.decision.reason.clone(),
            until: standing.decision.until,
        },
    }
}

/// One request for a robots.txt and what came of it.
fn told(aside: &Aside) -> String {
    match (&aside.verdict, &aside.outcome) {
        (Some(verdict), _) => format!("{} {verdict}", aside.url),
        (None, Ok(status)) => format!("{} status {status}", aside.url),
        (None, Err(why)) => format!("{} {why}", aside.url),
    }
}

/// The requests that were really made, for the log.
fn note<T>(asides: &mut Vec<Aside>, trip: Trip, done: &Result<(u16, Verdict, T), FetchErrorKind>) {
    let hop = |hop: Hop| Aside {
        url: hop.url,
        outcome: Ok(hop.status),
        verdict: Some(hop.verdict),
        duration: Duration::ZERO,
    };
    asides.extend(trip.hops.into_iter().map(hop));
    match done {
        Ok((status, verdict, _)) => asides.push(Aside {
            url: trip.url,
            outcome: Ok(*status),
            verdict: Some(verdict.clone()),
            duration: trip.on_wire,
        }),
        Err(kind) if kind.was_sent() => asides.push(Aside {
            url: trip.url,
            outcome: Err(kind.to_string()),
            verdict: Verdict::of_kind(kind),
            duration: trip.on_wire,
        }),
        // Our own rules ended it: the redirect that led there is the last request there was.
        Err(kind) => {
            if let Some(last) = asides.last_mut() {
                last.outcome = Err(kind.to_string());
            }
        }
    }
}
