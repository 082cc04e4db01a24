//! Everything one crawl of one target works with. Made by the engine, borrowed by the steps.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::attachments::FILES_AT_ONCE;
use super::enrich::Enricher;
use super::report::CrawlEvent;
use super::step::Bounds;
use crate::adapter::{Adapter, Live, contract};
use crate::clock::{Clock, Entropy};
use crate::deliver::Channels;
use crate::fetch::escalate::Strategy;
use crate::fetch::verdict::{Verdict, VerdictKind};
use crate::fetch::{
    Aside, Ask, Expects, FetchError, Fetched, Gate, Grant, Hop, HostPolicy, Method, PublicRule, Purpose,
    RobotsMode, Wire, fresh_for,
};
use crate::model::{RequestLog, Site, Target};
use crate::pulse::Pulse;
use crate::schedule::said::Said;
use crate::store::{Files, Store};

/// The parts and settings of one crawl.
pub(crate) struct CrawlContext {
    pub store: Arc<dyn Store>,
    pub files: Files,
    /// Who hears of new articles.
    pub channels: Arc<Channels>,
    /// Who adds to them.
    pub enrichers: Arc<[Arc<dyn Enricher>]>,
    pub gate: Gate,
    pub adapter: Adapter,
    /// In development: the adapter as its file is now.
    pub live: Option<Arc<Live>>,
    /// How many turns of adapters may run at once in the whole engine: they are pure computation.
    pub turn_slots: Arc<Semaphore>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub zone: chrono_tz::Tz,
    pub site: Site,
    pub target: Target,
    /// The target's settings with the operator's override laid over them.
    pub config: String,
    pub bounds: Bounds,
    pub full_sweep_every: Option<u32>,
    pub grant: Arc<Grant>,
    pub public: Arc<PublicRule>,
    pub policy: HostPolicy,
    pub robots: RobotsMode,
    pub strategy: Strategy,
    pub wire: Arc<Wire>,
    pub attachment_cap: u64,
    /// How often a request is repeated that had no answer.
    pub retries: u32,
    pub cancel: CancellationToken,
    /// Hears that the crawl is at work.
    pub pulse: Pulse,
    pub events: Option<mpsc::Sender<CrawlEvent>>,
    /// What the adapter last returned as its session.
    pub session: Mutex<Vec<u8>>,
    /// What the list said of itself when it was last read.
    pub said: Mutex<Option<Said>>,
    /// How titles of this site end, as far as this run has seen.
    pub endings: Arc<Mutex<crate::extract::Endings>>,
}

impl CrawlContext {
    /// Tells the caller. A caller that went away does not stop the crawl.
    pub async fn tell(&self, event: CrawlEvent) {
        if let Some(events) = &self.events {
            let _ = events.send(event).await;
        }
    }

