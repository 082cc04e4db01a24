//! Wires the parts together and owns their start and end. Knows all; nothing below knows it.
//!
//! `builder` opens everything, `request` describes and runs one crawl, `settings` is what holds for a target; what an
//! open engine can do is here.

mod builder;
mod credential;
mod desk;
mod development;
mod discover;
mod hosts;
mod lanes;
mod lookup;
mod message;
mod plan;
mod reconcile;
mod request;
mod schedules;
mod settings;
mod survey;
mod trace;
mod trial;
mod work;
mod workbench;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use url::Url;

pub use self::builder::EngineBuilder;
pub use self::credential::CREDENTIAL;
pub use self::desk::Desk;
use self::development::Development;
pub use self::discover::{Discovered, FoundColumn};
pub use self::hosts::{HostDetail, HostLine};
use self::lanes::Lanes;
pub use self::lookup::Lookup;
pub use self::message::MESSAGE;
use self::request::Of;
pub use self::request::{CrawlRequest, Streamed};
pub use self::schedules::{BUDGET, RECONCILE, Reconciled};
pub use self::settings::{KnownRobots, TargetSettings};
pub use self::survey::{SurveyOptions, Walked};
pub use self::trial::TrialRequest;
pub use self::work::{CRAWL, CrawlEnd, CrawlJob, CrawlWatcher, crawl_job, crawl_lane, crawl_report};
use crate::Result;
use crate::adapter::{Adapter, AdapterError, AdapterHost, Loaded, Registry};
use crate::clock::{Clock, Entropy};
use crate::config::{self, ConfigError, Incremental, SiteConfig, effective_config};
use crate::crawl::{CrawlContext, Enricher, dedup::StopRule, step};
use crate::deliver::{Channels, CredentialProvider};
use crate::error::Error;
use crate::fetch::escalate::Strategy;
use crate::fetch::robots::OnUnreachable;
use crate::fetch::{Gate, Grant, Profile, PublicRule, RobotsMode};
use crate::model::{Site, Target};
use crate::queue::Queue;
use crate::schedule::{Bell, ScheduleTable, SiteFile};
use crate::store::{Backup, Files, SiteChange, SqliteStore, Store, StoreShelf};

/// Files larger than this are not downloaded.
const ATTACHMENT_CAP: u64 = 200 << 20;

/// A data directory with everything that works on it. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    /// The same store, for what only the desk asks of it.
    rows: Arc<SqliteStore>,
    queue: Queue,
    table: Arc<dyn ScheduleTable>,
    bell: Bell,
    files: Files,
    channels: Arc<Channels>,
    credentials: Arc<dyn CredentialProvider>,
    enrichers: Arc<[Arc<dyn Enricher>]>,
    gate: Gate,
    host: AdapterHost,
    registry: Option<Registry>,
    adapter_dir: PathBuf,
    loaded: Mutex<HashMap<String, Loaded>>,
    live: Development,
    turn_slots: Arc<Semaphore>,
    lanes: Lanes,
    shelf: Arc<StoreShelf>,
    settings: Settings,
}

#[derive(Clone)]
struct Settings {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    zone: chrono_tz::Tz,
    interval: Option<Duration>,
    profile: Option<Profile>,
    contact: Option<String>,
    /// What the gate was built with.
    user_agent: String,
    attachment_cap: Duration,
    public_suffixes: Vec<String>,
    on_unreachable: OnUnreachable,
    retries: u32,
    /// How often site files and schedules are reconciled (S2-47).
    reconcile: Duration,
}

/// Runs file and compiler work off the async threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

impl Engine {
    /// Begins to describe an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The store, for reading and for what the engine has no word of its own.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// The gate, for requests of your own and for what is known of hosts.
    pub fn gate(&self) -> &Gate {
        &self.inner.gate
    }

    /// The files beside the store.
    pub fn files(&self) -> &Files {
        &self.inner.files
    }

    /// The channels: whom new articles and alerts are told.
    pub fn channels(&self) -> &Arc<Channels> {
        &self.inner.channels
    }

    /// The sandbox, to inspect adapters.
    pub fn adapter_host(&self) -> &AdapterHost {
        &self.inner.host
    }

