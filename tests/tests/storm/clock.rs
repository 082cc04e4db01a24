//! A clock that leaps. Nobody moves it but the test: when all that could happen has happened, it goes to the next
//! moment somebody waits for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dibao::{Clock, Timestamp};
use futures::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// 2026-11-18T00:00:00Z.
const MIDNIGHT: i64 = 1_794_960_000_000;

/// Virtual time, and whether anything happened lately.
pub struct SimClock {
    base: Instant,
    state: Mutex<State>,
    activity: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Since midnight.
    now: Duration,
    sleepers: BinaryHeap<Reverse<Sleeper>>,
    count: u64,
}

struct Sleeper {
    at: Duration,
    number: u64,
    wake: oneshot::Sender<()>,
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Sleeper {}
impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl SimClock {
    pub fn new() -> Arc<SimClock> {
        Arc::new(SimClock { base: Instant::now(), state: Mutex::default(), activity: AtomicU64::new(0) })
    }

    /// Since midnight.
    pub fn time(&self) -> Duration {
        self.state.lock().unwrap().now
    }

    /// Something happened: time must not move yet.
    pub fn stir(&self) {
        self.activity.fetch_add(1, Ordering::Relaxed);
    }

    pub async fn sleep(&self, span: Duration) {
        self.sleep_until(self.instant() + span).await;
    }

    /// Lets everything happen that can happen at this moment. On a runtime of one thread: whoever can run is run by
    /// yielding to it, and what was written to a loopback socket is there to be read at the next look.
    pub async fn settle(&self) {
        let mut quiet = 0;
        while quiet < 2 {
            let before = self.activity.load(Ordering::Relaxed);
            for _ in 0..24 {
                tokio::task::yield_now().await;
            }
            if self.activity.load(Ordering::Relaxed) != before {
                quiet = 0;
                continue;
            }
            quiet += 1;
            // The kernel may have put a packet off: give it a moment of real time.
            std::thread::sleep(Duration::from_micros(20));
        }
    }

    /// Leaps to the next moment somebody waits for; false when nobody waits.
    pub fn leap(&self) -> bool {
        let mut woken = Vec::new();
        let mut state = self.state.lock().unwrap();
        loop {
            match state.sleepers.peek() {
                // Whoever gave up waiting moves no clock.
                Some(Reverse(sleeper)) if sleeper.wake.is_closed() => {
                    state.sleepers.pop();
                }
                Some(Reverse(sleeper)) if woken.is_empty() || sleeper.at <= state.now => {
                    state.now = state.now.max(sleeper.at);
                    let Some(Reverse(sleeper)) = state.sleepers.pop() else { break };
                    woken.push(sleeper.wake);
                }
                _ => break,
            }
        }
        drop(state);
        let moved = !woken.is_empty();
        for wake in woken {
            let _ = wake.send(());
        }
        self.stir();
        moved
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        self.stir();
        Timestamp(MIDNIGHT + self.time().as_millis() as i64)
    }

    fn instant(&self) -> Instant {
        self.stir();
        self.base + self.time()
    }

    fn sleep_until(&self, until: Instant) -> BoxFuture<'static, ()> {
        self.stir();
        let (wake, woken) = oneshot::channel();
        let mut state = self.state.lock().unwrap();
        let at = until.saturating_duration_since(self.base);
        if at <= state.now {
            return Box::pin(std::future::ready(()));
        }
        state.count += 1;
        let number = state.count;
        state.sleepers.push(Reverse(Sleeper { at, number, wake }));
        Box::pin(async move {
            let _ = woken.await;
        })
    }
}
