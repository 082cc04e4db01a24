//! WASI for guests that bring an interpreter: everything is there, nothing leads anywhere.
//!
//! No files, no environment, no arguments, no sockets, no names; what it prints goes to the turn's log. The clocks
//! stand at `context.now`, randomness comes from `context.seed`: an interpreted adapter is as repeatable as a
//! compiled one. As time stands still, a wait is over at once: otherwise a guest could sleep through
//! its deadline in a host call.

use std::time::Duration;

use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::clocks::{HostMonotonicClock, HostWallClock, WasiClocksCtxView, WasiClocksView};
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::pipe::ClosedInputStream;
use wasmtime_wasi::p2::{self, DynPollable};
use wasmtime_wasi::random::Deterministic;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder};

use super::said::Said;
use super::state::State;
use crate::clock::{Entropy, SeededEntropy};

/// Handles a guest may hold: it has nothing to open but streams and timers.
const MAX_HANDLES: usize = 1024;

/// Random bytes before they repeat. Interpreters seed hash tables and generators with a few hundred.
const RANDOM_BYTES: usize = 4096;

/// Adds WASI 0.2 with waits that are over at once.
pub(super) fn link(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    p2::add_to_linker_sync(linker)?;
    linker.allow_shadowing(true);
    monotonic_clock::add_to_linker::<State, NoWaiting>(linker, |state| Standing(state.clocks()))?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The context that grants nothing.
pub(super) fn nothing(now: u64, seed: &[u8], said: &Said) -> (WasiCtx, ResourceTable) {
    let random = expand(seed);
    let mut start = [0; 16];
    start.copy_from_slice(&random[..16]);
    let context = WasiCtxBuilder::new()
        .stdin(ClosedInputStream)
        .stdout(said.clone())
        .stderr(said.clone())
        .allow_tcp(false)
        .allow_udp(false)
        .allow_ip_name_lookup(false)
        .wall_clock(Frozen(now))
        .monotonic_clock(Frozen(now))
        .insecure_random_seed(u128::from_le_bytes(start))
        .secure_random(Deterministic::new(random.clone()))
        .insecure_random(Deterministic::new(random))
        .max_random_size(1 << 20)
        .build();
    let mut table = ResourceTable::new();
    table.set_max_capacity(MAX_HANDLES);
    (context, table)
}

fn expand(seed: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; RANDOM_BYTES];
    let lanes = seed.chunks(8).count().max(1);
    for (lane, part) in bytes.chunks_mut(RANDOM_BYTES.div_ceil(lanes)).enumerate() {
        let mut word = [0; 8];
        if let Some(chunk) = seed.chunks(8).nth(lane) {
            word[..chunk.len()].copy_from_slice(chunk);
        }
        SeededEntropy::new(u64::from_le_bytes(word)).fill(part);
    }
    bytes
}

/// Milliseconds since 1970, for good.
struct Frozen(u64);

impl HostWallClock for Frozen {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl HostMonotonicClock for Frozen {
    fn resolution(&self) -> u64 {
        1_000_000
    }

    fn now(&self) -> u64 {
        self.0.saturating_mul(1_000_000)
    }
}

/// The monotonic clock whose timers have always rung already.
struct NoWaiting;

struct Standing<'a>(WasiClocksCtxView<'a>);

impl HasData for NoWaiting {
    type Data<'a> = Standing<'a>;
}

impl monotonic_clock::Host for Standing<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        monotonic_clock::Host::now(&mut self.0)
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        monotonic_clock::Host::resolution(&mut self.0)
    }

    fn subscribe_instant(&mut self, _when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.0.subscribe_duration(0)
    }

    fn subscribe_duration(&mut self, _duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        self.0.subscribe_duration(0)
    }
}
