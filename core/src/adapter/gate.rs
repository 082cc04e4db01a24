//! How many turns run at once, and the tick by which their deadlines are counted.
//!
//! One thread advances the engines' epochs while turns run, and sleeps when none has run for a while: an idle
//! daemon must not wake the machine a hundred times a second.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use wasmtime::EngineWeak;

/// Length of one epoch: the grain of every deadline. A hundredth of the default deadline.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// Ticks without any turn after which the ticker goes to sleep.
const IDLE_TICKS: u32 = 100;

/// Places for turns, and the ticker.
pub(super) struct Gate {
    shared: Arc<Shared>,
    ticker: Option<std::thread::JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    free: Condvar,
    wake: Condvar,
    places: u32,
}

#[derive(Default)]
struct State {
    active: u32,
    asleep: bool,
    closed: bool,
    engines: Vec<EngineWeak>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A place; given back on drop.
pub(super) struct Place<'a>(&'a Shared);

impl Gate {
    /// A gate with `places` places.
    pub fn new(places: u32) -> std::io::Result<Gate> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            free: Condvar::new(),
            wake: Condvar::new(),
            places: places.max(1),
        });
        let for_thread = Arc::clone(&shared);
        let ticker =
            std::thread::Builder::new().name("dibao-epoch".into()).spawn(move || tick(&for_thread))?;
        Ok(Gate { shared, ticker: Some(ticker) })
    }

    /// Ticks this engine's epoch from now on.
    pub fn add(&self, engine: &wasmtime::Engine) {
        self.shared.lock().engines.push(engine.weak());
    }

    /// Waits for a place. At most for one deadline per turn ahead: every turn ends.
    pub fn enter(&self) -> Place<'_> {
        let mut state = self.shared.lock();
        while state.active >= self.shared.places {
            state = self.shared.free.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.active += 1;
        if state.asleep {
            state.asleep = false;
            self.shared.wake.notify_one();
        }
        Place(&self.shared)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.lock().active -= 1;
        self.0.free.notify_one();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_one();
        if let Some(ticker) = self.ticker.take() {
            // It holds nothing that could make it wait longer than one tick.
            let _ = ticker.join();
        }
    }
}

fn tick(shared: &Shared) {
    let mut idle = 0;
    let mut state = shared.lock();
    while !state.closed {
        if idle >= IDLE_TICKS {
            state.asleep = true;
            while state.asleep && !state.closed {
                state = shared.wake.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            idle = 0;
        }
        let waited = shared.wake.wait_timeout(state, TICK);
        state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        idle = if state.active == 0 { idle + 1 } else { 0 };
        for engine in state.engines.iter().filter_map(EngineWeak::upgrade) {
            engine.increment_epoch();
        }
    }
}
