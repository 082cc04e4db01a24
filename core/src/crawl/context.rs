//! Everything one crawl of one target works with. Made by the engine, borrowed by the steps.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::report::CrawlEvent;
use super::step::Bounds;
use crate::adapter::{Adapter, contract};
use crate::clock::{Clock, Entropy};
use crate::fetch::{Ask, Expects, Gate, Grant, HostPolicy, Method, PublicRule, Purpose};
use crate::model::{RequestLog, Site, Target};
use crate::store::{Files, Store};

/// The parts and settings of one crawl.
pub(crate) struct CrawlContext {
    pub store: Arc<dyn Store>,
    pub files: Files,
    pub gate: Gate,
    pub adapter: Adapter,
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
    pub attachment_cap: u64,
    pub cancel: CancellationToken,
    pub events: Option<mpsc::Sender<CrawlEvent>>,
    /// What the adapter last returned as its session.
    pub session: Mutex<Vec<u8>>,
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
            policy: self.policy,
        }
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
        }
    }
}
