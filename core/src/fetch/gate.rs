//! The order of the checks, and the way of a request through them.
//!
//! A redirect is a new request: each hop starts again at the first check (I9).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, HeaderValue};
use reqwest::Response;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::ask::{Ask, Downloaded, Fetched, Hop, Method};
use super::body::{self, Coding, Decoder};
use super::error::{FetchError, FetchErrorKind, Phase};
use super::grant::without_dot;
use super::headers;
use super::http::Http;
use super::options::GateOptions;
use super::redirect::{self, MAX_HOPS};
use super::throttle::{Pass, Throttle};
use crate::clock::{Clock, Entropy};

/// A length announced in a header is believed up to here when memory is set aside.
const BELIEVED_LENGTH: u64 = 1 << 20;

/// The only way out. Cheap to clone: all clones share connections and pace.
#[derive(Clone)]
pub struct Gate(Arc<Shared>);

struct Shared {
    agent: HeaderValue,
    http: Http,
    throttle: Throttle,
    body_cap: u64,
    page_time: Duration,
    download_time: Duration,
    clock: Arc<dyn Clock>,
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
        Ok(Gate(Arc::new(Shared {
            agent,
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
            Ok((status, headers, body))
        }
        .await;
        match done {
            Ok((status, headers, body)) => Ok(Fetched {
                status,
                headers,
                body,
                at,
                url: trip.url,
                hops: trip.hops,
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
                waited: trip.waited,
                duration: trip.on_wire,
            }),
            Err(kind) => Err(trip.failed(kind)),
        }
    }
}

/// One ask on its way through redirects.
struct Trip {
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: Option<Bytes>,
    hops: Vec<Hop>,
    waited: Duration,
    on_wire: Duration,
    limit: Duration,
}

impl Trip {
    fn new(ask: &Ask, agent: &HeaderValue, limit: Duration) -> Trip {
        Trip {
            url: ask.url.clone(),
            method: ask.method,
            headers: headers::outgoing(&ask.headers, ask.expects, ask.purpose, agent),
            body: ask.body.clone().filter(|_| ask.method == Method::Post),
            hops: Vec::new(),
            waited: Duration::ZERO,
            on_wire: Duration::ZERO,
            limit,
        }
    }

    fn failed(self, kind: FetchErrorKind) -> FetchError {
        FetchError::new(kind).at(self.url, self.hops, self.waited, self.on_wire)
    }

    /// Runs a part of the exchange on the time that is left.
    async fn timed<T>(
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
    async fn open(&self, ask: &Ask, trip: &mut Trip) -> Result<(Response, Pass), FetchErrorKind> {
        let mut seen: Option<HashSet<(Method, Url)>> = None;
        loop {
            self.check(ask, &trip.url)?;
            let pass = self.turn(ask, trip).await;
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
            if trip.hops.len() > MAX_HOPS {
                return Err(FetchErrorKind::TooManyRedirects(MAX_HOPS));
            }
        }
    }

    /// The checks that need no waiting, in their order. Those to come have their place between the guard
    /// and the turn.
    fn check(&self, ask: &Ask, url: &Url) -> Result<(), FetchErrorKind> {
        // 1. grant
        ask.grant.check(url).map_err(FetchErrorKind::NotGranted)?;
        // 2. public path
        ask.public.check(url).map_err(FetchErrorKind::NotPublic)?;
        // 3. address guard: literals here, names in `resolver`, where the connection is made
        self.http.check_literal(url)
        // 4. robots: here, once there is a copy of robots.txt to ask
        // 5. breaker: here, so that a host that cools down costs no turn and no socket
    }

    /// 6. throttle
    async fn turn(&self, ask: &Ask, trip: &mut Trip) -> Pass {
        let begin = Instant::now();
        let host = trip.url.host_str().map(without_dot).unwrap_or_default();
        let pass = self.throttle.enter(host, &ask.policy, ask.purpose).await;
        trip.waited += begin.elapsed();
        pass
    }

    /// 7. tiers: HTTP is the only one so far; cookies join here, and the browser stands behind it.
    async fn tier(&self, trip: &mut Trip) -> Result<Response, FetchErrorKind> {
        let url = trip.url.clone();
        let sending = self.http.send(trip.method, &url, trip.headers.clone(), trip.body.clone());
        trip.timed(sending).await
    }

    async fn page(&self, mut response: Response, trip: &mut Trip) -> Result<Bytes, FetchErrorKind> {
        let coding = body::coding(response.headers())?;
        let cap = self.body_cap;
        let announced = announced(&response, trip.method, cap)?;
        let reading = async move {
            if coding == Coding::Identity {
                return self.plain(&mut response, announced, cap).await;
            }
            let (mut decoder, mut wire) = (Decoder::new(coding, cap), 0u64);
            while let Some(chunk) = self.chunk(&mut response).await? {
                wire += chunk.len() as u64;
                if wire > cap {
                    return Err(FetchErrorKind::TooLarge { limit: cap });
                }
                decoder.feed(&chunk)?;
            }
            decoder.finish()?;
            Ok(Bytes::from(decoder.take()))
        };
        trip.timed(reading).await
    }

    /// An uncompressed page; one that came in one piece is not copied.
    async fn plain(
        &self,
        response: &mut Response,
        announced: u64,
        cap: u64,
    ) -> Result<Bytes, FetchErrorKind> {
        let Some(first) = self.chunk(response).await? else { return Ok(Bytes::new()) };
        let mut total = first.len() as u64;
        let mut whole: Option<Vec<u8>> = None;
        loop {
            if total > cap {
                return Err(FetchErrorKind::TooLarge { limit: cap });
            }
            let Some(chunk) = self.chunk(response).await? else { break };
            total += chunk.len() as u64;
            let whole = whole.get_or_insert_with(|| {
                let mut bytes =
                    Vec::with_capacity(announced.clamp(total, BELIEVED_LENGTH.max(total)) as usize);
                bytes.extend_from_slice(&first);
                bytes
            });
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.map_or(first, Bytes::from))
    }

    async fn file<W: AsyncWrite + Unpin>(
        &self,
        mut response: Response,
        trip: &mut Trip,
        mut to: W,
        cap: u64,
    ) -> Result<(u64, String), FetchErrorKind> {
        let coding = body::coding(response.headers())?;
        announced(&response, trip.method, cap)?;
        let copying = async move {
            let (mut hash, mut size, mut wire) = (Sha256::new(), 0u64, 0u64);
            let mut decoder = (coding != Coding::Identity).then(|| Decoder::new(coding, cap));
            while let Some(chunk) = self.chunk(&mut response).await? {
                wire += chunk.len() as u64;
                if wire > cap {
                    return Err(FetchErrorKind::TooLarge { limit: cap });
                }
                let Some(decoder) = &mut decoder else {
                    hash.update(&chunk);
                    size = wire;
                    to.write_all(&chunk).await.map_err(FetchErrorKind::Write)?;
                    continue;
                };
                for piece in chunk.chunks(body::PIECE) {
                    decoder.feed(piece)?;
                    let plain = decoder.take();
                    hash.update(&plain);
                    size += plain.len() as u64;
                    to.write_all(&plain).await.map_err(FetchErrorKind::Write)?;
                }
            }
            if let Some(mut decoder) = decoder {
                decoder.finish()?;
                let plain = decoder.take();
                hash.update(&plain);
                size += plain.len() as u64;
                to.write_all(&plain).await.map_err(FetchErrorKind::Write)?;
            }
            to.flush().await.map_err(FetchErrorKind::Write)?;
            let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            Ok((size, sha256))
        };
        trip.timed(copying).await
    }

    async fn chunk(&self, response: &mut Response) -> Result<Option<Bytes>, FetchErrorKind> {
        response.chunk().await.map_err(|error| self.http.explain(&error, true))
    }
}

/// The announced length, refused at once when it is over the cap.
fn announced(response: &Response, method: Method, cap: u64) -> Result<u64, FetchErrorKind> {
    let length =
        response.headers().get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok()).unwrap_or(0);
    if length > cap && method != Method::Head {
        return Err(FetchErrorKind::TooLarge { limit: cap });
    }
    Ok(length)
}
