//! What an engine is made of: settings, checked once when it is built.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::{CRAWL, Development, Engine, Inner, Settings, blocking, schedules};
use crate::Result;
use crate::adapter::{Adapter, AdapterHost, HostOptions, Loaded, Registry};
use crate::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::config::ConfigError;
use crate::crawl::Enricher;
use crate::deliver::{Channels, CredentialProvider, SystemCredentials};
use crate::fetch::robots::OnUnreachable;
use crate::fetch::{DEFAULT_SUFFIXES, FetchBackend, Gate, GateOptions, Profile, Resolve};
use crate::queue::Queue;
use crate::schedule::{Bell, ScheduleTable};
use crate::store::{Durability, Files, SqliteStore, Store, StoreShelf};

/// Settings of an [`Engine`], checked once by [`EngineBuilder::build`].
pub struct EngineBuilder {
    data_dir: PathBuf,
    adapters: Option<PathBuf>,
    adapter_files: Vec<(PathBuf, Vec<String>)>,
    cache: Option<PathBuf>,
    development: bool,
    measure: bool,
    gate: GateOptions,
    root_pems: Vec<String>,
    durability: Durability,
    channels: Option<Channels>,
    enrichers: Vec<Arc<dyn Enricher>>,
    credentials: Arc<dyn CredentialProvider>,
    settings: Settings,
    #[cfg(feature = "browser")]
    browser: Option<crate::fetch::browser::BrowserOptions>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        EngineBuilder {
            data_dir: PathBuf::from("dibao-data"),
            adapters: None,
            adapter_files: Vec::new(),
            cache: None,
            development: false,
            measure: false,
            gate: GateOptions::default(),
            root_pems: Vec::new(),
            durability: Durability::default(),
            channels: None,
            enrichers: Vec::new(),
            credentials: Arc::new(SystemCredentials),
            #[cfg(feature = "browser")]
            browser: None,
            settings: Settings {
                clock: Arc::new(SystemClock),
                entropy: Arc::new(SystemEntropy),
                zone: chrono_tz::Asia::Shanghai,
                interval: None,
                profile: None,
                contact: None,
                user_agent: String::new(),
                attachment_cap: Duration::ZERO,
                public_suffixes: DEFAULT_SUFFIXES.iter().map(ToString::to_string).collect(),
                on_unreachable: OnUnreachable::default(),
                retries: 1,
                reconcile: schedules::RECONCILE_EVERY,
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

    /// Where compiled adapters are kept between runs. Default `<data_dir>/cache`. What lies there is run as native code: nobody
    /// else may be able to write it.
    pub fn adapter_cache(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cache = Some(dir.into());
        self
    }

    /// Development mode: an adapter of the directory whose file changes is loaded anew, pinned or not, and its next turn runs in
    /// the new component; turns under way finish in the old one.
    pub fn development(mut self, on: bool) -> Self {
        self.development = on;
        self
    }

    /// Counts what each turn of an adapter costs. Slows guests down.
    pub fn measure_turns(mut self, on: bool) -> Self {
        self.measure = on;
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

    /// A browser for pages that plain HTTP is turned away from, and for sites with `default_strategy: browser`. Nothing is
    /// started before it is needed; without a Chromium on this machine crawls go on by HTTP.
    #[cfg(feature = "browser")]
    pub fn browser(mut self, options: crate::fetch::browser::BrowserOptions) -> Self {
        self.browser = Some(options);
        self
    }

    /// A way of your own to fetch pages: a rendering service, another client. Asked in the order in which they are added and
    /// before [`browser`](Self::browser), where plain HTTP is turned away and for sites with `default_strategy: browser`;
    /// one that is away is passed over. See `examples/own_backend.rs`.
    pub fn backend(mut self, backend: impl FetchBackend) -> Self {
        self.gate.backends.push(Arc::new(backend));
        self
    }

    /// One interval between requests for every host, whatever sites say. For servers that are
    /// your own; public sites set `interval_sec`.
    pub fn interval(mut self, interval: Option<Duration>) -> Self {
        self.settings.interval = interval;
        self
    }

    /// The limits for sites that say nothing. Default [`Profile::Polite`].
    pub fn profile(mut self, profile: Profile) -> Self {
        self.settings.profile = Some(profile);
        self
    }

    /// How the people behind this crawler are reached: a mail address or a web address. It is part of the user agent
    /// of every request, unless [`gate`](Self::gate) or a site sets another.
    pub fn contact(mut self, contact: impl Into<String>) -> Self {
        self.settings.contact = Some(contact.into());
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

    /// How often a request that had no answer (a reset, a timeout) is repeated within a run, after 2, 4, … seconds.
    /// Default 1: three failures in a row make the host rest, and one page should not be enough for that.
    pub fn retries(mut self, retries: u32) -> Self {
        self.settings.retries = retries;
        self
    }

    /// How often site files are looked at and schedules follow sites and targets, while [`Engine::run`] runs. Changes of
    /// the store are followed at once. Default 300 s (S2-47).
    pub fn reconcile_every(mut self, every: Duration) -> Self {
        self.settings.reconcile = every;
        self
    }

    /// The zone in which schedules count and dates without a zone are read. Default Asia/Shanghai.
    pub fn zone(mut self, zone: chrono_tz::Tz) -> Self {
        self.settings.zone = zone;
        self
    }

    /// What stored means: see [`Durability`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The channels whom new articles and alerts are told, in place of those in `<data_dir>/channels.toml`.
    pub fn channels(mut self, channels: Channels) -> Self {
        self.channels = Some(channels);
        self
    }

    /// Somebody who adds to every article before it is stored; several are asked in turn.
    pub fn enricher(mut self, enricher: impl Enricher) -> Self {
        self.enrichers.push(Arc::new(enricher));
        self
    }

    /// Where the secrets of channels come from that are called by a name.
    pub fn credentials(mut self, provider: Arc<dyn CredentialProvider>) -> Self {
        self.credentials = provider;
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
        if let Some(contact) = &self.settings.contact {
            let named = GateOptions::agent_with(contact).ok_or_else(|| ConfigError::Refused {
                what: format!("contact `{contact}`"),
                message: "is neither a mail address nor a web address".to_owned(),
                fix: "write ops@example.org or https://example.org/crawler".to_owned(),
            })?;
            if self.gate.user_agent == GateOptions::default().user_agent {
                self.gate.user_agent = named;
            }
        }
        #[cfg(feature = "browser")]
        if let Some(options) = self.browser.take() {
            self.gate.backends.push(Arc::new(crate::fetch::browser::Browser::new(options)?));
        }
        self.settings.user_agent.clone_from(&self.gate.user_agent);
        self.settings.attachment_cap = self.gate.attachment_throttle_cap;
        let (dir, durability) = (self.data_dir.clone(), self.durability);
        let (store, files) = blocking(move || -> Result<_> {
            let files = Files::open(&dir, durability)?;
            Ok((SqliteStore::open(files.clone())?, files))
        })
        .await?;
        let store = Arc::new(store);
        let channels = match self.channels {
            Some(channels) => channels,
            None => Channels::open(&self.data_dir, &*self.credentials, &self.gate.extra_roots)?,
        };
        let settings = self.settings;
        let (clock, entropy) = (settings.clock.clone(), settings.entropy.clone());
        let queue =
            Queue::new(store.clone(), store.clone(), clock, entropy).alerting(channels.alerts(&[CRAWL]));
        let rows = store.clone();
        let table: Arc<dyn ScheduleTable> = store.clone();
        let store: Arc<dyn Store> = store;
        let shelf = Arc::new(StoreShelf::new(store.clone(), settings.clock.clone()));
        self.gate.robots_shelf.get_or_insert(shelf.clone());
        self.gate.host_shelf.get_or_insert(shelf.clone());
        let gate = Gate::new(self.gate, settings.clock.clone(), settings.entropy.clone())?;
        let cache_dir = Some(self.cache.unwrap_or_else(|| self.data_dir.join("cache")));
        let host =
            AdapterHost::new(HostOptions { cache_dir, measure: self.measure, ..HostOptions::default() })?;
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
            rows,
            queue,
            table,
            bell: Bell::default(),
            files,
            channels: Arc::new(channels),
            credentials: self.credentials,
            enrichers: self.enrichers.into(),
            gate,
            host,
            registry,
            adapter_dir,
            loaded: Mutex::new(loaded),
            live: Development::new(self.development),
            turn_slots: Arc::new(Semaphore::new(2 * cores)),
            lanes: Default::default(),
            shelf,
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