    pub fn session(&self) -> Vec<u8> {
        self.session.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Keeps a session; true when it differs from the one before.
    pub fn keep_session(&self, session: Vec<u8>) -> bool {
        let mut kept = self.session.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let changed = *kept != session;
        *kept = session;
        changed
    }

    /// Hears what an answer to a request for the list says about when to come back.
    pub fn hear(&self, fetched: &Fetched) {
        let fresh = fresh_for(&fetched.headers, fetched.at);
        let body = (!fetched.unchanged).then_some(&fetched.body[..]);
        let said = Said::of(fresh, fetched.header("content-type"), body, self.clock.now());
        *self.said.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(said);
    }

    /// What was heard since this was last asked.
    pub fn take_said(&self) -> Option<Said> {
        self.said.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// The adapter's view of this call: all that may differ between two runs of it.
    pub fn guest_context(&self) -> contract::Context {
        let mut seed = vec![0u8; 32];
        self.entropy.fill(&mut seed);
        contract::Context {
            target: self.target.code.clone(),
            base: self.site.base_url.clone(),
            config: self.config.clone(),
            session: self.session(),
            now: self.clock.now().0.max(0) as u64,
            seed,
        }
    }

    pub fn ask(&self, purpose: Purpose, url: Url, expects: Expects) -> Ask {
        Ask {
            purpose,
            method: Method::Get,
            url,
            headers: Vec::new(),
            body: None,
            expects,
            grant: self.grant.clone(),
            public: self.public.clone(),
            policy: self.policy_for(purpose),
            robots: self.robots,
            strategy: self.strategy,
            wire: self.wire.clone(),
            pulse: self.pulse.clone(),
        }
    }

    /// S2-39: files come two at a time; a page still waits until the host has nothing else to do.
    fn policy_for(&self, purpose: Purpose) -> HostPolicy {
        let mut policy = self.policy;
        if purpose == Purpose::Attachment {
            policy.max_concurrency = policy.max_concurrency.max(FILES_AT_ONCE as u32);
        }
        policy
    }

    /// The lines of an answer: one per request, so one for every redirect as well (S2-12), and those for robots.txt.
    pub fn log_answer(
        &self,
        purpose: Purpose,
        before: (&[Aside], &[Hop]),
        url: &Url,
        took: Duration,
        (status, verdict, tier): (u16, &Verdict, &str),
    ) -> Vec<RequestLog> {
        let mut lines = self.log_asides(before.0);
        lines.extend(self.log_hops(purpose, before.1));
        let mut line = self.log_line(url.as_str(), purpose, took, Ok(status));
        line.fetch_strategy = tier.to_string();
        line.verdict = Some(worded(verdict));
        lines.push(line);
        lines
    }

    /// The lines of a failure. Where the last redirect led to something that was never asked for, its line says why.
    pub fn log_error(&self, purpose: Purpose, asked: &Url, error: &FetchError) -> Vec<RequestLog> {
        let mut lines = self.log_asides(error.asides());
        lines.extend(self.log_hops(purpose, error.hops()));
        match lines.last_mut() {
            Some(last) if !error.was_sent() && !error.hops().is_empty() => {
                last.success = false;
                last.error = Some(error.to_string());
            }
            // Nothing went to a host that is left alone: the log is of requests.
            _ if error.cooling_until().is_some() => {}
            _ => {
                let url = error.url().unwrap_or(asked);
                let mut line = self.log_line(url.as_str(), purpose, error.duration(), Err(error.to_string()));
                line.fetch_strategy = error.tier().to_string();
                if let Some(verdict) = error.verdict() {
                    line.http_status = verdict.status;
                    line.verdict = Some(worded(&verdict));
                }
                lines.push(line);
            }
        }
        lines
    }

    fn log_asides(&self, asides: &[Aside]) -> Vec<RequestLog> {
        let line = |aside: &Aside| RequestLog {
            verdict: aside.verdict.as_ref().map(worded),
            ..self.log_line(aside.url.as_str(), Purpose::Robots, aside.duration, aside.outcome.clone())
        };
        asides.iter().map(line).collect()
    }

    fn log_hops(&self, purpose: Purpose, hops: &[Hop]) -> Vec<RequestLog> {
        // The time of the whole trip is on its last line.
        let line = |hop: &Hop| RequestLog {
            verdict: Some(worded(&hop.verdict)),
            fetch_strategy: hop.tier.to_string(),
            ..self.log_line(hop.url.as_str(), purpose, Duration::ZERO, Ok(hop.status))
        };
        hops.iter().map(line).collect()
    }

    /// A line of the request log (S2-12).
    pub fn log_line(
        &self,
        url: &str,
        purpose: Purpose,
        took: Duration,
        outcome: Result<u16, String>,
    ) -> RequestLog {
        let (http_status, error) = match outcome {
            Ok(status) => (Some(status), (status >= 400).then(|| format!("HTTP {status}"))),
            Err(error) => (None, Some(error)),
        };
        RequestLog {
            occurred_at: self.clock.now(),
            url: url.to_string(),
            purpose: purpose.as_str().to_string(),
            success: error.is_none(),
            http_status,
            fetch_strategy: "http".to_string(),
            duration_ms: took.as_millis() as u64,
            error,
            verdict: None,
        }
    }
}

/// A verdict as it is logged: a good one needs no evidence.
fn worded(verdict: &Verdict) -> String {
    match verdict.kind {
        VerdictKind::Ok => verdict.kind.to_string(),
        _ => verdict.to_string(),
    }
}
