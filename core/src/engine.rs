//! Wires the parts together and owns their start and end. Knows all; nothing below knows it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::Stream;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::Result;
use crate::adapter::{Adapter, AdapterError, AdapterHost, HostOptions, Loaded, Registry};
use crate::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::config::{self, ConfigError, Incremental, SiteConfig, effective_config};
use crate::crawl::{self, CrawlContext, CrawlEvent, Preview, Report, dedup::StopRule, step};
use crate::error::Error;
use crate::fetch::robots::OnUnreachable;
use crate::fetch::{DEFAULT_SUFFIXES, Gate, GateOptions, Grant, HostPolicy, PublicRule, Resolve, RobotsMode};
use crate::model::{Site, Target};
use crate::store::{
    Durability, Files, RunCounts, RunOptions, RunState, SiteChange, SqliteStore, Store, StoreShelf,
    TargetLock,
};

/// Files larger than this are not downloaded.
const ATTACHMENT_CAP: u64 = 200 << 20;
/// Events that may wait for a slow reader before the crawl waits for him.
const EVENT_BUFFER: usize = 64;

/// A data directory with everything that works on it. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    files: Files,
    gate: Gate,
    host: AdapterHost,
    registry: Option<Registry>,
    adapter_dir: PathBuf,
    loaded: Mutex<HashMap<String, Loaded>>,
    turn_slots: Arc<Semaphore>,
    settings: Settings,
}

#[derive(Clone)]
struct Settings {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    zone: chrono_tz::Tz,
    interval: Option<Duration>,
    public_suffixes: Vec<String>,
    on_unreachable: OnUnreachable,
}

/// Settings of an [`Engine`], checked once by [`EngineBuilder::build`].
pub struct EngineBuilder {
    data_dir: PathBuf,
    adapters: Option<PathBuf>,
    adapter_files: Vec<(PathBuf, Vec<String>)>,
    gate: GateOptions,
    root_pems: Vec<String>,
    durability: Durability,
    settings: Settings,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        EngineBuilder {
            data_dir: PathBuf::from("dibao-data"),
            adapters: None,
            adapter_files: Vec::new(),
            gate: GateOptions::default(),
            root_pems: Vec::new(),
            durability: Durability::default(),
            settings: Settings {
                clock: Arc::new(SystemClock),
                entropy: Arc::new(SystemEntropy),
                zone: chrono_tz::Asia::Shanghai,
                interval: None,
                public_suffixes: DEFAULT_SUFFIXES.iter().map(ToString::to_string).collect(),
                on_unreachable: OnUnreachable::default(),
            },
        }
    }
}

