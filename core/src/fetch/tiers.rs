//! What fetches a page: HTTP with the cookie pool first, then a backend where HTTP is turned away (S2-26, C8). When
//! that is worth a try is decided in [`escalate`](super::escalate).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use rustls::pki_types::CertificateDer;
use tokio::time::{Instant, timeout};
use url::Url;

use super::admit::since;
use super::ask::{Ask, Expects, Method, Purpose};
use super::backend::{BackendOrder, BackendPage, FetchBackend, Screen};
use super::chain::Opened;
use super::error::FetchErrorKind;
use super::escalate::{self, Next, Situation, Strategy, Tier};
use super::gate::Shared;
use super::headers;
use super::trip::Trip;
use super::verdict::{Answer, THIN_BELOW, Verdict, VerdictKind};

/// A backend may wait for a free tab and start a browser beside the time of the page.
const BACKEND_TIMES: u32 = 3;

/// A whole answer of whatever tier.
pub(super) struct Got {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub verdict: Verdict,
}

impl Shared {
    /// The page by the tier that the site's strategy begins with, and by the next one if it has to be.
    pub(super) async fn by_tiers(&self, ask: &Ask, trip: &mut Trip) -> Result<Got, FetchErrorKind> {
        // A browser opens pages; it posts nothing and keeps no files.
        let may_browse = ask.method == Method::Get && matches!(ask.purpose, Purpose::List | Purpose::Detail);
        if may_browse && ask.strategy == Strategy::Browser {
            let backend = self.backend(trip).await.map_err(FetchErrorKind::NoBackend)?;
            let got = self.by_backend(ask, trip, &*backend).await?;
            return self.judge(ask, trip, got);
        }
        let first = self.by_http(ask, trip).await;
        if !may_browse {
            return first.and_then(|got| self.judge(ask, trip, got));
        }
        let verdict = match &first {
            Ok(got) => Some(got.verdict.clone()),
            Err(kind) => Verdict::of_kind(kind),
        };
        let Some(backend) = self.escalates(ask, trip, verdict.as_ref()).await else {
            return first.and_then(|got| self.judge(ask, trip, got));
        };
        if let Ok(got) = &first {
            trip.passed_by(got.status, got.verdict.clone());
        }
        trip.url = ask.url.clone();
        // A page that is opened in a browser is wanted whole.
        trip.known = None;
        trip.set_conditions();
        match self.by_backend(ask, trip, &*backend).await {
            Ok(got) => self.judge(ask, trip, got),
            // The backend's own trouble is not the site's: what HTTP brought stands.
            Err(error) => {
                tracing::debug!(backend = backend.name(), %error, "escalation brought nothing");
                if let Ok(got) = &first
                    && let Some(last) = trip.hops.pop()
                {
                    debug_assert_eq!(last.status, got.status);
                    trip.url = last.url;
                }
                trip.tier = "http";
                first.and_then(|got| self.judge(ask, trip, got))
            }
        }
    }

    async fn by_http(&self, ask: &Ask, trip: &mut Trip) -> Result<Got, FetchErrorKind> {
        let Opened { response, pass, admitted, status, headers } = self.open(ask, trip).await?;
        let key = admitted.key().to_owned();
        let body = match self.page(response, trip).await {
            Ok(body) => body,
            Err(kind) => {
                self.finish_failed(ask, trip, admitted, &kind);
                return Err(kind);
            }
        };
        let verdict = self.classify(ask, trip, status, &headers, &body);
        self.finish(ask, trip, admitted, &verdict, (1, body.len() as u64));
        self.doubt_cookies(trip, &key, &verdict);
        drop(pass);
        Ok(Got { status, headers, body, verdict })
    }

    /// S2-28: cookies that did not help are not sent again.
    pub(super) fn doubt_cookies(&self, trip: &mut Trip, key: &str, verdict: &Verdict) {
        if trip.pooled && (escalate::wants_browser(verdict) || verdict.kind == VerdictKind::Blocked) {
            self.register.hosts.forget_cookies(key, &trip.url);
            trip.urgent.push(key.to_owned());
            trip.say("cookies", true, || "the cookies of the pool did not help and are forgotten");
        }
    }

    /// The backend to try, when it is worth a try and nobody else has taken it.
    async fn escalates(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        verdict: Option<&Verdict>,
    ) -> Option<Arc<dyn FetchBackend>> {
        let key = self.key(ask, &trip.url).into_owned();
        let hosts = &self.register.hosts;
        let situation = Situation {
            strategy: ask.strategy,
            tier: Tier::Http,
            browser_available: !self.backends.is_empty(),
            escalated: hosts.escalated(&key),
        };
        let verdict = verdict?;
        if escalate::next(verdict, situation) != Next::Escalate {
            if situation.escalated && escalate::wants_browser(verdict) {
                trip.say("escalate", false, || "a browser was tried in this incident already");
            }
            return None;
        }
        let backend = self.backend(trip).await.ok()?;
        // The answer may have been one failure too many.
        if hosts.refusal(&key).is_some() || !hosts.claim_escalation(&key) {
            return None;
        }
        trip.urgent.push(key);
        trip.say("escalate", true, || format!("{} is worth a try", backend.name()));
        Some(backend)
    }

