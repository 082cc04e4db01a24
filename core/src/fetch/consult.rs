//! Asks an origin's robots.txt before a page of it (S2-53): what is asked, and what the answer counts as. What the
//! file says and how long it holds is decided in [`robots`](super::robots).

use std::time::Duration;

use futures::future::BoxFuture;
use url::Url;

use super::ask::{Aside, Ask, Expects, Method, Purpose, RobotsMode};
use super::error::FetchErrorKind;
use super::escalate::Strategy;
use super::gate::{Shared, Trip};
use super::headers;
use super::retry_after;
use super::robots::{
    Basis, MAX_BODY, MAX_REDIRECTS, Origin, RobotsAnswer, RobotsRequest, RobotsVerdict, Standing,
};
use super::verdict::{Answer, THIN_BELOW, VerdictKind};

impl Shared {
    /// 4. robots: refuses what the site does not want fetched; else the room it asks for between two requests.
    pub(super) async fn consult(&self, ask: &Ask, trip: &mut Trip) -> Result<Duration, FetchErrorKind> {
        let RobotsMode::Respect { on_unreachable } = ask.robots else { return Ok(Duration::ZERO) };
        let Some(origin) = Origin::of(&trip.url) else { return Ok(Duration::ZERO) };
        let asides = &mut trip.asides;
        let standing = self
            .robots
            .consult(&origin, on_unreachable, move |request| self.file_of(ask, request, asides))
            .await;
        let verdict = standing.check(&self.agent_text, &trip.url);
        if verdict.allow {
            return Ok(verdict.crawl_delay.unwrap_or_default());
        }
        Err(refused(verdict, &standing))
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
            };
            let mut trip = Trip::new(&own, &self.agent, self.page_time);
            trip.max_hops = MAX_REDIRECTS;
            let done = self.read_robots(&own, &mut trip).await;
            note(asides, trip, &done);
            match done {
                Ok((_, answer)) => answer,
                Err(FetchErrorKind::RedirectLoop | FetchErrorKind::TooManyRedirects(_)) => {
                    RobotsAnswer::TooManyRedirects
                }
                Err(kind) => RobotsAnswer::Unreachable(kind.to_string()),
            }
        })
    }

    async fn read_robots(&self, own: &Ask, trip: &mut Trip) -> Result<(u16, RobotsAnswer), FetchErrorKind> {
        let (response, pass) = self.open(own, trip).await?;
        let status = response.status().as_u16();
        let headers = headers::incoming(response.headers());
        let body = self.beginning(response, trip, MAX_BODY).await?;
        drop(pass);
        let now = self.clock.now();
        let header =
            |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let answer = Answer {
            method: own.method,
            purpose: own.purpose,
            expects: own.expects,
            url: &trip.url,
            status,
            headers: &headers,
            body: &body,
            thin_below: THIN_BELOW,
        };
        // A firewall that answers in the host's place says nothing about what the host wants, at any status.
        let verdict = answer.classify(now);
        let hijacked = matches!(verdict.kind, VerdictKind::Challenge(_))
            || (verdict.kind == VerdictKind::Blocked && status < 300);
        let answer = match status {
            _ if hijacked => RobotsAnswer::Unreachable(verdict.to_string()),
            200..=299 => RobotsAnswer::File {
                status,
                etag: header("etag"),
                last_modified: header("last-modified"),
                body,
            },
            _ => {
                let until = header("retry-after")
                    .and_then(|value| retry_after::until(&value, header("date").as_deref(), now));
                let wait = until.map(|until| Duration::from_millis((until.0 - now.0).max(0) as u64));
                RobotsAnswer::Status { status, retry_after: wait }
            }
        };
        Ok((status, answer))
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

/// The requests that were really made, for the log.
fn note<T>(asides: &mut Vec<Aside>, trip: Trip, done: &Result<(u16, T), FetchErrorKind>) {
    let hops = trip.hops.into_iter();
    asides.extend(hops.map(|hop| Aside { url: hop.url, outcome: Ok(hop.status), duration: Duration::ZERO }));
    match done {
        Ok((status, _)) => {
            asides.push(Aside { url: trip.url, outcome: Ok(*status), duration: trip.on_wire });
        }
        Err(kind) if kind.was_sent() => {
            let outcome = Err(kind.to_string());
            asides.push(Aside { url: trip.url, outcome, duration: trip.on_wire });
        }
        // Our own rules ended it: the redirect that led there is the last request there was.
        Err(kind) => {
            if let Some(last) = asides.last_mut() {
                last.outcome = Err(kind.to_string());
            }
        }
    }
}
