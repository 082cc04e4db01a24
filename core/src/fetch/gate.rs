//! The one way out: what it is made of, and what can be asked of it.
//!
//! The order of the checks is in `chain`, the tiers are in `tiers`, the breaker's part in `admit`.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use http::header::HeaderValue;
use tokio::io::AsyncWrite;
use url::Url;

use super::admit::Register;
use super::ask::{Ask, Downloaded, Fetched};
use super::backend::FetchBackend;
use super::chain::Opened;
use super::error::{FetchError, FetchErrorKind};
use super::hosts::Hosts;
use super::http::Http;
use super::options::GateOptions;
use super::policy::HostPolicy;
use super::robots::{NoShelf, RobotsBook, Standing};
use super::throttle::Throttle;
use super::tiers::Got;
use super::trip::{Step, Trip};
use super::validators::Validators;
use crate::clock::{Clock, Entropy};
use crate::tally::Tally;

/// The only way out. Cheap to clone: all clones share connections, pace and what is known of hosts.
#[derive(Clone)]
pub struct Gate(Arc<Shared>);

pub(super) struct Shared {
    agent: HeaderValue,
    agent_text: String,
    pub(super) robots: RobotsBook,
    pub(super) http: Http,
    pub(super) throttle: Throttle,
    pub(super) register: Register,
    pub(super) backends: Vec<Arc<dyn FetchBackend>>,
    pub(super) body_cap: u64,
    pub(super) page_time: Duration,
    download_time: Duration,
    pub(super) clock: Arc<dyn Clock>,
    tally: Tally,
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
        let hosts = Arc::new(Hosts::new(clock.clone()));
        Ok(Gate(Arc::new(Shared {
            agent,
            agent_text: options.user_agent.clone(),
            robots: RobotsBook::new(shelf, clock.clone(), options.robots_times),
            http: Http::new(&options)?,
            register: Register::new(hosts, options.host_shelf),
            backends: options.backends,
            throttle: Throttle::new(
                options.max_in_flight,
                options.attachment_throttle_cap,
                entropy,
                clock.clone(),
            ),
            body_cap: options.body_cap,
            page_time: options.timeouts.total,
            download_time: options.timeouts.download,
            clock,
            tally: Tally::default(),
        })))
    }

    /// Fetches a page: its whole body, decompressed, up to the cap of the options.
    pub async fn fetch(&self, ask: &Ask) -> Result<Fetched, FetchError> {
        let trip = Trip::new(ask, &self.0.agent_for(ask), self.0.page_time, &self.0.clock);
        self.fetch_on(ask, trip).await.1
    }

    /// Fetches a page unless it is still the one of which the validators were kept: then [`Fetched::unchanged`]. They
    /// go out with a GET of the address they are of, wherever on the way that is asked, and nowhere else.
    pub async fn fetch_if_changed(&self, ask: &Ask, known: &Validators) -> Result<Fetched, FetchError> {
        let mut trip = Trip::new(ask, &self.0.agent_for(ask), self.0.page_time, &self.0.clock);
        trip.known = Some(known.clone());
        self.fetch_on(ask, trip).await.1
    }

    /// Fetches a page and tells every decision on the way, in order.
    pub async fn explain(&self, ask: &Ask) -> (Vec<Step>, Result<Fetched, FetchError>) {
        let trip = Trip::new(ask, &self.0.agent_for(ask), self.0.page_time, &self.0.clock).traced();
        self.fetch_on(ask, trip).await
    }

    async fn fetch_on(&self, ask: &Ask, mut trip: Trip) -> (Vec<Step>, Result<Fetched, FetchError>) {
        let at = self.0.clock.now();
        let done = self.0.by_tiers(ask, &mut trip).await;
        self.0.settle(&mut trip).await;
        let steps = trip.steps();
        let result = match done {
            Ok(Got { status, headers, body, verdict }) => Ok(Fetched {
                status,
                headers,
                body,
                verdict,
                at,
                // A server that says so without having been asked is no reason to keep what we have.
                unchanged: status == 304 && trip.conditional && trip.tier == "http",
                url: trip.url,
                hops: trip.hops,
                asides: trip.asides,
                waited: trip.waited,
                duration: trip.on_wire,
                tier: trip.tier,
            }),
            Err(kind) => Err(trip.failed(kind)),
        };
        match &result {
            Ok(fetched) => {
                self.0.tally.fetched(
                    &fetched.hops,
                    fetched.tier,
                    fetched.verdict.kind.name(),
                    fetched.duration,
                );
            }
            Err(error) => self.0.tally.failed(error),
        }
        (steps, result)
    }

    /// Streams a file to `to`, at most `cap` bytes of it. On an error what was written is incomplete.
    pub async fn download<W: AsyncWrite + Unpin>(
        &self,
        ask: &Ask,
        to: W,
        cap: u64,
    ) -> Result<Downloaded, FetchError> {
        let at = self.0.clock.now();
        let mut trip = Trip::new(ask, &self.0.agent_for(ask), self.0.download_time, &self.0.clock);
        let done = self.0.download(ask, &mut trip, to, cap).await;
        self.0.settle(&mut trip).await;
        let result = match done {
            Ok((status, headers, verdict, (size, sha256))) => Ok(Downloaded {
                status,
                headers,
                verdict,
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
        };
        match &result {
            Ok(file) => self.0.tally.fetched(&file.hops, "http", file.verdict.kind.name(), file.duration),
            Err(error) => self.0.tally.failed(error),
        }
        result
    }

    /// What is counted: of this gate's answers, and of the turns of adapters that asked for them.
    pub fn tally(&self) -> &Tally {
        &self.0.tally
    }

    /// What is known of hosts.
    pub fn hosts(&self) -> &Hosts {
        &self.0.register.hosts
    }

    /// The name under which the host of an address is paced and remembered.
    pub fn key(&self, policy: &HostPolicy, url: &Url) -> String {
        policy.key_of(url).into_owned()
    }

    /// Stores what is known of hosts and not stored yet. Openings of the breaker are stored at once in any case.
    pub async fn flush(&self) {
        self.0.register.flush().await;
    }

    /// What the robots.txt of an ask's origin says at the moment; asked for if nothing is known. None when the ask
    /// passes over it.
    pub async fn robots(&self, ask: &Ask) -> Option<Standing> {
        self.0.standing(ask).await
    }
}

impl Shared {
    async fn download<W: AsyncWrite + Unpin>(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        to: W,
        cap: u64,
    ) -> Result<(u16, Vec<(String, String)>, super::verdict::Verdict, (u64, String)), FetchErrorKind> {
        let Opened { response, pass, admitted, status, headers } = self.open(ask, trip).await?;
        let key = admitted.key().to_owned();
        match self.file(response, trip, to, cap).await {
            Ok((size, sha256, head)) => {
                let verdict = self.classify(ask, trip, status, &headers, &head);
                self.finish(ask, trip, admitted, &verdict, (1, size));
                self.doubt_cookies(trip, &key, &verdict);
                drop(pass);
                Ok((status, headers, verdict, (size, sha256)))
            }
            Err(kind) => {
                self.finish_failed(ask, trip, admitted, &kind);
                Err(kind)
            }
        }
    }

    pub(super) async fn settle(&self, trip: &mut Trip) {
        self.register.settle(&trip.urgent, self.clock.now().0).await;
        trip.urgent.clear();
    }

    /// The name under which a host is paced and remembered.
    pub(super) fn key<'u>(&self, ask: &Ask, url: &'u Url) -> Cow<'u, str> {
        ask.policy.key_of(url)
    }

    /// Who asks, as a header.
    pub(super) fn agent_for(&self, ask: &Ask) -> HeaderValue {
        let own = ask.wire.user_agent.as_deref().and_then(|agent| HeaderValue::from_str(agent).ok());
        own.unwrap_or_else(|| self.agent.clone())
    }

    /// Who asks, in words: what groups of robots.txt are matched against.
    pub(super) fn agent_text<'a>(&'a self, ask: &'a Ask) -> &'a str {
        ask.wire.user_agent.as_deref().unwrap_or(&self.agent_text)
    }
}
