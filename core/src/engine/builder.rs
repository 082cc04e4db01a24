//! What an engine is made of: settings, checked once when it is built.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::{Engine, Inner, Settings, blocking};
use crate::Result;
use crate::adapter::{Adapter, AdapterHost, HostOptions, Loaded, Registry};
use crate::clock::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::config::ConfigError;
use crate::fetch::robots::OnUnreachable;
use crate::fetch::{DEFAULT_SUFFIXES, Gate, GateOptions, Resolve};
use crate::store::{Durability, Files, SqliteStore, Store, StoreShelf};

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
                retries: 1,
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

    /// How often a request that had no answer (a reset, a timeout) is repeated within a run, after 2, 4, … seconds.
    /// Default 1: three failures in a row make the host rest, and one page should not be enough for that.
    pub fn retries(mut self, retries: u32) -> Self {
        self.settings.retries = retries;
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
        let settings = self.settings;
        let shelf = Arc::new(StoreShelf::new(store.clone(), settings.clock.clone()));
        self.gate.robots_shelf.get_or_insert(shelf.clone());
        self.gate.host_shelf.get_or_insert(shelf);
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