impl EngineBuilder {
    /// Where database and files live; made when missing. Default `dibao-data`.
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.data_dir = dir.into();
        self
    }

    /// A directory of adapters with its `adapters.lock`. Default `<data_dir>/adapters`. One that does
    /// not exist is an error only when an adapter is needed from it.
    pub fn adapters(mut self, dir: impl Into<PathBuf>) -> Self {
        self.adapters = Some(dir.into());
        self
    }

    /// One adapter file of your own, with the hosts you grant it (`site`, `https://host`,
    /// `https://*.domain`). Naming it here is your word for its bytes: it needs no pin.
    pub fn adapter_file<S: Into<String>>(
        mut self,
        file: impl Into<PathBuf>,
        hosts: impl IntoIterator<Item = S>,
    ) -> Self {
        self.adapter_files.push((file.into(), hosts.into_iter().map(Into::into).collect()));
        self
    }

    /// Connects to `addr` whenever `host` is meant, as `curl --resolve` does. The address is your
    /// explicit word and may be on loopback.
    pub fn resolve(mut self, host: impl Into<String>, addr: SocketAddr) -> Self {
        self.gate.resolve.push(Resolve { host: host.into(), port: None, addr });
        self
    }

    /// A resolve rule with a port of its own.
    pub fn resolve_rule(mut self, rule: Resolve) -> Self {
        self.gate.resolve.push(rule);
        self
    }

    /// Trusts the certificates in this PEM text besides the usual authorities.
    pub fn root_certificate(mut self, pem: impl Into<String>) -> Self {
        self.root_pems.push(pem.into());
        self
    }

    /// Lets requests reach loopback addresses: for development only.
    pub fn allow_loopback(mut self, yes: bool) -> Self {
        self.gate.allow_loopback = yes;
        self
    }

    /// Timeouts, body limit, user agent and the like.
    pub fn gate(mut self, change: impl FnOnce(&mut GateOptions)) -> Self {
        change(&mut self.gate);
        self
    }

    /// One interval between requests for every host, whatever sites say. For servers that are
    /// your own; public sites set `interval_sec`.
    pub fn interval(mut self, interval: Option<Duration>) -> Self {
        self.settings.interval = interval;
        self
    }

    /// Host suffixes that count as public besides the sites' own hosts. Default `.gov.cn`, `.com.cn`.
    pub fn public_suffixes<S: Into<String>>(mut self, suffixes: impl IntoIterator<Item = S>) -> Self {
        self.settings.public_suffixes = suffixes.into_iter().map(Into::into).collect();
        self
    }

    /// What is done about hosts whose robots.txt cannot be read and of which there is no copy. Default: allow.
    pub fn robots_on_unreachable(mut self, setting: OnUnreachable) -> Self {
        self.settings.on_unreachable = setting;
        self
    }

    /// The zone in which dates without a zone are read. Default Asia/Shanghai.
    pub fn zone(mut self, zone: chrono_tz::Tz) -> Self {
        self.settings.zone = zone;
        self
    }

    /// What stored means: see [`Durability`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Another clock, for tests and replays.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.settings.clock = clock;
        self
    }

    /// Another source of randomness, for tests and replays.
    pub fn entropy(mut self, entropy: Arc<dyn Entropy>) -> Self {
        self.settings.entropy = entropy;
        self
    }

    /// Opens the store and the adapters. Nothing is fetched and no task is started.
    pub async fn build(mut self) -> Result<Engine> {
        for pem in &self.root_pems {
            self.gate.trust_pem(pem)?;
        }
        let (dir, durability) = (self.data_dir.clone(), self.durability);
        let (store, files) = blocking(move || -> Result<_> {
            let files = Files::open(&dir, durability)?;
            Ok((SqliteStore::open(files.clone())?, files))
        })
        .await?;
        let store: Arc<dyn Store> = Arc::new(store);
        let shelf = Arc::new(StoreShelf::new(store.clone()));
        self.gate.robots_shelf.get_or_insert(shelf);
        let settings = self.settings;
        let gate = Gate::new(self.gate, settings.clock.clone(), settings.entropy.clone())?;
        let cache_dir = Some(self.data_dir.join("cache"));
        let host = AdapterHost::new(HostOptions { cache_dir, ..HostOptions::default() })?;
        let adapter_dir = self.adapters.unwrap_or_else(|| self.data_dir.join("adapters"));
        let registry = if adapter_dir.is_dir() { Some(Registry::open(&adapter_dir)?) } else { None };
        let mut loaded = HashMap::new();
        for (file, granted) in self.adapter_files {
            let host = host.clone();
            let adapter = blocking(move || load_file(&host, &file)).await?;
            loaded.insert(adapter.about().name.clone(), Loaded { adapter, granted });
        }
        // Turns are pure computation: more of them than cores only costs memory. Two per core, so that
        // one adapter in an endless loop, which ends at its deadline, never holds all of them.
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let inner = Inner {
            store,
            files,
            gate,
            host,
            registry,
            adapter_dir,
            loaded: Mutex::new(loaded),
            turn_slots: Arc::new(Semaphore::new(2 * cores)),
            settings,
        };
        Ok(Engine { inner: Arc::new(inner) })
    }
}

