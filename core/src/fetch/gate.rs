//! The order of the checks, and the way of a request through them.
//!
//! A redirect is a new request: each hop starts again at the first check (I9).

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::HeaderValue;
use reqwest::Response;
use tokio::io::AsyncWrite;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::ask::{Aside, Ask, Downloaded, Expects, Fetched, Hop, Method, Purpose};
use super::error::{FetchError, FetchErrorKind, Phase};
use super::grant::without_dot;
use super::headers;
use super::http::Http;
use super::options::GateOptions;
use super::redirect::{self, MAX_HOPS};
use super::robots::{NoShelf, RobotsBook};
use super::throttle::{Pass, Throttle};
use super::verdict::{Answer, THIN_BELOW, Verdict, VerdictKind};
use crate::clock::{Clock, Entropy};

/// The only way out. Cheap to clone: all clones share connections and pace.
#[derive(Clone)]
pub struct Gate(Arc<Shared>);

pub(super) struct Shared {
    pub(super) agent: HeaderValue,
    pub(super) agent_text: String,
    pub(super) robots: RobotsBook,
    pub(super) http: Http,
    throttle: Throttle,
    pub(super) body_cap: u64,
    pub(super) page_time: Duration,
    download_time: Duration,
    pub(super) clock: Arc<dyn Clock>,
}

impl Gate {
    /// Makes a gate; fails when a setting cannot work.
    pub fn new(
        options: GateOptions,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Gate, FetchError> {
        let agent = HeaderValue::from_str(&options.user_agent).map_err(|_| {
            FetchError::setup(format!("the user agent {:?} cannot be sent", options.user_agent))
        })?;
        let shelf = options.robots_shelf.clone().unwrap_or_else(|| Arc::new(NoShelf));
        Ok(Gate(Arc::new(Shared {
            agent,
            agent_text: options.user_agent.clone(),
            robots: RobotsBook::new(shelf, clock.clone(), options.robots_times),
            http: Http::new(&options)?,
            throttle: Throttle::new(options.max_in_flight, options.attachment_throttle_cap, entropy),
            body_cap: options.body_cap,
            page_time: options.timeouts.total,
            download_time: options.timeouts.download,
            clock,
        })))
    }

    /// Fetches a page: its whole body, decompressed, up to the cap of the options.
    pub async fn fetch(&self, ask: &Ask) -> Result<Fetched, FetchError> {
        let at = self.0.clock.now();
        let mut trip = Trip::new(ask, &self.0.agent, self.0.page_time);
        let done = async {
            let (response, pass) = self.0.open(ask, &mut trip).await?;
            let status = response.status().as_u16();
            let headers = headers::incoming(response.headers());
            let body = self.0.page(response, &mut trip).await?;
            drop(pass);
            let verdict = self.0.judge(ask, &trip, status, &headers, &body)?;
            Ok((status, headers, body, verdict))
        }
        .await;
        match done {
            Ok((status, headers, body, verdict)) => Ok(Fetched {
                status,
                headers,
                body,
                verdict,
                at,
                url: trip.url,
                hops: trip.hops,
                asides: trip.asides,
                waited: trip.waited,
                duration: trip.on_wire,
                tier: "http",
            }),
            Err(kind) => Err(trip.failed(kind)),
        }
    }

    /// Streams a file to `to`, at most `cap` bytes of it. On an error what was written is incomplete.
    pub async fn download<W: AsyncWrite + Unpin>(
        &self,
        ask: &Ask,
        to: W,
        cap: u64,
    ) -> Result<Downloaded, FetchError> {
        let at = self.0.clock.now();
        let mut trip = Trip::new(ask, &self.0.agent, self.0.download_time);
        let done = async {
            let (response, pass) = self.0.open(ask, &mut trip).await?;
            let status = response.status().as_u16();
            let headers = headers::incoming(response.headers());
            let (size, sha256) = self.0.file(response, &mut trip, to, cap).await?;
            drop(pass);
            Ok((status, headers, size, sha256))
        }
        .await;
        match done {
            Ok((status, headers, size, sha256)) => Ok(Downloaded {
                status,
                headers,
                size,
                sha256,
                at,
                url: trip.url,
                hops: trip.hops,
                asides: trip.asides,
                waited: trip.waited,
                duration: trip.on_wire,
            }),
            Err(kind) => Err(trip.failed(kind)),
        }
    }
}

/// One ask on its way through redirects.
pub(super) struct Trip {
    pub(super) url: Url,
    pub(super) method: Method,
    headers: HeaderMap,
    body: Option<Bytes>,
    pub(super) hops: Vec<Hop>,
    pub(super) max_hops: usize,
    pub(super) asides: Vec<Aside>,
    waited: Duration,
    pub(super) on_wire: Duration,
    limit: Duration,
}

impl Trip {
    pub(super) fn new(ask: &Ask, agent: &HeaderValue, limit: Duration) -> Trip {
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
        }
    }