    /// The adapters that are loaded: those of [`EngineBuilder::adapter_file`], and those that were needed so far.
    pub fn loaded_adapters(&self) -> Vec<Adapter> {
        let loaded = self.inner.loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        loaded.values().map(|loaded| loaded.adapter.clone()).collect()
    }

    /// The directory of adapters, when there is one.
    pub fn registry(&self) -> Option<&Registry> {
        self.inner.registry.as_ref()
    }

    /// Copies rows and files into a directory that is new or empty, while everything goes on; [`crate::store::restore`] brings
    /// the copy back.
    pub async fn backup(&self, to: impl Into<PathBuf>) -> Result<Backup> {
        Ok(self.inner.rows.backup(to, self.inner.settings.clock.now()).await?)
    }

    /// Builds the full-text index anew; `told` hears how many articles are left.
    pub async fn reindex(&self, told: impl Fn(u64)) -> Result<()> {
        Ok(self.inner.rows.reindex(told).await?)
    }

    /// Reads a site file and stores what it says.
    pub async fn import_site(&self, file: impl AsRef<Path>) -> Result<SiteChange> {
        let file = file.as_ref().to_path_buf();
        let site = blocking(move || Ok(config::load_site(&file)?)).await?;
        self.import_site_config(&site).await
    }

    /// Stores a site that was read before; its settings are checked by its adapter first. What was set by hand stays (I14). If it
    /// was read from a file, changes of that file are followed from now on (I15).
    pub async fn import_site_config(&self, site: &SiteConfig) -> Result<SiteChange> {
        let file = site.origin.file.clone();
        let change = self.store_site(site, file.as_ref().map(|(path, _)| path.as_str())).await?;
        if let Some((path, sha256)) = file {
            let file = SiteFile { site: site.site_id.clone(), path, sha256, error: None };
            self.inner.table.keep_site_file(file, None, self.inner.settings.clock.now()).await?;
        }
        Ok(change)
    }

    async fn store_site(&self, site: &SiteConfig, path: Option<&str>) -> Result<SiteChange> {
        let site = &self.keep_by_hand(site).await?;
        let (mut row, targets) = site.into_rows()?;
        row.yaml_path = path.map(str::to_owned);
        let loaded = self.adapter(&row.adapter).await?;
        for target in &targets {
            loaded.adapter.check_config(&effective_config(target))?;
        }
        let change = self.inner.store.put_site(row, targets).await?;
        self.follow_targets().await?;
        Ok(change)
    }

    async fn keep_by_hand(&self, file: &SiteConfig) -> Result<SiteConfig> {
        let Some(stored) = self.inner.rows.site_rows(Some(&file.site_id)).await?.pop() else {
            return Ok(file.clone());
        };
        let prefix = format!("{}__", file.site_id);
        let marks: Vec<_> = stored
            .targets
            .into_iter()
            .filter(|row| !row.operator_set.is_empty())
            .map(|row| (row.target.code.trim_start_matches(&prefix).to_owned(), row.operator_set))
            .collect();
        Ok(config::keep_by_hand(file, &stored.site, &stored.operator_set, &marks)?)
    }

    /// Switches a target on or off; an unknown one is an error.
    pub async fn set_target_enabled(&self, code: &str, on: bool) -> Result<()> {
        if self.inner.store.set_target_enabled(code, on).await? {
            self.follow_targets().await?;
            return Ok(());
        }
        Err(self.unknown_target(code).await?)
    }

    /// Describes a crawl of a stored target, by its code `<site>__<column>`.
    pub fn crawl(&self, target: impl Into<String>) -> CrawlRequest {
        CrawlRequest::new(self.clone(), Of::Code(target.into()))
    }

    /// Describes a crawl of a target that need not be stored: only [`CrawlRequest::preview`] works.
    pub fn crawl_unstored(&self, site: Site, target: Target) -> CrawlRequest {
        CrawlRequest::new(self.clone(), Of::Rows(Box::new((site, target))))
    }