fn load_file(host: &AdapterHost, file: &Path) -> Result<Adapter> {
    let bytes = std::fs::read(file)
        .map_err(|error| ConfigError::Read { origin: file.display().to_string(), source: error })?;
    Ok(host.load(&bytes, &file.display().to_string())?)
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

    /// The files beside the store.
    pub fn files(&self) -> &Files {
        &self.inner.files
    }

    /// The sandbox, to inspect adapters.
    pub fn adapter_host(&self) -> &AdapterHost {
        &self.inner.host
    }

    /// The directory of adapters, when there is one.
    pub fn registry(&self) -> Option<&Registry> {
        self.inner.registry.as_ref()
    }

    /// Reads a site file and stores what it says.
    pub async fn import_site(&self, file: impl AsRef<Path>) -> Result<SiteChange> {
        let file = file.as_ref().to_path_buf();
        let site = blocking(move || Ok(config::load_site(&file)?)).await?;
        self.import_site_config(&site).await
    }

    /// Stores a site that was read before; its settings are checked by its adapter first.
    pub async fn import_site_config(&self, site: &SiteConfig) -> Result<SiteChange> {
        let (row, targets) = site.into_rows()?;
        let loaded = self.adapter(&row.adapter).await?;
        for target in &targets {
            loaded.adapter.check_config(&effective_config(target))?;
        }
        Ok(self.inner.store.put_site(row, targets).await?)
    }

    /// Switches a target on or off; an unknown one is an error.
    pub async fn set_target_enabled(&self, code: &str, on: bool) -> Result<()> {
        if self.inner.store.set_target_enabled(code, on).await? {
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
            Ok(registry.load(&inner.host, &wanted)?)
        })
        .await?;
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
        let config = effective_config(&target);
        adapter.check_config(&config)?;
        let hosts = site_hosts(&site, &target, &config);
        let about = adapter.about();
        let grant = Grant::new(&about.name, &about.hosts, &granted, &hosts);
        let public = PublicRule::new(&inner.settings.public_suffixes, &hosts);
        let policy = host_policy(&site, &target, about.default_interval, inner.settings.interval);
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
            store: inner.store.clone(),
            files: inner.files.clone(),
            gate: inner.gate.clone(),
            adapter,
            turn_slots: inner.turn_slots.clone(),
            clock: inner.settings.clock.clone(),
            entropy: inner.settings.entropy.clone(),
            zone: inner.settings.zone,
            full_sweep_every: incremental.full_sweep_every,
            config: config.to_string(),
            site,
            target,
            bounds,
            grant: Arc::new(grant),
            public: Arc::new(public),
            policy,
            robots,
            attachment_cap: ATTACHMENT_CAP,
            cancel: request.cancel.clone(),
            events: None,
            session: Mutex::default(),
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

/// S2-36, S2-64: the target's interval, then the adapter's, then the default; the engine's own
/// setting overrules all.
fn host_policy(site: &Site, target: &Target, adapter_sec: u32, engine: Option<Duration>) -> HostPolicy {
    let default = HostPolicy::default();
    let seconds = |value: f64| Duration::try_from_secs_f64(value).unwrap_or_default();
    let max_concurrency = site.concurrency.max(1);
    if let Some(min_interval) = engine {
        return HostPolicy { max_concurrency, min_interval, jitter: Duration::ZERO };
    }
    let own = target.interval_sec.map(seconds);
    let adapter = (adapter_sec > 0).then(|| Duration::from_secs(adapter_sec.into()));
    let min_interval = own.or(adapter).unwrap_or(default.min_interval);
    let jitter = target.interval_jitter_sec.map(seconds).unwrap_or(default.jitter.min(min_interval / 2));
    HostPolicy { max_concurrency, min_interval, jitter }
}

enum Of {
    Code(String),
    Rows(Box<(Site, Target)>),
}

/// A crawl that is being described; [`CrawlRequest::run`] does it.
#[must_use = "a crawl does nothing until `run`, `stream` or `preview` is awaited"]
pub struct CrawlRequest {
    engine: Engine,
    of: Of,
    options: RunOptions,
    cancel: CancellationToken,
}

impl CrawlRequest {
    fn new(engine: Engine, of: Of) -> Self {
        CrawlRequest { engine, of, options: RunOptions::default(), cancel: CancellationToken::new() }
    }

    /// Looks at the first `max` rows of the list only.
    pub fn max_items(mut self, max: impl Into<Option<u32>>) -> Self {
        self.options.max_items = max.into();
        self
    }

    /// Does not stop at known articles: reads the whole list.
    pub fn force(mut self, force: bool) -> Self {
        self.options.force = force;
        self
    }

    /// Cancelling the token lets the articles under way finish, starts no further one and ends the
    /// run as interrupted; the next run goes on from there.
    pub fn cancel_with(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Crawls.
    ///
    /// An article that cannot be read is counted in the report; a list that cannot be read is an
    /// error. Dropping the future is safe: what was stored stays, and the next run goes on.
    pub async fn run(self) -> Result<Report> {
        self.go(None).await
    }

    /// Crawls, and yields what happens as it happens; the report comes last.
    ///
    /// The crawl goes on only while the stream is polled, so a slow reader slows it down and
    /// nothing is ever dropped.
    pub fn stream(self) -> impl Stream<Item = Result<Streamed>> + Send {
        let (sender, mut events) = mpsc::channel(EVENT_BUFFER);
        let mut crawl = Box::pin(async move { self.go(Some(sender)).await });
        let mut ended: Option<Result<Report>> = None;
        futures::stream::poll_fn(move |task| {
            use std::task::Poll;
            loop {
                match events.poll_recv(task) {
                    Poll::Ready(Some(event)) => return Poll::Ready(Some(Ok(Streamed::Event(event)))),
                    Poll::Ready(None) => {
                        return Poll::Ready(
                            ended.take().map(|end| end.map(|report| Streamed::Report(Box::new(report)))),
                        );
                    }
                    Poll::Pending if ended.is_some() => return Poll::Pending,
                    Poll::Pending => match crawl.as_mut().poll(task) {
                        Poll::Ready(end) => ended = Some(end),
                        Poll::Pending => match events.poll_recv(task) {
                            Poll::Ready(Some(event)) => return Poll::Ready(Some(Ok(Streamed::Event(event)))),
                            _ => return Poll::Pending,
                        },
                    },
                }
            }
        })
    }

    /// Reads the lists and says what a crawl would do; stores nothing.
    pub async fn preview(mut self) -> Result<Preview> {
        let (site, target) = match std::mem::replace(&mut self.of, Of::Code(String::new())) {
            Of::Rows(rows) => *rows,
            Of::Code(code) => self.engine.stored_target(&code).await?,
        };
        let ctx = self.engine.context(&self, site, target).await?;
        let state = RunState {
            run_id: 0,
            resumed: false,
            options: self.options.clone(),
            cursor: None,
            session: Vec::new(),
            pages: 0,
            listing_done: false,
            counts: RunCounts::default(),
            runs_of_target: 0,
            gap: false,
        };
        crawl::preview(&ctx, &state).await
    }

    async fn go(self, events: Option<mpsc::Sender<CrawlEvent>>) -> Result<Report> {
        let code = match &self.of {
            Of::Code(code) => code.clone(),
            Of::Rows(rows) => rows.1.code.clone(),
        };
        let (site, target) = self.engine.stored_target(&code).await?;
        // S2-50: checked here for every way in.
        if !(site.enabled && target.enabled) {
            return Err(ConfigError::disabled(if target.enabled { &site.code } else { &target.code }).into());
        }
        let root = self.engine.inner.files.root().to_path_buf();
        let held = code.clone();
        let lock = blocking(move || Ok(TargetLock::try_take(&root, &held)?)).await?;
        let Some(_lock) = lock else { return Err(Error::Busy(code)) };
        let mut ctx = self.engine.context(&self, site, target).await?;
        ctx.events = events;
        crawl::run(&ctx, self.options.clone()).await
    }
}

/// What [`CrawlRequest::stream`] yields.
#[derive(Clone, Debug)]
pub enum Streamed {
    /// Something happened.
    Event(CrawlEvent),
    /// The crawl ended; nothing comes after it.
    Report(Box<Report>),
}