    fn failed(self, kind: FetchErrorKind) -> FetchError {
        FetchError::new(kind).at(self.url, self.hops, self.waited, self.on_wire).with_asides(self.asides)
    }

    /// Runs a part of the exchange on the time that is left.
    pub(super) async fn timed<T>(
        &mut self,
        part: impl Future<Output = Result<T, FetchErrorKind>>,
    ) -> Result<T, FetchErrorKind> {
        let begin = Instant::now();
        let deadline = begin + self.limit.saturating_sub(self.on_wire);
        let done = timeout_at(deadline, part).await;
        self.on_wire += begin.elapsed();
        done.unwrap_or(Err(FetchErrorKind::Timeout { what: Phase::Total, after: self.limit }))
    }
}

impl Shared {
    /// Gets the head of the last answer of a chain, with the pass that holds its host's slot.
    pub(super) async fn open(&self, ask: &Ask, trip: &mut Trip) -> Result<(Response, Pass), FetchErrorKind> {
        let mut seen: Option<HashSet<(Method, Url)>> = None;
        loop {
            self.check(ask, &trip.url)?;
            let floor = self.consult(ask, trip).await?;
            let pass = self.turn(ask, trip, floor).await;
            let response = self.tier(trip).await?;

            let status = response.status().as_u16();
            let next = redirect::next(status, response.headers(), &trip.url, trip.method)
                .map_err(FetchErrorKind::BadRedirect)?;
            let Some(next) = next else { return Ok((response, pass)) };
            // The host's slot is given back before the next hop asks for one.
            drop((response, pass));

            let seen = seen.get_or_insert_default();
            seen.insert((trip.method, trip.url.clone()));
            trip.hops.push(Hop { url: std::mem::replace(&mut trip.url, next.url), status });
            trip.method = next.method;
            if next.drops_body {
                trip.body = None;
                headers::without_body(&mut trip.headers);
            }
            if next.crosses {
                headers::for_another_origin(&mut trip.headers);
            }
            if seen.contains(&(trip.method, trip.url.clone())) {
                return Err(FetchErrorKind::RedirectLoop);
            }
            if trip.hops.len() > trip.max_hops {
                return Err(FetchErrorKind::TooManyRedirects(trip.max_hops));
            }
        }
    }

    /// The checks that need no waiting, in their order; 4, robots, is in `consult`.
    fn check(&self, ask: &Ask, url: &Url) -> Result<(), FetchErrorKind> {
        // 1. grant
        // Whoever may ask a host may read its robots.txt, whatever scheme and port that ends on.
        let implied = ask.purpose == Purpose::Robots && url.host_str() == ask.url.host_str();
        if !implied {
            ask.grant.check(url).map_err(FetchErrorKind::NotGranted)?;
        }
        // 2. public path
        ask.public.check(url).map_err(FetchErrorKind::NotPublic)?;
        // 3. address guard: literals here, names in `resolver`, where the connection is made
        self.http.check_literal(url)
    }

    /// What an answer is worth. A firewall's page, and a page where data was asked for, is no answer of the site's:
    /// no adapter should have to tell them apart. Statuses are left to the adapter, which knows what is gone.
    fn judge(
        &self,
        ask: &Ask,
        trip: &Trip,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Verdict, FetchErrorKind> {
        let (purpose, expects, url) = (ask.purpose, ask.expects, &trip.url);
        let answer = Answer {
            method: trip.method,
            purpose,
            expects,
            url,
            status,
            headers,
            body,
            thin_below: THIN_BELOW,
        };
        let verdict = answer.classify(self.clock.now());
        let wants_data = matches!(expects, Expects::Json | Expects::Xml);
        match verdict.kind {
            VerdictKind::Challenge(_) => Err(FetchErrorKind::TurnedAway { verdict }),
            VerdictKind::Blocked if status < 300 => Err(FetchErrorKind::TurnedAway { verdict }),
            VerdictKind::WrongContent if wants_data && answer.is_html() => {
                Err(FetchErrorKind::WrongContent { verdict })
            }
            _ => Ok(verdict),
        }
    }

    /// 6. throttle
    async fn turn(&self, ask: &Ask, trip: &mut Trip, floor: Duration) -> Pass {
        let begin = Instant::now();
        let host = trip.url.host_str().map(without_dot).unwrap_or_default();
        let pass = self.throttle.enter(host, &ask.policy, ask.purpose, floor).await;
        trip.waited += begin.elapsed();
        pass
    }

    /// 7. tiers: HTTP is the only one so far; cookies join here, and the browser stands behind it.
    async fn tier(&self, trip: &mut Trip) -> Result<Response, FetchErrorKind> {
        let url = trip.url.clone();
        let sending = self.http.send(trip.method, &url, trip.headers.clone(), trip.body.clone());
        trip.timed(sending).await
    }
}
