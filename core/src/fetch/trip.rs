//! One ask on its way through the gate: where it stands, what it met, and how much of its time is left.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::HeaderValue;
use serde::Serialize;
use url::Url;

use super::ask::{Aside, Ask, Hop, Method};
use super::cookies::CookiePool;
use super::error::{FetchError, FetchErrorKind, Phase};
use super::headers;
use super::redirect::MAX_HOPS;
use super::validators::{self, Validators};
use super::verdict::Verdict;
use crate::clock::Clock;

/// One decision about a request, for the one who asks why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// `grant`, `public`, `address`, `robots`, `breaker`, `throttle`, or the tier that fetched: `http`, `browser`.
    pub check: &'static str,
    /// The address it was about.
    pub url: String,
    /// Whether the request went on.
    pub passed: bool,
    /// In words.
    pub detail: Cow<'static, str>,
}

/// An ask under way.
pub(super) struct Trip {
    pub url: Url,
    pub method: Method,
    pub headers: HeaderMap,
    pub body: Option<Bytes>,
    pub hops: Vec<Hop>,
    pub max_hops: usize,
    pub asides: Vec<Aside>,
    pub waited: Duration,
    pub on_wire: Duration,
    pub limit: Duration,
    /// What redirects of this trip set.
    pub jar: CookiePool,
    /// Cookies of the pool went with the last request.
    pub pooled: bool,
    /// The tier of the last answer.
    pub tier: &'static str,
    /// Hosts of which something changed that should not wait to be stored.
    pub urgent: Vec<String>,
    /// The version of the page that the asker has.
    pub known: Option<Validators>,
    /// The last request asked for another version only.
    pub conditional: bool,
    steps: Option<Vec<Step>>,
    clock: Arc<dyn Clock>,
}

impl Trip {
    pub fn new(ask: &Ask, agent: &HeaderValue, limit: Duration, clock: &Arc<dyn Clock>) -> Trip {
        Trip {
            url: ask.url.clone(),
            method: ask.method,
            headers: headers::outgoing(&ask.headers, ask.expects, ask.purpose, agent),
            body: ask.body.clone().filter(|_| ask.method == Method::Post),
            hops: Vec::new(),
            max_hops: MAX_HOPS,
            asides: Vec::new(),
            waited: Duration::ZERO,
            on_wire: Duration::ZERO,
            limit,
            jar: CookiePool::default(),
            pooled: false,
            tier: "http",
            urgent: Vec::new(),
            known: None,
            conditional: false,
            steps: None,
            clock: clock.clone(),
        }
    }

    /// Writes down every decision from here on.
    pub fn traced(mut self) -> Trip {
        self.steps = Some(Vec::new());
        self
    }

    pub fn steps(&mut self) -> Vec<Step> {
        self.steps.take().unwrap_or_default()
    }

    /// Writes a decision down, if somebody wants to know.
    pub fn say<D: Into<Cow<'static, str>>>(
        &mut self,
        check: &'static str,
        passed: bool,
        detail: impl FnOnce() -> D,
    ) {
        if let Some(steps) = &mut self.steps {
            steps.push(Step { check, url: self.url.to_string(), passed, detail: detail().into() });
        }
    }

    /// Writes down how a check ended.
    pub fn checked<T>(
        &mut self,
        check: &'static str,
        outcome: Result<T, FetchErrorKind>,
        passed: &'static str,
    ) -> Result<T, FetchErrorKind> {
        match &outcome {
            Ok(_) => self.say(check, true, || passed),
            Err(kind) => self.say(check, false, || kind.to_string()),
        }
        outcome
    }

    /// Asks the next request for another version only, if it is for the page of which the asker has one.
    pub fn set_conditions(&mut self) {
        if std::mem::take(&mut self.conditional) {
            validators::remove_from(&mut self.headers);
        }
        if let Some(known) = &self.known {
            self.conditional = known.add_to(&self.url, self.method, &mut self.headers);
        }
    }

    /// One answer that was not the last one.
    pub fn passed_by(&mut self, status: u16, verdict: Verdict) {
        self.hops.push(Hop { url: self.url.clone(), status, verdict, tier: self.tier });
    }

    pub fn failed(self, kind: FetchErrorKind) -> FetchError {
        FetchError::new(kind)
            .at(self.url, self.hops, self.waited, self.on_wire)
            .with_asides(self.asides)
            .by(self.tier)
    }

    /// Runs a part of the exchange on the time that is left.
    pub async fn timed<T>(
        &mut self,
        part: impl Future<Output = Result<T, FetchErrorKind>>,
    ) -> Result<T, FetchErrorKind> {
        let begin = self.clock.instant();
        let late = self.clock.sleep_until(begin + self.limit.saturating_sub(self.on_wire));
        let done = tokio::select! {
            biased;
            done = part => done,
            () = late => Err(FetchErrorKind::Timeout { what: Phase::Total, after: self.limit }),
        };
        self.on_wire += self.clock.instant().saturating_duration_since(begin);
        done
    }
}
