//! A clock that is moved by whoever sleeps on it, so that a year passes as fast as its work is done.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dibao::{Clock, Timestamp};
use futures::future::BoxFuture;
use tokio::time::Instant;

/// Wall time, and the time since it was made; jumps change the first only.
pub struct LeapClock {
    base: Instant,
    state: Arc<Mutex<State>>,
}

struct State {
    wall: i64,
    since: Duration,
    /// Changes of the wall clock: at this reading of it, it is set to another.
    jumps: Vec<(i64, i64)>,
    sleeps: u64,
}

impl LeapClock {
    pub fn at(wall: Timestamp) -> Arc<LeapClock> {
        let state = State { wall: wall.0, since: Duration::ZERO, jumps: Vec::new(), sleeps: 0 };
        Arc::new(LeapClock { base: Instant::now(), state: Arc::new(Mutex::new(state)) })
    }

    /// Sets the wall clock.
    pub fn set(&self, wall: Timestamp) {
        self.state.lock().unwrap().wall = wall.0;
    }

    /// When the wall clock shows `at`, it will be set to `to`.
    pub fn jump(&self, at: Timestamp, to: Timestamp) {
        self.state.lock().unwrap().jumps.push((at.0, to.0));
    }

    /// How often somebody slept.
    pub fn sleeps(&self) -> u64 {
        self.state.lock().unwrap().sleeps
    }
}

impl Clock for LeapClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.state.lock().unwrap().wall)
    }

    fn instant(&self) -> Instant {
        self.base + self.state.lock().unwrap().since
    }

    fn sleep_until(&self, until: Instant) -> BoxFuture<'static, ()> {
        let (state, base) = (self.state.clone(), self.base);
        Box::pin(async move {
            // Whatever else could end the sleep goes first.
            tokio::task::yield_now().await;
            let mut state = state.lock().unwrap();
            state.sleeps += 1;
            let until = until.saturating_duration_since(base);
            let mut left = until.saturating_sub(state.since).as_millis() as i64;
            state.since = state.since.max(until);
            while let Some(place) =
                state.jumps.iter().position(|(at, _)| (state.wall..=state.wall + left).contains(at))
            {
                let (at, to) = state.jumps.remove(place);
                left -= at - state.wall;
                state.wall = to;
            }
            state.wall += left;
        })
    }
}