    /// An adapter by its name: loaded once, then kept.
    async fn adapter(&self, name: &str) -> Result<Loaded> {
        let kept = |loaded: &Mutex<HashMap<String, Loaded>>| {
            loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get(name).cloned()
        };
        if let Some(found) = kept(&self.inner.loaded) {
            return Ok(found);
        }
        let (inner, wanted) = (self.inner.clone(), name.to_string());
        let found = blocking(move || {
            let Some(registry) = &inner.registry else {
                return Err(AdapterError::NoDirectory { name: wanted, dir: inner.adapter_dir.clone() }.into());
            };
            match inner.live.load(registry, &inner.host, &wanted)? {
                Some(live) => Ok(live),
                None => Ok(registry.load(&inner.host, &wanted)?),
            }
        })
        .await?;
        if self.inner.live.is_on() {
            return Ok(found);
        }
        let mut loaded = self.inner.loaded.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        Ok(loaded.entry(name.to_string()).or_insert(found).clone())
    }

    async fn stored_target(&self, code: &str) -> Result<(Site, Target)> {
        match self.inner.store.target(code).await? {
            Some(found) => Ok(found),
            None => Err(self.unknown_target(code).await?),
        }
    }

    async fn unknown_target(&self, code: &str) -> Result<Error> {
        let known = self.inner.store.targets(None).await?;
        let codes = known.iter().map(|(_, target)| target.code.as_str());
        Ok(ConfigError::unknown("target", code, codes).into())
    }

    async fn context(&self, request: &CrawlRequest, site: Site, target: Target) -> Result<CrawlContext> {
        let inner = &self.inner;
        let Loaded { adapter, granted } = self.adapter(&site.adapter).await?;
        let live = self.inner.live.get(&site.adapter);
        let config = effective_config(&target);
        adapter.check_config(&config)?;
        let hosts = site_hosts(&site, &target, &config);
        let about = adapter.about();
        let grant = Grant::new(&about.name, &about.hosts, &granted, &hosts);
        let public = PublicRule::new(&inner.settings.public_suffixes, &hosts);
        let policy = inner.settings.pace(&site, &target, about.default_interval).policy();
        let wire = Arc::new(settings::wire(&site).await?);
        let robots = match site.respect_robots {
            true => RobotsMode::Respect { on_unreachable: inner.settings.on_unreachable },
            false => RobotsMode::Bypass,
        };
        let incremental = Incremental::of(&site, &target.code);
        let bounds = step::Bounds {
            max_items: request.options.max_items,
            max_pages: step::HARD_MAX_PAGES,
            stop: StopRule { after: incremental.stop_after_duplicates, force: request.options.force },
        };
        Ok(CrawlContext {
            store: request.store.clone().unwrap_or_else(|| inner.store.clone()),
            files: inner.files.clone(),
            channels: inner.channels.clone(),
            enrichers: inner.enrichers.clone(),
            gate: inner.gate.clone(),
            adapter,
            live,
            turn_slots: inner.turn_slots.clone(),
            clock: inner.settings.clock.clone(),
            entropy: inner.settings.entropy.clone(),
            zone: inner.settings.zone,
            full_sweep_every: incremental.full_sweep_every,
            config: config.to_string(),
            grant: Arc::new(grant),
            public: Arc::new(public),
            policy,
            robots,
            strategy: Strategy::named(&site.strategy),
            wire,
            attachment_cap: ATTACHMENT_CAP,
            retries: inner.settings.retries,
            cancel: request.cancel.clone(),
            pulse: request.pulse.clone(),
            events: None,
            said: Mutex::default(),
            endings: Default::default(),
            session: Mutex::default(),
            site,
            target,
            bounds,
        })
    }
}

/// The hosts that the site's own settings name.
fn site_hosts(site: &Site, target: &Target, config: &serde_json::Value) -> Vec<String> {
    let list_url = config.get("list_url").and_then(serde_json::Value::as_str).unwrap_or("");
    let mut hosts: Vec<String> = [&site.base_url, &target.entry_url, list_url]
        .into_iter()
        .filter_map(|text| Url::parse(text).ok()?.host_str().map(str::to_string))
        .chain(site.hosts.iter().cloned())
        .collect();
    hosts.sort();
    hosts.dedup();
    hosts
}