    /// The first backend that is there; else why none is.
    async fn backend(&self, trip: &mut Trip) -> Result<Arc<dyn FetchBackend>, String> {
        let mut reasons = Vec::new();
        for backend in &self.backends {
            match backend.available().await {
                Ok(()) => return Ok(backend.clone()),
                Err(why) => reasons.push(why.0),
            }
        }
        let why = match reasons.is_empty() {
            true => "this program was built or set up without one".to_owned(),
            false => reasons.join("; "),
        };
        trip.say("escalate", false, || format!("no browser: {why}"));
        Err(why)
    }

    async fn by_backend(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        backend: &dyn FetchBackend,
    ) -> Result<Got, FetchErrorKind> {
        // A page load is one turn of its host, whatever parts the page has.
        let (pass, admitted) = self.enter(ask, trip).await?;
        trip.tier = backend.name();
        let key = admitted.key().to_owned();
        let cookies = self.register.hosts.cookies(&key, &trip.url);
        trip.pooled = !cookies.is_empty();
        let (url, headers) = (trip.url.clone(), headers::incoming(&trip.headers));
        let screen = GateScreen { shared: self, ask };
        let order = BackendOrder {
            url: &url,
            headers: &headers,
            cookies: &cookies,
            timeout: self.page_time,
            body_cap: self.body_cap,
            rendering: &ask.wire.rendering,
            screen: &screen,
        };
        let begin = Instant::now();
        // It keeps the page's time itself and may wait before that; this only ends one that has lost its way.
        let fetched = timeout(BACKEND_TIMES * self.page_time, backend.fetch(order)).await;
        trip.on_wire += since(begin);
        let late =
            FetchErrorKind::Backend(format!("it took longer than {:?}", BACKEND_TIMES * self.page_time));
        let page = match fetched.unwrap_or(Err(late)) {
            Ok(page) => page,
            Err(kind) => {
                self.finish_failed(ask, trip, admitted, &kind);
                return Err(kind);
            }
        };
        let BackendPage { status, url, headers, body, cookies, requests, bytes } = page;
        trip.url = url;
        let verdict = self.classify(ask, trip, status, &headers, &body);
        self.finish(ask, trip, admitted, &verdict, (requests.max(1), bytes.max(body.len() as u64)));
        match verdict.kind {
            VerdictKind::Ok | VerdictKind::Thin => {
                let at = self.key(ask, &trip.url).into_owned();
                self.register.hosts.earn(&at, &trip.url, cookies);
                trip.urgent.push(at);
            }
            _ => self.doubt_cookies(trip, &key, &verdict),
        }
        drop(pass);
        Ok(Got { status, headers, body, verdict })
    }

    pub(super) fn classify(
        &self,
        ask: &Ask,
        trip: &Trip,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Verdict {
        self.answer(ask, trip, status, headers, body).classify(self.clock.now())
    }

    fn answer<'a>(
        &self,
        ask: &Ask,
        trip: &'a Trip,
        status: u16,
        headers: &'a [(String, String)],
        body: &'a [u8],
    ) -> Answer<'a> {
        Answer {
            method: trip.method,
            purpose: ask.purpose,
            expects: ask.expects,
            url: &trip.url,
            status,
            headers,
            body,
            thin_below: THIN_BELOW,
        }
    }

    /// A firewall's page, and a page where data was asked for, is no answer of the site's: no adapter should have to
    /// tell them apart. Statuses are left to the adapter, which knows what is gone.
    fn judge(&self, ask: &Ask, trip: &Trip, got: Got) -> Result<Got, FetchErrorKind> {
        let wants_data = matches!(ask.expects, Expects::Json | Expects::Xml);
        match got.verdict.kind {
            VerdictKind::Challenge(_) => Err(FetchErrorKind::TurnedAway { verdict: got.verdict }),
            VerdictKind::Blocked if got.status < 300 => {
                Err(FetchErrorKind::TurnedAway { verdict: got.verdict })
            }
            VerdictKind::WrongContent
                if wants_data && self.answer(ask, trip, got.status, &got.headers, &got.body).is_html() =>
            {
                Err(FetchErrorKind::WrongContent { verdict: got.verdict })
            }
            _ => Ok(got),
        }
    }
}

/// The gate's checks on what a backend loads beside its page.
struct GateScreen<'a> {
    shared: &'a Shared,
    ask: &'a Ask,
}

impl Screen for GateScreen<'_> {
    fn check(&self, url: &Url, document: bool) -> Result<(), FetchErrorKind> {
        self.ask.grant.check(url).map_err(FetchErrorKind::NotGranted)?;
        self.shared.http.check_literal(url)?;
        if document {
            self.ask.public.check(url).map_err(FetchErrorKind::NotPublic)?;
            self.shared.known_to_be_forbidden(self.ask, url)?;
        }
        Ok(())
    }

    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, Result<Vec<SocketAddr>, FetchErrorKind>> {
        Box::pin(self.shared.http.addresses(&self.ask.wire, host, port))
    }

    fn check_address(&self, address: IpAddr) -> Result<(), FetchErrorKind> {
        self.shared.http.check_address(address)
    }

    fn extra_roots(&self) -> Vec<CertificateDer<'static>> {
        self.shared.http.extra_roots(&self.ask.wire)
    }

    fn proxy(&self) -> Option<&Url> {
        self.ask.wire.proxy.as_ref()
    }
}
