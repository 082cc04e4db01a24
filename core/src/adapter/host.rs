//! The sandbox's machinery: two engines, their linkers, the disk cache and the ticker.
//!
//! Compiled guests run from a pool of prepared slots, so that a fresh instance costs microseconds. Guests that bring an
//! interpreter, and those that were granted more memory than a slot has, run from an engine that allocates on
//! demand.

use std::path::PathBuf;
use std::sync::Arc;

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{
    Cache, CacheConfig, Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel,
    PoolingAllocationConfig,
};

use super::bindings;
use super::gate::Gate;
use super::inspect::{self, Inspection};
use super::limits::{Limits, POOLED_INSTANCES, POOLED_MEMORIES, POOLED_TABLES};
use super::load::{self, Adapter};
use super::state::State;
use super::{AdapterError, wasi};

/// How the host is set up.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// Where compiled code is kept between runs; none: compile at every start.
    pub cache_dir: Option<PathBuf>,
    /// What a turn may use.
    pub limits: Limits,
    /// Counts what each turn costs ([`Cost`](super::Cost)): for authors, because counting slows guests down.
    pub measure: bool,
}

/// Loads adapters and runs their turns. Cheap to clone; the last clone stops the ticker.
#[derive(Clone)]
pub struct AdapterHost {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub limits: Limits,
    pub gate: Gate,
    pub measure: bool,
    cache: Option<Cache>,
    pooled: Room,
    roomy: Room,
}

/// An engine and what its guests may import.
pub(super) struct Room {
    pub engine: Engine,
    pub linker: Linker<State>,
}

impl AdapterHost {
    /// Sets up the engines. Compiles nothing.
    pub fn new(options: HostOptions) -> Result<Self, AdapterError> {
        let failed = |error: wasmtime::Error| AdapterError::Host(format!("{error:#}"));
        let (limits, measure) = (options.limits, options.measure);
        let cache = options.cache_dir.map(open_cache).transpose()?;

        let mut config = base_config(limits.stack, cache.clone(), measure);
        config.allocation_strategy(pool(&limits));
        // A pool reserves address space. Where that is scarce (`ulimit -v`), slower is better than not at all.
        let engine = Engine::new(&config).or_else(|error| {
            tracing::warn!("no pool for adapter instances, allocating on demand: {error:#}");
            Engine::new(&base_config(limits.stack, cache.clone(), measure))
        });
        let pooled = Room::new(engine.map_err(failed)?, false).map_err(failed)?;

        let roomy =
            Engine::new(&base_config(limits.interpreted_stack, cache.clone(), measure)).map_err(failed)?;
        let roomy = Room::new(roomy, true).map_err(failed)?;

        let gate =
            Gate::new(limits.concurrent_turns).map_err(|error| AdapterError::Host(error.to_string()))?;
        gate.add(&pooled.engine);
        gate.add(&roomy.engine);
        Ok(AdapterHost { inner: Arc::new(Inner { limits, gate, measure, cache, pooled, roomy }) })
    }

    /// What the bytes are and want, before anything is compiled.
    pub fn inspect(&self, bytes: &[u8]) -> Result<Inspection, AdapterError> {
        self.inspect_as(bytes, "component")
    }

    /// The same; `origin` names the bytes in errors.
    pub fn inspect_as(&self, bytes: &[u8], origin: &str) -> Result<Inspection, AdapterError> {
        inspect::inspect(bytes, origin, self.inner.limits.component_bytes)
    }

    /// Inspects, compiles (or takes from the cache), links, and asks the adapter to describe itself.
    /// `origin` names the bytes in errors.
    pub fn load(&self, bytes: &[u8], origin: &str) -> Result<Adapter, AdapterError> {
        self.load_with_memory(bytes, origin, None)
    }

    /// The same with a grant of memory in MiB instead of the default.
    pub fn load_with_memory(
        &self,
        bytes: &[u8],
        origin: &str,
        memory_mib: Option<u32>,
    ) -> Result<Adapter, AdapterError> {
        let inspection = self.inspect_as(bytes, origin)?;
        load::load(&self.inner, bytes, origin, inspection, memory_mib)
    }

    /// How many adapters this host took from the disk cache instead of compiling them; none without a cache.
    pub fn cache_hits(&self) -> Option<usize> {
        self.inner.cache.as_ref().map(Cache::cache_hits)
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }
}

impl Inner {
    /// Where a guest of this kind and size runs.
    pub fn room(&self, interpreted: bool, memory: usize) -> &Room {
        if interpreted || memory > self.limits.memory { &self.roomy } else { &self.pooled }
    }
}

impl Room {
    fn new(engine: Engine, with_wasi: bool) -> wasmtime::Result<Room> {
        let mut linker = Linker::new(&engine);
        bindings::Adapter::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)?;
        if with_wasi {
            wasi::link(&mut linker)?;
        }
        Ok(Room { engine, linker })
    }
}

fn open_cache(dir: PathBuf) -> Result<Cache, AdapterError> {
    // What lies here is run as native code: nobody else may write it.
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.recursive(true).create(&dir);
    made.map_err(|source| AdapterError::Io { path: dir.clone(), source })?;
    // wasmtime insists on an absolute path.
    let dir = dir.canonicalize().map_err(|source| AdapterError::Io { path: dir, source })?;
    let mut config = CacheConfig::new();
    config.with_directory(&dir);
    Cache::new(config).map_err(|error| AdapterError::Host(format!("cache {}: {error:#}", dir.display())))
}

fn base_config(stack: usize, cache: Option<Cache>, measure: bool) -> Config {
    let mut config = Config::new();
    config
        .cache(cache)
        .epoch_interruption(true)
        .consume_fuel(measure)
        .max_wasm_stack(stack)
        .memory_init_cow(true)
        .cranelift_opt_level(OptLevel::Speed)
        // Turns are plain calls: no tasks, no fibers, cheaper entry.
        .concurrency_support(false)
        // A trap's reason is enough; symbolising frames of a hostile guest is work it could ask for.
        .wasm_backtrace_max_frames(None);
    config
}

/// What stays of a slot where the system tells which pages a turn wrote to: a page of 60 KB, its copy in the
/// guest and its rows, with room. Only what was written is wiped.
const KEPT_OF_DIRTY: usize = 1 << 20;
/// The same where it does not tell: all of it is wiped after every turn, from the front.
const KEPT_OF_ALL: usize = 256 * 1024;

/// Linux 6.7 and later.
fn dirty_pages_are_known() -> bool {
    #[cfg(target_os = "linux")]
    return PoolingAllocationConfig::is_pagemap_scan_available();
    #[cfg(not(target_os = "linux"))]
    return false;
}

fn pool(limits: &Limits) -> InstanceAllocationStrategy {
    let turns = limits.concurrent_turns.max(1);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(turns)
        .total_core_instances(turns * POOLED_INSTANCES)
        .total_memories(turns * POOLED_MEMORIES)
        .total_tables(turns * POOLED_TABLES)
        .max_core_instances_per_component(POOLED_INSTANCES)
        .max_memories_per_component(POOLED_MEMORIES)
        .max_tables_per_component(POOLED_TABLES)
        .max_memory_size(limits.memory)
        .table_elements(limits.table_elements)
        // What a turn usually touches is wiped in place, which is cheaper than giving the pages
        // back to the system and faulting them in again.
        .linear_memory_keep_resident(if dirty_pages_are_known() { KEPT_OF_DIRTY } else { KEPT_OF_ALL })
        .table_keep_resident(64 * 1024)
        .pagemap_scan(Enabled::Auto);
    InstanceAllocationStrategy::Pooling(pool)
}
